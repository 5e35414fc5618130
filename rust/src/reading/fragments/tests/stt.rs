//! Frames of STT in segments, against frames that were never cut.

use super::super::made::{LINK_BYTES, ipv4, ipv6};
use super::*;
use crate::wire::vectors::frame as octets;

const HEADER: &str = "0000220005780000 1122334455667788 0000";
const CONTEXT: i64 = 0x1122_3344_5566_7788;

/// The STT header and the Ethernet frame in it: a TCP segment of so many bytes of payload.
fn body(n_payload: usize) -> Vec<u8> {
    let inner = octets("020000000002 020000000001 0800");
    let tcp = octets("9c409c41112233445566778850180400 6f430000");
    let payload = (0..n_payload).map(|at| u8::try_from(at * 7 % 251).unwrap());
    let n_ip = (40 + n_payload).min(65_535);
    let ip = ipv4(n_ip, 6, [10, 0, 0, 1, 10, 0, 0, 2]);
    [octets(HEADER), inner, ip, tcp, payload.collect()].concat()
}

/// A segment: the bytes of `body` from an offset on, of a frame by this number.
fn segment(version: u8, id: u32, body: &[u8], from: usize, to: usize) -> Vec<u8> {
    let n_frame = u16::try_from(body.len()).unwrap();
    segment_of(version, id, n_frame, from, &body[from..to])
}

fn segment_of(version: u8, id: u32, n_frame: u16, from: usize, part: &[u8]) -> Vec<u8> {
    let n_ip = 20 + part.len();
    let (link, ip) = if version == 4 {
        let ends = [192, 0, 2, 1, 192, 0, 2, 2];
        ([8, 0], ipv4(20 + n_ip, 6, ends))
    } else {
        ([0x86, 0xdd], ipv6(n_ip, 6))
    };
    let pseudo = [
        &[0xc7, 0x38, 0x1d, 0x2f][..],
        &n_frame.to_be_bytes(),
        &u16::try_from(from).unwrap().to_be_bytes(),
        &id.to_be_bytes(),
        &[0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0],
    ];
    let macs = [2, 0, 0, 0, 0, 13, 2, 0, 0, 0, 0, 12];
    [&macs[..], &link, &ip, &pseudo.concat(), part].concat()
}

fn segments(version: u8, id: u32, body: &[u8], n_each: usize) -> Vec<Vec<u8>> {
    let starts = (0..body.len()).step_by(n_each);
    starts
        .map(|from| segment(version, id, body, from, body.len().min(from + n_each)))
        .collect()
}

/// What the frame would have been, had it gone in one piece.
fn expected(version: u8, body: &[u8]) -> Identity {
    Reader::new().identity(&segment(version, 1, body, 0, body.len()))
}

#[test]
fn the_bytes_of_the_draft_are_put_together() {
    // one frame of 74 bytes behind its header, in segments of 40 and 34
    let first = octets(concat!(
        "02000000000d02000000000c080045000050123440004006a470c0000201c0000202",
        "c7381d2f004a0000000007775010ffff00000000000e220005780000112233445566",
        "7788000002000000000202000000000108004500002a12344000"
    ));
    let last = octets(concat!(
        "02000000000d02000000000c08004500004a123440004006a476c0000201c0000202",
        "c7381d2f004a0028000007775010ffff00000000",
        "400614980a0000010a0000029c409c411122334455667788501804006f430000dead"
    ));
    let mut reader = Reader::new();
    assert!(matches!(reader.see(&first), ReadOutcome::Part));
    assert_eq!(layer_path(&reader.packet), "ethernet/ipv4/tcp");
    reader.identity(&last);
    assert_eq!(
        layer_path(&reader.packet),
        "ethernet/ipv4/tcp/stt/ethernet/ipv4/tcp"
    );
    let packet = &reader.packet;
    assert_eq!((packet.src, packet.src_port), (0x0a00_0001, 40_000));
    assert_eq!(
        (packet.tunnel_id, packet.transport_wire_bytes),
        (CONTEXT, 22)
    );
    assert_eq!((packet.depth, packet.stop), (1, None));
    assert_eq!(reader.history.fragments.tally(), tally(1, 1, 0, 0));
}

#[test]
fn the_last_segment_carries_what_was_never_cut() {
    for version in [4, 6] {
        for (n_payload, n_each) in [
            (3_000, 1_440),
            (20_000, 1_400),
            (1_460, 700),
            (64_000, 8_900),
        ] {
            let body = body(n_payload);
            let mut parts = segments(version, 7, &body, n_each);
            let last = parts.pop().unwrap();
            let mut reader = Reader::new();
            for part in &parts {
                assert!(matches!(reader.see(part), ReadOutcome::Part));
            }
            assert_eq!(reader.identity(&last), expected(version, &body));
            assert_eq!(
                reader.history.fragments.tally(),
                tally(parts.len() as u64, 1, 0, 0)
            );
            let n_tcp = u32::try_from(20 + n_payload).unwrap();
            assert_eq!(reader.packet.transport_wire_bytes, n_tcp);
        }
    }
}

#[test]
fn a_frame_too_long_for_one_ip_packet_is_read_whole() {
    let body = body(65_535 - 18 - 54);
    let mut reader = Reader::new();
    let parts = segments(4, 7, &body, 1_448);
    let seen: Vec<ReadOutcome> = parts.iter().map(|part| reader.see(part)).collect();
    identity(seen.last().unwrap());
    let n_tcp = u32::try_from(body.len() - 18 - 34).unwrap();
    assert_eq!(reader.packet.transport_wire_bytes, n_tcp);
    assert_eq!(reader.packet.end_at, LINK_BYTES + 40 + body.len());
}

#[test]
fn order_and_copies_of_segments_do_not_matter() {
    let body = body(4_000);
    let parts = segments(4, 7, &body, 1_440);
    for order in [[0, 2, 1], [1, 2, 0], [2, 1, 0]] {
        let mut reader = Reader::new();
        let seen: Vec<ReadOutcome> = order.iter().map(|at| reader.see(&parts[*at])).collect();
        assert_eq!(identity(seen.last().unwrap()), expected(4, &body));
    }
    let mut mirrored = Reader::new();
    for at in [0, 0, 1, 1] {
        assert!(matches!(mirrored.see(&parts[at]), ReadOutcome::Part));
    }
    assert_eq!(mirrored.identity(&parts[2]), expected(4, &body));
    assert_eq!(mirrored.history.fragments.tally(), tally(4, 1, 0, 0));
}

#[test]
fn frames_do_not_mix() {
    let (one, other) = (body(3_000), body(3_100));
    let (old, new) = (segments(4, 7, &one, 1_440), segments(4, 8, &other, 1_440));
    let mut reader = Reader::new();
    for at in 0..2 {
        reader.see(&old[at]);
        reader.see(&new[at]);
    }
    assert_eq!(reader.identity(&new[2]), expected(4, &other));
    assert_eq!(reader.identity(&old[2]), expected(4, &one));
    // the same number again, at once
    let again = segments(4, 7, &one, 1_000);
    for part in &again[..3] {
        assert!(matches!(reader.see(part), ReadOutcome::Part));
    }
    assert_eq!(reader.identity(&again[3]), expected(4, &one));
}

#[test]
fn a_first_segment_alone_says_what_is_in_it() {
    let body = body(3_000);
    let parts = segments(4, 7, &body, 1_440);
    let mut reader = Reader::new();
    assert!(matches!(reader.see(&parts[0]), ReadOutcome::Part));
    assert_eq!(
        layer_path(&reader.packet),
        "ethernet/ipv4/tcp/stt/ethernet/ipv4/tcp"
    );
    assert_eq!(
        (reader.packet.src, reader.packet.tunnel_id),
        (0x0a00_0001, CONTEXT)
    );
    reader.see(&parts[2]);
    assert_eq!(reader.history.fragments.tally(), tally(2, 0, 1, 0));
}

#[test]
fn later_segments_of_no_known_tunnel_are_packets() {
    let body = body(3_000);
    let parts = segments(4, 7, &body, 1_440);
    let mut reader = Reader::new();
    for part in &parts[1..] {
        reader.identity(part);
        assert_eq!(layer_path(&reader.packet), "ethernet/ipv4/tcp/stt");
    }
    assert_eq!(reader.history.fragments.tally(), FragmentCounts::default());
    // a whole frame needs no others
    reader.identity(&segment(4, 9, &body, 0, body.len()));
    assert_eq!(reader.history.fragments.tally(), FragmentCounts::default());
}

#[test]
fn segments_that_contradict_are_not_put_together() {
    let body = body(3_000);
    let parts = segments(4, 7, &body, 1_440);
    let mut changed = parts[1].clone();
    *changed.last_mut().unwrap() ^= 1;
    for wrong in [changed, segment(4, 7, &body, 1_000, 1_500)] {
        let mut reader = Reader::new();
        for part in [&parts[0], &parts[1], &wrong, &parts[2]] {
            assert!(matches!(reader.see(part), ReadOutcome::Part));
        }
        assert_eq!(reader.history.fragments.tally(), tally(4, 0, 0, 1));
    }
}

#[test]
fn a_segment_beyond_its_frame_is_a_packet() {
    let body = body(3_000);
    let parts = segments(4, 7, &body, 1_440);
    let n_frame = u16::try_from(body.len()).unwrap();
    let beyond = segment_of(4, 7, n_frame, 2_880, &[0; 1_440]);
    let empty = segment_of(4, 7, n_frame, 1_440, &[]);
    let mut reader = Reader::new();
    reader.see(&parts[0]);
    reader.identity(&beyond);
    reader.identity(&empty);
    reader.see(&parts[1]);
    assert_eq!(reader.identity(&parts[2]), expected(4, &body));
}

#[test]
fn late_segments_and_too_many_are_given_up() {
    let body = body(3_000);
    let parts = segments(6, 7, &body, 1_440);
    let mut reader = Reader::new();
    reader.see(&parts[0]);
    reader.t_ns += MOST_AGE_NS + 1;
    reader.see(&parts[1]);
    assert!(matches!(reader.see(&parts[2]), ReadOutcome::Part));
    assert_eq!(reader.history.fragments.tally(), tally(3, 0, 2, 0));
    let body = self::body(60_000);
    let mut reader = Reader::new();
    for id in 0..600 {
        reader.see(&segment(4, id, &body, 0, 40_000));
        assert!(reader.history.fragments.n_bytes <= MOST_BYTES + 50_000);
    }
    assert!(reader.history.fragments.held.len() < 600);
    let mut reader = Reader::new();
    for id in 0..20_000 {
        reader.see(&segment(4, id, &body, 0, 100));
    }
    assert!(reader.history.fragments.held.len() <= MOST_DATAGRAMS);
}

#[test]
fn what_the_snap_length_took_is_not_made_up() {
    let body = body(3_000);
    let mut parts = segments(4, 7, &body, 1_440);
    let last = parts.pop().unwrap();
    let mut reader = Reader::new();
    for part in &parts {
        assert!(matches!(reader.see_cut(part, 160), ReadOutcome::Part));
    }
    identity(&reader.see_cut(&last, 160));
    assert_eq!((reader.packet.end_at, reader.packet.stop), (160, None));
    assert_eq!(reader.packet.transport_wire_bytes, 3_020);
    for n_captured in 0..160 {
        let mut reader = Reader::new();
        for part in &parts {
            reader.see_cut(part, n_captured);
        }
        reader.see_cut(&last, n_captured);
    }
}

#[test]
fn segments_in_fragments_are_put_together() {
    let body = body(3_000);
    let segments = segments(4, 9, &body, 1_000);
    let cut = |(id, segment): (usize, &Vec<u8>)| cut(segment, 408, u8::try_from(id).unwrap());
    let frames: Vec<_> = segments.iter().enumerate().flat_map(cut).collect();
    let mut reader = Reader::new();
    let (last, others) = frames.split_last().unwrap();
    for frame in others {
        assert!(matches!(reader.see(frame), ReadOutcome::Part));
    }
    assert_eq!(reader.identity(last), expected(4, &body));
    let tally = reader.history.fragments.tally();
    assert_eq!((tally.n_parts, tally.n_whole), (others.len() as u64, 1));
    assert_eq!((tally.n_unfinished, tally.n_contradictory), (0, 0));
}
