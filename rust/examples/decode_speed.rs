//! How many frames a second one core decodes: Ethernet/IPv4/UDP/VXLAN/Ethernet/IPv4/TCP, and plain.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::hint::black_box;
use std::time::Instant;

use pcaplat_core::wire::{Decoder, Packet, layer_path};

const ETHERNET: u16 = 1;
const N_FRAMES: u32 = 10_000_000;

const OUTER: &str = "02000000000d02000000000c080045000072123440004011a459c0000201c0000202\
                     c35012b5005e00000800000012345600";
const INNER: &str = "0200000000020200000000010800450000401234400040061498\
                     0a0000010a0000029c409c411122334455667788801804006f430000\
                     0101080a000000010000000200000000000000000000dead";

fn main() -> pcaplat_core::base::error::Result<()> {
    let decoder = Decoder::new(&[])?;
    for frame in [octets(INNER), [octets(OUTER), octets(INNER)].concat()] {
        // Different addresses, so that no frame is in the same cache line as the last.
        let frames: Vec<Vec<u8>> = (0..1024).map(|_| frame.clone()).collect();
        measure(&decoder, &frames);
    }
    Ok(())
}

fn measure(decoder: &Decoder, frames: &[Vec<u8>]) {
    let mut packet = Packet::new();
    let start = Instant::now();
    for frame in frames.iter().cycle().take(N_FRAMES as usize) {
        let wire_bytes = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        decoder.decode(ETHERNET, black_box(frame), wire_bytes, 0, &mut packet);
        black_box(&packet);
    }
    let rate_mpps = f64::from(N_FRAMES) / start.elapsed().as_secs_f64() / 1e6;
    println!("{rate_mpps:5.1} million/s  {}", layer_path(&packet));
}

fn octets(digits: &str) -> Vec<u8> {
    let nibbles: Vec<u8> = digits.bytes().filter_map(nibble).collect();
    nibbles
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |octet, nibble| octet << 4 | nibble))
        .collect()
}

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}
