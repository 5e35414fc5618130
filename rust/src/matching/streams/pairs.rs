//! Pairs of packets that carry at least one same byte, and which of several is the right one.

use crate::matching::streams::byte_set::Span;
use crate::matching::streams::segment::Ending;
use crate::plan::Band;

/// Frames that are looked at for one: beyond, it abstains.
const MOST_LOOKS: usize = 1024;
/// Pairs for each piece, all together: beyond, the rest abstains. Usual is one.
const MOST_PAIRS: usize = 16;
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
    pub(crate) verdict: PairVerdict,
}

/// Which pairs are possible at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairRules<'a> {
    pub(crate) within_ns: i64,
    pub(crate) band: Option<&'a Band>,
    /// Packets of the same bytes: never, or where nothing speaks against their being the same packet.
    pub(crate) may_be_equal: bool,
}

/// Every possible pair, and the pieces that have too many of them.
pub(crate) fn find(
    ups: &[ByteEnd],
    downs: &mut [ByteEnd],
    rules: PairRules<'_>,
) -> (Vec<Pair>, Vec<usize>) {
    downs.sort_unstable_by_key(|down| (down.bytes, down.aligned_ns, down.piece));
    let mut far = i64::MIN;
    // how far the bytes of all up to here reach
    let reach: Vec<i64> = downs
        .iter()
        .map(|down| {
            far = far.max(down.bytes.1);
            far
        })
        .collect();
    let (mut pairs, mut crowded) = (Vec::new(), Vec::new());
    let mut is_crowded = vec![false; downs.len()];
    let most_pairs = MOST_LOOKS + MOST_PAIRS * (ups.len() + downs.len());
    for up in ups {
        let n_before = downs.partition_point(|down| down.bytes.0 < up.bytes.1);
        let before = reach.iter().take(n_before).rev();
        let n_near = before.take_while(|reach| **reach > up.bytes.0).count();
        let near = n_before - n_near..n_before;
        let n_found = pairs.len();
        let looked = downs.get(near.clone()).unwrap_or(&[]).iter().rev();
        let looked = looked.take(MOST_LOOKS);
        pairs.extend(looked.filter_map(|down| possible(up, down, rules)));
        if n_near > MOST_LOOKS || pairs.len() > most_pairs {
            pairs.truncate(n_found);
            crowded.push(up.piece);
            let near = is_crowded.get_mut(near).unwrap_or(&mut []);
            near.fill(true);
        }
    }
    let downs = downs.iter().zip(is_crowded);
    crowded.extend(downs.filter(|(_, is)| *is).map(|(down, _)| down.piece));
    (pairs, crowded)
}

fn possible(up: &ByteEnd, down: &ByteEnd, rules: PairRules<'_>) -> Option<Pair> {
    let bytes = common(up.bytes, down.bytes)?;
    let off_ns = down.aligned_ns.abs_diff(up.aligned_ns);
    let is_near = off_ns <= rules.within_ns.unsigned_abs();
    let is_equal = up.bytes == down.bytes;
    // which of several packets of the same bytes it is was asked, and cannot be told
    let is_untold = up.ending != Ending::Known || down.ending == Ending::Ambiguous;
    let may_be = !is_equal || (rules.may_be_equal && up.key == down.key && !is_untold);
    (is_near && may_be && up.piece != down.piece).then_some(Pair {
        up: up.piece,
        down: down.piece,
        bytes,
        off_ns,
        verdict: PairVerdict::Right,
    })
}

/// The bytes that two spans have in common, if any.
pub(crate) fn common(one: Span, other: Span) -> Option<Span> {
    let (lo, hi) = (one.0.max(other.0), one.1.min(other.1));
    (lo < hi).then_some((lo, hi))
}

/// Judges every pair: a byte that was sent twice belongs to the one that it followed, where time
/// tells, and to none where it does not.
pub(crate) fn judge(pairs: &mut [Pair], n_pieces: usize, rules: PairRules<'_>) {
    let mut rivals = vec![Vec::new(); pairs.len()];
    contest(pairs, |pair| pair.up, &mut rivals);
    contest(pairs, |pair| pair.down, &mut rivals);
    if rivals.iter().all(Vec::is_empty) {
        return;
    }
    let late_ns = lateness(pairs, &rivals, n_pieces, rules.band);
    let late_of = |pair: &Pair| {
        let of = |piece: usize| late_ns.get(piece).copied().unwrap_or(0);
        of(pair.up).max(of(pair.down))
    };
    let beats = |one: &Pair, other: &Pair| {
        let usual_ns = one.off_ns.max(late_of(one)).max(late_of(other));
        other.off_ns > usual_ns.saturating_mul(NEARER)
    };
    let verdicts: Vec<PairVerdict> = pairs
        .iter()
        .zip(&rivals)
        .map(|(pair, rivals)| {
            let mut others = rivals.iter().filter_map(|rival| pairs.get(*rival));
            if rivals.len() > MOST_RIVALS {
                PairVerdict::Doubtful
            } else if others.clone().all(|other| beats(pair, other)) {
                PairVerdict::Right
            } else if others.any(|other| beats(other, pair)) {
                PairVerdict::Wrong
            } else {
                PairVerdict::Doubtful
            }
        })
        .collect();
    for (pair, verdict) in pairs.iter_mut().zip(verdicts) {
        pair.verdict = verdict;
    }
}

/// Finds, among the pairs of each piece, those that share a byte.
fn contest(pairs: &[Pair], piece_of: impl Fn(&Pair) -> usize, rivals: &mut [Vec<usize>]) {
    let mut order: Vec<(usize, Pair)> = pairs.iter().copied().enumerate().collect();
    order.sort_unstable_by_key(|(index, pair)| (piece_of(pair), pair.bytes, *index));
    for group in order.chunk_by(|(_, a), (_, b)| piece_of(a) == piece_of(b)) {
        for (at, (index, pair)) in group.iter().enumerate() {
            let after = group.get(at + 1..).unwrap_or(&[]).iter();
            let sharing = after.take_while(|(_, other)| other.bytes.0 < pair.bytes.1);
            for (other, _) in sharing.take(MOST_RIVALS + 1) {
                note(rivals, *index, *other);
                note(rivals, *other, *index);
            }
        }
    }
}

fn note(rivals: &mut [Vec<usize>], of: usize, rival: usize) {
    if let Some(list) = rivals.get_mut(of)
        && list.len() <= MOST_RIVALS
    {
        list.push(rival);
    }
}

/// Per piece, how far from the usual time those of its pairs were that nothing contests.
fn lateness(
    pairs: &[Pair],
    rivals: &[Vec<usize>],
    n_pieces: usize,
    band: Option<&Band>,
) -> Vec<u64> {
    let edge = |band: &Band| band.lo_ns.unsigned_abs().max(band.hi_ns.unsigned_abs());
    let mut late_ns = vec![band.map_or(0, edge); n_pieces];
    let uncontested = pairs.iter().zip(rivals).filter(|(_, of)| of.is_empty());
    for (pair, _) in uncontested {
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
            within_ns: 2_000 * US,
            band: Some(&band),
            may_be_equal: false,
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
            within_ns: US,
            band: None,
            may_be_equal: false,
        };
        let ups = [end(0, (0, 100), 0), end(1, (200, 300), 0)];
        let (pairs, crowded) = find(&ups, &mut many(2), rules);
        assert!(pairs.is_empty());
        let all_but_the_other_up = [0].into_iter().chain(2..MOST_LOOKS + 3);
        assert!(crowded.into_iter().eq(all_but_the_other_up));
    }
}
