//! What of a TCP header's options identifies its segment.
//!
//! Middleboxes clamp, add and blank the options that only open a connection (RFC 2923; Honda et al.,
//! IMC 2011), so these are left out wherever they stand: the initial sequence numbers say enough.
//! Time stamps and selective acknowledgments are in, the latter relative to what is acknowledged: who
//! shifts sequence numbers on the way shifts them together.

use crate::base::hash::word;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
/// Maximum segment size, window scale and SACK permitted (RFC 9293, RFC 7323, RFC 2018).
const REWRITTEN: std::ops::RangeInclusive<u8> = 2..=4;

/// Blocks of two sequence numbers each (RFC 2018 §3).
const SELECTIVE: u8 = 5;

/// The options that no element of a path changes, one after the other, as a number.
///
/// `options` are the captured bytes between the fixed header and the payload, `acknowledged` is that
/// header's number; `fold` adds a number.
#[inline]
pub(crate) fn digest(options: &[u8], acknowledged: u32, fold: impl Fn(u64, u64) -> u64) -> u64 {
    match options {
        [] => 0,
        // as most segments have them: two no-operations, and the time stamps (RFC 7323 appendix A)
        [NO_OPERATION, NO_OPERATION, stamps @ ..] if is_time_stamps(stamps) => add(0, stamps, fold),
        _ => digest_each(options, acknowledged, fold),
    }
}

#[inline]
fn is_time_stamps(option: &[u8]) -> bool {
    matches!(option, [8, 10, _, _, _, _, _, _, _, _])
}

#[inline(never)]
fn digest_each(mut options: &[u8], acknowledged: u32, fold: impl Fn(u64, u64) -> u64) -> u64 {
    let mut digest = 0;
    while let [kind, rest @ ..] = options {
        options = match (*kind, rest) {
            (END, _) => break,
            (NO_OPERATION, rest) => rest,
            (kind, [length, ..]) if *length >= 2 => {
                let n_bytes = usize::from(*length).min(options.len());
                let (option, rest) = options.split_at(n_bytes);
                if kind == SELECTIVE {
                    digest = add_edges(digest, option, acknowledged, &fold);
                } else if !REWRITTEN.contains(&kind) {
                    digest = add(digest, option, &fold);
                }
                rest
            }
            // a length that cannot be: what follows has no form
            _ => return add(digest, options, &fold),
        };
    }
    digest
}

#[inline]
fn add(digest: u64, bytes: &[u8], fold: impl Fn(u64, u64) -> u64) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let words = words.iter().map(|word| u64::from_be_bytes(*word));
    let last = (!rest.is_empty()).then(|| word(rest, 0, rest.len()));
    words.chain(last).fold(digest, fold)
}

fn add_edges(digest: u64, option: &[u8], acknowledged: u32, fold: impl Fn(u64, u64) -> u64) -> u64 {
    let (head, blocks) = option.split_at(2.min(option.len()));
    let (edges, _) = blocks.as_chunks();
    edges.iter().fold(add(digest, head, &fold), |digest, edge| {
        let ahead = u32::from_be_bytes(*edge).wrapping_sub(acknowledged);
        fold(digest, u64::from(ahead))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(options: &[u8]) -> u64 {
        acknowledging(options, 0)
    }

    fn acknowledging(options: &[u8], acknowledged: u32) -> u64 {
        digest(options, acknowledged, |digest, word| {
            (digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        })
    }

    const STAMPS: [u8; 10] = [8, 10, 0, 0, 0, 1, 0, 0, 0, 2];

    fn with(before: &[u8], after: &[u8]) -> u64 {
        of(&[before, &STAMPS, after].concat())
    }

    #[test]
    fn what_is_rewritten_on_the_way_is_left_out() {
        let plain = of(&STAMPS);
        let size = [2, 4, 5, 180];
        assert_eq!(with(&size, &[]), plain);
        assert_eq!(with(&[2, 4, 5, 80, 4, 2], &[1, 3, 3, 7]), plain);
        assert_eq!(with(&[1, 1], &[0, 0]), plain);
        assert_eq!(with(&[1, 1, 1, 1, 1, 1], &[1, 3, 3, 9, 2, 4, 5, 80]), plain);
        assert_eq!(of(&size), of(&[]));
    }

    #[test]
    fn what_is_not_tells_segments_apart() {
        let mut later = STAMPS;
        later[5] = 2;
        assert_ne!(of(&later), of(&STAMPS));
        assert_ne!(with(&[], &[5, 10, 0, 0, 0, 1, 0, 0, 0, 9]), of(&STAMPS));
        assert_ne!(of(&STAMPS), of(&[]));
    }

    #[test]
    fn selective_acknowledgments_are_relative() {
        let blocks = |from: u32, length: u32| {
            let edges = [from.to_be_bytes(), from.wrapping_add(length).to_be_bytes()].concat();
            [&[1, 1, 5, 10][..], &edges].concat()
        };
        let shift = 0xffff_ff00;
        let plain = acknowledging(&blocks(5_000, 100), 4_000);
        let shifted = blocks(5_000_u32.wrapping_add(shift), 100);
        assert_eq!(
            acknowledging(&shifted, 4_000_u32.wrapping_add(shift)),
            plain
        );
        assert_ne!(acknowledging(&blocks(5_000, 200), 4_000), plain);
        assert_ne!(acknowledging(&blocks(5_100, 100), 4_000), plain);
        assert_ne!(acknowledging(&[], 4_000), plain);
    }

    #[test]
    fn bad_lengths_end_it() {
        for bad in [&[8][..], &[8, 0, 1], &[8, 1, 1], &[254, 255, 3]] {
            assert_ne!(of(bad), 0, "{bad:?}");
        }
        assert_eq!(of(&[0, 8, 0, 1]), 0);
        assert_eq!(of(&[2, 255, 3]), 0);
    }
}
