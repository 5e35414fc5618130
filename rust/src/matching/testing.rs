//! What the tests of several files here need: a straight path, observations, and a sink that keeps all.

use crate::matching::resolve::copies::Folded;

use crate::base::piecewise::PiecewiseLinear;
use crate::identity::message::Message;
use crate::identity::stream_bytes::StreamBytes;
use crate::matching::evidence::Evidence;
use crate::matching::observation::{FrameId, Observation};
use crate::matching::resolve::copies::CopyRules;
use crate::matching::resolve::piece::Sink;
use crate::plan::{Band, Copies, Direction, Plan};

/// What a packet takes from one point to the next.
pub(crate) const SEGMENT_NS: i64 = 10_000;
/// Half the width of every band.
pub(crate) const BAND_NS: i64 = 100;
/// So much later than usual, a packet that is alone is still one.
const USUAL_NS: i64 = 100_000;

/// Points see one packet in twenty again, at any time within 2 ms.
pub(crate) const SOME_COPIES: Copies = Copies {
    copied_frac: 0.05,
    lo_ns: 0,
    hi_ns: 2_000_000,
};

/// Whatever lies as a copy does is one.
pub(crate) const ANYTHING: CopyRules<'static> = CopyRules {
    copies: &|_| SOME_COPIES,
    fits: &|_, _| true,
    place: &|observation| i64::from(observation.point),
    repeats: false,
};

/// An observation without flow, named by its key, its point and its time.
pub(crate) fn observation(key: u64, point: u16, aligned_ns: i64) -> Observation {
    Observation {
        key,
        flow: 0,
        pair: 0,
        aligned_ns,
        t_ns: aligned_ns,
        frame: FrameId::new(
            usize::from(point),
            aligned_ns.unsigned_abs() >> 20 ^ aligned_ns.unsigned_abs() & 0xfff_ffff,
        ),
        copy_tag: 0,
        packet_id: 0,
        point,
        toward: true,
        directed: true,
        range: StreamBytes::NONE,
        evidence: Evidence::default(),
        message: Message::NONE,
    }
}

/// Points 0 to n−1 in order, on one clock, a segment apart each.
pub(crate) fn path(n: u16) -> Plan {
    let band = Band {
        lo_ns: -BAND_NS,
        hi_ns: BAND_NS,
        reach_ns: (-BAND_NS, BAND_NS),
        alone_ns: 100_000,
        ..Band::default()
    };
    let bands = vec![band; usize::from(n) * usize::from(n)];
    let centre = |offset_ns| PiecewiseLinear::new(&[(0, offset_ns)], 0.0);
    let away = |point: u16| i64::from(point) * SEGMENT_NS;
    let mut links: Vec<(u16, u16)> = (1..n).map(|far| (far - 1, far)).collect();
    let whole = (n > 2).then_some(links.len());
    links.extend(whole.map(|_| (0, n - 1)));
    let torn = vec![false; links.len()];
    Plan {
        point_of: (0..n).map(|point| vec![Some(point)]).collect(),
        position: (0..u32::from(n)).collect(),
        component: vec![0; usize::from(n)],
        domain: vec![0; usize::from(n)],
        centres: [
            (0..n).map(|point| centre(away(point))).collect(),
            (0..n).map(|point| centre(-away(point))).collect(),
        ],
        bands: [bands.clone(), bands],
        copies: vec![SOME_COPIES; usize::from(n)],
        links,
        torn,
        whole,
        usual_ns: USUAL_NS,
        wide_ns: 100_000,
        horizon_ns: 300_000,
        cover: vec![(i64::MIN, i64::MAX)],
        range: (i64::MIN, i64::MAX),
        bins: (0, 1_000_000),
        ..Plan::default()
    }
}

/// Keeps what is decided.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) trajectories: Vec<Vec<Observation>>,
    pub(crate) directions: Vec<Direction>,
    pub(crate) copies: Vec<(FrameId, FrameId)>,
    pub(crate) ambiguous: Vec<Observation>,
}

impl Sink for Taken {
    fn trajectory(&mut self, observations: &[Observation], direction: Direction, folded: &Folded) {
        self.trajectories.push(observations.to_vec());
        self.directions.push(direction);
        for observation in observations {
            self.copies.extend(
                folded
                    .copies_of(observation)
                    .map(|copy| (observation.frame, copy.frame)),
            );
        }
    }

    fn unfinished(&mut self, observations: &[Observation], direction: Direction, folded: &Folded) {
        self.trajectory(observations, direction, folded);
    }

    fn ambiguous(&mut self, observation: &Observation, _direction: Direction, _folded: &Folded) {
        self.ambiguous.push(*observation);
    }
}

/// Point 0, then 1 or 2, then 3; the whole path is the last link.
pub(crate) fn fork() -> Plan {
    Plan {
        position: vec![0, 1, 1, 2],
        links: vec![(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)],
        torn: vec![false; 5],
        whole: Some(4),
        ..path(4)
    }
}
