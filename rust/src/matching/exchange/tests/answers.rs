//! Which of several packets is the answer.

use super::*;

fn datagram(direction: Direction, at_ns: i64) -> (Direction, Vec<Observation>) {
    let observations = packet(
        direction,
        at_ns,
        (MessageKind::Datagram, 0),
        StreamBytes::NONE,
    );
    (direction, observations)
}

#[test]
fn no_answer_comes_before_its_request() {
    let echo = |direction, at_ns, part| {
        let observations = packet(direction, at_ns, (part, 9), StreamBytes::NONE);
        (direction, observations)
    };
    let early = pair(&[
        echo(Forward, 500_000, MessageKind::EchoRequest),
        echo(Reverse, 0, MessageKind::EchoReply),
    ]);
    assert_eq!(counts(&early), [("icmp-echo", 0, 1)]);
}

#[test]
fn who_opened_asks_though_the_other_spoke_first() {
    let shares = pair(&[
        (Reverse, segment(Reverse, 0, 800, 20, 100)),
        (Forward, segment(Forward, 400_000, 100, 50, 820)),
        (Reverse, segment(Reverse, 800_000, 820, 10, 150)),
        (
            Forward,
            packet(
                Forward,
                900_000,
                (MessageKind::Syn, 0),
                StreamBytes::new(5, 0),
            ),
        ),
    ]);
    // the greeting asks nothing: what the client sends next is its first request
    assert_eq!(counts(&shares), [("tcp-transaction", 1, 0)]);
    assert_eq!(shares.seen[0][0][0].histogram().n, 1);
}

#[test]
fn a_response_begins_with_its_earliest_bytes() {
    let request = (Forward, segment(Forward, 0, 100, 50, 900));
    let first = (Reverse, segment(Reverse, 500_000, 900, 10, 150));
    // its second segment overtook the first
    let second = (Reverse, segment(Reverse, 499_000, 910, 10, 150));
    for order in [[&request, &second, &first], [&first, &request, &second]] {
        let shares = pair(&order.map(Clone::clone));
        assert_eq!(counts(&shares), [("tcp-transaction", 1, 0)]);
        let at_last = &shares.seen[0][0][1].histogram();
        assert_eq!(at_last.sum_ns, 500_000 - 2 * i128::from(SEGMENT_NS));
    }
}

#[test]
fn datagrams_far_apart_are_no_turn() {
    let (soon_ns, late_ns) = (1_999_000_000, 2_001_000_000);
    let took = |later_ns| counts(&pair(&[datagram(Forward, 0), datagram(Reverse, later_ns)]));
    assert_eq!(took(soon_ns), [("udp-transaction", 1, 0)]);
    assert_eq!(took(late_ns), []);
}

#[test]
fn a_datagram_whose_first_point_missed_it_is_left_out() {
    let (request, mut response) = (datagram(Forward, 0), datagram(Reverse, 100_000));
    response.1.pop();
    assert_eq!(
        counts(&pair(&[request, response])),
        [("udp-transaction", 0, 1)]
    );
}
