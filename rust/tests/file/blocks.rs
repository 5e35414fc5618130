//! pcapng block by block: what no vector holds.

use std::io::{Cursor, Read};
use std::path::Path;

use super::{FrameDirection, Reading, read, read_from};
use pcaplat_core::file::{Capture, Checksum, Marks, NO_LINK};

pub(crate) fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut padded = body.to_vec();
    padded.resize(body.len().next_multiple_of(4), 0);
    let n_bytes = u32::try_from(padded.len() + 12).unwrap().to_le_bytes();
    [&kind.to_le_bytes()[..], &n_bytes, &padded, &n_bytes].concat()
}

pub(crate) fn section() -> Vec<u8> {
    let body = [0x1a2b_3c4d_u32, 1, u32::MAX, u32::MAX].map(u32::to_le_bytes);
    block(0x0a0d_0d0a, &body.concat())
}

pub(crate) fn option(code: u16, value: &[u8]) -> Vec<u8> {
    let n_bytes = u16::try_from(value.len()).unwrap();
    let mut option = [code, n_bytes].map(u16::to_le_bytes).concat();
    option.extend(value);
    option.resize(option.len().next_multiple_of(4), 0);
    option
}

pub(crate) fn interface(options: &[Vec<u8>]) -> Vec<u8> {
    block(
        1,
        &[[1_u32, 0].map(u32::to_le_bytes).concat(), options.concat()].concat(),
    )
}

pub(crate) fn packet(interface: u32, ticks: u64, options: &[Vec<u8>]) -> Vec<u8> {
    let high = u32::try_from(ticks >> 32).unwrap();
    let low = u32::try_from(ticks & 0xffff_ffff).unwrap();
    let head = [interface, high, low, 4, 60].map(u32::to_le_bytes).concat();
    block(6, &[head, vec![1, 2, 3, 4], options.concat()].concat())
}

pub(crate) fn file(blocks: &[Vec<u8>]) -> Reading {
    read(&[section(), blocks.concat()].concat()).unwrap()
}

#[test]
fn every_resolution_octet_is_read() {
    for octet in 0..=255 {
        let ticks = if octet == 0 || octet == 0x80 {
            1
        } else {
            1 << 40
        };
        let reading = file(&[interface(&[option(9, &[octet])]), packet(0, ticks, &[])]);
        let exact = |ns: u128| i64::try_from(ns).unwrap_or(i64::MAX);
        let ticks = u128::from(ticks) * 1_000_000_000;
        let true_ns = match octet {
            0..0x80 => 10_u128
                .checked_pow(octet.into())
                .map_or(0, |scale| exact(ticks / scale)),
            _ => exact(ticks >> (octet & 0x7f)),
        };
        assert_eq!(reading.rows[0].t_ns, Some(true_ns), "{octet}");
        assert_eq!(reading.damage.is_empty(), true_ns != i64::MAX, "{octet}");
    }
}

#[test]
fn an_offset_moves_by_seconds_also_backwards() {
    for offset_s in [-2_i64, 0, 1_700_000_000] {
        let options = [option(14, &offset_s.to_le_bytes()), option(9, &[12])];
        let reading = file(&[interface(&options), packet(0, 1_500, &[])]);
        assert_eq!(reading.rows[0].t_ns, Some(offset_s * 1_000_000_000 + 1));
    }
}

#[test]
fn an_interface_that_nobody_described_costs_only_its_frames() {
    let reading = file(&[interface(&[]), packet(3, 1, &[]), packet(0, 2, &[])]);
    assert_eq!(reading.rows.len(), 1);
    assert_eq!(reading.damage[0].at_byte, 28 + 20);
    assert!(reading.damage[0].text.contains("interface 3"));
}

#[test]
fn a_packet_longer_than_its_block_costs_only_itself() {
    let mut liar = packet(0, 1, &[]);
    liar[20] = 200;
    let reading = file(&[interface(&[]), liar, packet(0, 2, &[])]);
    assert_eq!((reading.rows.len(), reading.damage.len()), (1, 1));
    assert!(
        reading.damage[0].text.contains(
            "claims 200 bytes and holds 4; 36 bytes are lost, reading goes on at byte 84"
        )
    );
    assert!(reading.is_truncated);
}

#[test]
fn a_block_too_large_to_hold_is_passed_over() {
    for (kind, n_damages) in [(0x7777, 0), (6, 1)] {
        let n_bytes = (17_u32 << 20).to_le_bytes();
        let front = [
            section(),
            interface(&[]),
            u32::to_le_bytes(kind).to_vec(),
            n_bytes.to_vec(),
        ];
        let back = [n_bytes.to_vec(), packet(0, 2, &[])].concat();
        let source = Cursor::new(front.concat())
            .chain(std::io::repeat(0).take((17 << 20) - 12))
            .chain(Cursor::new(back));
        let reading = read_from(Box::new(source)).unwrap();
        assert_eq!((reading.rows.len(), reading.damage.len()), (1, n_damages));
    }
}

#[test]
fn a_packet_says_which_way_it_went() {
    let flags = |flags: u32| option(2, &flags.to_le_bytes());
    let packets = [0x0_u32, 0x1, 0x2, 0x3, 0x0100_0282].map(|value| packet(0, 1, &[flags(value)]));
    let reading = file(&[vec![interface(&[])], packets.to_vec()].concat());
    let directions: Vec<_> = reading.rows.iter().map(|row| row.direction).collect();
    let expected = [
        FrameDirection::Unknown,
        FrameDirection::In,
        FrameDirection::Out,
        FrameDirection::Unknown,
        FrameDirection::Out,
    ];
    assert_eq!(directions, expected);
}

/// What is said of each packet of a file.
fn marks(blocks: &[Vec<u8>]) -> Vec<Option<Marks>> {
    let bytes = [section(), blocks.concat()].concat();
    let source = Box::new(Cursor::new(bytes));
    let mut capture = Capture::from_read(source, Path::new("test")).unwrap();
    let mut found = Vec::new();
    while capture.next_frame().is_some() {
        found.push(capture.marks());
    }
    found
}

#[test]
fn a_packet_says_what_is_to_be_done_to_it() {
    let flags = |bits: u32| packet(0, 1, &[option(2, &bits.to_le_bytes())]);
    let blocks = [
        interface(&[]),
        flags(1 << 9 | 1 << 11),
        flags(1 << 10),
        flags(1),
        packet(0, 1, &[]),
    ];
    let said = |checksum, is_offloaded| {
        Some(Marks {
            checksum,
            is_offloaded: Some(is_offloaded),
            ..Marks::default()
        })
    };
    let expected = [
        said(Checksum::NotReady, true),
        said(Checksum::Valid, false),
        None,
        None,
    ];
    assert_eq!(marks(&blocks), expected);
}

/// As Microsoft's etl2pcapng writes what pktmon saw: a component each an interface, in microseconds,
/// the group of appearances as `epb_packetid`, drops as verdicts, other events as journal blocks.
#[test]
fn pktmon_names_components_and_packets() {
    let seen = |interface, verdict: &[u8]| {
        let comment = b"PID=4 TID=1 SrcPortId=2 SrcNicName=vm1";
        let options = [
            option(1, comment),
            option(2, &2_u32.to_le_bytes()),
            option(5, &0x0000_0005_0000_0007_u64.to_le_bytes()),
            option(7, verdict),
        ];
        packet(interface, 1, &options)
    };
    let blocks = [
        interface(&[option(2, b"vmswitch"), option(6, &[2, 0, 0, 0, 0, 1])]),
        interface(&[option(2, b"NIC")]),
        seen(0, &[2, 1, 0, 0, 0, 0, 0, 0, 0]),
        block(9, b"MESSAGE=drop\n\0\0\0"),
        seen(1, &[0, 0xde, 0xad]),
        seen(1, &[]),
    ];
    let found = marks(&blocks);
    let ids: Vec<_> = found
        .iter()
        .map(|one| one.and_then(|one| one.packet_id))
        .collect();
    let id = Some(0x0000_0005_0000_0007);
    assert_eq!(ids, [id, None, id, id]);
    let verdict_of = |one: &Option<Marks>| one.and_then(|one| one.verdict).map(|it| it.to_string());
    let verdicts: Vec<_> = found.iter().map(verdict_of).collect();
    assert_eq!(
        verdicts,
        [Some("xdp:1".into()), None, Some("hardware".into()), None]
    );
    let reading = file(&blocks);
    let names: Vec<_> = reading
        .interfaces
        .iter()
        .map(|one| one.name.clone())
        .collect();
    assert_eq!(names, [Some("vmswitch".into()), Some("NIC".into())]);
    assert_eq!(reading.rows[1].link, NO_LINK);
    assert_eq!(reading.rows[2].t_ns, Some(1000));
}

#[test]
fn drop_counts_add_up_and_statistics_replace_each_other() {
    let drops = |n: u64| [option(4, &n.to_le_bytes())];
    let statistics = |n: u64| block(5, &[vec![0; 12], option(5, &n.to_le_bytes())].concat());
    let n_dropped = |blocks: &[Vec<u8>]| file(blocks).interfaces[0].n_dropped;
    let sum = [
        interface(&[]),
        packet(0, 1, &drops(3)),
        packet(0, 2, &drops(4)),
    ];
    assert_eq!(n_dropped(&sum), Some(7));
    assert_eq!(
        n_dropped(&[interface(&[]), statistics(5), statistics(9)]),
        Some(9)
    );
}

#[test]
fn endless_damage_does_not_fill_the_memory() {
    let reading = file(&[
        interface(&[]),
        packet(9, 1, &[]).repeat(1000),
        packet(0, 2, &[]),
    ]);
    assert_eq!((reading.rows.len(), reading.damage.len()), (1, 64));
}

#[test]
fn endless_interfaces_do_not_fill_the_memory() {
    let reading = file(&[interface(&[]).repeat(70_000), packet(0, 2, &[])]);
    assert_eq!((reading.rows.len(), reading.interfaces.len()), (1, 65_536));
}

#[test]
fn a_section_of_another_kind_ends_the_reading() {
    let mut next = section();
    next[12] = 2;
    let reading = file(&[interface(&[]), packet(0, 1, &[]), next]);
    assert_eq!(reading.rows.len(), 1);
    assert!(reading.damage[0].text.contains("major version 2"));
}
