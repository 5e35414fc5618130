//! Compressed files read as plain ones do, also in parts and cut short.

use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
use pcaplat_core::file::Capture;

use super::{pcap, read};

type Compress = fn(&[u8]) -> Vec<u8>;

static CODECS: [(&str, Compress); 5] = [
    ("gzip", gzip),
    ("zstd", zstd),
    ("lz4", lz4),
    ("xz", xz),
    ("bzip2", bzip2),
];

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::encode_all(plain, 1).unwrap()
}

fn lz4(plain: &[u8]) -> Vec<u8> {
    let blocks = FrameInfo::new().block_size(BlockSize::Max64KB);
    let mut encoder = FrameEncoder::with_frame_info(blocks, Vec::new());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn xz(plain: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    liblzma::read::XzEncoder::new(plain, 1)
        .read_to_end(&mut compressed)
        .unwrap();
    compressed
}

fn bzip2(plain: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    let mut encoder = bzip2::read::BzEncoder::new(plain, bzip2::Compression::fast());
    encoder.read_to_end(&mut compressed).unwrap();
    compressed
}

#[test]
fn compressed_is_plain() {
    let plain = pcap(3000);
    let rows = read(&plain).unwrap().rows;
    for (name, compress) in CODECS {
        let reading = read(&compress(&plain)).unwrap();
        assert_eq!(reading.rows, rows, "{name}");
        assert!(reading.damage.is_empty(), "{name}: {:?}", reading.damage);
    }
}

#[test]
fn compressed_parts_make_one_file() {
    let plain = pcap(3000);
    let (front, back) = plain.split_at(1_000_003);
    for (name, compress) in CODECS {
        let parts = [compress(front), compress(back)].concat();
        let reading = read(&parts).unwrap();
        assert_eq!(reading.rows.len(), 3000, "{name}: {:?}", reading.damage);
        assert!(reading.damage.is_empty(), "{name}: {:?}", reading.damage);
    }
}

#[test]
fn a_cut_compressed_file_is_read_to_its_end() {
    let plain = pcap(3000);
    let rows = read(&plain).unwrap().rows;
    for (name, compress) in CODECS {
        let compressed = compress(&plain);
        let part = read(&compressed[..compressed.len() * 3 / 4]).unwrap();
        assert!(part.is_truncated, "{name}");
        assert_eq!(part.damage.len(), 1, "{name}: {:?}", part.damage);
        assert!(rows.starts_with(&part.rows), "{name}");
        assert!(part.rows.len() > 1000, "{name}: {}", part.rows.len());
    }
}

#[test]
fn what_stands_before_corrupt_bytes_is_not_lost() {
    let plain = pcap(3000);
    for (name, compress) in CODECS {
        let mut compressed = compress(&plain);
        let at = compressed.len() * 3 / 4;
        let before = read(&compressed[..at]).unwrap().rows;
        compressed[at..at + 64].fill(0xff);
        let corrupt = read(&compressed).unwrap();
        assert!(before.len() > 1000, "{name}: {}", before.len());
        assert!(corrupt.rows.starts_with(&before), "{name}");
        assert!(!corrupt.damage.is_empty(), "{name}");
    }
}

#[test]
fn every_cut_is_noticed() {
    let plain = pcap(3);
    for (name, compress) in CODECS {
        let compressed = compress(&plain);
        for n_bytes in 1..compressed.len() {
            if let Ok(part) = read(&compressed[..n_bytes]) {
                assert!(
                    part.is_truncated,
                    "{name} {n_bytes} of {}",
                    compressed.len()
                );
            }
        }
    }
}

#[test]
fn what_follows_a_compressed_file_is_damage_but_costs_no_frame() {
    for (name, compress) in CODECS {
        let file = [
            compress(&pcap(100)),
            b"what is this? it does not belong here".to_vec(),
        ];
        let reading = read(&file.concat()).unwrap();
        assert_eq!(
            (reading.rows.len(), reading.damage.len()),
            (100, 1),
            "{name}"
        );
    }
}

#[test]
fn progress_counts_the_bytes_on_disk() {
    let compressed = gzip(&pcap(3000));
    let source = Box::new(std::io::Cursor::new(compressed.clone()));
    let mut capture = Capture::from_read(source, Path::new("test")).unwrap();
    while capture.next_frame().is_some() {}
    assert_eq!(capture.bytes_read(), compressed.len() as u64);
}
