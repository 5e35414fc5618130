use super::*;
use crate::matching::testing::observation;

/// RFC 4737 as it is written, by one flow, in order of arrival.
fn reference(sent: &[i64]) -> u64 {
    let later_before = |i: usize| sent[..i].iter().any(|before| *before > sent[i]);
    (0..sent.len()).map(|i| u64::from(later_before(i))).sum()
}

/// Numbers below `n`, in an order of the seed's choosing.
fn permutation(n: i64, seed: &mut u64) -> Vec<i64> {
    let mut all: Vec<i64> = (0..n).collect();
    for i in (1..all.len()).rev() {
        *seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        all.swap(i, usize::try_from(*seed >> 33).unwrap() % (i + 1));
    }
    all
}

#[test]
fn the_variation_is_that_of_neighbours_in_a_flow() {
    let mut reordering = Reordering::default();
    let far = 10 * MOST_APART_NS;
    // two flows in turns, and a packet long after
    let sent = [
        (1, 0, 100),
        (2, 1000, 500),
        (1, 2000, 130),
        (2, 3000, 500),
        (1, 4000, 90),
        (1, far, 7),
    ];
    for (flow, sent_ns, took_ns) in sent {
        push(&mut reordering, flow, sent_ns, sent_ns + took_ns);
    }
    let (n_reordered, variation) = reordering.finish();
    assert_eq!(n_reordered, [0; 3]);
    assert_eq!(variation.values(), [(0.0, 1), (30.0, 1), (40.0, 1)]);
}

fn push(reordering: &mut Reordering, flow: u64, sent_ns: i64, arrived_ns: i64) {
    let up = Observation {
        flow,
        ..observation(1, 0, sent_ns)
    };
    reordering.push(
        &up,
        &observation(1, 1, arrived_ns),
        PairKind::Packet,
        true,
        None,
    );
}

#[test]
fn bytes_are_in_order_with_whole_packets() {
    // a packet after the first piece of two that are joined behind it, and one that overtakes both
    let mut reordering = Reordering::default();
    let arrivals = [
        (PairKind::Packet, 20, 100),
        (PairKind::FirstByte, 10, 110),
        (PairKind::Overlap, 15, 110),
        (PairKind::LastByte, 30, 110),
        (PairKind::Packet, 25, 120),
        (PairKind::LastByte, 24, 130),
        (PairKind::Packet, 40, 140),
    ];
    for (kind, sent_ns, arrived_ns) in arrivals {
        let (up, down) = (observation(1, 0, sent_ns), observation(1, 1, arrived_ns));
        reordering.push(&up, &down, kind, true, None);
    }
    let (n_reordered, variation) = reordering.finish();
    assert_eq!(n_reordered, [1, 1, 1]);
    // of packets alone: the third came 20 ns later than the first, and was sent as much later
    assert_eq!(variation.values(), [(20.0, 1)]);
}

#[test]
fn counts_equal_the_definition() {
    let mut seed = 1;
    for n in [1, 2, 3, 10, 50, 200] {
        let (one, other) = (permutation(n, &mut seed), permutation(n, &mut seed));
        let mut reordering = Reordering::default();
        // decided in any order
        for i in permutation(n, &mut seed) {
            let at = usize::try_from(i).unwrap();
            push(&mut reordering, 1, one[at], 1000 + i);
            push(&mut reordering, 2, other[at], 1000 + i);
        }
        assert_eq!(
            reordering.finish().0[0],
            reference(&one) + reference(&other),
            "{one:?} {other:?}"
        );
    }
}

#[test]
fn order_is_each_points_own() {
    let wobbling = |point, t_ns, aligned_ns| Observation {
        t_ns,
        ..observation(1, point, aligned_ns)
    };
    let mut reordering = Reordering::default();
    for (t_ns, up_ns, down_ns) in [(10, 13, 512), (11, 12, 513)] {
        let (up, down) = (wobbling(0, t_ns, up_ns), wobbling(1, 500 + t_ns, down_ns));
        reordering.push(&up, &down, PairKind::Packet, true, None);
    }
    assert_eq!(reordering.finish().0[0], 0);
}

#[test]
fn batches_change_nothing() {
    let n = 5 * i64::try_from(BATCH).unwrap();
    let mut seed = 7;
    let mut sent: Vec<i64> = Vec::new();
    for block in 0..n / 8 {
        sent.extend(permutation(8, &mut seed).iter().map(|i| block * 8 + i));
    }
    let expected: u64 = sent.chunks(8).map(reference).sum();
    let mut reordering = Reordering::default();
    let mut most = 0;
    for (arrived_ns, sent_ns) in (0..).zip(&sent) {
        push(&mut reordering, 1, *sent_ns, arrived_ns);
        reordering.settle(arrived_ns - 100);
        most = most.max(reordering.waiting.len());
    }
    assert_eq!(reordering.finish().0[0], expected);
    assert!(most <= 2 * BATCH, "{most}");
}

#[test]
fn what_no_time_orders_is_bounded() {
    let mut reordering = Reordering::default();
    for i in 0..3 * i64::try_from(MOST).unwrap() {
        push(&mut reordering, 1, i, i);
        reordering.settle(i64::MIN);
    }
    assert!(reordering.waiting.len() <= 2 * MOST);
    assert_eq!(reordering.finish().0[0], 0);
}

#[test]
fn old_flows_are_forgotten() {
    let mut reordering = Reordering::default();
    for i in 0..8 * i64::try_from(FEW_FLOWS).unwrap() {
        let t_ns = i * MOST_APART_NS / 100;
        push(&mut reordering, i.unsigned_abs(), t_ns, t_ns);
        reordering.settle(t_ns - 100);
    }
    assert!(reordering.flows.len() < 2 * FEW_FLOWS);
}

#[test]
fn what_is_kept_arrives_as_it_is_counted() {
    let n = 3 * i64::try_from(BATCH).unwrap();
    let mut seed = 11;
    let mut reordering = Reordering::default();
    let mut sent: Vec<i64> = Vec::new();
    for block in 0..n / 8 {
        sent.extend(permutation(8, &mut seed).iter().map(|i| block * 8 + i));
    }
    let mut crossings = Vec::new();
    for (arrived_ns, sent_ns) in (0..).zip(&sent) {
        let (up, down) = (
            observation(1, 0, *sent_ns),
            observation(1, 1, n + arrived_ns),
        );
        let crossing = SegmentRow::new(&up, &down, crate::plan::Direction::Forward, 0);
        reordering.push(&up, &down, PairKind::Packet, true, Some(crossing));
        reordering.settle(n + arrived_ns - 100);
        crossings.append(&mut reordering.kept.arrived());
    }
    let (n_reordered, variation) = reordering.finish();
    crossings.append(&mut reordering.kept.arrived());
    assert_eq!(crossings.len(), sent.len());
    let is_reordered = |row: &[i64; 7]| u64::from(row[5] & 1 == 1);
    assert_eq!(
        crossings.iter().map(is_reordered).sum::<u64>(),
        n_reordered[0]
    );
    let of_neighbours = crossings.iter().filter(|row| row[6] >= 0);
    let sum_ns: i64 = of_neighbours.clone().map(|row| row[6]).sum();
    assert_eq!(
        (of_neighbours.count() as u64, i128::from(sum_ns)),
        (variation.n, variation.sum_ns)
    );
    // each with its own times
    let mut order: Vec<i64> = crossings.iter().map(|row| row[3] + row[4] - n).collect();
    order.sort_unstable();
    assert!(order.into_iter().eq(0..n));
    assert!(
        crossings
            .iter()
            .all(|row| sent[usize::try_from(row[3] + row[4] - n).unwrap()] == row[3])
    );
}
