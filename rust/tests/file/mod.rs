//! Reading capture files, from outside: vectors, laws, formats, compression, damage, refusals.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod blocks;
mod compression;
mod damage;
mod formats;
mod laws;
mod refusals;
mod resumption;
mod vectors;

use std::io::{Cursor, Read};
use std::path::Path;

use pcaplat_core::base::error::Result;
use pcaplat_core::file::{Capture, Damage, FrameDirection, Interface};

/// A frame that outlives its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    number: u64,
    t_ns: Option<i64>,
    interface: u32,
    link: u16,
    wire_bytes: u32,
    fcs_bytes: u8,
    direction: FrameDirection,
    bytes: Vec<u8>,
}

/// All a capture file gives.
#[derive(Debug)]
struct Reading {
    rows: Vec<Row>,
    interfaces: Vec<Interface>,
    damage: Vec<Damage>,
    is_truncated: bool,
    format: &'static str,
    variant: &'static str,
}

fn read_from(source: Box<dyn Read + Send>) -> Result<Reading> {
    let mut capture = Capture::from_read(source, Path::new("test"))?;
    let mut rows = Vec::new();
    while let Some(frame) = capture.next_frame() {
        rows.push(Row {
            number: frame.number,
            t_ns: frame.has_time.then_some(frame.t_ns),
            interface: frame.interface,
            link: frame.link,
            wire_bytes: frame.wire_bytes,
            fcs_bytes: frame.fcs_bytes,
            direction: frame.direction,
            bytes: frame.bytes.to_vec(),
        });
    }
    assert!(capture.next_frame().is_none(), "the end is the end");
    Ok(Reading {
        rows,
        interfaces: capture.interfaces().to_vec(),
        damage: capture.damage().to_vec(),
        is_truncated: capture.is_truncated(),
        format: capture.format(),
        variant: capture.variant(),
    })
}

fn read(bytes: &[u8]) -> Result<Reading> {
    read_from(Box::new(Cursor::new(bytes.to_vec())))
}

/// A nanosecond pcap of `n_frames` Ethernet frames of growing length.
fn pcap(n_frames: u32) -> Vec<u8> {
    let mut file = [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1]
        .map(u32::to_le_bytes)
        .concat();
    for i in 0..n_frames {
        let n_bytes = 60 + i % 1400;
        file.extend(
            [1_700_000_000 + i, i, n_bytes, n_bytes + 4]
                .map(u32::to_le_bytes)
                .concat(),
        );
        file.extend((0..n_bytes).map(|at| at.wrapping_mul(i).to_le_bytes()[0]));
    }
    file
}
