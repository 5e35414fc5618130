//! Three points of one path, what they capture, and the plan a survey would make of it.

use pcaplat_core::base::piecewise::PiecewiseLinear;
use pcaplat_core::plan::{Band, Copies, Plan};
use std::path::{Path, PathBuf};

pub(crate) const N_POINTS: u16 = 3;
const START_NS: i64 = 1_760_000_000_000_000_000;
const SEGMENT_NS: [i64; 2] = [10_000, 20_000];
const JITTER_NS: i64 = 2_000;
/// The last point has a clock of its own.
const CLOCK_NS: [i64; 3] = [0, 0, 37_000_000_000];
/// Never gets beyond its first point, unlike the other flow of its two addresses.
const BLOCKED_FLOW: i64 = 39;
const LEAST_GAP_NS: i64 = 600;

/// Knuth's MMIX generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33).cast_signed() % n
    }
}

/// A frame with its stamp.
pub(crate) type Record = (i64, Vec<u8>);

/// What went over the path, and what each point saw of it.
#[derive(Default)]
pub(crate) struct Capture {
    pub(crate) files: Vec<Vec<Record>>,
    /// Pairs and losses of first and second segment, forward and reverse.
    pub(crate) n: [[u64; 2]; 2],
    pub(crate) n_lost: [[u64; 2]; 2],
    pub(crate) n_duplicated: u64,
}

/// Sends packets of many flows in both directions, with losses, copies and noise.
pub(crate) fn simulate(n_packets: u32, seed: u64) -> Capture {
    let mut random = Random(seed);
    let mut capture = Capture {
        files: vec![Vec::new(); 3],
        ..Capture::default()
    };
    let mut sent_ns = START_NS;
    for number in 0..n_packets {
        sent_ns += LEAST_GAP_NS + random.below(20_000);
        let flow = random.below(40);
        let is_reverse = random.below(2) == 1 && flow != BLOCKED_FLOW;
        let frame = udp(flow, is_reverse, number);
        capture.travel(&mut random, (flow, is_reverse), sent_ns, &frame);
        if random.below(50) == 0 {
            let noise = [&[0xff; 12][..], &[8, 0, 0x45, 0], &number.to_be_bytes()].concat();
            capture.files[1].push((sent_ns, noise));
        }
    }
    for records in &mut capture.files {
        records.sort_by_key(|(t_ns, _)| *t_ns);
    }
    capture
}

impl Capture {
    fn travel(
        &mut self,
        random: &mut Random,
        (flow, is_reverse): (i64, bool),
        sent_ns: i64,
        frame: &[u8],
    ) {
        let side = usize::from(is_reverse);
        let points = if is_reverse { [2, 1, 0] } else { [0, 1, 2] };
        let mut t_ns = sent_ns;
        for (at, point) in points.into_iter().enumerate() {
            if at > 0 {
                let segment = point.min(points[at - 1]);
                if random.below(100) == 0 || flow == BLOCKED_FLOW {
                    self.n_lost[segment][side] += 1;
                    return;
                }
                self.n[segment][side] += 1;
                t_ns += SEGMENT_NS[segment] + random.below(JITTER_NS);
            }
            self.files[point].push((t_ns + CLOCK_NS[point], frame.to_vec()));
        }
        // a mirror's copy, at the last point of those that all three saw
        if random.below(30) == 0 {
            self.n_duplicated += 1;
            self.files[points[2]].push((t_ns + CLOCK_NS[points[2]] + 900, frame.to_vec()));
        }
    }
}

/// One flow between two addresses; `number` makes the packet unlike all others.
pub(crate) fn udp(flow: i64, is_reverse: bool, number: u32) -> Vec<u8> {
    let flow = u8::try_from(flow).unwrap();
    let (near, far) = if flow < 38 { (1 + flow % 3, 1) } else { (1, 2) };
    let (near, far) = ([10, 0, 0, near], [10, 0, 1, far]);
    let (client, server) = (40_000 + u16::from(flow), 9_000_u16);
    let (from, to, ports) = if is_reverse {
        (far, near, [server, client])
    } else {
        (near, far, [client, server])
    };
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    frame.extend([0x45, 0, 0, 32, 0, 0, 0x40, 0, 64, 17, 0, 0]);
    frame.extend(from.iter().chain(&to));
    frame.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
    frame.extend([0, 12, 0, 0]);
    frame.extend(number.to_be_bytes());
    frame
}

/// Clock and usual delay of each point; for reverse packets the delay is against the path.
fn centres(sign: i64) -> Vec<PiecewiseLinear> {
    let centre = |offset_ns| PiecewiseLinear::new(&[(START_NS, offset_ns)], 0.0);
    let away_ns = [
        0,
        SEGMENT_NS[0] + JITTER_NS / 2,
        SEGMENT_NS[0] + SEGMENT_NS[1] + JITTER_NS,
    ];
    let of_point = |(away_ns, clock_ns)| centre(clock_ns + sign * away_ns);
    away_ns.into_iter().zip(CLOCK_NS).map(of_point).collect()
}

/// The plan of a survey that saw this path, but none of its address pairs.
pub(crate) fn plan() -> Plan {
    let bands = vec![
        Band {
            lo_ns: -3000,
            hi_ns: 3000,
            reach_ns: (-3000, 3000),
            ..Band::default()
        };
        9
    ];
    Plan {
        point_of: (0..N_POINTS).map(|point| vec![Some(point)]).collect(),
        position: vec![0, 1, 2],
        component: vec![0; 3],
        domain: vec![0, 0, 1],
        centres: [centres(1), centres(-1)],
        bands: [bands.clone(), bands],
        copies: vec![
            Copies {
                copied_frac: 0.03,
                lo_ns: 0,
                hi_ns: 2_000,
            };
            3
        ],
        links: vec![(0, 1), (1, 2), (0, 2)],
        torn: vec![false; 3],
        whole: Some(2),
        wide_ns: 2_000_000,
        horizon_ns: 4_000_000,
        cover: vec![(i64::MIN, i64::MAX)],
        range: (-i64::MAX, i64::MAX),
        bins: (START_NS, 10_000_000),
        ..Plan::default()
    }
}

/// Writes a nanosecond pcap file.
pub(crate) fn write(folder: &Path, name: &str, records: &[Record]) -> PathBuf {
    let mut out: Vec<u8> = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        out.extend(word.to_le_bytes());
    }
    for (t_ns, bytes) in records {
        let n_bytes = i64::try_from(bytes.len()).unwrap();
        for word in [t_ns / 1_000_000_000, t_ns % 1_000_000_000, n_bytes, n_bytes] {
            out.extend(u32::try_from(word).unwrap().to_le_bytes());
        }
        out.extend(bytes);
    }
    let path = folder.join(name);
    std::fs::write(&path, out).unwrap();
    path
}
