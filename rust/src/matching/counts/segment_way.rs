//! Segments, one way each: what is the same of all packets that cross one.

use crate::base::error::Result;
use crate::base::spill::Spill;
use crate::matching::counts::reordering::Reordering;
use crate::matching::late::LateEdge;
use crate::matching::observation::Observation;
use crate::plan::{LinkCrossing, Plan};
use std::path::{Path, PathBuf};

/// One way of a segment, or of the whole path.
pub(crate) struct SegmentWay {
    pub(crate) crossing: LinkCrossing,
    /// One clock stamps both ends.
    pub(crate) is_exact: bool,
    pub(crate) reordering: Reordering,
    late_edge: LateEdge,
    /// Where raw differences go that the clocks are not known for yet.
    raw: Option<Spill>,
}

impl SegmentWay {
    fn new(
        plan: &Plan,
        directory: &Path,
        crossing: LinkCrossing,
        (up, down): (u16, u16),
        partition: impl std::fmt::Display,
    ) -> Result<Self> {
        let is_exact = plan.same_clock(up, down);
        let LinkCrossing { link, side } = crossing;
        let name = format!("raw-{link}-{side}-{partition}");
        let raw = || Spill::create(directory, &name);
        Ok(Self {
            crossing,
            is_exact,
            reordering: Reordering::default(),
            late_edge: LateEdge::of(plan, (up, down)),
            raw: (!is_exact).then(raw).transpose()?,
        })
    }

    /// Whether it took so long, as a difference or a deviation from the usual one.
    #[inline]
    pub(crate) fn is_late(&self, took_ns: i64) -> bool {
        self.late_edge.is_passed(self.is_exact, took_ns)
    }

    /// Keeps when a packet left, the raw difference, and its kind of traffic.
    #[inline]
    pub(crate) fn spill(&mut self, row: [i64; 3]) {
        if let Some(raw) = &mut self.raw {
            raw.write(row);
        }
    }
}

/// All of them, by upstream and downstream point.
pub(crate) struct SegmentWays {
    n_points: usize,
    ways: Vec<SegmentWay>,
    /// Per up × n + down: the place among them, and after the last for none.
    of_ends: Vec<usize>,
}

impl SegmentWays {
    pub(crate) fn new(
        plan: &Plan,
        directory: &Path,
        partition: impl std::fmt::Display + Copy,
    ) -> Result<Self> {
        let n_points = plan.n_points();
        let mut ways = Vec::new();
        let mut of_ends = vec![usize::MAX; n_points * n_points];
        for (link, (near, far)) in plan.links.iter().enumerate() {
            for (side, (up, down)) in [(0, (*near, *far)), (1, (*far, *near))] {
                let place = usize::from(up) * n_points + usize::from(down);
                if let Some(slot) = of_ends.get_mut(place) {
                    *slot = ways.len();
                }
                let crossing = LinkCrossing { link, side };
                ways.push(SegmentWay::new(
                    plan,
                    directory,
                    crossing,
                    (up, down),
                    partition,
                )?);
            }
        }
        Ok(Self {
            n_points,
            ways,
            of_ends,
        })
    }

    /// Where the way from one point to another is, if there is a segment.
    #[inline]
    pub(crate) fn place_of(&self, up: u16, down: u16) -> Option<usize> {
        let ends = usize::from(up) * self.n_points + usize::from(down);
        let place = self.of_ends.get(ends).copied();
        place.filter(|place| *place < self.ways.len())
    }

    /// Which segment the way at a place is of.
    pub(crate) fn crossing(&self, place: usize) -> Option<LinkCrossing> {
        self.ways.get(place).map(|way| way.crossing)
    }

    /// The way at a place.
    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> Option<&mut SegmentWay> {
        self.ways.get_mut(place)
    }

    /// The way from one point to another, if there is a segment.
    #[inline]
    pub(crate) fn of(&mut self, up: &Observation, down: &Observation) -> Option<&mut SegmentWay> {
        let place = self.place_of(up.point, down.point)?;
        self.at(place)
    }

    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut SegmentWay> {
        self.ways.iter_mut()
    }

    /// Adds the files of raw differences to those per link and direction.
    pub(crate) fn finish(self, files: &mut [[Vec<PathBuf>; 2]]) -> Result<()> {
        for way in self.ways {
            let LinkCrossing { link, side } = way.crossing;
            let to = files.get_mut(link).and_then(|both| both.get_mut(side));
            if let Some((raw, to)) = way.raw.zip(to) {
                to.push(raw.finish()?);
            }
        }
        Ok(())
    }
}
