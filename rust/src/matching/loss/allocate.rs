//! Bookings: which segment lost the packets that were not seen again.
//!
//! Of what ended at the upstream point u of a segment, a part got lost there, and a part passed its
//! downstream point v, was missed by that capture, and got lost farther on. Of what v misses it is
//! known how much (m, see [`crate::matching::loss::missed`]), and of what was seen at u and v it is known how much
//! got lost farther on (D). Of those that ended at u (E), E − D m / (1 − m) are losses of the
//! segment; (1 − m) E − m D are as many as v would have witnessed, and n holds what it witnessed.

use crate::matching::loss::missed::Missed;
use crate::matching::loss::segment_loss::LinkLoss;
use crate::matching::loss::{End, Losses};
use crate::matching::streams::Lost;
use crate::plan::{Direction, LinkCrossing, Plan, Topology};
use std::collections::{BTreeMap, HashMap};

/// What was lost, and what was only missed.
#[derive(Debug, Default)]
pub(crate) struct Allocated {
    /// Per link and direction.
    pub(crate) links: Vec<[LinkLoss; 2]>,
    /// The same: what of it is not certain.
    pub(crate) uncertain: Vec<[Uncertain; 2]>,
    /// Per point and direction.
    pub(crate) points: Vec<[Missed; 2]>,
    /// Per point: of what ended while its mirror was losing frames, the share that counts as lost.
    pub(crate) past_gaps_frac: Vec<f64>,
}

/// What is not certain of the packets that were lost on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uncertain {
    /// May be lost in addition.
    pub(crate) more: u64,
    /// Of those that are, the ones that may not be.
    pub(crate) fewer: u64,
    /// Of these, the ones that were lost before a fork, nobody knows on which branch.
    pub(crate) divided: u64,
}

impl Uncertain {
    fn note(&mut self, of: Maybe, n: u64) {
        match of {
            Maybe::More => self.more += n,
            Maybe::Fewer => self.fewer += n,
        }
    }

    /// So many packets are on this link, of so many that were all lost on this one or on another: a branch that loses
    /// more than another does has more of them than its share.
    fn note_part(&mut self, n: u64, n_all: u64) {
        self.more += n_all - n;
        self.fewer += n;
        self.divided += n;
    }
}

/// Packets that got lost on one of these, nobody knows on which.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Candidates {
    /// Segments.
    Of(Vec<LinkCrossing>),
    /// The whole path, or another one that ends elsewhere: its direction, and the last points.
    Whole(LinkCrossing, Direction, Vec<u16>),
}

impl Candidates {
    /// Whether lost packets count as such on these, and not by their bytes alone.
    pub(crate) fn count_packets(&self, end: &End) -> bool {
        !end.was_cut || matches!(self, Self::Of(_))
    }

    /// What of lost packets counts as lost on these.
    fn lost_of(&self, end: &End, lost: Lost) -> Lost {
        if self.count_packets(end) {
            lost
        } else {
            Lost {
                bytes: lost.bytes,
                ..Lost::default()
            }
        }
    }
}

/// Allocates all losses. `n_pairs`: what came through, per link and direction.
pub(crate) fn allocate(plan: &Plan, losses: &Losses, n_pairs: &[[u64; 2]]) -> Allocated {
    let points = losses.missed(plan);
    let books = Allocation::new(plan, losses, n_pairs, &points);
    let mut gathered: BTreeMap<Candidates, LinkLoss> = BTreeMap::new();
    let mut seen_at_both: HashMap<(u16, u16, usize), Lost> = HashMap::new();
    let mut gaps = Gaps::new(plan);
    let mut uncertain = vec![[Uncertain::default(); 2]; plan.links.len()];
    for (end, all) in losses.ended.by_time() {
        let crossed = losses.crossed_of(&books.topology, &end);
        let ways = books.where_lost(&end, crossed);
        for (crossing, of) in books.where_maybe_lost(losses, &end, &ways) {
            if let Some(one) = at(&mut uncertain, crossing) {
                one.note(of, all.packets);
            }
        }
        let lost = gaps.past(end.unmirrored.filter(|_| !ways.is_empty()), all);
        for either in ways {
            let lost = either.lost_of(&end, lost);
            gathered.entry(either).or_default().add(lost, end.block());
        }
        if let Some(step) = books.last_step(&end) {
            seen_at_both.entry(step).or_default().add(lost);
        }
    }
    let mut links = books.of_links(gathered, &mut uncertain);
    books.take_missed(&mut links, &seen_at_both);
    Allocated {
        links,
        uncertain,
        points,
        past_gaps_frac: gaps.past_frac(),
    }
}

/// More packets may be lost than count so, or fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maybe {
    More,
    Fewer,
}

fn was_waited_for(end: &End, crossing: LinkCrossing) -> bool {
    end.waited_for & crossing.bit() != 0
}

/// What is known of a link in one direction.
pub(super) fn at<T>(links: &mut [[T; 2]], crossing: LinkCrossing) -> Option<&mut T> {
    let of_link = links.get_mut(crossing.link);
    of_link.and_then(|both| both.get_mut(crossing.side))
}

/// What mirrors lost by their own numbers: as many packets, whichever they were, are no loss of the
/// path. Per point.
struct Gaps {
    n_left: Vec<u64>,
    /// Of what ended in them: in all, and what is lost nevertheless.
    n_ended: Vec<[u64; 2]>,
}

impl Gaps {
    fn new(plan: &Plan) -> Self {
        Self {
            n_left: plan.mirror_gaps.iter().map(|(_, n)| *n).collect(),
            n_ended: vec![[0; 2]; plan.mirror_gaps.len()],
        }
    }

    /// What counts as lost of packets that ended in a gap of this point's mirror, or in none.
    fn past(&mut self, mirror: Option<u16>, all: Lost) -> Lost {
        let Some(point) = mirror.map(usize::from) else {
            return all;
        };
        let left = self.n_left.get_mut(point);
        let lost = left.map_or(all, |n| all.without(n));
        if let Some([n, n_lost]) = self.n_ended.get_mut(point) {
            *n += all.packets;
            *n_lost += lost.packets;
        }
        lost
    }

    /// The share of them that does.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    fn past_frac(&self) -> Vec<f64> {
        let share = |[n, n_lost]: &[u64; 2]| *n_lost as f64 / (*n).max(1) as f64;
        self.n_ended.iter().map(share).collect()
    }
}

/// What booking goes by.
pub(crate) struct Allocation<'a> {
    plan: &'a Plan,
    pub(crate) topology: Topology,
    losses: &'a Losses,
    n_pairs: &'a [[u64; 2]],
    points: &'a [[Missed; 2]],
}

impl<'a> Allocation<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        losses: &'a Losses,
        n_pairs: &'a [[u64; 2]],
        points: &'a [[Missed; 2]],
    ) -> Self {
        Self {
            plan,
            topology: Topology::new(plan),
            losses,
            n_pairs,
            points,
        }
    }

    /// The last two points that saw them, and in which direction they were passed.
    fn last_step(&self, end: &End) -> Option<(u16, u16, usize)> {
        let from = end.from?;
        let crossing = self.topology.between(from, end.point);
        let side = crossing.map_or(end.direction.index(), |one| one.side);
        Some((from, end.point, side))
    }

    /// What was lost on either of several, divided.
    fn of_links(
        &self,
        gathered: BTreeMap<Candidates, LinkLoss>,
        uncertain: &mut [[Uncertain; 2]],
    ) -> Vec<[LinkLoss; 2]> {
        let mut links = vec![Default::default(); self.plan.links.len()];
        for (either, loss) in gathered {
            let parts = self.divided(&either, &loss);
            let is_divided = parts.len() > 1;
            for (crossing, part) in parts {
                let n = part.lost.packets;
                let one = at(uncertain, crossing).filter(|_| is_divided || n < loss.lost.packets);
                if let Some(one) = one {
                    one.note_part(n, loss.lost.packets);
                }
                if let Some(total) = at::<LinkLoss>(&mut links, crossing) {
                    total.join(&part);
                }
            }
        }
        links
    }

    /// Takes off the segments what was lost farther on. Of the whole path's end nobody knows what it
    /// missed.
    fn take_missed(
        &self,
        links: &mut [[LinkLoss; 2]],
        seen_at_both: &HashMap<(u16, u16, usize), Lost>,
    ) {
        for (link, both) in links.iter_mut().enumerate() {
            for (side, loss) in both.iter_mut().enumerate() {
                let ends = self.topology.ends(LinkCrossing { link, side });
                let Some((up, down)) = ends.filter(|_| !self.topology.is_whole(link)) else {
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

    /// Whether packets like those that ended cross a segment otherwise, and it is told that they do.
    pub(crate) fn goes_on(&self, end: &End, crossed: u128, crossing: LinkCrossing) -> bool {
        let is_torn = end.is_untold && self.plan.torn.get(crossing.link) == Some(&true);
        crossed & crossing.bit() != 0 && !is_torn
    }

    /// The segments after the last observation that the address pair crosses otherwise, if all lead to points that would
    /// have its packets.
    fn onward(&self, end: &End, crossed: u128) -> impl Iterator<Item = LinkCrossing> {
        let is_hidden = |(_, down): (_, u16)| self.losses.is_hidden_at(end, down);
        // what is sent to several has a loss of its own for each
        let is_any_hidden = end.branch.is_none() && self.to_branch(end, crossed).any(is_hidden);
        let next = self.to_branch(end, crossed).filter(move |_| !is_any_hidden);
        next.map(|(crossing, _)| crossing)
    }

    /// Of a packet with several receivers, to the one that it did not come to.
    fn to_branch(&self, end: &End, crossed: u128) -> impl Iterator<Item = (LinkCrossing, u16)> {
        let next = self.next(end, end.point, crossed);
        next.filter(|(_, down)| end.branch.is_none_or(|branch| branch == *down))
    }

    /// The segments from a point that the address pair crosses otherwise, and where they lead to.
    fn next(
        &self,
        end: &End,
        point: u16,
        crossed: u128,
    ) -> impl Iterator<Item = (LinkCrossing, u16)> {
        let next = self.topology.along(end.direction).onward(point);
        let segments = next.filter_map(move |down| {
            let crossing = self.topology.between(point, down)?;
            Some((crossing, down))
        });
        segments.filter(move |(one, _)| self.goes_on(end, crossed, *one))
    }

    /// The segments to the next points that would have them, past points that may have captured nothing of them.
    pub(crate) fn past_hidden(&self, end: &End, crossed: u128) -> Vec<LinkCrossing> {
        let is_hidden = |down: u16| self.losses.is_hidden_at(end, down);
        if end.branch.is_some() || self.onward(end, crossed).next().is_some() {
            return Vec::new();
        }
        let (mut found, mut reached, mut at) = (Vec::new(), vec![end.point], 0);
        while let Some(from) = reached.get(at).copied() {
            let next = self.next(end, from, crossed);
            let is_due = |one| from != end.point || was_waited_for(end, one);
            for (crossing, down) in next.filter(|(one, _)| is_due(*one)) {
                found.push(crossing);
                if is_hidden(down) && !reached.contains(&down) {
                    reached.push(down);
                }
            }
            at += 1;
        }
        found
    }

    /// Of these, branches that were not waited for while another one of the fork was, or the path as a whole: a branch
    /// that nothing takes any more may have failed, or its capture may have ended.
    fn unwatched(&self, end: &End, crossed: u128) -> impl Iterator<Item = LinkCrossing> {
        let next = self.topology.along(end.direction).onward(end.point);
        let mut all = next.filter_map(|down| self.topology.between(end.point, down));
        let is_watched = end.had_entered || all.any(|one| was_waited_for(end, one));
        let onward = self.onward(end, crossed).filter(move |_| is_watched);
        onward.filter(|one| !was_waited_for(end, *one))
    }

    /// On the segments after the last observation that the address pair crosses otherwise, and on the
    /// whole path, if it crosses that.
    pub(crate) fn where_lost(&self, end: &End, crossed: u128) -> Vec<Candidates> {
        let along = self.topology.along(end.direction);
        let goes_on = |crossing: &LinkCrossing| self.goes_on(end, crossed, *crossing);
        let segments = self.onward(end, crossed);
        let segments: Vec<LinkCrossing> =
            segments.filter(|one| was_waited_for(end, *one)).collect();
        let mut found = Vec::new();
        if !segments.is_empty() {
            found.push(Candidates::Of(segments));
        }
        let whole = along.whole.filter(|_| end.had_entered);
        let whole = whole.and_then(|(up, down)| self.topology.between(up, down));
        if let Some(whole) = whole.filter(goes_on) {
            // each receiver of several has a loss of its own, and they do not share it
            let is_meant = |down: u16| {
                let is_end = || {
                    self.topology
                        .ends(whole)
                        .is_some_and(|(_, end)| end == down)
                };
                along.onward(down).next().is_none() && (end.branch.is_none() || is_end())
            };
            let arrived = along.neighbours.iter().filter(|(up, down)| {
                let crossing = self.topology.between(*up, *down);
                crossing.as_ref().is_some_and(goes_on) && is_meant(*down)
            });
            let mut last: Vec<u16> = arrived.map(|(_, down)| *down).collect();
            last.sort_unstable();
            last.dedup();
            found.push(Candidates::Whole(whole, end.direction, last));
        }
        found
    }

    /// Segments, or the whole path, that may have lost them, where it does not show that they were to go on; or that
    /// count as having lost them, and may not have.
    fn where_maybe_lost(
        &self,
        losses: &Losses,
        end: &End,
        lost: &[Candidates],
    ) -> Vec<(LinkCrossing, Maybe)> {
        let links = |either: Candidates| match either {
            Candidates::Of(segments) => segments,
            Candidates::Whole(whole, ..) => vec![whole],
        };
        let crossed = losses.maybe_crossed_of(&self.topology, end);
        let more = self.where_lost(end, crossed).into_iter().flat_map(links);
        let more = more.map(|one| (one, Maybe::More));
        let crossed = losses.crossed_of(&self.topology, end);
        let unwatched: Vec<LinkCrossing> = self.unwatched(end, crossed).collect();
        let past = self.past_hidden(end, crossed);
        let more = more.chain(unwatched.iter().chain(&past).map(|one| (*one, Maybe::More)));
        let is_doubtful = losses.is_by_receiver(&self.topology, end) || !unwatched.is_empty();
        let fewer = lost.iter().filter(|_| is_doubtful).cloned();
        let fewer = fewer.flat_map(links).map(|one| (one, Maybe::Fewer));
        more.chain(fewer).collect()
    }

    /// Divides what was lost on either as what came through them at the time is.
    fn divided(&self, either: &Candidates, loss: &LinkLoss) -> Vec<(LinkCrossing, LinkLoss)> {
        let (links, weights) = self.weighed(either, 0);
        let parts = if weights.len() > 1 {
            loss.divided(&|block| self.weighed(either, block).1)
        } else {
            vec![loss.clone()]
        };
        let parts = links.into_iter().zip(parts);
        parts
            .filter_map(|(link, part)| Some((link?, part)))
            .collect()
    }

    /// The links on which something was lost, `None` for what is another end of the path, and how
    /// much of it came through each in a block of time; as one packet counts what came in all.
    pub(crate) fn weighed(
        &self,
        either: &Candidates,
        block: usize,
    ) -> (Vec<Option<LinkCrossing>>, Vec<f64>) {
        let weighed: Vec<_> = match either {
            Candidates::Of(segments) => segments
                .iter()
                .map(|one| (Some(*one), self.passed(*one, block)))
                .collect(),
            Candidates::Whole(whole, direction, last) => {
                let end = self.topology.ends(*whole);
                let is_end = |point: u16| end.is_some_and(|(_, down)| down == point);
                let others = last.iter().map(|point| {
                    (
                        Some(*whole).filter(|_| is_end(*point)),
                        self.arrived((*point, *direction), block),
                    )
                });
                if last.iter().any(|point| is_end(*point)) {
                    others.collect()
                } else {
                    vec![(Some(*whole), [1.0, 0.0])]
                }
            }
        };
        let (links, passed): (Vec<_>, Vec<_>) = weighed.into_iter().unzip();
        let all: f64 = passed.iter().map(|[in_all, _]| in_all).sum();
        let weights = passed.iter().map(|[in_all, then]| in_all / all + then);
        (links, weights.collect())
    }

    /// What came through a segment, and would have been seen to, had its downstream point missed none: in all, and
    /// in a block of time.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    fn passed(&self, crossing: LinkCrossing, block: usize) -> [f64; 2] {
        let n = self
            .n_pairs
            .get(crossing.link)
            .and_then(|both| both.get(crossing.side))
            .copied()
            .unwrap_or(0);
        let missed = self
            .topology
            .ends(crossing)
            .map(|(_, down)| self.missed(down, crossing.side));
        let seen_frac = 1.0 - missed.unwrap_or_default().share();
        [n.max(1), self.losses.arrivals.of(crossing, block)].map(|n| n as f64 / seen_frac)
    }

    fn arrived(&self, (point, direction): (u16, Direction), block: usize) -> [f64; 2] {
        let neighbours = self.topology.along(direction).neighbours.iter();
        let to = neighbours.filter(|(_, down)| *down == point);
        to.filter_map(|(up, down)| self.topology.between(*up, *down))
            .map(|crossing| self.passed(crossing, block))
            .fold([0.0; 2], |all, one| [all[0] + one[0], all[1] + one[1]])
    }

    pub(crate) fn missed(&self, point: u16, side: usize) -> Missed {
        let both = self.points.get(usize::from(point));
        both.and_then(|both| both.get(side))
            .copied()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
