//! Why frames were not matched, counted per point.

use crate::matching::evidence::Evidence;
use crate::matching::loss::is_covered;
use crate::matching::loss::pair_segments::PairSegments;
use crate::matching::observation::Observation;
use crate::matching::outcome::Status;
use crate::plan::Plan;
use crate::wire;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Why a frame has its status; the numbers are places in [`REASONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Reason {
    OutsideCommonTime,
    PointAlone,
    NoTime,
    FlowNotElsewhere,
    Opaque,
    Fragment,
    ShortIdentity,
    NoPartner,
    AmbiguousShort,
    WayUnknown,
    BytesTwice,
    EqualPackets,
    SharedBytes,
    PartOfPacket,
    SnapLength,
    Truncated,
    Malformed,
    UnknownLayer,
    TooDeep,
    UndecodedNoTime,
}

/// How many there are.
pub const N_REASONS: usize = 20;

/// Status and reason, by number.
pub const REASONS: [(&str, &str); N_REASONS] = [
    ("unmatched", "outside-common-time"),
    ("unmatched", "point-alone"),
    ("unmatched", "no-time"),
    ("unmatched", "flow-not-elsewhere"),
    ("unmatched", "opaque"),
    ("unmatched", "fragment"),
    ("unmatched", "short-packet-id"),
    ("unmatched", "no-partner"),
    ("ambiguous", "short-packet-id"),
    ("ambiguous", "way-unknown"),
    ("ambiguous", "bytes-twice"),
    ("ambiguous", "equal-packets"),
    ("coalesced", "shared-bytes"),
    ("coalesced", "part-of-packet"),
    ("undecoded", "snap-length"),
    ("undecoded", "truncated"),
    ("undecoded", "malformed"),
    ("undecoded", "unknown-layer"),
    ("undecoded", "too-deep"),
    ("undecoded", "no-time"),
];

impl Reason {
    /// Why a frame could not be decoded.
    pub(crate) fn undecoded(stop: Option<wire::Stop>) -> Self {
        match stop.map(|stop| stop.reason) {
            Some(wire::StopReason::SnapLength) => Self::SnapLength,
            Some(wire::StopReason::Truncated) => Self::Truncated,
            Some(wire::StopReason::Malformed) => Self::Malformed,
            Some(wire::StopReason::Unknown) => Self::UnknownLayer,
            Some(wire::StopReason::TooDeep) => Self::TooDeep,
            None => Self::UndecodedNoTime,
        }
    }

    fn ambiguous(evidence: Evidence) -> Self {
        if evidence.is(Evidence::NO_WAY) {
            Self::WayUnknown
        } else if evidence.is(Evidence::BYTES_TWICE) {
            Self::BytesTwice
        } else if evidence.is(Evidence::SHORT) {
            Self::AmbiguousShort
        } else {
            Self::EqualPackets
        }
    }

    /// Of a packet whose addresses were matched elsewhere, or not.
    fn unmatched(evidence: Evidence, is_elsewhere: bool) -> Self {
        match (is_elsewhere, evidence) {
            (false, one) if one.is(Evidence::OPAQUE) => Self::Opaque,
            (_, one) if one.is(Evidence::FRAGMENT) => Self::Fragment,
            (false, _) => Self::FlowNotElsewhere,
            (true, one) if one.is(Evidence::SHORT) => Self::ShortIdentity,
            (true, _) => Self::NoPartner,
        }
    }
}

/// Frames per point and reason.
pub type ByReason = [u64; N_REASONS];

/// Address pair, point, and what it is known to be: short, opaque or a fragment.
type Left = (u64, u16, u8);

/// Counts of reasons.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reasons {
    of_point: Vec<ByReason>,
    /// Unmatched packets of which it is told at the end whether their addresses were seen elsewhere.
    left: HashMap<Left, u64>,
}

impl Reasons {
    pub(crate) fn of_points(n: usize) -> Self {
        Self {
            of_point: vec![[0; N_REASONS]; n],
            left: HashMap::new(),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, point: u16, reason: Reason) {
        self.count(point, reason, 1);
    }

    fn count(&mut self, point: u16, reason: Reason, more: u64) {
        let of_point = self.of_point.get_mut(usize::from(point));
        if let Some(n) = of_point.and_then(|of| of.get_mut(reason as usize)) {
            *n += more;
        }
    }

    /// Counts a frame that was decided.
    #[inline]
    pub(crate) fn note(&mut self, plan: &Plan, observation: &Observation, status: Status) {
        match status {
            Status::Unmatched => self.note_unmatched(plan, observation),
            Status::Ambiguous => {
                self.add(observation.point, Reason::ambiguous(observation.evidence));
            }
            Status::Coalesced => self.add(observation.point, Reason::SharedBytes),
            _ => {}
        }
    }

    fn note_unmatched(&mut self, plan: &Plan, observation: &Observation) {
        if plan.is_alone(observation.point) {
            self.add(observation.point, Reason::PointAlone);
        } else if !is_covered(plan, observation) {
            self.add(observation.point, Reason::OutsideCommonTime);
        } else {
            let left = (
                observation.pair,
                observation.point,
                observation.evidence.traits(),
            );
            *self.left.entry(left).or_default() += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        let theirs = other.of_point.iter().flatten();
        for (total, n) in self.of_point.iter_mut().flatten().zip(theirs) {
            *total += n;
        }
        for (left, n) in other.left {
            *self.left.entry(left).or_default() += n;
        }
    }

    /// All reasons, once it is known which address pairs were matched anywhere.
    pub(crate) fn finish(mut self, matched: &PairSegments) -> Vec<ByReason> {
        for ((pair, point, traits), n) in std::mem::take(&mut self.left) {
            let is_elsewhere = matched.of(pair) != 0;
            let reason = Reason::unmatched(Evidence::with(traits), is_elsewhere);
            self.count(point, reason, n);
        }
        self.of_point
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{observation, path};

    fn counted(reasons: Reasons, matched: &[u64]) -> Vec<(&'static str, u64)> {
        let matched = matched.iter().map(|pair| (*pair, 1)).collect();
        let of_points = reasons.finish(&matched);
        let named = of_points[0].iter().zip(REASONS);
        named
            .filter(|(n, _)| **n > 0)
            .map(|(n, (_, name))| (name, *n))
            .collect()
    }

    #[test]
    fn what_is_alone_or_too_early_is_told_before_all_else() {
        let mut plan = path(2);
        plan.cover = vec![(100, 200)];
        let mut reasons = Reasons::of_points(2);
        reasons.note(&plan, &observation(1, 0, 99), Status::Unmatched);
        plan.cover = vec![(0, -1)];
        reasons.note(&plan, &observation(1, 0, 150), Status::Unmatched);
        assert_eq!(
            counted(reasons, &[0]),
            [("outside-common-time", 1), ("point-alone", 1)]
        );
    }

    #[test]
    fn whether_its_addresses_were_seen_elsewhere_is_told_at_the_end() {
        let plan = path(2);
        let of = |pair: u64, bit: u8| {
            let mut one = Observation {
                pair,
                ..observation(1, 0, 150)
            };
            one.evidence.add(bit);
            one
        };
        let (mut reasons, mut other) = (Reasons::of_points(2), Reasons::of_points(2));
        for pair in [7, 7, 8] {
            reasons.note(&plan, &of(pair, 0), Status::Unmatched);
            other.note(&plan, &of(pair, Evidence::OPAQUE), Status::Unmatched);
            other.note(&plan, &of(pair, Evidence::FRAGMENT), Status::Unmatched);
        }
        reasons.merge(other);
        assert_eq!(
            counted(reasons, &[7]),
            [
                ("flow-not-elsewhere", 1),
                ("opaque", 1),
                ("fragment", 3),
                ("no-partner", 4)
            ]
        );
    }

    #[test]
    fn the_ambiguous_are_told_apart() {
        let plan = path(2);
        let mut reasons = Reasons::of_points(2);
        for bit in [0, Evidence::SHORT, Evidence::NO_WAY, Evidence::BYTES_TWICE] {
            let mut one = observation(1, 0, 150);
            one.evidence.add(bit);
            reasons.note(&plan, &one, Status::Ambiguous);
        }
        let all = [
            "short-packet-id",
            "way-unknown",
            "bytes-twice",
            "equal-packets",
        ];
        assert_eq!(counted(reasons, &[]), all.map(|name| (name, 1)));
    }

    #[test]
    fn too_short_an_identity_is_why_only_where_others_were_matched() {
        let plan = path(2);
        let mut reasons = Reasons::of_points(2);
        for pair in [7, 8] {
            let mut one = Observation {
                pair,
                ..observation(1, 0, 150)
            };
            one.evidence.add(Evidence::SHORT);
            reasons.note(&plan, &one, Status::Unmatched);
        }
        let expected = [("flow-not-elsewhere", 1), ("short-packet-id", 1)];
        assert_eq!(counted(reasons, &[7]), expected);
    }

    #[test]
    fn every_stop_has_its_reason() {
        use wire::StopReason::{Malformed, SnapLength, TooDeep, Truncated, Unknown};
        let names = [SnapLength, Truncated, Malformed, Unknown, TooDeep].map(|reason| {
            let stop = wire::Stop {
                reason,
                layer: 0,
                at_byte: 0,
                needed: 0,
                had: 0,
            };
            REASONS[Reason::undecoded(Some(stop)) as usize]
        });
        let expected = [
            "snap-length",
            "truncated",
            "malformed",
            "unknown-layer",
            "too-deep",
        ];
        assert_eq!(names, expected.map(|name| ("undecoded", name)));
        let untimed = REASONS[Reason::undecoded(None) as usize];
        assert_eq!(untimed, ("undecoded", "no-time"));
    }
}
