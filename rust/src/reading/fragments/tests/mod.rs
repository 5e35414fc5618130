//! Fragments against packets that were never cut.

mod stt;

use super::made::{cut, tunnelled};
use super::*;
use crate::file::FrameDirection;
use crate::identity::Identity;
use crate::reading::{Asked, History, ReadOutcome, Reading};
use crate::wire::{Decoder, layer_path};

struct Reader {
    reading: Reading,
    history: History,
    packet: Packet,
    n_read: u64,
    t_ns: i64,
}

impl Reader {
    fn new() -> Self {
        Self {
            reading: Reading::everything(Decoder::new(&[]).unwrap()),
            history: History::default(),
            packet: Packet::new(),
            n_read: 0,
            t_ns: 0,
        }
    }

    fn see(&mut self, bytes: &[u8]) -> ReadOutcome {
        self.see_cut(bytes, bytes.len())
    }

    fn see_cut(&mut self, bytes: &[u8], n_captured: usize) -> ReadOutcome {
        self.n_read += 1;
        let mut frame = Frame {
            number: self.n_read,
            t_ns: self.t_ns,
            stamp_ns: None,
            late_ns: 0,
            packet_id: 0,
            has_time: true,
            interface: 0,
            link: 1,
            wire_bytes: u32::try_from(bytes.len()).unwrap(),
            fcs_bytes: 0,
            direction: FrameDirection::Unknown,
            bytes: &bytes[..n_captured.min(bytes.len())],
        };
        self.t_ns += 1_000;
        self.reading
            .see(
                Asked::Matching,
                &mut frame,
                &mut self.history,
                &mut self.packet,
            )
            .0
    }

    fn identity(&mut self, bytes: &[u8]) -> Identity {
        identity(&self.see(bytes))
    }
}

fn identity(seen: &ReadOutcome) -> Identity {
    match seen {
        ReadOutcome::Packet(identity) => *identity,
        _ => panic!("no packet"),
    }
}

fn tally(n_parts: u64, n_whole: u64, n_unfinished: u64, n_contradictory: u64) -> FragmentCounts {
    FragmentCounts {
        n_parts,
        n_whole,
        n_unfinished,
        n_contradictory,
    }
}

#[test]
fn the_last_fragment_carries_what_was_never_cut() {
    for (version, n_body) in [(4, 1480), (4, 552), (6, 1448), (6, 1232)] {
        let whole = tunnelled(version, 3_000);
        let mut reader = Reader::new();
        let expected = reader.identity(&whole);
        let path = layer_path(&reader.packet);
        assert_eq!(reader.packet.depth, 1);
        let mut parts = cut(&whole, n_body, 9);
        let last = parts.pop().unwrap();
        for part in &parts {
            assert!(matches!(reader.see(part), ReadOutcome::Part));
        }
        let found = reader.identity(&last);
        assert_eq!(found, expected, "{version} {n_body}");
        assert_eq!(layer_path(&reader.packet), path);
        assert_eq!(reader.packet.transport_wire_bytes, 3_008);
        assert_eq!(
            reader.history.fragments.tally(),
            tally(parts.len() as u64, 1, 0, 0)
        );
    }
}

#[test]
fn order_and_copies_do_not_matter() {
    let whole = tunnelled(4, 4_000);
    let parts = cut(&whole, 1480, 9);
    let expected = Reader::new().identity(&whole).key;
    for order in [[1, 0, 2], [2, 1, 0], [0, 2, 1], [1, 2, 0]] {
        let mut reader = Reader::new();
        let seen: Vec<ReadOutcome> = order.iter().map(|at| reader.see(&parts[*at])).collect();
        assert_eq!(identity(seen.last().unwrap()).key, expected, "{order:?}");
    }
    let mut mirrored = Reader::new();
    for at in [0, 0, 1, 1] {
        assert!(matches!(mirrored.see(&parts[at]), ReadOutcome::Part));
    }
    assert_eq!(mirrored.identity(&parts[2]).key, expected);
    assert!(matches!(mirrored.see(&parts[2]), ReadOutcome::Part));
    // a second passage of the whole packet
    for at in [0, 1] {
        assert!(matches!(mirrored.see(&parts[at]), ReadOutcome::Part));
    }
    assert_eq!(mirrored.identity(&parts[2]).key, expected);
    assert_eq!(mirrored.history.fragments.tally(), tally(7, 2, 0, 0));
}

#[test]
fn fragments_of_no_tunnel_are_packets() {
    let mut whole = tunnelled(4, 3_000);
    whole[36] = 0x13;
    let mut reader = Reader::new();
    for part in cut(&whole, 1480, 9) {
        let fragment = reader.identity(&part);
        assert!(fragment.directed);
        assert_eq!(
            layer_path(&reader.packet).split('/').count(),
            2 + usize::from(reader.packet.fragment == 1)
        );
    }
    assert_eq!(reader.history.fragments.tally(), FragmentCounts::default());
}

#[test]
fn reused_identifications_do_not_mix() {
    let (one, other) = (tunnelled(4, 3_000), tunnelled(4, 3_016));
    let (old, new) = (cut(&one, 1480, 9), cut(&other, 1480, 9));
    let mut reader = Reader::new();
    reader.see(&old[0]);
    reader.see(&old[1]);
    // the end of the first one was lost; they differ in length only, which is in the first fragment
    assert!(matches!(reader.see(&new[0]), ReadOutcome::Part));
    assert!(matches!(reader.see(&new[1]), ReadOutcome::Part));
    let expected = Reader::new().identity(&other).key;
    assert_eq!(reader.identity(&new[2]).key, expected);
    assert_eq!(reader.history.fragments.tally(), tally(4, 1, 1, 0));
}

#[test]
fn what_contradicts_itself_is_not_put_together() {
    let whole = tunnelled(4, 3_000);
    let (parts, other) = (cut(&whole, 1480, 9), cut(&whole, 1472, 9));
    for wrong in [&other[1], &{
        let mut changed = parts[1].clone();
        *changed.last_mut().unwrap() ^= 1;
        changed
    }] {
        let mut reader = Reader::new();
        for part in [&parts[0], &parts[1], wrong, &parts[2]] {
            assert!(matches!(reader.see(part), ReadOutcome::Part));
        }
        assert_eq!(reader.history.fragments.tally(), tally(4, 0, 0, 1));
    }
}

#[test]
fn what_is_late_is_given_up() {
    let parts = cut(&tunnelled(4, 3_000), 1480, 9);
    let mut reader = Reader::new();
    reader.see(&parts[0]);
    reader.see(&parts[1]);
    reader.t_ns += MOST_AGE_NS;
    assert!(matches!(reader.see(&parts[2]), ReadOutcome::Part));
    assert_eq!(reader.history.fragments.tally(), tally(3, 0, 2, 0));
    // of ends without a tunnel it is a packet like any other
    assert!(matches!(
        Reader::new().see(&parts[2]),
        ReadOutcome::Packet(_)
    ));
}

#[test]
fn bytes_no_capture_has_are_not_made_up() {
    let whole = tunnelled(4, 3_000);
    let mut reader = Reader::new();
    let mut parts = cut(&whole, 1480, 9);
    let last = parts.pop().unwrap();
    for part in &parts {
        reader.see_cut(part, 128);
    }
    identity(&reader.see_cut(&last, 128));
    assert_eq!(reader.packet.end_at, 128);
    assert_eq!(reader.packet.transport_wire_bytes, 3_008);
    assert_eq!(crate::identity::cut_bytes(&reader.packet), Some(128 - 84));
}

#[test]
fn memory_is_bounded() {
    let mut reader = Reader::new();
    let whole = tunnelled(4, 60_000);
    for round in 0..600_u32 {
        let mut part = cut(&whole, 40_000, u8::try_from(round % 251).unwrap()).remove(0);
        part[26..30].copy_from_slice(&round.to_be_bytes());
        reader.see(&part);
        assert!(reader.history.fragments.n_bytes <= MOST_BYTES + 50_000);
    }
    assert!(reader.history.fragments.held.len() < 600);
    let mut reader = Reader::new();
    let whole = tunnelled(4, 200);
    for round in 0..20_000_u32 {
        let mut part = cut(&whole, 160, 9).remove(0);
        part[26..30].copy_from_slice(&round.to_be_bytes());
        reader.see(&part);
    }
    assert!(reader.history.fragments.order.len() <= MOST_DATAGRAMS);
    assert!(reader.history.fragments.held.len() <= MOST_DATAGRAMS);
    assert_eq!(
        reader.history.fragments.tally(),
        tally(20_000, 0, 20_000, 0)
    );
}

#[test]
fn nonsense_is_let_be() {
    let whole = tunnelled(6, 3_000);
    let parts = cut(&whole, 1448, 9);
    for n_captured in 0..140 {
        let mut reader = Reader::new();
        for part in &parts {
            reader.see_cut(part, n_captured);
        }
    }
    let mut tiny = cut(&whole, 1448, 9).remove(0);
    tiny[18..20].copy_from_slice(&[0, 9]);
    let mut reader = Reader::new();
    reader.see(&tiny);
    assert_eq!(reader.history.fragments.tally(), FragmentCounts::default());
}
