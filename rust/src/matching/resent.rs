//! What looks like a copy and is another packet of equal bytes.

use super::Sight;
use super::copies::Rules;

/// A packet is so many times nearer to itself elsewhere than to another of equal bytes.
const CLEARLY_NEARER: u64 = 8;

/// The first of several was lost: what was seen once elsewhere fits a later one, or is clearly nearer
/// to it, and does not fit the first.
pub(super) fn is_resend(
    several: &[Sight],
    once: &[Sight],
    fits: &dyn Fn(&Sight, &Sight) -> bool,
) -> bool {
    let ([first, later @ ..], [only]) = (several, once) else {
        return false;
    };
    let apart_ns = |one: &Sight| one.aligned_ns.abs_diff(only.aligned_ns);
    let is_nearer = |one: &Sight| apart_ns(one).saturating_mul(CLEARLY_NEARER) < apart_ns(first);
    only.point != first.point
        && !fits(first, only)
        && later.iter().any(|one| fits(one, only) || is_nearer(one))
}

/// Where packets of this identity came from, something was seen that only the second can be, or, if
/// that is here, anywhere else: it is a packet, and no copy of the first.
pub(super) fn is_on_its_own_way(
    first: &Sight,
    second: &Sight,
    (elsewhere, entry): (&[Sight], Option<i64>),
    rules: &Rules<'_>,
) -> bool {
    let is_entry = |one: &Sight| entry == Some((rules.place)(one));
    let is_asked = |one: &Sight| is_entry(first) || is_entry(one);
    let is_second = |one: &Sight| (rules.fits)(one, second) && !(rules.fits)(one, first);
    elsewhere.iter().any(|one| is_asked(one) && is_second(one))
}

#[cfg(test)]
mod tests {
    use super::super::copies::Folded;
    use super::super::testing::{SOME_COPIES, sight};
    use super::*;

    const US: i64 = 1000;

    fn rules(fits: &dyn Fn(&Sight, &Sight) -> bool) -> Rules<'_> {
        Rules {
            copies: &|_| SOME_COPIES,
            fits,
            place: &|sight| sight.point.into(),
            repeats: false,
        }
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
        assert_eq!(folded.fold(&run, &rules(&fits)).len(), 3);
        let late = [run[0], run[1], sight(1, 1, 1530 * US)];
        assert_eq!(folded.fold(&late, &rules(&fits)).len(), 3);
        let mirrored = [sight(1, 0, 0), sight(1, 0, 3 * US), sight(1, 1, 9 * US)];
        assert_eq!(folded.fold(&mirrored, &rules(&fits)).len(), 2);
    }

    #[test]
    fn numbers_that_came_around_are_no_copies() {
        let tagged = |point, t_ns| Sight {
            copy_tag: 5,
            ..sight(1, point, t_ns)
        };
        let fits = |up: &Sight, down: &Sight| (up.t_ns - down.t_ns).abs() < 20 * US;
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
