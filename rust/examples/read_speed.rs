//! How fast captures are read: `cargo run --release --example read_speed FILE…`.
#![allow(clippy::print_stdout, reason = "a program, not the library")]

use std::path::Path;
use std::time::Instant;

use pcaplat_core::base::error::Result;
use pcaplat_core::file::Capture;

fn main() -> Result<()> {
    for name in std::env::args().skip(1) {
        let began = Instant::now();
        let mut capture = Capture::open(Path::new(&name))?;
        let (mut n_frames, mut n_bytes, mut last_ns) = (0_u64, 0_u64, 0_i64);
        while let Some(frame) = capture.next_frame() {
            n_frames += 1;
            n_bytes += frame.bytes.len() as u64;
            last_ns = last_ns.max(frame.t_ns);
        }
        let took_ms = u64::try_from(began.elapsed().as_millis())
            .unwrap_or(u64::MAX)
            .max(1);
        let per_s = n_frames * 1000 / took_ms;
        println!(
            "{name}: {n_frames} frames, {n_bytes} bytes in {took_ms} ms: {per_s} frames/s (last {last_ns})"
        );
    }
    Ok(())
}
