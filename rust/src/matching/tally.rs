//! What a partition counts of the packets it decided.

use super::Sight;
use super::copies::Folded;
use super::ends::Ends;
use super::links::Links;
use super::losses::{Losses, link_bit};
use super::ranges::{Cut, Kind, Lost};
use super::reordering::Reordering;
use super::rows::Rows;
use super::spill::Spill;
use super::totals::Totals;
use crate::error::Result;
use crate::plan::{Direction, Plan};
use std::path::Path;
use std::sync::Arc;

/// The counts of one partition in the making.
pub(super) struct Tally {
    plan: Arc<Plan>,
    totals: Totals,
    losses: Losses,
    reordering: Vec<[Reordering; 2]>,
    spills: Vec<[Option<Spill>; 2]>,
    ends: Ends,
    pub(super) rows: Rows,
    links: Links,
}

impl Tally {
    pub(super) fn new(
        plan: Arc<Plan>,
        directory: &Path,
        partition: usize,
        keep_rows: bool,
    ) -> Result<Self> {
        let mut spills = Vec::new();
        for (index, (near, far)) in plan.links.iter().enumerate() {
            let is_apart = !plan.same_clock(*near, *far);
            let spill = |direction: &str| {
                let name = format!("raw-{index}-{direction}-{partition}");
                is_apart
                    .then(|| Spill::create(directory, &name))
                    .transpose()
            };
            spills.push([spill("forward")?, spill("reverse")?]);
        }
        Ok(Self {
            totals: Totals::of_links(plan.links.len()),
            losses: Losses::default(),
            reordering: plan.links.iter().map(|_| Default::default()).collect(),
            spills,
            ends: Ends::new(directory, partition),
            rows: Rows::new(directory, partition, keep_rows)?,
            links: Links::new(&plan),
            plan,
        })
    }

    /// Counts a decided packet.
    pub(super) fn count(&mut self, sights: &[Sight], direction: Direction, folded: &Folded) {
        let mut crossed = 0;
        for two in sights.windows(2) {
            let [up, down] = two else { continue };
            crossed |= self.count_pair(up, down, direction, folded);
            if let Some(first) = sights.first() {
                self.rows.keep(up, down, direction, first);
            }
        }
        if let [first, _, .., last] = sights
            && sights.len() > 2
            && self
                .links
                .between(first, last, direction)
                .is_some_and(|link| Some(link) == self.plan.whole)
        {
            crossed |= self.count_pair(first, last, direction, folded);
        }
        self.losses
            .note_way(&self.plan, &self.links, sights, direction, crossed);
    }

    /// Counts what was not seen after a packet's last sight, which may be a loss.
    pub(super) fn count_end(
        &mut self,
        sights: &[Sight],
        direction: Direction,
        lost: Lost,
        has_entered: bool,
    ) {
        self.losses
            .note_end(&self.plan, sights, direction, lost, has_entered);
    }

    /// Counts two packets of a stream that was cut or joined between them.
    pub(super) fn count_cut(&mut self, cut: &Cut<'_>) {
        let side = cut.direction.index();
        let Some(index) = self.links.between(cut.up, cut.down, cut.direction) else {
            return;
        };
        let crossed = link_bit(index, side);
        self.losses
            .note_crossed(std::slice::from_ref(cut.up), crossed);
        if let Some(tally) = at(&mut self.totals.links, index, side) {
            tally.matched_bytes += cut.n_bytes;
        }
        let is_exact = self.plan.same_clock(cut.up.point, cut.down.point);
        self.ends.count((index, side), cut, is_exact);
        if let Some(reordering) = at(&mut self.reordering, index, side) {
            reordering.push(cut.up, cut.down, cut.kind, is_exact);
        }
    }

    /// Counts one pair of sights and returns the bit of the segment it crossed.
    fn count_pair(
        &mut self,
        up: &Sight,
        down: &Sight,
        direction: Direction,
        folded: &Folded,
    ) -> u128 {
        let raw_ns = down.t_ns.saturating_sub(up.t_ns);
        let is_exact = self.plan.same_clock(up.point, down.point);
        if !is_exact {
            self.totals.note_least(&self.plan, direction, up, down);
        }
        let Some(index) = self.links.between(up, down, direction) else {
            return 0;
        };
        let side = direction.index();
        if let Some(tally) = at(&mut self.totals.links, index, side) {
            tally.n += 1;
            tally.matched_bytes += down.range.length().map_or(0, u64::from);
            if is_exact {
                tally.time(self.plan.blocks.block_of(up.aligned_ns), raw_ns);
            }
            if !folded.is_empty() {
                let n_after = folded.copies_of(down).count() as u64;
                tally.n_duplicated += n_after.saturating_sub(folded.copies_of(up).count() as u64);
            }
        }
        if !is_exact && let Some(Some(spill)) = at(&mut self.spills, index, side) {
            spill.write([up.t_ns, raw_ns]);
        }
        if let Some(reordering) = at(&mut self.reordering, index, side) {
            reordering.push(up, down, Kind::Packet, is_exact);
        }
        link_bit(index, side)
    }

    /// Puts in order what arrived before `until_ns`.
    pub(super) fn settle(&mut self, until_ns: i64) {
        self.reordering
            .iter_mut()
            .flatten()
            .for_each(|one| one.settle(until_ns));
    }

    /// The counts but for the losses, which need those of all partitions.
    pub(super) fn finish(mut self) -> Result<(Totals, Losses)> {
        let tallies = self.totals.links.iter_mut().flatten();
        for (tally, reordering) in tallies.zip(self.reordering.iter_mut().flatten()) {
            tally.put_in_order(reordering.finish());
        }
        for (paths, spills) in self
            .totals
            .spills
            .iter_mut()
            .flatten()
            .zip(self.spills.into_iter().flatten())
        {
            paths.extend(spills.map(Spill::finish).transpose()?);
        }
        self.ends.finish(&mut self.totals.links)?;
        self.totals.rows.extend(self.rows.finish()?);
        Ok((self.totals, self.losses))
    }
}

fn at<T>(links: &mut [[T; 2]], index: usize, side: usize) -> Option<&mut T> {
    links.get_mut(index).and_then(|both| both.get_mut(side))
}

#[cfg(test)]
mod tests {
    use super::super::booking::book;
    use super::super::testing::{ANYTHING, SEGMENT_NS, path, sight};
    use super::*;
    use crate::plan::N_BINS;

    fn tally(plan: Plan) -> Tally {
        Tally::new(Arc::new(plan), &std::env::temp_dir(), 0, false).unwrap()
    }

    fn count(tally: &mut Tally, sights: &[Sight], folded: &Folded) {
        tally.count(sights, Direction::Forward, folded);
        if let Some(last) = sights.last() {
            tally.count_end(sights, Direction::Forward, Lost::whole(last), false);
        }
    }

    fn seen(points: &[u16]) -> Vec<Sight> {
        let at = |point: &u16| Sight {
            t_ns: i64::from(*point) * SEGMENT_NS,
            ..sight(1, *point, 0)
        };
        points.iter().map(at).collect()
    }

    /// Pairs per link, forward.
    fn n_pairs(totals: &Totals) -> Vec<u64> {
        totals.links.iter().map(|[forward, _]| forward.n).collect()
    }

    #[test]
    fn each_segment_and_the_whole_path_are_counted_once() {
        let mut tally = tally(path(4));
        count(&mut tally, &seen(&[0, 1, 2, 3]), &Folded::default());
        count(&mut tally, &seen(&[1, 2]), &Folded::default());
        let (totals, _) = tally.finish().unwrap();
        assert_eq!(n_pairs(&totals), [1, 2, 1, 1]);
        let links = totals.links.iter();
        let sums = links.map(|[forward, _]| forward.histogram.sum_ns);
        assert!(sums.eq([1, 2, 1, 3].map(|n| n * i128::from(SEGMENT_NS))));
    }

    #[test]
    fn a_jump_over_a_point_counts_in_no_segment() {
        let mut tally = tally(path(4));
        count(&mut tally, &seen(&[0, 2]), &Folded::default());
        count(&mut tally, &seen(&[0, 2, 3]), &Folded::default());
        count(&mut tally, &seen(&[0, 3]), &Folded::default());
        let (totals, losses) = tally.finish().unwrap();
        assert_eq!(n_pairs(&totals), [0, 0, 1, 2]);
        let plan = path(4);
        let n_lost = book(&plan, &losses, &totals.n_pairs()).links.into_iter();
        let n_lost: Vec<u64> = n_lost.map(|[forward, _]| forward.lost.packets).collect();
        assert_eq!(n_lost, [0, 0, 1, 1]);
    }

    #[test]
    fn copies_made_on_the_way_are_counted_where_they_appear() {
        let mut folded = Folded::default();
        let copies = [sight(1, 1, 500), sight(1, 2, 500), sight(1, 2, 600)];
        let run: Vec<Sight> = (0..3)
            .map(|point| sight(1, point, 0))
            .chain(copies)
            .collect();
        let kept = folded.fold(&run, &ANYTHING);
        let mut tally = tally(path(3));
        count(&mut tally, &kept, &folded);
        let (totals, _) = tally.finish().unwrap();
        let n_duplicated = totals.links.iter().map(|[forward, _]| forward.n_duplicated);
        assert_eq!(n_duplicated.collect::<Vec<_>>(), [1, 1, 2]);
    }

    #[test]
    fn only_surveyed_packets_with_a_direction_bound_clocks() {
        let mut plan = path(2);
        plan.domain = vec![0, 1];
        plan.toward_is_forward.insert(0, true);
        plan.bins = (-1000, 100);
        let folder = std::env::temp_dir().join(format!("tally-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut tally = Tally::new(Arc::new(plan), &folder, 0, false).unwrap();
        let both = |one: Sight| [Sight { point: 0, ..one }, Sight { point: 1, ..one }];
        let known = sight(1, 0, 0);
        let known_at = |aligned_ns| Sight {
            aligned_ns,
            ..known
        };
        for one in [
            known,
            Sight { pair: 7, ..known },
            Sight {
                directed: false,
                ..known
            },
            known_at(i64::MAX),
            known_at(i64::MIN),
        ] {
            count(&mut tally, &both(one), &Folded::default());
        }
        let (totals, _) = tally.finish().unwrap();
        let bins = &totals.least[&(0, 1, 0)];
        let occupied: Vec<usize> = (0..N_BINS).filter(|bin| bins[*bin].is_some()).collect();
        assert_eq!(occupied, [10, N_BINS - 1]);
        assert_eq!(
            (totals.links[0][0].n, totals.links[0][0].histogram.n),
            (5, 0)
        );
        assert_eq!(
            std::fs::metadata(&totals.spills[0][0][0]).unwrap().len(),
            5 * 16
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
