//! Losses: where packets were last seen, of address pairs that go farther otherwise.

use super::Sight;
use super::crossed::Crossed;
use super::misses::Misses;
use super::ranges::Lost;
use super::unmirrored::unmirrored_at;
use crate::plan::{Direction, Plan, Topology};
use std::collections::HashMap;

/// Where packets of an address pair ended before their path did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct End {
    pub(super) pair: u64,
    /// The point before the last one that saw them.
    pub(super) from: Option<u16>,
    /// The last one.
    pub(super) point: u16,
    pub(super) is_reverse: bool,
    /// They had entered the whole path at its beginning.
    pub(super) had_entered: bool,
    /// Of streams that may be cut and joined, it is not told which bytes they carry.
    pub(super) is_untold: bool,
    /// The point at which all that led on from there ends, if its mirror was losing frames when they
    /// were to be there.
    pub(super) unmirrored: Option<u16>,
    /// The block of time of their last sight.
    pub(super) block: usize,
}

/// What became of the packets of each address pair. Pairs may be many, ends are few.
#[derive(Debug, Default)]
pub(super) struct Losses {
    pub(super) crossed: Crossed,
    pub(super) ended: HashMap<End, Lost>,
    pub(super) misses: Misses,
}

impl Losses {
    /// Notes the way of a packet, and the segments that it crossed.
    pub(super) fn note_way(
        &mut self,
        topology: &Topology,
        sights: &[Sight],
        direction: Direction,
        crossed: u128,
    ) {
        self.note_crossed(sights, crossed);
        if sights.last().is_some_and(|last| last.directed) {
            self.misses.note(topology, sights, direction);
        }
    }

    /// Notes the segments that a packet crossed.
    pub(super) fn note_crossed(&mut self, sights: &[Sight], crossed: u128) {
        if let Some(last) = sights.last().filter(|last| last.directed) {
            self.crossed.add(last.pair, crossed);
        }
    }

    /// Notes what was not seen after a packet's last sight. Bytes of it may have entered the whole
    /// path in another packet. Returns where that was, if something of it may be lost.
    pub(super) fn note_end(
        &mut self,
        (plan, topology): (&Plan, &Topology),
        sights: &[Sight],
        direction: Direction,
        loss: Lost,
        entered_in_another: bool,
    ) -> Option<End> {
        let (first, last) = (sights.first()?, sights.last()?);
        // of a datagram without a name nobody knows what it is elsewhere
        if !last.directed || sights.iter().all(|one| one.range.is_nameless()) {
            return None;
        }
        let along = topology.along(direction);
        let had_entered = along.whole.is_some_and(|(up, down)| {
            (entered_in_another || first.point == up) && last.point != down
        });
        let may_go_on = along.onward(last.point).next().is_some();
        // where nothing leads on, it has arrived, at whichever end of the path
        if !may_go_on || !is_covered(plan, last) {
            return None;
        }
        let before = sights.len().checked_sub(2).and_then(|at| sights.get(at));
        let end = End {
            pair: last.pair,
            from: before.map(|sight| sight.point),
            point: last.point,
            is_reverse: direction == Direction::Reverse,
            had_entered,
            is_untold: last.range.has_bytes() && last.range.length().is_none(),
            unmirrored: unmirrored_at(plan, topology, last, direction),
            block: plan.blocks.block_of(last.aligned_ns),
        };
        self.ended.entry(end).or_default().add(loss);
        Some(end)
    }

    /// Adds what another partition noted.
    pub(super) fn merge(&mut self, other: Self) {
        self.crossed.join(other.crossed);
        for (end, lost) in other.ended {
            self.ended.entry(end).or_default().add(lost);
        }
        self.misses.merge(other.misses);
    }
}

/// Whether all points of its part of the path were capturing.
pub(super) fn is_covered(plan: &Plan, sight: &Sight) -> bool {
    let component = plan
        .component
        .get(usize::from(sight.point))
        .copied()
        .unwrap_or(0);
    let cover = plan.cover.get(usize::from(component));
    cover.is_some_and(|(start, end)| (*start..=*end).contains(&sight.aligned_ns))
}

#[cfg(test)]
mod tests {
    use super::super::booking::book;
    use super::super::link_loss::LinkLoss;
    use super::super::testing::{path, sight};
    use super::*;
    use crate::base::blocks::N_BLOCKS;
    use crate::plan::Crossing;

    fn bit(link: usize, side: usize) -> u128 {
        Crossing { link, side }.bit()
    }

    /// Notes a forward packet of a pair that was seen at these points.
    fn note(losses: &mut Losses, plan: &Plan, pair: u64, points: &[u16], at_ns: i64) {
        let seen: Vec<Sight> = points
            .iter()
            .map(|point| Sight {
                pair,
                ..sight(1, *point, at_ns)
            })
            .collect();
        let is_crossed = |ends: &(u16, u16)| {
            seen.windows(2)
                .any(|two| (two[0].point, two[1].point) == *ends)
        };
        let mut crossed = 0;
        for (index, ends) in plan.links.iter().enumerate() {
            let is_whole = Some(index) == plan.whole
                && points.first() == Some(&ends.0)
                && points.last() == Some(&ends.1);
            if is_crossed(ends) || is_whole {
                crossed |= bit(index, 0);
            }
        }
        losses.note_crossed(&seen, crossed);
        if let Some(last) = seen.last() {
            losses.note_end(
                (plan, &Topology::new(plan)),
                &seen,
                Direction::Forward,
                Lost::whole(last),
                false,
            );
        }
    }

    fn booked(losses: &Losses, plan: &Plan) -> Vec<[LinkLoss; 2]> {
        book(plan, losses, &vec![[1; 2]; plan.links.len()]).links
    }

    fn n_lost(losses: &Losses, plan: &Plan) -> Vec<[u64; 2]> {
        let all = booked(losses, plan).into_iter();
        all.map(|both| both.map(|link| link.lost.packets)).collect()
    }

    #[test]
    fn a_loss_is_on_the_segment_after_the_last_sight() {
        let plan = path(4);
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1, 2, 3], 0);
        note(&mut losses, &plan, 1, &[0], 0);
        note(&mut losses, &plan, 1, &[0, 1, 2], 0);
        note(&mut losses, &plan, 1, &[0, 2], 0);
        note(&mut losses, &plan, 1, &[1], 0);
        assert_eq!(n_lost(&losses, &plan), [[1, 0], [1, 0], [2, 0], [3, 0]]);
    }

    #[test]
    fn a_pair_that_never_goes_there_loses_nothing_there() {
        let plan = path(3);
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1], 0);
        note(&mut losses, &plan, 2, &[0], 0);
        note(&mut losses, &plan, 3, &[0, 1, 2], 0);
        assert_eq!(n_lost(&losses, &plan), [[0, 0]; 3]);
    }

    #[test]
    fn what_one_partition_saw_crossing_another_may_have_lost() {
        let plan = path(3);
        let (mut one, mut other) = (Losses::default(), Losses::default());
        note(&mut one, &plan, 1, &[0, 1, 2], 0);
        note(&mut other, &plan, 1, &[0, 1], 0);
        one.merge(other);
        assert_eq!(n_lost(&one, &plan), [[0, 0], [1, 0], [1, 0]]);
    }

    #[test]
    fn outside_the_cover_nothing_is_lost() {
        let mut plan = path(2);
        plan.cover = vec![(100, 200)];
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1], 150);
        for at_ns in [99, 100, 200, 201, i64::MIN, i64::MAX] {
            note(&mut losses, &plan, 1, &[0], at_ns);
        }
        assert_eq!(n_lost(&losses, &plan), [[2, 0]]);
    }

    #[test]
    fn losses_are_kept_by_the_time_of_the_last_sight() {
        let mut plan = path(2);
        plan.blocks.length_ns = 10;
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1], 0);
        for at_ns in [5, 25, 29] {
            note(&mut losses, &plan, 1, &[0], at_ns);
        }
        let counted = booked(&losses, &plan);
        let [forward, reverse] = &counted[0];
        assert_eq!(forward.blocks[..4], [1, 0, 2, 0]);
        assert_eq!(forward.blocks.len(), N_BLOCKS);
        assert!(reverse.blocks.is_empty());
    }

    #[test]
    fn directions_are_apart() {
        let plan = path(2);
        let topology = Topology::new(&plan);
        let mut losses = Losses::default();
        let far = [sight(1, 1, 0)];
        losses.note_crossed(&far, bit(0, 1));
        losses.note_end(
            (&plan, &topology),
            &far,
            Direction::Reverse,
            Lost::whole(&far[0]),
            false,
        );
        losses.note_crossed(&far, bit(0, 0));
        losses.note_end(
            (&plan, &topology),
            &far,
            Direction::Forward,
            Lost::whole(&far[0]),
            false,
        );
        let undirected = Sight {
            directed: false,
            ..far[0]
        };
        losses.note_end(
            (&plan, &topology),
            &[undirected],
            Direction::Reverse,
            Lost::whole(&undirected),
            false,
        );
        assert_eq!(n_lost(&losses, &plan), [[0, 1]]);
    }

    #[test]
    fn a_pair_whose_packets_arrive_takes_one_entry() {
        let plan = path(3);
        let mut losses = Losses::default();
        (0..1000).for_each(|pair| note(&mut losses, &plan, pair, &[0, 1, 2], 0));
        assert_eq!((losses.crossed.n_pairs(), losses.ended.len()), (1000, 0));
    }
}
