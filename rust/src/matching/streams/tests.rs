//! Streams as they come: in parts as all at once, in bounded memory, across the wrap.

use super::*;
use crate::identity::stream_bytes::StreamBytes;
use crate::matching::observation::FrameId;
use crate::matching::testing::{observation, path};

const PIECE: u32 = 100;
/// Of the pieces of one burst.
const PIECES: u32 = 10;

/// Keeps what is said.
#[derive(Default)]
struct Heard {
    /// Points, frames, kind and bytes.
    pairs: Vec<(u16, u16, i64, i64, u8, u64)>,
    /// Of the whole path: bytes, and whether points between saw none of them.
    whole: Vec<(u64, bool)>,
    statuses: [usize; 7],
    lost: Lost,
}

impl Said for Heard {
    fn pair(&mut self, cut: &Cut<'_>) {
        let frames = [cut.up, cut.down].map(|observation| observation.frame.number());
        self.pairs.push((
            cut.up.point,
            cut.down.point,
            frames[0],
            frames[1],
            cut.kind as u8,
            cut.n_bytes,
        ));
    }

    fn whole_path(&mut self, cut: &Cut<'_>, is_leapt: bool) {
        self.whole.push((cut.n_bytes, is_leapt));
    }

    fn packet(&mut self, observations: &[Observation], _: Direction, _: &Folded, fate: Fate) {
        self.statuses[fate.status as usize] += observations.len();
        // nothing is lost after the last point
        if observations.last().is_some_and(|last| last.point < 2) {
            self.lost.add(fate.lost.unwrap_or_default());
        }
    }
}

/// A frame at a point: `n` pieces from piece `first` of the stream on.
fn frame(stream: u64, point: u16, first: u32, n: u32, at_ns: i64) -> Observation {
    let number = u64::from(first) * 100 + u64::from(n);
    Observation {
        flow: stream,
        frame: FrameId::new(usize::from(point), number),
        range: StreamBytes::new(first.wrapping_mul(PIECE).wrapping_sub(30_000), n * PIECE),
        ..observation(number, point, at_ns)
    }
}

/// One burst: cut after the first point, and joined by threes before the last.
fn burst(stream: u64, number: u32, at_ns: i64) -> Vec<Vec<Observation>> {
    let first = number * PIECES;
    let of = |point, from, n, late: u32| {
        vec![frame(
            stream,
            point,
            first + from,
            n,
            at_ns + i64::from(late),
        )]
    };
    let joined = [(0, 3, 900), (3, 3, 930), (6, 3, 960), (9, 1, 990)];
    let mut all = vec![of(0, 0, PIECES, 0)];
    all.extend((0..PIECES).map(|i| of(1, i, 1, 10 * i)));
    all.extend(joined.map(|(from, n, late)| of(2, from, n, late)));
    // the last piece is a packet of its own at both points
    let alone = all.pop().unwrap_or_default();
    if let Some(of_wire) = all.get_mut(PIECES as usize) {
        of_wire.extend(alone);
    }
    all
}

/// Takes bursts of one stream, settling every so many; returns what was said, and the most held.
fn heard(n_bursts: u32, gap_ns: i64, settled_every: u32) -> (Heard, usize) {
    let plan = Arc::new(path(3));
    let (mut ranges, mut heard) = (Ranges::new(&plan), Heard::default());
    let mut most = 0;
    for number in 0..n_bursts {
        let at_ns = i64::from(number) * gap_ns;
        for packet in burst(7, number, at_ns) {
            assert!(ranges.wants(&packet, Direction::Forward));
            ranges.hold(
                &packet,
                Direction::Forward,
                &Folded::default(),
                Ending::Known,
            );
        }
        if number % settled_every == 0 {
            ranges.settle(at_ns - gap_ns, &mut heard);
        }
        most = most.max(ranges.n_held());
    }
    ranges.settle(i64::MAX, &mut heard);
    assert_eq!(ranges.n_held(), 0);
    heard.pairs.sort_unstable();
    (heard, most)
}

#[test]
fn parts_say_what_all_at_once_says() {
    // a sixth of the window apart: the stream never pauses
    let (whole, _) = heard(2_000, 16_000, u32::MAX);
    assert_eq!(whole.pairs.len(), 2_000 * (10 + 9));
    assert_eq!(
        whole.statuses[Status::Coalesced as usize],
        2_000 * (1 + 9 + 3)
    );
    assert_eq!(whole.statuses[Status::Matched as usize], 2_000 * 2);
    assert_eq!(whole.lost, Lost::default());
    let is_first = |pair: &&(u16, u16, i64, i64, u8, u64)| pair.4 == PairKind::FirstByte as u8;
    assert_eq!(whole.pairs.iter().filter(is_first).count(), 2_000 * 4);
    for every in [1, 7, 100] {
        let (parts, most) = heard(2_000, 16_000, every);
        assert_eq!(parts.pairs, whole.pairs, "{every}");
        assert_eq!((parts.statuses, parts.lost), (whole.statuses, whole.lost));
        assert!(most < 14 * (150 + every as usize), "{most} held at {every}");
    }
}

#[test]
fn a_stream_that_pauses_is_let_go_at_once() {
    let (heard, most) = heard(500, 1_000_000, 1);
    assert_eq!(heard.pairs.len(), 500 * 19);
    assert!(most <= 4 * 13, "{most} held");
}

#[test]
fn streams_that_are_over_leave_nothing() {
    let plan = Arc::new(path(3));
    let (mut ranges, mut heard) = (Ranges::new(&plan), Heard::default());
    for stream in 0..50_000_u32 {
        let at_ns = i64::from(stream) * 1_000;
        let lone = [frame(u64::from(stream) << 20, 0, 0, 1, at_ns)];
        ranges.hold(&lone, Direction::Forward, &Folded::default(), Ending::Known);
        ranges.settle(at_ns - 1_000, &mut heard);
        assert!(ranges.streams.len() < 1_000, "{}", ranges.streams.len());
    }
    ranges.settle(i64::MAX, &mut heard);
    assert!(ranges.streams.is_empty() && ranges.due.is_empty());
    assert_eq!(heard.statuses[Status::Unmatched as usize], 50_000);
    assert_eq!((heard.lost.packets, heard.lost.bytes), (50_000, 5_000_000));
}

#[test]
fn stamps_at_the_ends_of_time_are_decided() {
    let plan = Arc::new(path(2));
    let (mut ranges, mut heard) = (Ranges::new(&plan), Heard::default());
    for at_ns in [i64::MIN, i64::MAX, 0] {
        for (point, n) in [(0, 2), (1, 1)] {
            let one = [frame(1, point, 0, n, at_ns)];
            ranges.hold(&one, Direction::Reverse, &Folded::default(), Ending::Known);
        }
    }
    for until_ns in [i64::MIN, 0, i64::MAX] {
        ranges.settle(until_ns, &mut heard);
    }
    assert_eq!(heard.statuses.iter().sum::<usize>(), 6);
}

#[test]
fn a_heap_of_resends_abstains() {
    let plan = Arc::new(path(2));
    let (mut ranges, mut heard) = (Ranges::new(&plan), Heard::default());
    for i in 0..20_000 {
        let up = [frame(1, 0, 0, 50, i)];
        let down = [frame(1, 1, u32::try_from(i % 50).unwrap(), 1, i)];
        for one in [up, down] {
            ranges.hold(&one, Direction::Forward, &Folded::default(), Ending::Known);
        }
    }
    ranges.settle(i64::MAX, &mut heard);
    assert!(heard.pairs.is_empty());
    // whose bytes those at the second point carry is not told either
    assert_eq!(heard.statuses[Status::Ambiguous as usize], 40_000);
}

#[test]
fn equal_packets_that_cannot_be_told_apart_are_not_paired_by_their_bytes() {
    // a point between saw half of their bytes: the rest is looked for past it
    for (up, down, n_past) in [
        (Ending::Known, Ending::Known, 1),
        (Ending::Known, Ending::Unfinished, 1),
        (Ending::Unfinished, Ending::Known, 0),
        (Ending::Ambiguous, Ending::Known, 0),
        (Ending::Known, Ending::Ambiguous, 0),
    ] {
        let half = [frame(1, 1, 0, 1, 0)];
        let ends = [(0, up), (2, down)].map(|(point, ending)| ([frame(1, point, 0, 2, 0)], ending));
        let heard = told([(half, Ending::Known)].iter().chain(&ends));
        let past = heard.pairs.iter().filter(|pair| (pair.0, pair.1) == (0, 2));
        assert_eq!(past.count(), n_past, "{up:?} {down:?}");
    }
}

/// What is said of packets of one stream.
fn told<'a>(packets: impl IntoIterator<Item = &'a ([Observation; 1], Ending)>) -> Heard {
    let (mut ranges, mut heard) = (Ranges::new(&Arc::new(path(3))), Heard::default());
    for (one, ending) in packets {
        ranges.hold(one, Direction::Forward, &Folded::default(), *ending);
    }
    ranges.settle(i64::MAX, &mut heard);
    heard
}

#[test]
fn the_whole_path_is_that_of_bytes_that_were_followed_over_its_segments() {
    let known = |one: Observation| ([one], Ending::Known);
    let ends = [0, 2].map(|point| known(frame(1, point, 0, 2, 0)));
    let pieces = [0, 1].map(|first| known(frame(1, 1, first, 1, 0)));
    // nothing cut it: it may be late, and is asked about whole
    assert_eq!(told(&ends).whole, []);
    assert_eq!(told(&ends).pairs, []);
    let whole_of = |n: usize| told(ends.iter().chain(&pieces[..n])).whole;
    assert_eq!(whole_of(1), [(200, true)]);
    assert_eq!(whole_of(2), [(200, false)]);
}

#[test]
fn a_packet_that_came_past_a_point_whole_is_told_to_have_leapt() {
    for (points, is_leapt) in [(vec![0, 1, 2], false), (vec![0, 2], true)] {
        let (mut ranges, mut heard) = (Ranges::new(&Arc::new(path(4))), Heard::default());
        let whole: Vec<Observation> = points
            .iter()
            .map(|point| frame(1, *point, 0, 2, 0))
            .collect();
        let halves = [0, 1].map(|first| vec![frame(1, 3, first, 1, 0)]);
        for packet in std::iter::once(whole).chain(halves) {
            let (way, none) = (Direction::Forward, Folded::default());
            ranges.hold(&packet, way, &none, Ending::Known);
        }
        ranges.settle(i64::MAX, &mut heard);
        assert_eq!(heard.whole, [(100, is_leapt); 2]);
    }
}

#[test]
fn a_byte_that_was_sent_again_later_does_not_cut_a_packet_that_a_point_missed() {
    let mut plan = path(3);
    plan.wide_ns = 10 * plan.usual_ns;
    for (again_ns, n_matched) in [(0, 0), (plan.usual_ns + 1, 2)] {
        let plan = Arc::new(plan.clone());
        let (mut ranges, mut heard) = (Ranges::new(&plan), Heard::default());
        let whole = [frame(1, 0, 0, 2, 0), frame(1, 2, 0, 2, 0)];
        let again = [frame(1, 1, 1, 1, again_ns)];
        for packet in [&whole[..], &again] {
            let (way, none) = (Direction::Forward, Folded::default());
            ranges.hold(packet, way, &none, Ending::Known);
        }
        ranges.settle(i64::MAX, &mut heard);
        assert_eq!(heard.statuses[Status::Matched as usize], n_matched);
    }
}
