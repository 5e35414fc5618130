//! What holds for every file.

use std::io::{Cursor, Error, ErrorKind, Read, Result};

use super::vectors::{named, vectors};
use super::{pcap, read, read_from};

/// Gives a few bytes at a time, and is interrupted before each.
struct InPieces {
    whole: Cursor<Vec<u8>>,
    n_calls: usize,
}

impl Read for InPieces {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        self.n_calls += 1;
        if self.n_calls.is_multiple_of(2) {
            return Err(Error::from(ErrorKind::Interrupted));
        }
        let n_bytes = (self.n_calls / 2 % 7 + 1).min(out.len());
        self.whole.read(&mut out[..n_bytes])
    }
}

fn in_pieces(bytes: &[u8]) -> InPieces {
    InPieces {
        whole: Cursor::new(bytes.to_vec()),
        n_calls: 0,
    }
}

/// Where it goes on behind damage, a record is longer than what is looked at: what more happens to
/// be in memory must not count.
fn long_behind_damage() -> Vec<u8> {
    let mut file = pcap(1);
    file.extend([0xff; 16]);
    for n_bytes in [200_000_u32, 60, 60, 60, 60] {
        for word in [1_700_000_000, 0, n_bytes, n_bytes] {
            file.extend(word.to_le_bytes());
        }
        file.resize(file.len() + n_bytes as usize, 0xee);
    }
    file
}

#[test]
fn reading_in_pieces_is_reading_whole() {
    let files = vectors()
        .into_iter()
        .map(|vector| vector.bytes)
        .chain([pcap(3000), long_behind_damage()]);
    for bytes in files {
        match (read(&bytes), read_from(Box::new(in_pieces(&bytes)))) {
            (Ok(whole), Ok(pieces)) => {
                assert_eq!(whole.rows, pieces.rows);
                assert_eq!(whole.is_truncated, pieces.is_truncated);
            }
            (Err(whole), Err(pieces)) => assert_eq!(whole.to_string(), pieces.to_string()),
            (whole, pieces) => panic!("{whole:?} {pieces:?}"),
        }
    }
}

#[test]
fn big_endian_is_little_endian() {
    for (little, big) in [
        ("pcap-le-us", "pcap-be-us"),
        ("pcap-le-ns", "pcap-be-ns"),
        ("pcap-kuznetzov-le", "pcap-kuznetzov-be"),
        ("pcap-ixia-sw-le", "pcap-ixia-sw-be"),
        ("ng-le-us", "ng-be-us"),
        ("ng-le-ns-pad", "ng-be-ns-pad"),
        ("ng-le-2^-20", "ng-be-2^-20"),
    ] {
        assert_eq!(
            read(&named(little)).unwrap().rows,
            read(&named(big)).unwrap().rows,
            "{big}"
        );
    }
}

/// Where only a second record tells how long record headers are.
const NEEDS_TWO_RECORDS: [&str; 3] = ["pcap-suse63-le", "pcap-redhat61-le", "pcap-nokia-le"];

#[test]
fn a_prefix_of_a_file_gives_a_prefix_of_its_frames() {
    for vector in vectors() {
        let Ok(whole) = read(&vector.bytes) else {
            continue;
        };
        for n_bytes in 0..vector.bytes.len() {
            let Ok(part) = read(&vector.bytes[..n_bytes]) else {
                continue;
            };
            if !NEEDS_TWO_RECORDS.contains(&vector.name.as_str()) {
                assert!(
                    whole.rows.starts_with(&part.rows),
                    "{} {n_bytes}",
                    vector.name
                );
            }
        }
    }
}

#[test]
fn a_file_cut_anywhere_between_records_is_truncated() {
    let file = pcap(2);
    let record_ends = [24, 24 + 16 + 60, file.len()];
    for n_bytes in 24..=file.len() {
        let reading = read(&file[..n_bytes]).unwrap();
        assert_eq!(
            reading.is_truncated,
            !record_ends.contains(&n_bytes),
            "{n_bytes}"
        );
        assert_eq!(reading.damage.len(), usize::from(reading.is_truncated));
    }
}

#[test]
fn no_changed_byte_makes_reading_fail_otherwise_than_by_value() {
    for vector in vectors() {
        for at in 0..vector.bytes.len() {
            for changed in [0x00, 0x01, 0x7f, 0x80, 0xff] {
                let mut bytes = vector.bytes.clone();
                bytes[at] = changed;
                let n_rows = read(&bytes).map_or(0, |reading| reading.rows.len());
                assert!(n_rows <= bytes.len() / 12, "{} {at}", vector.name);
            }
        }
    }
}
