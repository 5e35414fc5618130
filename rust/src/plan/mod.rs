//! The plan: what the survey found, as the matcher needs it.
//!
//! Points and their order, what the clocks and the usual delays amount to ([`PiecewiseLinear`]), how
//! far apart two points may see a packet ([`Band`]), and what each sees twice ([`Copies`]).

mod band;
mod copies;
mod direction;
mod topology;

use crate::base::blocks::Grid;
use crate::base::hashed::HashedMap;
use crate::base::piecewise::{PiecewiseCursor, PiecewiseLinear};
use crate::location::PointTree;
pub use band::Band;
pub use copies::Copies;
pub use direction::Direction;
pub use topology::{Along, Capturing, LinkCrossing, Topology};

/// One in a width, per µs.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a density needs few digits")]
pub fn per_us(width_ns: i64) -> f64 {
    1e3 / width_ns.max(1) as f64
}

/// The survey's findings.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Plan {
    /// Per file and part of it: the capture point, if any.
    pub point_of: Vec<Vec<Option<u16>>>,
    /// Per file: how it is divided, if its parts are not just its interfaces.
    pub trees: Vec<Option<PointTree>>,
    /// Per point: its place in the path, forward.
    pub position: Vec<u32>,
    /// Per point: points of different components share no packet.
    pub component: Vec<u16>,
    /// Per point: points of equal domain share a clock.
    pub domain: Vec<u16>,
    /// Per direction and point.
    pub centres: [Vec<PiecewiseLinear>; 2],
    /// Per direction and `up × n + down`.
    pub bands: [Vec<Band>; 2],
    /// Per point.
    pub copies: Vec<Copies>,
    /// Address pairs: whether packets from the smaller address go forward.
    pub toward_is_forward: HashedMap<bool>,
    /// Address pairs whose packets do not pass the points in the order of the path: their route, from 1.
    pub route_of: HashedMap<u16>,
    /// Per route from 1 on and point: its place.
    pub routes: Vec<Vec<u32>>,
    /// Per route on which only some links are crossed: from which point to which.
    pub steps_of_route: HashedMap<Vec<(u16, u16)>>,
    /// Address pairs whose packets have several receivers: the steps (upstream, downstream) that all of
    /// them take.
    pub branches: HashedMap<Vec<(u16, u16)>>,
    /// Address pairs and directions (see [`Plan::again_after_ns`]) most of whose packets come again: after what time
    /// at least.
    pub recurring: HashedMap<i64>,
    /// Per point: when its mirror lost frames by their numbers, raw time, ascending; and how many.
    pub mirror_gaps: Vec<(Vec<(i64, i64)>, u64)>,
    /// All packets pass the points in one order, whichever way their flow goes.
    pub is_one_way: bool,
    /// Address pairs of which some packets travel in fragments somewhere: bytes of IP payload in the
    /// shortest fragment that another follows.
    pub fragmented: HashedMap<u32>,
    /// Measured segments (near, far); the whole path may be among them.
    pub links: Vec<(u16, u16)>,
    /// Per link: TCP changes its packet boundaries there. Data whose bytes the snap length leaves
    /// untold is not lost there when it is not found.
    pub torn: Vec<bool>,
    /// Index into `links` of the whole path, if it is more than one segment.
    pub whole: Option<usize>,
    /// A packet unique at two points is one packet within this.
    pub usual_ns: i64,
    /// Equal packets that are farther apart are not the same one, unless they are late.
    pub wide_ns: i64,
    /// Share of packets that are later than `wide_ns`; 0 where none was seen.
    pub beyond_frac: f64,
    /// A frame can be decided when nothing older than this is to come.
    pub horizon_ns: i64,
    /// Start and end of the time that all points cover, per component, reference time.
    pub cover: Vec<(i64, i64)>,
    /// Start and end of the time that each point covers, reference time.
    pub point_covers: Vec<(i64, i64)>,
    /// The waiting time after which a packet is lost, if one was asked for.
    pub lost_after_ns: Option<i64>,
    /// Reference time that is asked for.
    pub range: (i64, i64),
    /// First of the time bins in which the least latencies are kept, and their width.
    pub bins: (i64, i64),
    /// Per class of packets: the captures left too little to recognise them by.
    pub is_short: Vec<bool>,
    /// Blocks of time.
    pub blocks: Grid,
    /// The same one in so many requests, a power of two, is paired with its response.
    pub paired_one_in: u32,
    /// Files that follow each other in time; a thread reads each sequence.
    pub sequences: Vec<Vec<usize>>,
}

/// The time that points without a common one cover; nothing is lost in it.
const NO_TIME: (i64, i64) = (0, -1);

/// Time bins for least latencies.
pub const N_BINS: usize = 2048;

impl Plan {
    /// How many capture points there are.
    #[must_use]
    pub fn n_points(&self) -> usize {
        self.position.len()
    }

    /// Whether some packets were later than equal packets are looked at together.
    #[must_use]
    pub fn has_later(&self) -> bool {
        self.beyond_frac > 0.0
    }

    /// How much earlier than usual one of equal packets may be. Where packets are later than the window is wide, what
    /// is earlier in it is another late one.
    #[must_use]
    pub fn early_ns(&self) -> i64 {
        if self.has_later() {
            self.usual_ns
        } else {
            self.wide_ns
        }
    }

    /// Whether the requests of this key are paired with their responses.
    #[must_use]
    #[inline]
    pub fn is_paired(&self, key: u64) -> bool {
        /// Neither the bits that choose a partition nor those of a map.
        const CHOICE_BITS: u32 = 20;
        let others = self.paired_one_in.saturating_sub(1);
        key >> CHOICE_BITS & u64::from(others) == 0
    }

    /// Raw time as reference time, if the packet goes in `direction`.
    #[must_use]
    #[inline]
    pub fn aligned_ns(&self, direction: Direction, point: u16, t_ns: i64) -> i64 {
        let of_direction = self.centres.get(direction.index());
        of_direction
            .and_then(|centres| centres.get(usize::from(point)))
            .map_or(t_ns, |centre| t_ns.saturating_sub(centre.at(t_ns)))
    }

    /// What aligns times that mostly are near the one before, if packets go in `direction`: by point.
    #[must_use]
    pub fn centres_of(&self, direction: Direction) -> Vec<PiecewiseCursor<'_>> {
        let centres = self.centres.get(direction.index()).into_iter().flatten();
        let cursor = |centre| PiecewiseCursor::new(centre, self.blocks.start_ns);
        centres.map(cursor).collect()
    }

    /// The band from an upstream to a downstream point.
    #[must_use]
    pub fn band(&self, direction: Direction, up: u16, down: u16) -> Option<&Band> {
        let index = usize::from(up) * self.n_points() + usize::from(down);
        self.bands.get(direction.index())?.get(index)
    }

    /// Share of a point's packets that no point upstream saw.
    #[must_use]
    pub fn phantom_frac(&self, direction: Direction, down: u16) -> f64 {
        let points = 0..u16::try_from(self.n_points()).unwrap_or(u16::MAX);
        let place = self.place(direction, down);
        let before = points.filter(|up| self.place(direction, *up) < place);
        let known = before.filter(|up| self.same_component(*up, down));
        let shares = known.filter_map(|up| Some(self.band(direction, up, down)?.phantom_frac));
        shares.fold(1.0, f64::min)
    }

    fn same_component(&self, one: u16, other: u16) -> bool {
        self.component.get(usize::from(one)) == self.component.get(usize::from(other))
    }

    /// Whether a point shares no packet with another.
    #[must_use]
    pub fn is_alone(&self, point: u16) -> bool {
        let component = self.component.get(usize::from(point));
        let cover = component.and_then(|of| self.cover.get(usize::from(*of)));
        cover == Some(&NO_TIME)
    }

    /// Start and end of the time that a link can be measured in: that of its two points. An empty time
    /// where none is known.
    #[must_use]
    pub fn cover_of(&self, link: usize) -> (i64, i64) {
        let (near, far) = self.links.get(link).copied().unwrap_or_default();
        let of = |point: u16| self.point_covers.get(usize::from(point));
        if let Some((one, other)) = of(near).zip(of(far)) {
            return (one.0.max(other.0), one.1.min(other.1));
        }
        let component = self.component.get(usize::from(near)).copied().unwrap_or(0);
        let cover = self.cover.get(usize::from(component));
        cover.copied().unwrap_or(NO_TIME)
    }

    /// How often a point sees a packet more than once.
    #[must_use]
    pub fn copies_at(&self, point: u16) -> Copies {
        self.copies
            .get(usize::from(point))
            .copied()
            .unwrap_or_default()
    }

    /// Place of a point for packets of a direction: ascending from sender to receiver.
    #[must_use]
    #[inline]
    pub fn place(&self, direction: Direction, point: u16) -> i64 {
        let route = usize::from(direction.route()).checked_sub(1);
        let along = route.map_or(Some(&self.position), |route| self.routes.get(route));
        let place = along.and_then(|along| along.get(usize::from(point)));
        let place = place.map_or(0, |place| i64::from(*place));
        if direction.is_reverse() {
            -place
        } else {
            place
        }
    }

    /// The direction of packets of an address pair, if it is known: where all go one way, that one.
    #[must_use]
    #[inline]
    pub fn direction_of(&self, pair: u64, toward: bool) -> Option<Direction> {
        if self.is_one_way {
            return Some(Direction::Forward);
        }
        let toward_is_forward = *self.toward_is_forward.get(&pair)?;
        let route = self.route_of.get(&pair).copied().unwrap_or(0);
        Some(Direction::on(route, toward == toward_is_forward))
    }

    /// Whether a packet goes with the path from one point to another, or against it.
    #[must_use]
    #[inline]
    pub fn between(&self, up: u16, down: u16) -> Direction {
        let place = |point| self.place(Direction::Forward, point);
        Direction::of(place(up) <= place(down))
    }

    /// Where packets of a direction enter the whole path, if it is more than one segment.
    #[must_use]
    pub fn entry(&self, direction: Direction) -> Option<u16> {
        let (near, far) = *self.links.get(self.whole?)?;
        let is_near = self.place(direction, near) <= self.place(direction, far);
        Some(if is_near { near } else { far })
    }

    /// After what time at least packets come again that go one way between two addresses, if most of them do.
    #[must_use]
    #[inline]
    pub fn again_after_ns(&self, pair: u64, toward: bool) -> Option<i64> {
        if self.recurring.is_empty() {
            return None;
        }
        self.recurring
            .get(&if toward { !pair } else { pair })
            .copied()
    }

    /// Whether the way of a packet is known: which way neighbour discovery goes is not, nor are other
    /// packets that are born on the path.
    #[must_use]
    #[inline]
    pub fn has_way(&self, pair: u64, directed: bool) -> bool {
        directed || self.is_one_way || self.toward_is_forward.contains_key(&pair)
    }

    /// Whether any two points share a clock.
    #[must_use]
    pub fn has_shared_clocks(&self) -> bool {
        let n_points = u16::try_from(self.n_points()).unwrap_or(u16::MAX);
        let shares = |one| (one + 1..n_points).any(|other| self.same_clock(one, other));
        (0..n_points).any(shares)
    }

    /// Whether two points share a clock.
    #[must_use]
    pub fn same_clock(&self, one: u16, other: u16) -> bool {
        self.domain.get(usize::from(one)) == self.domain.get(usize::from(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_times_saturate() {
        let centre = PiecewiseLinear::new(&[(0, i64::MAX)], 0.0);
        let plan = Plan {
            centres: [vec![centre], vec![]],
            ..Plan::default()
        };
        assert_eq!(plan.aligned_ns(Direction::Forward, 0, -2), i64::MIN);
        assert_eq!(
            plan.aligned_ns(Direction::Reverse, 0, -2),
            -2,
            "nothing is known"
        );
    }

    #[test]
    fn packets_come_again_that_go_one_way_between_two_addresses() {
        let mut plan = Plan::default();
        assert_eq!(plan.again_after_ns(7, true), None);
        plan.recurring.extend([(7, 100), (!9, 200)]);
        let again = [(7, false), (7, true), (9, false), (9, true)];
        let again = again.map(|(pair, toward)| plan.again_after_ns(pair, toward));
        assert_eq!(again, [Some(100), None, None, Some(200)]);
    }

    #[test]
    fn places_ascend_from_sender_to_receiver() {
        let plan = Plan {
            position: vec![2, 0, 1],
            domain: vec![0, 1, 0],
            ..Plan::default()
        };
        let order = |direction| {
            let mut points = [0, 1, 2];
            points.sort_by_key(|point| plan.place(direction, *point));
            points
        };
        assert_eq!(order(Direction::Forward), [1, 2, 0]);
        assert_eq!(order(Direction::Reverse), [0, 2, 1]);
        assert!(plan.same_clock(0, 2) && !plan.same_clock(0, 1));
    }
}
