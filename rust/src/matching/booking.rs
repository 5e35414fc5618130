//! Bookings: which segment lost the packets that were not seen again.
//!
//! Of what ended at the upstream point u of a segment, a part got lost there, and a part passed its
//! downstream point v, was missed by that capture, and got lost farther on. Of what v misses it is
//! known how much (m, see [`super::misses`]), and of what was seen at u and v it is known how much
//! got lost farther on (D). Of those that ended at u (E), E − D m / (1 − m) are losses of the
//! segment; (1 − m) E − m D are as many as v would have witnessed, and n holds what it witnessed.

use super::link_loss::LinkLoss;
use super::losses::{End, Losses, ends, link_bit};
use super::misses::Missed;
use super::ranges::Lost;
use crate::plan::{Direction, Plan};
use std::collections::{BTreeMap, HashMap};

/// What was lost, and what was only missed.
#[derive(Debug, Default)]
pub(super) struct Booked {
    /// Per link and direction.
    pub(super) links: Vec<[LinkLoss; 2]>,
    /// Per point and direction.
    pub(super) points: Vec<[Missed; 2]>,
}

/// Packets that got lost on one of these, nobody knows on which.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Either {
    /// Segments.
    Of(Vec<usize>),
    /// The whole path, or another one that ends elsewhere: the last points.
    Whole(Vec<u16>),
}

/// Books all losses. `n_pairs`: what came through, per link and direction.
pub(super) fn book(plan: &Plan, losses: &Losses, n_pairs: &[[u64; 2]]) -> Booked {
    let points = losses.misses.count(plan, &losses.crossed);
    let books = Books {
        plan,
        n_pairs,
        points: &points,
    };
    let mut gathered: BTreeMap<(usize, Either), LinkLoss> = BTreeMap::new();
    let mut seen_at_both: HashMap<(u16, u16, usize), Lost> = HashMap::new();
    // the mirror lost as many, whichever they were: these are no loss of the path
    let mut n_unmirrored: Vec<u64> = plan.mirror_gaps.iter().map(|(_, n)| *n).collect();
    let mut ended: Vec<_> = losses.ended.iter().collect();
    ended.sort_unstable_by_key(|(end, _)| (end.block, end.pair, end.point, end.from));
    for (end, all) in ended {
        let crossed = losses.crossed.of(end.pair);
        let side = usize::from(end.is_reverse);
        let ways = books.where_lost(end, crossed);
        let mirror = end.unmirrored.filter(|_| !ways.is_empty());
        let left_out = mirror.and_then(|point| n_unmirrored.get_mut(usize::from(point)));
        let lost = left_out.map_or(*all, |n| all.without(n));
        for either in ways {
            let total = gathered.entry((side, either)).or_default();
            total.add(lost, end.block);
        }
        if let Some(from) = end.from {
            seen_at_both
                .entry((from, end.point, side))
                .or_default()
                .add(lost);
        }
    }
    let mut links: Vec<[LinkLoss; 2]> = vec![Default::default(); plan.links.len()];
    for ((side, either), loss) in gathered {
        for (index, loss) in books.divided(&either, side, &loss) {
            if let Some(total) = links.get_mut(index).and_then(|both| both.get_mut(side)) {
                total.join(&loss);
            }
        }
    }
    books.take_missed(&mut links, &seen_at_both);
    Booked { links, points }
}

struct Books<'a> {
    plan: &'a Plan,
    n_pairs: &'a [[u64; 2]],
    points: &'a [[Missed; 2]],
}

impl Books<'_> {
    /// Takes off the segments what was lost farther on. Of the whole path's end nobody knows what it
    /// missed.
    fn take_missed(
        &self,
        links: &mut [[LinkLoss; 2]],
        seen_at_both: &HashMap<(u16, u16, usize), Lost>,
    ) {
        for (index, both) in links.iter_mut().enumerate() {
            for (side, loss) in both.iter_mut().enumerate() {
                let ends = self.ends(index, side);
                let Some((up, down)) = ends.filter(|_| Some(index) != self.plan.whole) else {
                    continue;
                };
                let farther = seen_at_both.get(&(up, down, side));
                loss.take_missed(
                    &self.missed(down, side),
                    farther.copied().unwrap_or_default(),
                );
            }
        }
    }

    /// On the segments after the last sight that the address pair crosses otherwise, and on the
    /// whole path, if it crosses that.
    fn where_lost(&self, end: &End, crossed: u128) -> Vec<Either> {
        let plan = self.plan;
        let side = usize::from(end.is_reverse);
        let is_torn = |index: usize| end.is_untold && plan.torn.get(index) == Some(&true);
        let goes_on = |index: usize| crossed & link_bit(index, side) != 0 && !is_torn(index);
        let leads = |index: &usize| {
            self.ends(*index, side)
                .is_some_and(|(up, _)| up == end.point)
                && goes_on(*index)
        };
        let segments: Vec<usize> = self.segments().filter(leads).collect();
        let mut found = Vec::new();
        if !segments.is_empty() {
            found.push(Either::Of(segments));
        }
        if end.had_entered && plan.whole.is_some_and(goes_on) {
            let last = |index: &usize| goes_on(*index) && self.is_last(*index, side);
            let last = self
                .segments()
                .filter(last)
                .filter_map(|index| self.ends(index, side));
            let mut last: Vec<u16> = last.map(|(_, down)| down).collect();
            last.sort_unstable();
            last.dedup();
            found.push(Either::Whole(last));
        }
        found
    }

    /// Divides what was lost on either as what came through them is.
    fn divided(&self, either: &Either, side: usize, loss: &LinkLoss) -> Vec<(usize, LinkLoss)> {
        match either {
            Either::Of(segments) => {
                let passed = segments.iter().map(|index| self.n_passed(*index, side));
                let shares = loss.divided(&passed.collect::<Vec<_>>());
                segments.iter().copied().zip(shares).collect()
            }
            Either::Whole(last) => {
                let Some((whole, (_, down))) = self
                    .plan
                    .whole
                    .and_then(|whole| Some((whole, self.ends(whole, side)?)))
                else {
                    return Vec::new();
                };
                let arrived = last.iter().map(|point| self.n_arrived(*point, side));
                let shares = loss.divided(&arrived.collect::<Vec<_>>());
                let mine = last.iter().zip(shares).find(|(point, _)| **point == down);
                vec![(whole, mine.map_or_else(|| loss.clone(), |(_, share)| share))]
            }
        }
    }

    /// What came through a segment, and would have been seen to, had its downstream point missed none.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    fn n_passed(&self, index: usize, side: usize) -> f64 {
        let n = self
            .n_pairs
            .get(index)
            .and_then(|both| both.get(side))
            .copied()
            .unwrap_or(0);
        let missed = self
            .ends(index, side)
            .map(|(_, down)| self.missed(down, side));
        n.max(1) as f64 / (1.0 - missed.unwrap_or_default().share())
    }

    fn n_arrived(&self, point: u16, side: usize) -> f64 {
        let to = |index: &usize| {
            self.ends(*index, side)
                .is_some_and(|(_, down)| down == point)
        };
        self.segments()
            .filter(to)
            .map(|index| self.n_passed(index, side))
            .sum()
    }

    /// Whether no segment begins where this one ends.
    fn is_last(&self, index: usize, side: usize) -> bool {
        let Some((_, down)) = self.ends(index, side) else {
            return false;
        };
        !self
            .segments()
            .any(|next| self.ends(next, side).is_some_and(|(up, _)| up == down))
    }

    fn segments(&self) -> impl Iterator<Item = usize> {
        (0..self.plan.links.len()).filter(|index| Some(*index) != self.plan.whole)
    }

    /// Upstream and downstream point.
    fn ends(&self, index: usize, side: usize) -> Option<(u16, u16)> {
        let link = self.plan.links.get(index)?;
        Some(ends(*link, Direction::of(side == 0)))
    }

    fn missed(&self, point: u16, side: usize) -> Missed {
        let both = self.points.get(usize::from(point));
        both.and_then(|both| both.get(side))
            .copied()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sight;
    use super::super::links::Links;
    use super::super::testing::{fork, path, sight};
    use super::*;

    /// Notes forward packets of a pair, seen at these points, as the tally does.
    fn note(losses: &mut Losses, plan: &Plan, pair: u64, points: &[u16], n: u64) {
        let seen = |point: &u16| Sight {
            pair,
            ..sight(1, *point, 0)
        };
        let sights: Vec<Sight> = points.iter().map(seen).collect();
        let links = Links::new(plan);
        let ends = [&sights[0], &sights[sights.len() - 1]];
        let whole = [[*ends[0], *ends[1]]];
        let pairs = sights
            .windows(2)
            .chain(whole.iter().map(<[Sight; 2]>::as_slice));
        let between = pairs.filter_map(|two| links.between(&two[0], &two[1], Direction::Forward));
        let crossed = between.fold(0, |all, index| all | link_bit(index, 0));
        for _ in 0..n {
            losses.note_way(plan, &links, &sights, Direction::Forward, crossed);
            let lost = Lost::whole(ends[1]);
            losses.note_end(plan, &sights, Direction::Forward, lost, false);
        }
    }

    fn n_lost(plan: &Plan, losses: &Losses, n_pairs: &[u64]) -> Vec<u64> {
        let n_pairs: Vec<[u64; 2]> = n_pairs.iter().map(|n| [*n, 0]).collect();
        let links = book(plan, losses, &n_pairs).links.into_iter();
        links.map(|[to, _]| to.lost.packets).collect()
    }

    #[test]
    fn what_a_point_missed_and_was_lost_farther_on_is_booked_there() {
        let plan = path(4);
        let mut losses = Losses::default();
        // of 1,000, 100 are lost on each segment, and point 1 misses a quarter
        note(&mut losses, &plan, 1, &[0], 100 + 25);
        note(&mut losses, &plan, 1, &[0, 1], 75);
        note(&mut losses, &plan, 1, &[0, 1, 2], 75);
        note(&mut losses, &plan, 1, &[0, 2], 25);
        note(&mut losses, &plan, 1, &[0, 1, 2, 3], 525);
        note(&mut losses, &plan, 1, &[0, 2, 3], 175);
        // a quarter of the 100 is what point 1 would not have witnessed: n is less by as much
        let lost = n_lost(&plan, &losses, &[675, 600, 700, 700]);
        assert_eq!(lost, [75, 75, 100, 300]);
    }

    #[test]
    fn a_loss_before_a_fork_is_divided_as_what_came_through() {
        let plan = fork();
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1, 3], 60);
        note(&mut losses, &plan, 1, &[0, 2, 3], 20);
        note(&mut losses, &plan, 2, &[0, 2, 3], 10);
        note(&mut losses, &plan, 1, &[0], 8);
        note(&mut losses, &plan, 2, &[0], 5);
        assert_eq!(
            n_lost(&plan, &losses, &[60, 30, 60, 30, 90])[..2],
            [5, 3 + 5]
        );
    }

    #[test]
    fn what_arrives_at_another_end_is_not_lost_on_the_whole_path() {
        // 0, then 1, then 2 or 3; the whole path ends at 3
        let plan = Plan {
            position: vec![0, 1, 2, 2],
            links: vec![(0, 1), (1, 2), (1, 3), (0, 3)],
            torn: vec![false; 4],
            whole: Some(3),
            ..path(4)
        };
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1, 2], 30);
        note(&mut losses, &plan, 1, &[0, 1, 3], 10);
        note(&mut losses, &plan, 1, &[0], 4);
        assert_eq!(n_lost(&plan, &losses, &[40, 30, 10, 10]), [4, 0, 0, 1]);
    }
}
