//! Which way a packet goes: from the survey, else from what fits better.

pub(crate) mod undirected;

use crate::base::hashed::HashedMap;
use crate::matching::observation::Observation;
use crate::matching::resolve::density::points_are_distinct;
use crate::matching::resolve::trellis::MOST_FRAMES;
use crate::plan::{Band, Direction, Plan};

/// Whether observations of one identity may go different ways: several frames whose addresses say nothing,
/// and not one frame with its copies.
#[inline]
pub(crate) fn may_differ(plan: &Plan, observations: &[Observation]) -> bool {
    let is_open =
        |one: &Observation| !(one.directed || plan.direction_of(one.pair, one.toward).is_some());
    observations.first().is_some_and(is_open)
        && !points_are_distinct(observations)
        && !are_copies(plan, observations)
}

/// Whether all but the first observation at each point come when copies of it do.
fn are_copies(plan: &Plan, observations: &[Observation]) -> bool {
    let mut seen: Vec<(u16, i64)> = observations.iter().map(|o| (o.point, o.t_ns)).collect();
    seen.sort_unstable();
    let mut at_points = seen.chunk_by(|one, next| one.0 == next.0);
    at_points.all(|at_point| {
        let copies = at_point.first().map(|(point, _)| plan.copies_at(*point));
        at_point.windows(2).all(|two| match two {
            [(_, one_ns), (_, next_ns)] => {
                copies.is_some_and(|copies| copies.admits(next_ns.saturating_sub(*one_ns)))
            }
            _ => true,
        })
    })
}

/// What single packets said about flows whose addresses the survey did not see.
#[derive(Debug, Default)]
pub(crate) struct Votes {
    of_flow: HashedMap<i32>,
}

impl Votes {
    /// Direction of the packets of one identity; `None` if they repeat themselves and fit both ways. Of frames
    /// without one of their own those of one packet have one in common.
    pub(crate) fn direction(
        &mut self,
        plan: &Plan,
        observations: &[Observation],
    ) -> Option<Direction> {
        let first = observations.first()?;
        if let Some(known) = plan.direction_of(first.pair, first.toward) {
            return Some(known);
        }
        if first.directed && !points_are_distinct(observations) {
            return self.of_repeated(plan, first, observations);
        }
        let forward_ns = misfit_ns(plan, observations, Direction::Forward);
        let reverse_ns = misfit_ns(plan, observations, Direction::Reverse);
        let is_forward = forward_ns <= reverse_ns;
        if !first.directed {
            let is_forward = sent_forward(plan, observations).unwrap_or(is_forward);
            return Some(Direction::of(is_forward));
        }
        if let Some(own) = own_route(plan, observations, Direction::of(is_forward)) {
            return Some(own);
        }
        // what fits nowhere may be of two packets, and says nothing of others
        let is_told =
            forward_ns != reverse_ns && fits(plan, observations, Direction::of(is_forward));
        if is_told {
            self.vote(first.flow, first.toward == is_forward);
        }
        match self.voted(first.flow) {
            Some(to) => Some(Direction::of(first.toward == to)),
            None if !is_told && plan.again_after_ns(first.pair, first.toward).is_some() => None,
            None => Some(Direction::of(is_forward)),
        }
    }

    /// The direction in which observations have others where they usually are: twice as many, or much
    /// nearer to the usual place.
    fn of_repeated(
        &mut self,
        plan: &Plan,
        first: &Observation,
        observations: &[Observation],
    ) -> Option<Direction> {
        let forward = Fit::of(plan, observations, Direction::Forward);
        let reverse = Fit::of(plan, observations, Direction::Reverse);
        let is_told = forward.is_twice(&reverse) || reverse.is_twice(&forward);
        let is_told = is_told || forward.is_apart_from(&reverse);
        let is_forward = forward.sum > reverse.sum;
        if is_told || (forward.n_fitting > 0.0) != (reverse.n_fitting > 0.0) {
            self.vote(first.flow, first.toward == is_forward);
        }
        // the packets of a flow go one way, whatever one of them seems to do
        if let Some(to) = self.voted(first.flow) {
            return Some(Direction::of(first.toward == to));
        }
        let fits_nowhere = forward.n_fitting == 0.0 && reverse.n_fitting == 0.0;
        (is_told || fits_nowhere).then(|| Direction::of(is_forward || fits_nowhere))
    }

    fn vote(&mut self, flow: u64, toward_is_forward: bool) {
        *self.of_flow.entry(flow).or_default() += if toward_is_forward { 1 } else { -1 };
    }

    fn voted(&self, flow: u64) -> Option<bool> {
        const ENOUGH_VOTES: u32 = 3;
        let votes = self.of_flow.get(&flow).copied().unwrap_or(0);
        (votes.unsigned_abs() >= ENOUGH_VOTES).then_some(votes > 0)
    }
}

/// How well observations of one identity fit those of the next point that saw any.
#[derive(Debug, Default)]
struct Fit {
    n: f64,
    n_fitting: f64,
    /// Of the greatest densities.
    sum: f64,
    sum_of_squares: f64,
}

impl Fit {
    fn of(plan: &Plan, observations: &[Observation], direction: Direction) -> Self {
        let at = |observation: &Observation| {
            plan.aligned_ns(direction, observation.point, observation.t_ns)
        };
        let mut all: Vec<(i64, u16, i64)> = observations
            .iter()
            .map(|one| (plan.place(direction, one.point), one.point, at(one)))
            .collect();
        all.sort_unstable();
        let points: Vec<&[(i64, u16, i64)]> = all.chunk_by(|a, b| a.1 == b.1).collect();
        let mut fit = Self::default();
        for two in points.windows(2) {
            let &[up, down] = two else { continue };
            let band = up.first().zip(down.first());
            let band = band.and_then(|(up, down)| plan.band(direction, up.1, down.1));
            let Some(band) = band else { continue };
            for one in up {
                fit.note(band, one.2, down);
            }
        }
        fit
    }

    fn note(&mut self, band: &Band, up_ns: i64, down: &[(i64, u16, i64)]) {
        let from_ns = up_ns.saturating_add(band.lo_ns);
        let from = down.partition_point(|(_, _, ns)| *ns < from_ns);
        let later_ns = down.get(from..).unwrap_or(&[]).iter();
        let residuals_ns = later_ns.map(|(_, _, ns)| ns.saturating_sub(up_ns));
        let admitted = residuals_ns.take_while(|ns| band.admits(*ns));
        let densities = admitted.take(MOST_FRAMES).map(|ns| band.density_at(ns));
        let best = densities.fold(0.0, f64::max);
        self.n += 1.0;
        self.n_fitting += if best > 0.0 { 1.0 } else { 0.0 };
        self.sum += best;
        self.sum_of_squares += best * best;
    }

    fn is_twice(&self, other: &Self) -> bool {
        self.n_fitting >= 2.0 * other.n_fitting.max(1.0)
    }

    /// Whether the means differ by far more than their errors.
    fn is_apart_from(&self, other: &Self) -> bool {
        const ENOUGH: f64 = 16.0;
        const ERRORS: f64 = 6.0;
        let mean = |fit: &Self| fit.sum / fit.n.max(1.0);
        let variance = |fit: &Self| {
            let spread = fit.sum_of_squares / fit.n.max(1.0) - mean(fit) * mean(fit);
            spread.max(0.0) / fit.n.max(1.0)
        };
        let apart = (mean(self) - mean(other)).abs();
        self.n.min(other.n) >= ENOUGH && apart > ERRORS * (variance(self) + variance(other)).sqrt()
    }
}

/// Whether most points saw a packet later than the one before them on the path, where one clock says.
fn sent_forward(plan: &Plan, observations: &[Observation]) -> Option<bool> {
    let first = observations.first()?;
    if !observations
        .iter()
        .all(|one| plan.same_clock(one.point, first.point))
    {
        return None;
    }
    let mut along: Vec<(i64, i64)> = observations
        .iter()
        .map(|one| (plan.place(Direction::Forward, one.point), one.t_ns))
        .collect();
    along.sort_unstable();
    let later = along.windows(2).map(|two| match two {
        [(_, up_ns), (_, down_ns)] => down_ns.saturating_sub(*up_ns).signum(),
        _ => 0,
    });
    let n_later: i64 = later.sum();
    (n_later != 0).then_some(n_later > 0)
}

/// How far the first observations at each point are from where a packet of that direction would be.
fn misfit_ns(plan: &Plan, observations: &[Observation], direction: Direction) -> u64 {
    firsts(plan, observations, direction)
        .windows(2)
        .map(two_apart_ns)
        .fold(0, u64::saturating_add)
}

/// Whether the first observations at each point lie as those of one packet of that direction usually do.
fn fits(plan: &Plan, observations: &[Observation], direction: Direction) -> bool {
    are_all_within(plan, observations, direction, |_| true)
}

/// The same, where it is known of each step how they usually do.
fn is_known(plan: &Plan, observations: &[Observation], direction: Direction) -> bool {
    are_all_within(plan, observations, direction, |band| !band.is_guessed())
}

fn are_all_within(
    plan: &Plan,
    observations: &[Observation],
    direction: Direction,
    is_asked: impl Fn(&Band) -> bool,
) -> bool {
    let firsts = firsts(plan, observations, direction);
    firsts.windows(2).all(|two| match two {
        [(up, up_ns), (down, down_ns)] => {
            let band = plan
                .band(direction, *up, *down)
                .filter(|band| is_asked(band));
            band.is_some_and(|band| band.admits(down_ns.saturating_sub(*up_ns)))
        }
        _ => true,
    })
}

/// Where packets take several routes, the one that observations fit, and which way: of an address pair of which the
/// survey saw nothing, others that passed the same points show it. `None` if it is the path, as it seems to be.
fn own_route(plan: &Plan, observations: &[Observation], with_path: Direction) -> Option<Direction> {
    if plan.routes.is_empty() || observations.len() < 3 {
        return None;
    }
    let routes = 1..=u16::try_from(plan.routes.len()).unwrap_or(u16::MAX);
    let routes = routes.filter(|route| !plan.steps_of_route.contains_key(&u64::from(*route)));
    let of_routes = routes.flat_map(|route| [true, false].map(|way| Direction::on(route, way)));
    let mut ways = [with_path, with_path.turned()].into_iter().chain(of_routes);
    let found = ways.find(|way| is_known(plan, observations, *way));
    found.filter(|way| *way != with_path)
}

/// Points and when each saw it first, were it to go in that direction, from the sender's side on.
fn firsts(plan: &Plan, observations: &[Observation], direction: Direction) -> Vec<(u16, i64)> {
    let at =
        |observation: &Observation| plan.aligned_ns(direction, observation.point, observation.t_ns);
    let mut firsts: Vec<(u16, i64)> = observations
        .iter()
        .map(|one| (one.point, at(one)))
        .collect();
    firsts.sort_unstable();
    firsts.dedup_by_key(|(point, _)| *point);
    firsts.sort_unstable_by_key(|(point, _)| plan.place(direction, *point));
    firsts
}

fn two_apart_ns(two: &[(u16, i64)]) -> u64 {
    match two {
        [(_, a), (_, b)] => b.abs_diff(*a),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{SEGMENT_NS, observation, path};

    fn group(first: Observation, raw_ns: [i64; 3]) -> Vec<Observation> {
        let at = |(point, t_ns)| Observation {
            point,
            t_ns,
            aligned_ns: t_ns,
            ..first
        };
        (0..).zip(raw_ns).map(at).collect()
    }

    #[test]
    fn the_survey_knows() {
        let mut plan = path(3);
        plan.toward_is_forward.insert(7, false);
        let away = Observation {
            pair: 7,
            toward: false,
            ..observation(1, 0, 0)
        };
        let toward = Observation {
            toward: true,
            ..away
        };
        let mut votes = Votes::default();
        assert_eq!(votes.direction(&plan, &[away]), Some(Direction::Forward));
        assert_eq!(votes.direction(&plan, &[toward]), Some(Direction::Reverse));
        assert_eq!(votes.direction(&plan, &[]), None);
        plan.is_one_way = true;
        assert_eq!(votes.direction(&plan, &[toward]), Some(Direction::Forward));
    }

    #[test]
    fn what_fits_decides_and_votes_for_what_does_not_tell() {
        let plan = path(3);
        let mut votes = Votes::default();
        let there = Observation {
            flow: 5,
            toward: false,
            ..observation(1, 0, 0)
        };
        let back = Observation {
            toward: true,
            ..there
        };
        let forward = group(there, [0, SEGMENT_NS, 2 * SEGMENT_NS]);
        let reverse = group(back, [2 * SEGMENT_NS, SEGMENT_NS, 0]);
        assert_eq!(
            votes.direction(&plan, &[back]),
            Some(Direction::Forward),
            "nothing is known"
        );
        for _ in 0..2 {
            assert_eq!(votes.direction(&plan, &forward), Some(Direction::Forward));
            assert_eq!(votes.direction(&plan, &reverse), Some(Direction::Reverse));
        }
        assert_eq!(votes.direction(&plan, &[back]), Some(Direction::Reverse));
        assert_eq!(votes.direction(&plan, &[there]), Some(Direction::Forward));
        let of_another = Observation { flow: 6, ..back };
        assert_eq!(
            votes.direction(&plan, &[of_another]),
            Some(Direction::Forward)
        );
    }

    #[test]
    fn what_fits_neither_direction_casts_no_vote() {
        let mut plan = path(2);
        let mut votes = Votes::default();
        let one = Observation {
            flow: 5,
            ..observation(1, 0, 0)
        };
        let seen = |later_ns: i64| {
            let second = Observation {
                point: 1,
                ..at(one, later_ns)
            };
            vec![at(one, 0), second]
        };
        // nearer to a packet of the other direction, and not one
        let far = seen(-20 * SEGMENT_NS);
        for _ in 0..5 {
            assert_eq!(votes.direction(&plan, &far), Some(Direction::Reverse));
        }
        assert!(votes.of_flow.is_empty());
        plan.recurring.insert(!0, 1_000_000);
        assert_eq!(votes.direction(&plan, &far), None, "it may be two packets");
        for _ in 0..3 {
            assert_eq!(
                votes.direction(&plan, &seen(SEGMENT_NS)),
                Some(Direction::Forward)
            );
        }
        assert_eq!(votes.direction(&plan, &far), Some(Direction::Forward));
    }

    #[test]
    fn one_of_several_that_fits_one_direction_alone_votes_and_does_not_decide() {
        let plan = path(2);
        let mut votes = Votes::default();
        let one = Observation {
            flow: 5,
            ..observation(1, 0, 0)
        };
        let again_ns = 100 * SEGMENT_NS;
        let second = Observation {
            point: 1,
            ..at(one, SEGMENT_NS)
        };
        let twice = [at(one, 0), at(one, again_ns), second];
        for _ in 0..2 {
            assert_eq!(votes.direction(&plan, &twice), None);
        }
        assert_eq!(votes.direction(&plan, &twice), Some(Direction::Forward));
    }

    fn at(one: Observation, t_ns: i64) -> Observation {
        Observation {
            t_ns,
            aligned_ns: t_ns,
            ..one
        }
    }

    #[test]
    fn what_has_no_direction_casts_no_vote() {
        let plan = path(3);
        let mut votes = Votes::default();
        let born_on_the_way = Observation {
            directed: false,
            ..observation(1, 0, 0)
        };
        for _ in 0..5 {
            let back = group(born_on_the_way, [2 * SEGMENT_NS, SEGMENT_NS, 0]);
            assert_eq!(votes.direction(&plan, &back), Some(Direction::Reverse));
        }
        assert!(votes.of_flow.is_empty());
    }
}
