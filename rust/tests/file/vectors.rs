//! Whole files, byte by byte, and what is in them.

use std::collections::HashMap;

use super::{Reading, Row, read};

/// A file of `vectors.txt`.
pub(crate) struct Vector {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    expected: String,
}

pub(crate) fn vectors() -> Vec<Vector> {
    let lines = include_str!("vectors.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let (files, packets): (Vec<_>, Vec<_>) = lines
        .filter(|line| !line.is_empty())
        .partition(|line| line.contains(" | "));
    let packets: HashMap<_, _> = packets
        .iter()
        .filter_map(|line| line.split_once(" = "))
        .collect();
    files.iter().map(|line| vector(line, &packets)).collect()
}

fn vector(line: &str, packets: &HashMap<&str, &str>) -> Vector {
    let columns: Vec<_> = line.split(" | ").collect();
    let words = columns[1].split(' ');
    Vector {
        name: columns[0].to_owned(),
        bytes: words
            .flat_map(|word| bytes_of(packets.get(word).unwrap_or(&word)))
            .collect(),
        expected: columns[2].replace("(none)", ""),
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

pub(crate) fn named(name: &str) -> Vec<u8> {
    vectors()
        .into_iter()
        .find(|vector| vector.name == name)
        .unwrap()
        .bytes
}

fn reading(name: &str) -> Reading {
    read(&named(name)).unwrap()
}

fn line_of(row: &Row) -> String {
    let time = row.t_ns.map_or("none".to_owned(), |t_ns| {
        format!(
            "{}.{:09}",
            t_ns.div_euclid(1_000_000_000),
            t_ns.rem_euclid(1_000_000_000)
        )
    });
    format!("{time}/{}/{}/{}", row.bytes.len(), row.wire_bytes, row.link)
}

#[test]
fn every_vector_reads_as_listed() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 67);
    for vector in vectors {
        let rows = read(&vector.bytes).map_or(Vec::new(), |reading| reading.rows);
        let found: Vec<_> = rows.iter().map(line_of).collect();
        assert_eq!(found.join(" "), vector.expected, "{}", vector.name);
        assert!(
            rows.iter().map(|row| row.number).eq(1..=rows.len() as u64),
            "{}",
            vector.name
        );
    }
}

#[test]
fn only_the_damaged_vectors_are_reported_damaged() {
    let damaged: Vec<_> = vectors()
        .into_iter()
        .filter(|vector| read(&vector.bytes).is_ok_and(|reading| !reading.damage.is_empty()))
        .map(|vector| vector.name)
        .collect();
    let cut = [
        "pcap-truncated-data",
        "pcap-truncated-header",
        "ng-truncated",
    ];
    assert_eq!(
        damaged,
        [
            cut[0],
            cut[1],
            "pcap-frac-ge-1e6",
            "pcap-frac-negative",
            cut[2]
        ]
    );
    for vector in vectors() {
        let is_truncated = read(&vector.bytes).is_ok_and(|reading| reading.is_truncated);
        assert_eq!(
            is_truncated,
            cut.contains(&vector.name.as_str()),
            "{}",
            vector.name
        );
    }
}

#[test]
fn the_bytes_after_a_longer_record_header_are_the_packet() {
    let packet = reading("pcap-le-us").rows[0].bytes.clone();
    for name in [
        "kuznetzov-le",
        "kuznetzov-be",
        "suse63-le",
        "redhat61-le",
        "nokia-le",
    ] {
        for row in reading(&format!("pcap-{name}")).rows {
            assert_eq!(row.bytes, packet, "{name}");
        }
    }
}

#[test]
fn frame_check_sequences_are_told() {
    for (name, fcs_bytes) in [
        ("pcap-fcs-2x16", 4),
        ("pcap-fcs-present-0", 0),
        ("pcap-fcs-bits-ignored", 0),
        ("ng-fcslen-4", 4),
        ("ng-fcslen-32", 4),
        ("ng-fcslen-0-flags-4", 4),
        ("ng-epb-options", 4),
        ("ng-le-us", 0),
    ] {
        assert_eq!(reading(name).rows[0].fcs_bytes, fcs_bytes, "{name}");
    }
}

#[test]
fn interfaces_are_described() {
    let interfaces = reading("ng-3-interfaces").interfaces;
    let links: Vec<_> = interfaces.iter().map(|found| found.link).collect();
    assert_eq!(links, [1, 101, 113]);
    let name_of = |file| reading(file).interfaces[0].name.clone();
    assert_eq!(name_of("ng-epb-options").as_deref(), Some("eth9"));
    assert_eq!(name_of("ng-if-name-nul").as_deref(), Some("ab"));
    assert_eq!(name_of("ng-option-overrun").as_deref(), Some("abcd"));
    let snaps: Vec<_> = reading("ng-2-snaplens")
        .interfaces
        .iter()
        .map(|found| found.snap_bytes)
        .collect();
    assert_eq!(snaps, [96, 128]);
}

#[test]
fn drops_are_counted() {
    for (name, n_dropped) in [
        ("ng-isb", Some(3)),
        ("ng-epb-options", Some(9)),
        ("ng-packet-block", Some(7)),
        ("ng-le-us", None),
    ] {
        assert_eq!(reading(name).interfaces[0].n_dropped, n_dropped, "{name}");
    }
}

#[test]
fn interface_ids_go_on_over_sections() {
    let reading = reading("ng-3-sections-mixed-endian");
    let ids: Vec<_> = reading.rows.iter().map(|row| row.interface).collect();
    assert_eq!(ids, [0, 1, 2]);
    let ticks_ns: Vec<_> = reading
        .interfaces
        .iter()
        .map(|found| found.resolution_ns)
        .collect();
    assert_eq!(ticks_ns, [1000.0, 1.0, 976_562.5]);
}

#[test]
fn formats_are_told() {
    for vector in vectors() {
        let format = if vector.name.starts_with("ng-") {
            "pcapng"
        } else {
            "pcap"
        };
        if let Ok(reading) = read(&vector.bytes) {
            assert_eq!(reading.format, format, "{}", vector.name);
        }
    }
}

#[test]
fn variants_are_told() {
    for (name, variant) in [
        ("pcap-le-us", "microseconds"),
        ("pcap-be-ns", "nanoseconds"),
        ("pcap-kuznetzov-be", "Kuznetzov's modified"),
        ("pcap-suse63-le", "SuSE 6.3"),
        ("pcap-redhat61-le", "Red Hat 6.1"),
        ("pcap-nokia-le", "Nokia"),
        ("pcap-aix-be", "AIX"),
        ("pcap-ixia-hw-le", "IXIA hardware"),
        ("pcap-ixia-sw-be", "IXIA software"),
        ("ng-le-us", ""),
    ] {
        assert_eq!(reading(name).variant, variant, "{name}");
    }
}
