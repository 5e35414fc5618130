use super::*;
use crate::identity::message::{Message, MessageKind};
use crate::matching::exchange::round_trips::Shares;
use crate::matching::testing::{SEGMENT_NS, observation, path};

#[expect(non_upper_case_globals, reason = "a kind of direction")]
const Forward: Direction = Direction::Forward;
#[expect(non_upper_case_globals, reason = "a kind of direction")]
const Reverse: Direction = Direction::Reverse;

const POINTS: u16 = 3;
const MS: i64 = 1_000_000;

/// A segment at all points: first byte and bytes, timestamp and the one it echoes.
fn segment(direction: Direction, at_ns: i64, bytes: (u32, u32), stamps: (u32, u32)) -> Segment {
    let mut points: Vec<u16> = (0..POINTS).collect();
    if direction == Reverse {
        points.reverse();
    }
    let seen = |(hop, point): (i64, u16)| Observation {
        t_ns: at_ns + hop * SEGMENT_NS,
        range: StreamBytes::new(bytes.0, bytes.1),
        message: Message::new(MessageKind::Ack, 1).stamped(stamps.0, stamps.1),
        ..observation(1, point, at_ns)
    };
    (direction, (0_i64..).zip(points).map(seen).collect(), false)
}

type Segment = (Direction, Vec<Observation>, bool);

fn shares(segments: &[Segment]) -> Shares {
    let plan = Arc::new(path(POINTS));
    let mut counter = Counter::new(Arc::clone(&plan), &std::env::temp_dir(), 0).unwrap();
    let mut timestamps = Timestamps::new(&plan);
    for (direction, observations, is_ambiguous) in segments {
        let mut packet = Trajectory::new(observations, *direction, *is_ambiguous);
        let nearest = packet.nearest().unwrap();
        timestamps.note(nearest, &mut packet, &mut counter);
    }
    timestamps.settle(i64::MAX, &mut counter);
    counter.finish().unwrap()
}

/// Pairs on the first link, those left out, and what the far end saw of those sent forward; the
/// same in whatever order the segments come to be known.
fn counted(segments: &[Segment]) -> (u64, u64, i128) {
    let kind = ExchangeKind::Timestamp as usize;
    let mut turned = segments.to_vec();
    turned.reverse();
    let [found, again] = [segments, &turned].map(|segments| {
        let all = shares(segments);
        let waited_ns = all.seen[kind][0][1].histogram().sum_ns;
        (
            all.links[0][kind].histogram().n,
            all.n_left_out[kind],
            waited_ns,
        )
    });
    assert_eq!(found, again);
    found
}

#[test]
fn the_first_that_shows_a_value_meets_the_first_that_echoes_it() {
    let segments = [
        segment(Forward, 0, (100, 50), (7, 3)),
        segment(Forward, 10_000, (150, 50), (7, 3)),
        segment(Reverse, 500_000, (900, 0), (4, 7)),
        segment(Reverse, 600_000, (900, 10), (4, 7)),
        // it has nothing to ask by 4: a pure acknowledgment showed it first
        segment(Forward, MS, (200, 10), (8, 4)),
    ];
    assert_eq!(
        counted(&segments),
        (1, 0, i128::from(500_000 - 2 * SEGMENT_NS))
    );
}

#[test]
fn what_is_sent_again_within_a_tick_is_left_out_and_later_has_its_own_value() {
    let first = segment(Forward, 0, (100, 50), (7, 3));
    let echo = segment(Reverse, 3 * MS, (900, 0), (4, 7));
    let again = segment(Forward, 500_000, (100, 50), (7, 3));
    assert_eq!(counted(&[first.clone(), again, echo]), (0, 1, 0));
    // of the first the acknowledgment was lost; of the second it is known
    let later = segment(Forward, 2 * MS, (100, 50), (9, 3));
    let echo = segment(Reverse, 3 * MS, (900, 0), (4, 9));
    let waited_ns = i128::from(MS - 2 * SEGMENT_NS);
    assert_eq!(counted(&[first, later, echo]), (1, 0, waited_ns));
}

#[test]
fn a_part_of_what_was_sent_is_sent_again_too() {
    let segments = [
        segment(Forward, 0, (100, 50), (7, 3)),
        segment(Forward, 10_000, (150, 50), (7, 3)),
        segment(Forward, 500_000, (150, 50), (7, 3)),
        segment(Reverse, 600_000, (900, 0), (4, 7)),
    ];
    assert_eq!(counted(&segments), (0, 1, 0));
}

#[test]
fn what_may_be_another_packet_and_what_comes_too_late_is_no_pair() {
    let shown = segment(Forward, 0, (100, 50), (7, 3));
    let mut echo = segment(Reverse, 500_000, (900, 0), (4, 7));
    echo.2 = true;
    assert_eq!(counted(&[shown.clone(), echo]), (0, 1, 0));
    let late = segment(Reverse, MOST_APART_NS + MS, (900, 9), (5, 7));
    assert_eq!(counted(&[shown, late]), (0, 0, 0));
}

#[test]
fn an_opening_asks_though_it_has_no_bytes() {
    let mut opening = segment(Forward, 0, (100, 0), (7, 0));
    for observation in &mut opening.1 {
        observation.message = Message::new(MessageKind::Syn, 0).stamped(7, 0);
    }
    let answer = segment(Reverse, 500_000, (900, 0), (4, 7));
    assert_eq!(counted(&[opening, answer]).0, 1);
}

#[test]
fn what_was_echoed_before_it_was_shown_is_no_pair() {
    let echo = segment(Reverse, 0, (900, 0), (4, 7));
    let shown = segment(Forward, MS, (100, 50), (7, 3));
    assert_eq!(counted(&[echo, shown]), (0, 1, 0));
}

#[test]
fn segments_without_timestamps_are_nothing() {
    let segments = [
        segment(Forward, 0, (100, 50), (0, 0)),
        segment(Reverse, 500_000, (900, 0), (0, 0)),
    ];
    assert_eq!(counted(&segments), (0, 0, 0));
}

#[test]
fn long_runs_keep_little() {
    let plan = Arc::new(path(POINTS));
    let mut counter = Counter::new(Arc::clone(&plan), &std::env::temp_dir(), 0).unwrap();
    let mut timestamps = Timestamps::new(&plan);
    for number in 1..100_000_u32 {
        let at_ns = i64::from(number) * MS;
        let (_, observations, _) = segment(Forward, at_ns, (100 * number, 50), (number, 3));
        let mut packet = Trajectory::new(&observations, Forward, false);
        timestamps.note(&observations[0], &mut packet, &mut counter);
        timestamps.settle(at_ns, &mut counter);
    }
    assert!(timestamps.open.len() <= FEW_OPEN + 1);
}
