//! Pairs of packets that carry at least one same byte, and which of several is the right one.

use crate::matching::streams::byte_set::Span;
use crate::matching::streams::segment::Ending;
use crate::plan::Band;
use std::ops::Range;

/// Frames that are looked at for one: beyond, it abstains.
const MOST_LOOKS: usize = 1024;
/// Pairs for each piece, all together: beyond, the rest abstains. Usual is one.
const MOST_PAIRS: usize = 4;
/// Rivals of a pair that are looked at: beyond, it abstains.
const MOST_RIVALS: usize = 16;
/// Of two pairs for the same byte one is told where it is so many times nearer the usual time than
/// the other, whatever its siblings were late by.
const NEARER: u64 = 4;

/// One side of possible pairs: a piece at a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteEnd {
    pub(crate) piece: usize,
    pub(crate) key: u64,
    pub(crate) bytes: Span,
    pub(crate) aligned_ns: i64,
    /// How whole-packet matching left it.
    pub(crate) ending: Ending,
    /// Some of its bytes were found in other packets on their way, so that one of the same bytes behind those was
    /// joined again. What nothing cut is for whole-packet matching, and late packets.
    pub(crate) was_cut: bool,
    /// How much earlier and later than usual its bytes are at most where they surely were before.
    pub(crate) alone_within_ns: (i64, i64),
}

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairVerdict {
    Right,
    /// Another pair is, for some of its bytes.
    Wrong,
    Doubtful,
}

/// A possible pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) up: usize,
    pub(crate) down: usize,
    /// The bytes that both carry.
    pub(crate) bytes: Span,
    off_ns: u64,
    /// Both carry the same bytes, and whether they are one packet is not told here.
    is_whole: bool,
    /// It may be a loss, and a transmission that no point before captured, as well.
    is_slow_or_two: bool,
    pub(crate) verdict: PairVerdict,
}

/// Which pairs are possible at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairRules<'a> {
    /// How much later than usual a byte may be at the next point; it is below 0, for few packets are earlier.
    pub(crate) least_ns: i64,
    /// The same, at most.
    pub(crate) most_ns: i64,
    pub(crate) band: Option<&'a Band>,
}

/// Every possible pair, and the pieces that have too many of them.
pub(crate) fn find(
    ups: &[ByteEnd],
    downs: &mut [ByteEnd],
    rules: PairRules<'_>,
) -> (Vec<Pair>, Vec<usize>) {
    downs.sort_unstable_by_key(|down| (down.bytes, down.aligned_ns, down.piece));
    let reach = reach_of(downs);
    let (mut pairs, mut crowded) = (Vec::new(), Vec::new());
    let mut crowds = Crowds::new(downs.len());
    let most_pairs = MOST_LOOKS + MOST_PAIRS * (ups.len() + downs.len());
    for up in ups {
        let end = downs.partition_point(|down| down.bytes.0 < up.bytes.1);
        let start = reach.partition_point(|reach| *reach <= up.bytes.0).min(end);
        if end - start > MOST_LOOKS || pairs.len() >= most_pairs {
            crowded.push(up.piece);
            crowds.add(start..end);
            continue;
        }
        let near = downs.get(start..end).unwrap_or(&[]);
        let found = || near.iter().map(|down| possible(up, down, rules));
        let parts = || found().map(|pair| pair.filter(|pair| !pair.is_whole));
        if are_rivals(up, parts().flatten()) {
            crowded.push(up.piece);
            for (at, _) in (start..).zip(parts()).filter(|(_, pair)| pair.is_some()) {
                crowds.add(at..at + 1);
            }
        } else {
            pairs.extend(parts().flatten());
            // of those that may be the same packet, the nearest speaks against parts of others
            let whole = found().flatten().filter(|pair| pair.is_whole);
            pairs.extend(whole.min_by_key(|pair| pair.off_ns));
        }
    }
    crowded.extend(crowds.of(downs).map(|down| down.piece));
    (pairs, crowded)
}

/// How far the bytes of all up to each reach.
fn reach_of(downs: &[ByteEnd]) -> Vec<i64> {
    let reach = downs.iter().scan(i64::MIN, |far, down| {
        *far = down.bytes.1.max(*far);
        Some(*far)
    });
    reach.collect()
}

/// Whether pairs of one piece share each byte with so many others that none can be told.
fn are_rivals(up: &ByteEnd, found: impl Iterator<Item = Pair>) -> bool {
    let n_bytes = |(lo, hi): Span| hi.abs_diff(lo);
    let n_shared: u64 = found.map(|pair| n_bytes(pair.bytes)).sum();
    n_shared / (MOST_RIVALS as u64 + 1) > n_bytes(up.bytes)
}

/// Which of a row are in any of the ranges that were added, however many those are.
struct Crowds {
    /// Ranges that begin at a place, less those that end before it.
    steps: Vec<i64>,
}

impl Crowds {
    fn new(n: usize) -> Self {
        Self {
            steps: vec![0; n + 1],
        }
    }

    fn add(&mut self, range: Range<usize>) {
        for (at, step) in [(range.start, 1), (range.end, -1)] {
            if let Some(steps) = self.steps.get_mut(at) {
                *steps += step;
            }
        }
    }

    fn of(self, row: &[ByteEnd]) -> impl Iterator<Item = &ByteEnd> {
        let depths = self.steps.into_iter().scan(0, |depth, step| {
            *depth += step;
            Some(*depth)
        });
        row.iter()
            .zip(depths)
            .filter(|(_, depth)| *depth > 0)
            .map(|(down, _)| down)
    }
}

#[inline]
fn possible(up: &ByteEnd, down: &ByteEnd, rules: PairRules<'_>) -> Option<Pair> {
    let bytes = common(up.bytes, down.bytes)?;
    let later_ns = down.aligned_ns.saturating_sub(up.aligned_ns);
    let off_ns = later_ns.unsigned_abs();
    let is_near = (rules.least_ns..=rules.most_ns).contains(&later_ns);
    let is_equal = up.bytes == down.bytes;
    // which of several packets of the same bytes it is was asked, and cannot be told
    let is_untold = up.ending != Ending::Known || down.ending == Ending::Ambiguous;
    let (before_ns, after_ns) = down.alone_within_ns;
    let is_within = (-before_ns..=after_ns).contains(&later_ns);
    let may_be_equal = up.was_cut && up.key == down.key && !is_untold && is_within;
    (is_near && up.piece != down.piece).then_some(Pair {
        up: up.piece,
        down: down.piece,
        bytes,
        off_ns,
        is_whole: is_equal && !may_be_equal,
        is_slow_or_two: !is_within,
        verdict: PairVerdict::Right,
    })
}

/// The bytes that two spans have in common, if any.
#[inline]
pub(crate) fn common(one: Span, other: Span) -> Option<Span> {
    let (lo, hi) = (one.0.max(other.0), one.1.min(other.1));
    (lo < hi).then_some((lo, hi))
}

/// Judges every pair: a byte that was sent twice belongs to the one that it followed, where time
/// tells, and to none where it does not. What may be one packet speaks against other pairs, and is none here.
pub(crate) fn judge(pairs: &mut Vec<Pair>, n_pieces: usize, rules: PairRules<'_>) {
    judge_all(pairs, n_pieces, rules);
    pairs.retain(|pair| !pair.is_whole);
    let is_open = |pair: &&mut Pair| pair.is_slow_or_two && pair.verdict == PairVerdict::Right;
    for pair in pairs.iter_mut().filter(is_open) {
        pair.verdict = PairVerdict::Doubtful;
    }
}

fn judge_all(pairs: &mut [Pair], n_pieces: usize, rules: PairRules<'_>) {
    let orders = [order(pairs, |pair| pair.up), order(pairs, |pair| pair.down)];
    if !orders.iter().any(|order| are_contested(order)) {
        return;
    }
    let mut standings = count_rivals(&orders, pairs.len());
    let late_ns = lateness(pairs, &standings, n_pieces, rules.band);
    let late_of = |pair: &Pair| {
        let of = |piece: usize| late_ns.get(piece).copied().unwrap_or(0);
        of(pair.up).max(of(pair.down))
    };
    let beats = |one: &Pair, other: &Pair| {
        let usual_ns = one.off_ns.max(late_of(one)).max(late_of(other));
        other.off_ns > usual_ns.saturating_mul(NEARER)
    };
    let mut compare = |one: usize, other: usize| {
        for (of, rival) in [(one, other), (other, one)] {
            if let Some(standing) = standings.get_mut(of)
                && !standing.is_in_a_crowd()
                && let (Some(pair), Some(rival)) = (pairs.get(of), pairs.get(rival))
            {
                standing.is_contested |= !beats(pair, rival);
                standing.is_beaten |= beats(rival, pair);
            }
        }
    };
    for order in &orders {
        contests(order, &mut compare);
    }
    for (pair, standing) in pairs.iter_mut().zip(standings) {
        pair.verdict = standing.verdict();
    }
}

/// Per pair, how many others share a byte with it.
fn count_rivals(orders: &[Vec<Contender>], n_pairs: usize) -> Vec<Standing> {
    let mut standings = vec![Standing::default(); n_pairs];
    for order in orders {
        contests(order, &mut |one, other| {
            for of in [one, other] {
                if let Some(standing) = standings.get_mut(of) {
                    standing.n_rivals = standing.n_rivals.saturating_add(1);
                }
            }
        });
    }
    standings
}

/// How a pair stands beside those that share a byte with it.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    n_rivals: u8,
    /// It does not beat all of them.
    is_contested: bool,
    is_beaten: bool,
}

impl Standing {
    fn is_in_a_crowd(self) -> bool {
        usize::from(self.n_rivals) > MOST_RIVALS
    }

    fn verdict(self) -> PairVerdict {
        if self.is_in_a_crowd() {
            PairVerdict::Doubtful
        } else if !self.is_contested {
            PairVerdict::Right
        } else if self.is_beaten {
            PairVerdict::Wrong
        } else {
            PairVerdict::Doubtful
        }
    }
}

/// A pair's piece, its bytes, and its index.
type Contender = (usize, Span, usize);

/// The pairs by piece, and those of a piece by their bytes.
fn order(pairs: &[Pair], piece_of: impl Fn(&Pair) -> usize) -> Vec<Contender> {
    let pairs = pairs.iter().enumerate();
    let mut order: Vec<Contender> = pairs
        .map(|(at, pair)| (piece_of(pair), pair.bytes, at))
        .collect();
    order.sort_unstable();
    order
}

fn is_shared(one: &Contender, next: &Contender) -> bool {
    next.0 == one.0 && next.1.0 < one.1.1
}

fn are_contested(order: &[Contender]) -> bool {
    let next = order.iter().skip(1);
    order
        .iter()
        .zip(next)
        .any(|(one, next)| is_shared(one, next))
}

/// Every two pairs of one piece that share a byte; of those that share it with many, some.
fn contests(order: &[Contender], seen: &mut dyn FnMut(usize, usize)) {
    for (at, one) in order.iter().enumerate() {
        let after = order.get(at + 1..).unwrap_or(&[]).iter();
        let sharing = after.take_while(|next| is_shared(one, next));
        for other in sharing.take(MOST_RIVALS + 1) {
            seen(one.2, other.2);
        }
    }
}

/// Per piece, how far from the usual time those of its pairs were that nothing contests.
fn lateness(
    pairs: &[Pair],
    standings: &[Standing],
    n_pieces: usize,
    band: Option<&Band>,
) -> Vec<u64> {
    let edge = |band: &Band| band.lo_ns.unsigned_abs().max(band.hi_ns.unsigned_abs());
    let mut late_ns = vec![band.map_or(0, edge); n_pieces];
    let pairs = pairs.iter().zip(standings);
    for (pair, _) in pairs.filter(|(_, standing)| standing.n_rivals == 0) {
        for piece in [pair.up, pair.down] {
            if let Some(late_ns) = late_ns.get_mut(piece) {
                *late_ns = pair.off_ns.max(*late_ns);
            }
        }
    }
    late_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: i64 = 1_000;

    type Pieces = Vec<(usize, usize)>;

    fn end(piece: usize, bytes: Span, at_us: i64) -> ByteEnd {
        ByteEnd {
            piece,
            key: 1,
            bytes,
            aligned_ns: at_us * US,
            ending: Ending::Known,
            was_cut: false,
            alone_within_ns: (i64::MAX, i64::MAX),
        }
    }

    /// The right and the doubtful pairs.
    fn judged(ups: &[ByteEnd], downs: &[ByteEnd]) -> (Pieces, Pieces) {
        let band = Band {
            lo_ns: -US,
            hi_ns: US,
            ..Band::default()
        };
        let rules = PairRules {
            least_ns: -2_000 * US,
            most_ns: 2_000 * US,
            band: Some(&band),
        };
        let (mut pairs, crowded) = find(ups, &mut downs.to_vec(), rules);
        assert!(crowded.is_empty());
        judge(&mut pairs, ups.len() + downs.len(), rules);
        let of = |verdict: PairVerdict| {
            let those = pairs.iter().filter(|pair| pair.verdict == verdict);
            let mut those: Vec<_> = those.map(|pair| (pair.up, pair.down)).collect();
            those.sort_unstable();
            those
        };
        (of(PairVerdict::Right), of(PairVerdict::Doubtful))
    }

    #[test]
    fn all_that_overlaps_about_the_same_time_is_paired() {
        let ups = [end(0, (0, 300), 0), end(1, (300, 600), 10)];
        let downs = [
            end(2, (0, 100), 1),
            end(3, (100, 400), 20),
            end(4, (400, 600), 20),
            end(5, (500, 600), 5_000),
            end(6, (600, 700), 0),
        ];
        assert_eq!(
            judged(&ups, &downs),
            (vec![(0, 2), (0, 3), (1, 3), (1, 4)], vec![])
        );
    }

    #[test]
    fn equal_bytes_are_for_whole_packets_to_match() {
        assert_eq!(
            judged(&[end(0, (0, 9), 0)], &[end(1, (0, 9), 0)]),
            (vec![], vec![])
        );
        let cut = ByteEnd {
            was_cut: true,
            ..end(0, (0, 9), 0)
        };
        assert_eq!(judged(&[cut], &[end(1, (0, 9), 0)]), (vec![(0, 1)], vec![]));
    }

    #[test]
    fn a_packet_that_is_there_as_it_was_speaks_against_parts_of_others() {
        let ups = [end(0, (0, 200), 0), end(1, (199, 200), 40)];
        // the second of them, which is late
        assert_eq!(judged(&ups, &[end(2, (199, 200), 45)]), (vec![], vec![]));
        let between = judged(&ups, &[end(2, (199, 200), 55)]);
        assert_eq!(between, (vec![], vec![(0, 2)]));
    }

    #[test]
    fn no_byte_is_much_earlier_than_usual() {
        let down = [end(1, (0, 100), -2_001)];
        assert_eq!(judged(&[end(0, (0, 200), 0)], &down), (vec![], vec![]));
    }

    #[test]
    fn what_points_may_have_missed_is_no_slow_pair() {
        let up = [end(0, (0, 200), 0)];
        let down = |at_us| ByteEnd {
            alone_within_ns: (100 * US, 100 * US),
            ..end(1, (199, 200), at_us)
        };
        assert_eq!(judged(&up, &[down(100)]), (vec![(0, 1)], vec![]));
        assert_eq!(judged(&up, &[down(101)]), (vec![], vec![(0, 1)]));
    }

    #[test]
    fn a_resend_is_its_own_transmission_where_time_tells() {
        // all of the first but its second piece arrives; that one is sent again with the next
        let ups = [end(0, (0, 500), 0), end(1, (100, 300), 400)];
        let downs = [
            end(2, (0, 100), 0),
            end(3, (200, 500), 30),
            end(4, (100, 200), 401),
            end(5, (200, 300), 402),
        ];
        assert_eq!(
            judged(&ups, &downs),
            (vec![(0, 2), (0, 3), (1, 4), (1, 5)], vec![])
        );
    }

    #[test]
    fn a_resend_too_soon_is_doubtful() {
        let ups = [end(0, (0, 200), 0), end(1, (0, 200), 3)];
        let (right, doubtful) = judged(&ups, &[end(2, (0, 100), 2), end(3, (100, 200), 60)]);
        assert_eq!(right, []);
        assert_eq!(doubtful, [(0, 2), (0, 3), (1, 2), (1, 3)]);
    }

    #[test]
    fn crowds_abstain_and_stay_quick() {
        let many = |first: usize| -> Vec<ByteEnd> {
            let ends = (0..=MOST_LOOKS).map(|i| end(first + i, (0, 90), 0));
            ends.collect()
        };
        let rules = PairRules {
            least_ns: -US,
            most_ns: US,
            band: None,
        };
        let ups = [end(0, (0, 100), 0), end(1, (200, 300), 0)];
        let (pairs, crowded) = find(&ups, &mut many(2), rules);
        assert!(pairs.is_empty());
        let all_but_the_other_up = [0].into_iter().chain(2..MOST_LOOKS + 3);
        assert!(crowded.into_iter().eq(all_but_the_other_up));
    }

    /// A walk back over all that one span covers, for each that looks, would take hours.
    #[test]
    fn one_span_over_many_is_not_walked_for_each() {
        let n = 1_000_000;
        let place = |i: usize| i64::try_from(i).unwrap() * 10;
        let ups: Vec<ByteEnd> = (1..n)
            .map(|i| end(i, (place(i), place(i) + 9), 0))
            .collect();
        let cover = end(0, (0, place(n)), 0);
        let parts = (1..n).map(|i| end(n + i, (place(i), place(i) + 5), 0));
        let mut downs: Vec<ByteEnd> = [cover].into_iter().chain(parts).collect();
        let rules = PairRules {
            least_ns: -US,
            most_ns: US,
            band: None,
        };
        let (pairs, crowded) = find(&ups, &mut downs, rules);
        assert_eq!(pairs.len(), 2 * (MOST_LOOKS - 1));
        assert!(crowded.contains(&n) || crowded.contains(&(n - 1)));
    }
}
