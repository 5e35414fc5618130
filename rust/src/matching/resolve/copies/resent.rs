//! What looks like a copy and is another packet of equal bytes.

use crate::matching::observation::Observation;
use crate::matching::resolve::copies::CopyRules;

/// A packet is so many times nearer to itself elsewhere than to another of equal bytes.
const CLEARLY_NEARER: u64 = 8;

/// The first of several was lost: what was seen once elsewhere fits a later one, or is clearly nearer
/// to it, and does not fit the first.
pub(crate) fn is_resend(
    several: &[Observation],
    once: &[Observation],
    fits: &dyn Fn(&Observation, &Observation) -> bool,
) -> bool {
    let ([first, later @ ..], [only]) = (several, once) else {
        return false;
    };
    let apart_ns = |one: &Observation| one.aligned_ns.abs_diff(only.aligned_ns);
    let is_nearer =
        |one: &Observation| apart_ns(one).saturating_mul(CLEARLY_NEARER) < apart_ns(first);
    only.point != first.point
        && !fits(first, only)
        && later.iter().any(|one| fits(one, only) || is_nearer(one))
}

/// Where packets of this identity came from, something was seen that only the second can be, or, if
/// that is here, anywhere else: it is a packet, and no copy of the first.
pub(crate) fn is_on_its_own_way(
    first: &Observation,
    second: &Observation,
    (elsewhere, entry): (&[Observation], Option<i64>),
    rules: &CopyRules<'_>,
) -> bool {
    let is_entry = |one: &Observation| entry == Some((rules.place)(one));
    let is_asked = |one: &Observation| is_entry(first) || is_entry(one);
    let is_second = |one: &Observation| (rules.fits)(one, second) && !(rules.fits)(one, first);
    elsewhere.iter().any(|one| is_asked(one) && is_second(one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::resolve::copies::Folded;
    use crate::matching::testing::{SOME_COPIES, observation};

    const US: i64 = 1000;

    fn rules(fits: &dyn Fn(&Observation, &Observation) -> bool) -> CopyRules<'_> {
        CopyRules {
            copies: &|_| SOME_COPIES,
            fits,
            place: &|observation| observation.point.into(),
            repeats: false,
        }
    }

    #[test]
    fn a_resend_after_a_loss_is_no_copy() {
        let run = [
            observation(1, 0, 0),
            observation(1, 0, 1500 * US),
            observation(1, 1, 1509 * US),
        ];
        let fits =
            |up: &Observation, down: &Observation| (0..20 * US).contains(&(down.t_ns - up.t_ns));
        let mut folded = Folded::default();
        assert_eq!(folded.fold(&run, &rules(&fits)).len(), 3);
        let late = [run[0], run[1], observation(1, 1, 1530 * US)];
        assert_eq!(folded.fold(&late, &rules(&fits)).len(), 3);
        let mirrored = [
            observation(1, 0, 0),
            observation(1, 0, 3 * US),
            observation(1, 1, 9 * US),
        ];
        assert_eq!(folded.fold(&mirrored, &rules(&fits)).len(), 2);
    }

    #[test]
    fn numbers_that_came_around_are_no_copies() {
        let tagged = |point, t_ns| Observation {
            copy_tag: 5,
            ..observation(1, point, t_ns)
        };
        let fits = |up: &Observation, down: &Observation| (up.t_ns - down.t_ns).abs() < 20 * US;
        let twice = [
            tagged(0, 0),
            tagged(0, 800 * US),
            tagged(1, 9 * US),
            tagged(1, 809 * US),
        ];
        let lost_after_both = [twice[0], twice[1], twice[2], twice[3], tagged(2, 811 * US)];
        let lost_at_once = [twice[0], twice[1], twice[3]];
        for run in [&twice[..], &lost_after_both, &lost_at_once] {
            let kept = Folded::default().fold(run, &rules(&fits));
            assert_eq!(kept.len(), run.len());
        }
    }
}
