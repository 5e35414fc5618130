//! Writing merged.pcapng: order, names, link types, and what tshark says of it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod order;
mod tshark;

use std::path::{Path, PathBuf};

use pcaplat_core::export::merged::{MergeFile, MergePoint, write_merged};
use pcaplat_core::file::{Capture, Interface};
use pcaplat_core::wire::Decoder;

const S: i64 = 1_000_000_000;

/// A folder of its own for each test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("merged")
        .join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A nanosecond pcap: one frame a time, which it holds eight times.
fn pcap(path: &Path, link: u32, times_ns: &[i64]) {
    let mut file = [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, link]
        .map(u32::to_le_bytes)
        .concat();
    for t_ns in times_ns {
        let parts = [t_ns / S, t_ns % S, 64, 64].map(|part| u32::try_from(part).unwrap());
        file.extend(parts.map(u32::to_le_bytes).concat());
        file.extend(t_ns.to_be_bytes().repeat(8));
    }
    std::fs::write(path, file).unwrap();
}

fn point(name: &str, file: PathBuf) -> MergePoint {
    MergePoint {
        name: name.to_owned(),
        files: vec![whole(file)],
        ..MergePoint::default()
    }
}

fn whole(path: PathBuf) -> MergeFile {
    MergeFile {
        path,
        ..MergeFile::default()
    }
}

fn decoder() -> Decoder {
    Decoder::new(&[]).unwrap()
}

fn merge(points: &[MergePoint], out: &Path) -> u64 {
    write_merged(points, &decoder(), out, &|| false).unwrap()
}

/// The times and points of all frames, and the interfaces.
fn read(path: &Path) -> (Vec<(i64, u32)>, Vec<Interface>) {
    let mut capture = Capture::open(path).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = capture.next_frame() {
        frames.push((frame.t_ns, frame.interface));
    }
    assert!(capture.damage().is_empty(), "{:?}", capture.damage());
    (frames, capture.interfaces().to_vec())
}
