//! Damage is a value: what came before it is read, and memory stays bounded.

use std::io::{Cursor, Read, Result};

use super::{pcap, read, read_from};

fn with_record(seconds: u32, fraction: u32, captured: u32, wire: u32) -> Vec<u8> {
    let mut file = pcap(5);
    file.extend(
        [seconds, fraction, captured, wire]
            .map(u32::to_le_bytes)
            .concat(),
    );
    file
}

#[test]
fn an_impossible_length_ends_the_reading_there() {
    let at_byte = pcap(5).len() as u64;
    for captured in [262_145, 0x7fff_ffff, u32::MAX] {
        let reading = read(&with_record(1, 2, captured, captured)).unwrap();
        assert_eq!(reading.rows.len(), 5);
        assert_eq!(reading.damage[0].at_byte, at_byte);
        assert!(reading.damage[0].text.contains(&captured.to_string()));
        assert!(reading.is_truncated);
    }
}

#[test]
fn the_longest_possible_record_is_read() {
    let mut file = with_record(1_700_000_000, 0, 262_144, 262_144);
    file.extend(vec![7; 262_144]);
    assert_eq!(read(&file).unwrap().rows[5].bytes.len(), 262_144);
}

#[test]
fn an_appended_file_goes_on_in_its_own_terms() {
    let mut file = pcap(3);
    let microseconds = [0xa1b2_c3d4_u32, 0x0002_0004, 0, 0, 96, 101].map(u32::to_be_bytes);
    file.extend(microseconds.concat());
    file.extend([5_u32, 7, 1, 1].map(u32::to_be_bytes).concat());
    file.push(0x45);
    file.extend(pcap(2));
    let reading = read(&file).unwrap();
    let found: Vec<_> = reading
        .rows
        .iter()
        .map(|row| (row.interface, row.link))
        .collect();
    assert_eq!(found, [(0, 1), (0, 1), (0, 1), (1, 101), (2, 1), (2, 1)]);
    assert_eq!(reading.rows[3].t_ns, Some(5_000_007_000));
    assert!(reading.damage.is_empty());
}

#[test]
fn fractions_of_a_second_and_more_carry() {
    let mut file = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 0, 1]
        .map(u32::to_le_bytes)
        .concat();
    for fraction in [0, 1_500_000, 3, 4] {
        file.extend([10_u32, fraction, 0, 60].map(u32::to_le_bytes).concat());
    }
    let reading = read(&file).unwrap();
    let times: Vec<_> = reading.rows.iter().map(|row| row.t_ns.unwrap()).collect();
    assert_eq!(
        times,
        [
            10_000_000_000,
            11_500_000_000,
            10_000_003_000,
            10_000_004_000
        ]
    );
}

struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> Result<usize> {
        Err(std::io::Error::other("the disk is gone"))
    }
}

#[test]
fn a_failing_disk_costs_only_what_it_holds_back() {
    let source = Cursor::new(pcap(5)).chain(Failing);
    let reading = read_from(Box::new(source)).unwrap();
    assert_eq!(reading.rows.len(), 5);
    assert!(reading.damage[0].text.contains("the disk is gone"));
}
