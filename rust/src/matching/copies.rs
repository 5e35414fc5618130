//! Copies: frames of one packet that one point saw more than once.

use super::{FrameId, Sight};

/// Copies of a frame at one point lie within this (docs/stages/match.md, copies).
pub(super) const COPIES_WITHIN_NS: i64 = 2_000_000;

/// Later copies, each with the frame it is a copy of.
#[derive(Debug, Default)]
pub(super) struct Folded(Vec<(FrameId, Sight)>);

impl Folded {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Those of these sights alone.
    pub(super) fn of(&self, sights: &[Sight]) -> Self {
        let is_one = |frame: FrameId| sights.iter().any(|sight| sight.frame == frame);
        let mine = self.0.iter().filter(|(original, _)| is_one(*original));
        Self(mine.copied().collect())
    }

    /// The copies of one sight.
    pub(super) fn copies_of(&self, original: &Sight) -> impl Iterator<Item = &Sight> {
        let start = self.0.partition_point(|(frame, _)| *frame < original.frame);
        let rest = self.0.get(start..).unwrap_or(&[]).iter();
        let frame = original.frame;
        rest.take_while(move |(of, _)| *of == frame)
            .map(|(_, copy)| copy)
    }

    /// Takes later copies out of a run: of a packet that some point saw once and none saw far apart,
    /// or of a frame that is equal to the byte and numbered. "Same bytes soon after" alone is not a
    /// copy, nor is a resend after a loss, which is where the packet seen once elsewhere `fits`, while
    /// the first is not. Returns the rest in order of time.
    pub(super) fn fold(
        &mut self,
        run: &[Sight],
        fits: &dyn Fn(&Sight, &Sight) -> bool,
    ) -> Vec<Sight> {
        let mut by_point: Vec<Sight> = run.to_vec();
        by_point.sort_unstable_by_key(|sight| (sight.point, sight.t_ns, sight.frame));
        let points = || by_point.chunk_by(|a, b| a.point == b.point);
        let is_one_packet = points().any(|sights| sights.len() == 1)
            && points().all(|sights| sights.is_sorted_by(is_close))
            && !points().any(|sights| points().any(|others| is_resend(sights, others, fits)));
        let mut kept: Vec<Sight> = Vec::with_capacity(run.len());
        for sights in points() {
            let n_before = kept.len();
            for sight in sights {
                let here = kept.get(n_before..).unwrap_or(&[]);
                let mut near = here
                    .iter()
                    .rev()
                    .take_while(|original| is_close(original, sight));
                match near.find(|original| is_one_packet || is_same_frame(original, sight)) {
                    Some(original) => self.0.push((original.frame, *sight)),
                    None => kept.push(*sight),
                }
            }
        }
        self.0
            .sort_unstable_by_key(|(original, copy)| (*original, copy.frame));
        kept.sort_unstable_by_key(|sight| (sight.aligned_ns, sight.frame));
        kept
    }
}

/// The first of several was lost: what was seen once elsewhere fits a later one, and not the first.
fn is_resend(several: &[Sight], once: &[Sight], fits: &dyn Fn(&Sight, &Sight) -> bool) -> bool {
    let ([first, later @ ..], [only]) = (several, once) else {
        return false;
    };
    only.point != first.point && !fits(first, only) && later.iter().any(|one| fits(one, only))
}

fn is_close(original: &Sight, copy: &Sight) -> bool {
    copy.t_ns.saturating_sub(original.t_ns) <= COPIES_WITHIN_NS
}

fn is_same_frame(one: &Sight, other: &Sight) -> bool {
    one.copy_tag != 0 && one.copy_tag == other.copy_tag
}

#[cfg(test)]
mod tests {
    use super::super::testing::sight;
    use super::*;

    const US: i64 = 1000;

    fn fold(run: &[Sight]) -> (Vec<i64>, Vec<(i64, i64)>) {
        let mut folded = Folded::default();
        let kept = folded.fold(run, &|_, _| true);
        let copies = kept
            .iter()
            .flat_map(|one| folded.copies_of(one).map(|copy| (one.t_ns, copy.t_ns)))
            .collect::<Vec<_>>();
        assert_eq!(kept.len() + copies.len(), run.len());
        (kept.iter().map(|one| one.t_ns).collect(), copies)
    }

    #[test]
    fn what_another_point_saw_once_is_one_packet() {
        let run = [
            sight(1, 0, 0),
            sight(1, 1, 10 * US),
            sight(1, 1, 30 * US),
            sight(1, 1, 35 * US),
        ];
        let (kept, copies) = fold(&run);
        assert_eq!(kept, [0, 10 * US]);
        assert_eq!(copies, [(10 * US, 30 * US), (10 * US, 35 * US)]);
    }

    #[test]
    fn the_same_bytes_soon_after_are_no_copy() {
        let run = [
            sight(1, 0, 0),
            sight(1, 0, 34 * US),
            sight(1, 1, 9 * US),
            sight(1, 1, 43 * US),
        ];
        assert_eq!(fold(&run).1, []);
    }

    #[test]
    fn what_recurs_far_apart_is_no_copy() {
        let run = [
            sight(1, 0, 0),
            sight(1, 1, 9 * US),
            sight(1, 1, 9 * US + COPIES_WITHIN_NS + 1),
        ];
        assert_eq!(fold(&run).1, []);
        let run = [
            sight(1, 0, 0),
            sight(1, 1, 9 * US),
            sight(1, 1, 9 * US + COPIES_WITHIN_NS),
        ];
        assert_eq!(fold(&run).1.len(), 1);
    }

    #[test]
    fn a_resend_after_a_loss_is_no_copy() {
        let run = [
            sight(1, 0, 0),
            sight(1, 0, 1500 * US),
            sight(1, 1, 1509 * US),
        ];
        let fits = |up: &Sight, down: &Sight| (0..20 * US).contains(&(down.t_ns - up.t_ns));
        let mut folded = Folded::default();
        assert_eq!(folded.fold(&run, &fits).len(), 3);
        let mirrored = [sight(1, 0, 0), sight(1, 0, 3 * US), sight(1, 1, 9 * US)];
        assert_eq!(folded.fold(&mirrored, &fits).len(), 2);
    }

    #[test]
    fn numbered_frames_equal_to_the_byte_are_copies() {
        let tagged = |point, t_ns, copy_tag| Sight {
            copy_tag,
            ..sight(1, point, t_ns)
        };
        let run = [
            tagged(0, 0, 5),
            tagged(0, 3 * US, 6),
            tagged(0, 7 * US, 5),
            tagged(0, 9 * US, 6),
        ];
        let (kept, copies) = fold(&run);
        assert_eq!(kept, [0, 3 * US]);
        assert_eq!(copies, [(0, 7 * US), (3 * US, 9 * US)]);
        let unnumbered = [tagged(0, 0, 0), tagged(0, 3 * US, 0)];
        assert_eq!(fold(&unnumbered).1, []);
    }

    #[test]
    fn extreme_stamps_do_not_overflow() {
        let (kept, copies) = fold(&[sight(1, 0, i64::MIN), sight(1, 0, i64::MAX), sight(1, 1, 0)]);
        assert_eq!((kept.len(), copies.len()), (3, 0));
    }
}
