mod answers;

use crate::matching::testing::SEGMENT_NS;

use crate::matching::testing::path;

use super::*;
use crate::identity::message::Message;
use crate::identity::stream_bytes::StreamBytes;
use crate::matching::exchange::round_trips::KINDS;
use crate::matching::testing::observation;

#[expect(non_upper_case_globals, reason = "a kind of direction")]
const Forward: Direction = Direction::Forward;
#[expect(non_upper_case_globals, reason = "a kind of direction")]
const Reverse: Direction = Direction::Reverse;

const POINTS: u16 = 3;

/// A packet at all points, that leaves its sender's end at `at_ns`; the clock of point 1 is ahead.
fn packet(
    direction: Direction,
    at_ns: i64,
    says: (MessageKind, u32),
    range: StreamBytes,
) -> Vec<Observation> {
    let mut points: Vec<u16> = (0..POINTS).collect();
    if direction == Direction::Reverse {
        points.reverse();
    }
    let seen = |(hop, point): (i64, u16)| Observation {
        t_ns: at_ns + hop * SEGMENT_NS + 7_000_000 * i64::from(point == 1),
        range,
        message: Message::new(says.0, says.1),
        ..observation(1, point, at_ns)
    };
    (0_i64..).zip(points).map(seen).collect()
}

fn segment(direction: Direction, at_ns: i64, seq: u32, n: u32, ack: u32) -> Vec<Observation> {
    packet(
        direction,
        at_ns,
        (MessageKind::Ack, ack),
        StreamBytes::new(seq, n),
    )
}

fn trips(one_in: u32) -> Trips {
    let plan = crate::plan::Plan {
        paired_one_in: one_in,
        point_covers: vec![(-10_000_000_000, i64::MAX); usize::from(POINTS)],
        ..path(POINTS)
    };
    Trips::new(&Arc::new(plan), &std::env::temp_dir(), 0).unwrap()
}

fn pair(packets: &[(Direction, Vec<Observation>)]) -> Shares {
    let mut trips = trips(1);
    for (direction, observations) in packets {
        trips.note(observations, *direction, false);
    }
    trips.finish().unwrap()
}

/// Pairs by kind on the first link, and those that were left out.
fn counts(shares: &Shares) -> Vec<(&'static str, u64, u64)> {
    let n = shares.links[0].iter().map(|one| one.histogram().n);
    let all = KINDS.iter().zip(n).zip(shares.n_left_out);
    let some = all.filter(|((_, n), left_out)| n + left_out > 0);
    some.map(|((kind, n), left_out)| (*kind, n, left_out))
        .collect()
}

#[test]
fn a_request_in_segments_meets_the_start_of_its_response() {
    let request = [
        (Forward, segment(Forward, 0, 100, 50, 900)),
        (Forward, segment(Forward, 1_000, 150, 50, 900)),
    ];
    let response = [
        (Reverse, segment(Reverse, 500_000, 900, 0, 200)),
        (Reverse, segment(Reverse, 900_000, 900, 10, 200)),
        (Reverse, segment(Reverse, 901_000, 910, 10, 200)),
    ];
    let all = [&request[..], &response[..]].concat();
    let mut turned = all.clone();
    turned.reverse();
    for order in [all, turned] {
        let shares = pair(&order);
        assert_eq!(counts(&shares), [("tcp-transaction", 1, 0)]);
        // point 1's clock cancels
        let sums = shares.links.iter().map(|of| of[0].histogram().sum_ns);
        assert!(sums.eq([2, 2, 4].map(|n| n * i128::from(SEGMENT_NS))));
        let [first, last] = &shares.seen[0][0];
        let beyond_ns = 900_000 - 1_000 - 2 * i128::from(SEGMENT_NS);
        assert_eq!(last.histogram().sum_ns, beyond_ns);
        assert_eq!(
            first.histogram().sum_ns,
            beyond_ns + 4 * i128::from(SEGMENT_NS)
        );
        assert_eq!(shares.seen[0][1][0].histogram().n, 0);
    }
}

#[test]
fn a_stream_meets_the_first_that_acknowledges_each_end() {
    let shares = pair(&[
        (Reverse, segment(Reverse, 0, 0, 100, 7)),
        (Reverse, segment(Reverse, 1_000, 100, 100, 7)),
        (Forward, segment(Forward, 50_000, 7, 0, 200)),
        (Forward, segment(Forward, 90_000, 7, 0, 200)),
        // bytes of its own, which answer nothing
        (Forward, segment(Forward, 99_000, 8, 10, 200)),
    ]);
    assert_eq!(counts(&shares), [("tcp-ack", 1, 0)]);
    assert_eq!(
        shares.links[0][2].histogram().sum_ns,
        2 * i128::from(SEGMENT_NS)
    );
    assert_eq!(
        shares.seen[2][1][1].histogram().sum_ns,
        49_000 + 2 * i128::from(SEGMENT_NS)
    );
}

#[test]
fn what_is_sent_again_is_left_out() {
    let request = (Forward, segment(Forward, 0, 100, 50, 900));
    let again = (Forward, segment(Forward, 200_000_000, 100, 50, 900));
    let response = (Reverse, segment(Reverse, 200_100_000, 900, 10, 150));
    let resent = (Reverse, segment(Reverse, 400_100_000, 900, 10, 150));
    let twice = pair(&[request.clone(), again.clone(), response.clone()]);
    assert_eq!(counts(&twice), [("tcp-transaction", 0, 1)]);
    let answered_twice = pair(&[request.clone(), response.clone(), resent]);
    assert_eq!(counts(&answered_twice), [("tcp-transaction", 0, 1)]);
    let mut trips = trips(1);
    trips.note(&request.1, Forward, true);
    trips.note(&response.1, Reverse, false);
    assert_eq!(
        counts(&trips.finish().unwrap()),
        [("tcp-transaction", 0, 1)]
    );
    // numbers come around: what is so far apart is another request
    let later = segment(Forward, 10_000_000_000, 100, 50, 900);
    let answer = segment(Reverse, 10_000_050_000, 900, 10, 150);
    let round = [request, response, (Forward, later), (Reverse, answer)];
    assert_eq!(counts(&pair(&round)), [("tcp-transaction", 2, 0)]);
}

#[test]
fn opening_echo_and_dns_meet_their_answers() {
    let none = StreamBytes::NONE;
    let opened = StreamBytes::new(501, 0);
    let at = |direction, at_ns, kind, number, bytes| {
        (direction, packet(direction, at_ns, (kind, number), bytes))
    };
    let shares = pair(&[
        at(Forward, 0, MessageKind::Syn, 0, opened),
        at(
            Reverse,
            40_000,
            MessageKind::SynAck,
            501,
            StreamBytes::new(801, 0),
        ),
        at(Forward, 80_000, MessageKind::Ack, 801, opened),
        at(Forward, 0, MessageKind::EchoRequest, 9, none),
        at(Reverse, 50_000, MessageKind::EchoReply, 9, none),
        at(Forward, 0, MessageKind::EchoRequest, 10, none),
        at(Reverse, 70_000, MessageKind::Query, 77, none),
        at(Forward, 99_000, MessageKind::Response, 77, none),
        at(Forward, 99_000, MessageKind::Response, 78, none),
    ]);
    let expected = [("tcp-handshake", 1, 0), ("icmp-echo", 1, 0), ("dns", 1, 0)];
    assert_eq!(counts(&shares), expected);
}

#[test]
fn datagrams_pair_where_they_take_turns() {
    let datagram = |direction, at_ns| {
        (
            direction,
            packet(
                direction,
                at_ns,
                (MessageKind::Datagram, 0),
                StreamBytes::NONE,
            ),
        )
    };
    let us = 1_000;
    let shares = pair(&[
        datagram(Forward, 0),
        datagram(Reverse, 100 * us),
        // a request is lost: two for one response
        datagram(Forward, 200 * us),
        datagram(Forward, 300 * us),
        datagram(Reverse, 400 * us),
        datagram(Forward, 500 * us),
        datagram(Reverse, 600 * us),
    ]);
    assert_eq!(counts(&shares), [("udp-transaction", 2, 1)]);
    assert_eq!(shares.seen[5][0][0].histogram().n, 2);
    let one_way = pair(&[datagram(Forward, 0), datagram(Forward, 100)]);
    assert_eq!(counts(&one_way), []);
}

#[test]
fn some_numbers_stand_for_all() {
    let mut trips = trips(8);
    for i in 0..4_000_u32 {
        let at_ns = i64::from(i) * 100_000;
        let request = segment(Forward, at_ns, i * 10, 10, i * 20);
        trips.note(&request, Forward, false);
        let response = segment(Reverse, at_ns + 50_000, i * 20, 20, i * 10 + 10);
        trips.note(&response, Reverse, false);
    }
    let shares = trips.finish().unwrap();
    let n = shares.links[0][0].histogram().n;
    assert!((350..650).contains(&n), "{n}");
    assert_eq!(counts(&shares), [("tcp-transaction", n, 0)]);
}
