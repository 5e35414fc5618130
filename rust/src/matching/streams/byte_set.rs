//! Sets of bytes, as spans that neither touch nor overlap.

/// Bytes from the first to before the second.
pub(crate) type Span = (i64, i64);

/// Ascending spans.
#[derive(Debug, Default)]
pub(crate) struct Spans(Vec<Span>);

impl Spans {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the bytes of a span.
    pub(crate) fn add(&mut self, (mut lo, mut hi): Span) {
        if lo >= hi {
            return;
        }
        let from = self.0.partition_point(|one| one.1 < lo);
        let to = self.0.partition_point(|one| one.0 <= hi);
        for one in self.0.get(from..to).unwrap_or(&[]) {
            (lo, hi) = (lo.min(one.0), hi.max(one.1));
        }
        self.0.splice(from..to.max(from), [(lo, hi)]);
    }

    /// The bytes of a span that are not in the set.
    pub(crate) fn gaps(&self, (lo, hi): Span) -> impl Iterator<Item = Span> {
        let from = self.0.partition_point(|one| one.1 <= lo);
        let inside = self.0.get(from..).unwrap_or(&[]);
        let inside = inside.iter().take_while(move |one| one.0 < hi);
        let starts = std::iter::once(lo).chain(inside.clone().map(|one| one.1));
        let ends = inside.map(|one| one.0).chain(std::iter::once(hi));
        starts.zip(ends).filter(|(start, end)| start < end)
    }

    /// How many bytes of a span are not in the set.
    pub(crate) fn n_missing(&self, span: Span) -> u64 {
        self.gaps(span)
            .map(|(start, end)| end.abs_diff(start))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The law: what a set of numbers would say.
    #[test]
    fn spans_are_sets_of_bytes() {
        let mut state = 7_u64;
        let mut below = |n: i64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(11);
            i64::try_from(state >> 33).unwrap() % n
        };
        for _ in 0..300 {
            let (mut spans, mut bytes) = (Spans::default(), std::collections::BTreeSet::new());
            for _ in 0..12 {
                let lo = below(60);
                let hi = lo + below(9);
                spans.add((lo, hi));
                bytes.extend(lo..hi);
                let (from, to) = (below(60), below(70));
                let missing: Vec<i64> = (from..to).filter(|at| !bytes.contains(at)).collect();
                let gaps: Vec<i64> = spans.gaps((from, to)).flat_map(|(a, b)| a..b).collect();
                assert_eq!(gaps, missing);
                assert_eq!(spans.n_missing((from, to)), missing.len() as u64);
                assert!(spans.0.windows(2).all(|two| two[0].1 < two[1].0));
            }
        }
    }
}
