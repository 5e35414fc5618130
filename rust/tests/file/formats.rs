//! Formats beside pcap and pcapng, byte by byte.

use super::{Reading, Row, read};

const EU: &str = "0200000000020200000000010800\
                  4500001e12344000401114990a0000010a0000029c409c41000ad4a7dead";
const T_NS: i64 = 1_700_000_000_123_456_789;

fn hex(text: &str) -> Vec<u8> {
    let text = text.replace("EU", EU);
    let digits: String = text.split_whitespace().collect();
    let digit = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(digit).collect()
}

fn read_hex(text: &str) -> Reading {
    read(&hex(text)).unwrap()
}

fn facts(row: &Row) -> (Option<i64>, u16, u32, usize) {
    (row.t_ns, row.link, row.wire_bytes, row.bytes.len())
}

#[test]
fn snoop() {
    let record = "00000064 0000002c 00000044 00000007 6553f100 0001e240 EU";
    let reading = read_hex(&format!(
        "736e6f6f70000000 00000002 00000004 {record} {record}"
    ));
    assert_eq!((reading.format, reading.rows.len()), ("snoop", 2));
    let t_ns = Some(T_NS - 789);
    assert_eq!(facts(&reading.rows[1]), (t_ns, 1, 100, 44));
    assert_eq!(reading.interfaces[0].n_dropped, Some(7));
    assert!(reading.damage.is_empty());
}

#[test]
fn snoop_with_padding_and_its_end_missing() {
    let padded = "0000002c 0000002c 0000004c 00000000 6553f100 0001e240 EU 0000000000000000";
    let text = format!("736e6f6f70000000 00000002 00000008 {padded} {padded}");
    let reading = read(&hex(&text)[..150]).unwrap();
    assert_eq!(facts(&reading.rows[0]).1, 10);
    assert_eq!((reading.rows.len(), reading.is_truncated), (1, true));
    let liar = padded.replace("0000004c", "00000020");
    let text = format!("736e6f6f70000000 00000002 00000004 {padded} {liar}");
    assert!(read_hex(&text).damage[0].text.contains("claims 44"));
}

#[test]
fn snoop_of_another_kind_is_refused() {
    for (header, words) in [
        ("00000003 00000004", "snoop version 3"),
        ("00000002 00000011", "datalink 17"),
        ("00000002", "16 bytes needed, 12 there"),
    ] {
        let refusal = read(&hex(&format!("736e6f6f70000000 {header}")));
        assert!(refusal.unwrap_err().to_string().contains(words));
    }
}

const T: &str = "38dd9a1f00f15365";
const ERF: &str = "0205005800030040 0000 EU 00000000000000000000000000000000 ad2557d3 000000000000";

#[test]
fn erf() {
    let second = "8206006800000040 90070203cafe0001 1107aabbccddeeff 0000 EU \
                  00000000000000000000000000000000 ad2557d3 000000000000";
    let padding = "3000001000000000";
    let fourth =
        "160500300000001e 4500001e12344000401114990a0000010a0000029c409c41000ad4a7dead 0000";
    let metadata = "1b05001800000008 0102030405060708";
    let reading = read_hex(&format!(
        "{T}{ERF} {T}{second} {T}{padding} {T}{fourth} {T}{metadata}"
    ));
    assert_eq!(reading.format, "erf");
    let rows: Vec<_> = reading.rows.iter().map(facts).collect();
    let frame = (Some(T_NS), 1, 64, 64);
    let none = (None, u16::MAX, 8, 8);
    assert_eq!(rows, [frame, frame, (Some(T_NS), 228, 30, 30), none]);
    assert_eq!(reading.rows[0].fcs_bytes, 4);
    let interfaces: Vec<_> = reading.rows.iter().map(|row| row.interface).collect();
    assert_eq!(interfaces, [0, 1, 2, 3]);
    assert_eq!(reading.interfaces[0].name.as_deref(), Some("port1"));
    assert_eq!(reading.interfaces[0].n_dropped, Some(3));
    assert_eq!(reading.interfaces[1].name.as_deref(), Some("port2"));
    assert!(reading.damage.is_empty());
}

#[test]
fn an_erf_record_alone() {
    let whole = hex(&format!("{T}{ERF}"));
    assert_eq!(read(&whole).unwrap().rows.len(), 1);
    assert!(read(&whole[..80]).is_err());
}

#[test]
fn what_only_starts_like_erf_is_none() {
    let mut stamps = hex(&format!("{T}{ERF}{T}{ERF}"));
    stamps[88 + 7] = 0x20;
    assert!(read(&stamps).is_err());
    assert!(read(&[0x41; 10_000]).is_err());
    assert!(read(&[2; 10_000]).is_err());
}

#[test]
fn broken_erf_gives_what_came_before() {
    let reading = read_hex(&format!("{T}{ERF}{T}{ERF}{T}{ERF} {T}7f05000f00030040"));
    assert_eq!(reading.rows.len(), 3);
    assert!(reading.damage[0].text.contains("type 127 and 15 bytes"));
    let cut = read(&hex(&format!("{T}{ERF}{T}{ERF}"))[..170]).unwrap();
    assert_eq!((cut.rows.len(), cut.is_truncated), (1, true));
}

/// `n_records` records of one second each, and where each starts.
fn records(n_records: u32, record: impl Fn(u32) -> Vec<u8>) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::new();
    let mut starts = Vec::new();
    for i in 0..n_records {
        starts.push(bytes.len());
        bytes.extend(record(1_700_000_000 + i));
    }
    (bytes, starts)
}

fn erf_record(seconds: u32) -> Vec<u8> {
    let seconds = format!("{:08x}", seconds.swap_bytes());
    hex(&format!("38dd9a1f{seconds}{ERF}"))
}

fn snoop_record(seconds: u32) -> Vec<u8> {
    let seconds = format!("{seconds:08x}");
    hex(&format!(
        "0000002c 0000002c 00000044 00000000 {seconds} 0001e240 EU"
    ))
}

#[test]
fn erf_and_snoop_go_on_behind_damage() {
    let header = hex("736e6f6f70000000 00000002 00000004");
    let lengths_at = [(Vec::new(), 8, 0), (header, 8, 1)];
    for (header, length_at, which) in lengths_at {
        let record: fn(u32) -> Vec<u8> = [erf_record, snoop_record][which];
        let (records, starts) = records(40, record);
        for lie in [[0, 0, 0, 1], [0, 0, 0xff, 0xff], [0xff; 4]] {
            let mut bytes = [header.clone(), records.clone()].concat();
            let at = header.len() + starts[20];
            bytes[at + length_at..at + length_at + 4].copy_from_slice(&lie);
            let reading = read(&bytes).unwrap();
            let there: Vec<_> = reading.rows.iter().map(|row| row.t_ns.unwrap()).collect();
            let n_before = there
                .iter()
                .take_while(|t_ns| **t_ns < T_NS + 20_000_000_000)
                .count();
            assert_eq!((n_before, there.len()), (20, 39), "{which} {lie:?}");
            let [damage] = &reading.damage[..] else {
                panic!("{which} {lie:?}: {:?}", reading.damage)
            };
            assert_eq!(damage.at_byte, at as u64);
            let n_lost = starts[21] - starts[20];
            assert!(
                damage.text.contains(&format!("; {n_lost} bytes are lost")),
                "{}",
                damage.text
            );
            assert!(reading.is_truncated);
        }
    }
}

#[test]
fn exact_capture_without_its_footers() {
    let header = "4d3cb2a1 02000400 00000000 00000000 00000400 01000000";
    let record = "00f15365 15cd5b07 3c000000 2c000000 EU";
    let footer = "00f15365 941a99be1c 00 01 02 0700 0000";
    let padding = "00f15365 15cd5b07 04000000 00000000 01020304";
    let ps = "00f15365 141a99be1c 00 01 02 0700 0000";
    let reading = read_hex(&format!("{header} {record}{ps} {padding} {record}{ps}"));
    let rows: Vec<_> = reading.rows.iter().map(facts).collect();
    let frame = (Some(T_NS), 1, 44, 44);
    assert_eq!(rows, [frame, (None, u16::MAX, 0, 0), frame]);
    assert_eq!(reading.interfaces[0].n_dropped, Some(14));
    let other = read_hex(&format!(
        "{header} {record}{ps} {record}{}",
        footer.replace("f153", "f253")
    ));
    assert_eq!(other.rows[0].bytes.len(), 60);
    let variants = (reading.variant, other.variant);
    assert_eq!(variants, ("Exact Capture", "nanoseconds"));
}
