//! Which packets were lost on which segment, for breakdowns: what was allocated, packet by packet.
//!
//! Each row weighs as much of a packet as was allocated on that segment: all of it where the way is
//! known and the point at its end misses nothing. What is lost farther on is taken off with a
//! negative weight, as in [`crate::matching::loss::allocate`].

use crate::matching::loss::allocate::Allocated;

use crate::base::error::Result;
use crate::base::spill::Spill;
use crate::matching::counts::segment_rows::{Ended, SegmentRowFiles, VALUES, points};
use crate::matching::loss::Losses;
use crate::matching::loss::allocate::Allocation;
use crate::plan::{Direction, Plan};
use std::path::Path;

/// Writes what of each packet was allocated to which segment.
pub(crate) fn write_lost(
    plan: &Plan,
    losses: &Losses,
    (n_pairs, allocated): (&[[u64; 2]], &Allocated),
    directory: &Path,
    files: &mut SegmentRowFiles,
) -> Result<()> {
    let books = Allocation::new(plan, losses, n_pairs, &allocated.points);
    let mut to = Spill::create(directory, "lost")?;
    for path in &files.ended {
        Ended::read(path, &mut |one| {
            let crossed = losses.crossed_of(&books.topology, &one.end);
            for part in parts(plan, &books, &allocated.past_gaps_frac, one, crossed) {
                to.write(part.row());
            }
        })?;
    }
    files.lost = Some(to.finish()?);
    Ok(())
}

/// A packet, or as much of it as counts, that was lost on a link.
struct LossPart {
    up: u16,
    down: u16,
    direction: Direction,
    /// The frame that was seen, and when; at the link's beginning or at its end.
    seen: (i64, i64),
    is_seen_up: bool,
    weight: f64,
}

impl LossPart {
    fn row(&self) -> [i64; VALUES] {
        const NOT_SEEN: i64 = -1;
        let (frame, t_ns) = self.seen;
        let (up, down) = if self.is_seen_up {
            (frame, NOT_SEEN)
        } else {
            (NOT_SEEN, frame)
        };
        let points = points(self.up, self.down, self.direction);
        [
            points,
            up,
            down,
            t_ns,
            0,
            self.weight.to_bits().cast_signed(),
            0,
        ]
    }
}

fn parts(
    plan: &Plan,
    books: &Allocation<'_>,
    past_gaps_frac: &[f64],
    one: &Ended,
    crossed: u128,
) -> Vec<LossPart> {
    let end = &one.end;
    let ways = books.where_lost(end, crossed);
    let gap = end.unmirrored.filter(|_| !ways.is_empty());
    let counted = gap.and_then(|point| past_gaps_frac.get(usize::from(point)));
    let counted = counted.copied().unwrap_or(1.0);
    let mut found = Vec::new();
    for either in ways.iter().filter(|either| either.count_packets(end)) {
        let (links, weights) = books.weighed(either, end.block());
        let all: f64 = weights.iter().sum();
        for (link, weight) in links.into_iter().zip(weights) {
            let ends = link.and_then(|link| Some((link, books.topology.ends(link)?)));
            let Some((link, (up, down))) = ends else {
                continue;
            };
            let is_whole = books.topology.is_whole(link.link);
            let (missed, seen) = if is_whole {
                (0.0, entered(plan, one, end.direction, up))
            } else {
                (books.missed(down, link.side).share(), one.last)
            };
            found.push(LossPart {
                up,
                down,
                direction: Direction::of(link.side == 0),
                seen,
                is_seen_up: true,
                weight: counted * (1.0 - missed) * weight / all,
            });
        }
    }
    found.extend(farther(books, one, counted));
    found
}

/// The first frame of a packet, and when it was at the beginning of the whole path: it may have been
/// seen farther on first, if bytes of it, or one that is equal to it, entered in another packet.
fn entered(plan: &Plan, one: &Ended, direction: Direction, up: u16) -> (i64, i64) {
    let (frame, t_ns) = one.first;
    if one.first_point == up {
        return one.first;
    }
    let aligned_ns = plan.aligned_ns(direction, one.first_point, t_ns);
    // the offset changes slowly
    let off_ns = |at_ns: i64| at_ns.saturating_sub(plan.aligned_ns(direction, up, at_ns));
    let near_ns = aligned_ns.saturating_add(off_ns(aligned_ns));
    (frame, aligned_ns.saturating_add(off_ns(near_ns)))
}

/// What the segment before it has too much, if the point that saw this one misses some such.
fn farther(books: &Allocation<'_>, one: &Ended, counted: f64) -> Option<LossPart> {
    let (from, point) = (one.end.from?, one.end.point);
    let crossing = books.topology.between(from, point)?;
    let direction = Direction::of(crossing.side == 0);
    let missed = books.missed(point, crossing.side).share();
    let is_segment = !books.topology.is_whole(crossing.link);
    (is_segment && missed > 0.0).then_some(LossPart {
        up: from,
        down: point,
        direction,
        seen: one.last,
        is_seen_up: false,
        weight: -counted * missed,
    })
}

#[cfg(test)]
mod tests;
