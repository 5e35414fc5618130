//! What cannot be opened is refused with a reason and a remedy.

use std::path::Path;

use pcaplat_core::base::error::Error;
use pcaplat_core::file::{Capture, FORMATS};

use super::{pcap, read};

fn refusal(bytes: &[u8]) -> String {
    match read(bytes) {
        Err(Error::Capture { text, .. }) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_missing_file_and_a_directory_are_the_systems_news() {
    for (path, kind) in [
        ("no/such/file.pcap", std::io::ErrorKind::NotFound),
        (env!("CARGO_MANIFEST_DIR"), std::io::ErrorKind::IsADirectory),
    ] {
        match Capture::open(Path::new(path)) {
            Err(Error::Io { source, .. }) => assert_eq!(source.kind(), kind),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("{path} was opened"),
        }
    }
}

#[test]
fn strangers_are_named() {
    assert!(refusal(b"").starts_with("empty file"));
    assert!(refusal(b"<html><body>404").contains("HTML"));
    assert!(refusal(b"a,b,c\n1,2,3\n").contains("text"));
    assert!(refusal(&[1, 2]).contains("01 02"));
    assert!(refusal(&[0x1f, 0x8b, 8, 0]).contains("gzip"));
    assert!(refusal(b"BZh9 but then no bzip2 at all").contains("bzip2"));
}

#[test]
fn headers_that_cannot_be_read_say_why() {
    for (at, value, words) in [
        (0, 0xa1b2_34cd, "Mesquita"),
        (0, 0xa12b_3c4d, "Navtel"),
        (0, 0xa1b2_c3cb, "cbpf-savefile"),
        (4, 0x0004_0003, "version 3.4"),
        (4, 0x0000_0001, "version 1.0"),
        (20, 0x0001_0001, "reserved bits"),
    ] {
        let mut file = pcap(1);
        file[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
        assert!(
            refusal(&file).contains(words),
            "{words}: {}",
            refusal(&file)
        );
    }
    assert!(refusal(&pcap(1)[..23]).contains("24 bytes needed, 23 there"));
}

#[test]
fn a_header_alone_is_an_empty_capture() {
    let reading = read(&pcap(0)).unwrap();
    assert!(reading.rows.is_empty() && reading.damage.is_empty() && !reading.is_truncated);
    assert_eq!(reading.interfaces.len(), 1);
}

#[test]
fn formats_have_names_and_specifications() {
    let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(
        names,
        [
            "pcap",
            "pcapng",
            "snoop",
            "pktcap-uw trace",
            "pktmon text",
            "retis events",
            "erf",
            "digest"
        ]
    );
    assert!(
        FORMATS
            .iter()
            .all(|format| format.spec.contains(format.name))
    );
}
