//! Matching what three points captured.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pcaplat_core::matching::Keep;
use pcaplat_core::matching::Matched;
use pcaplat_core::matching::Options;
use pcaplat_core::matching::Status;
use pcaplat_core::matching::match_files;
use pcaplat_core::matching::outcome::Outcomes;
use pcaplat_core::plan::Plan;
use pcaplat_core::reading::{Progress, Reading};
use pcaplat_core::wire::Decoder;

use super::folder::Folder;
use super::simulation::{N_POINTS, Record, plan, udp, write};

const START_NS: i64 = 1_760_000_000_000_000_000;
/// Of the third point, see the plan.
const CLOCK_NS: [i64; 3] = [0, 0, 37_000_000_000];
/// The last second that a pcap file can tell.
const LAST_S: i64 = 4_294_967_295;
/// Where, which packet, when, how spoilt.
const EVENT_BYTES: usize = 6;
const MAX_EVENTS: usize = 400;
const N_FLOWS: u8 = 40;

/// Each six bytes are one frame that one of three points saw; one partition and many, and the same
/// run twice, must say the same.
///
/// # Panics
/// A law is broken.
pub fn matcher(bytes: &[u8]) {
    let folder = Folder::new();
    let points = points(bytes);
    let files = write_all(&folder, &points);
    let one = run(&folder.0, &files, 1);
    assert_eq!(one, run(&folder.0, &files, 3), "the number of partitions");
    let n_seen: Vec<_> = points.iter().map(|records| records.len() as u64).collect();
    let n_decided: Vec<u64> = one.counts.iter().map(|of| of.iter().sum()).collect();
    assert_eq!(n_decided, n_seen, "one status a frame");
    for (file, outcomes) in one.outcomes.iter().enumerate() {
        assert_eq!(outcomes.len() as u64, n_seen[file], "one outcome a frame");
        for (status, count) in one.counts[file].iter().enumerate() {
            let alike = outcomes.iter().filter(|(of, _)| usize::from(*of) == status);
            assert_eq!(
                alike.count() as u64,
                *count,
                "status {status} of file {file}"
            );
        }
        for (status, trajectory) in outcomes {
            let is_joined = [Status::Matched, Status::Duplicate].map(|joined| joined as u8);
            assert!(
                is_joined.contains(status) || *trajectory < 0,
                "{status} {trajectory}"
            );
        }
    }
}

/// Frames of a seed of this target by status.
pub fn outcomes(bytes: &[u8]) -> [u64; 7] {
    let folder = Folder::new();
    let counts = run(&folder.0, &write_all(&folder, &points(bytes)), 1).counts;
    std::array::from_fn(|status| counts.iter().map(|of| of[status]).sum())
}

fn write_all(folder: &Folder, points: &[Vec<Record>]) -> Vec<PathBuf> {
    let named = points.iter().enumerate();
    named
        .map(|(point, records)| write(&folder.0, &format!("{point}.pcap"), records))
        .collect()
}

/// What each point saw, in the order in which it is told.
fn points(bytes: &[u8]) -> Vec<Vec<Record>> {
    let mut points = vec![Vec::new(); usize::from(N_POINTS)];
    let mut now_ns = START_NS;
    let (events, _) = bytes.as_chunks::<EVENT_BYTES>();
    for &[how, point, number, flow, high, low] in events.iter().take(MAX_EVENTS) {
        let after_ns = i64::from(u16::from_be_bytes([high, low]));
        let point = usize::from(point % 3);
        let mut frame = udp(i64::from(flow % N_FLOWS), flow >= 128, u32::from(number));
        if how % 16 > 3 {
            now_ns += after_ns * i64::from(how >> 4);
        }
        let mut t_ns = now_ns + CLOCK_NS[point];
        match how % 16 {
            0 => frame.truncate(usize::from(low)),
            1 => t_ns = i64::from(high) * (LAST_S / 255) * 1_000_000_000,
            2 => t_ns += (after_ns - 32_768) * 1_000_000,
            3 => spoil(&mut frame, high, low),
            _ => {}
        }
        points[point].push((t_ns.max(0), frame));
    }
    points
}

fn spoil(frame: &mut [u8], at: u8, value: u8) {
    let at = usize::from(at) % frame.len();
    frame[at] = value;
}

/// All that a run says of frames and segments.
#[derive(Debug, PartialEq)]
struct Said {
    counts: Vec<[u64; 7]>,
    links: Vec<[u64; 4]>,
    outcomes: Vec<Vec<(u8, i64)>>,
}

fn run(folder: &Path, files: &[PathBuf], n_partitions: usize) -> Said {
    let reading = Reading::everything(Decoder::new(&[]).unwrap());
    let options = Options {
        directory: folder,
        keep: Keep {
            rows: true,
            crossings: true,
        },
        n_partitions,
    };
    let sequences = (0..files.len()).map(|file| vec![file]).collect();
    let plan = Arc::new(Plan {
        sequences,
        ..plan()
    });
    let Matched { totals, counts, .. } =
        match_files(files, &reading, &plan, &options, &Progress::default()).unwrap();
    let links = totals.links.iter().flatten();
    let links = links.map(|link| [link.n, link.n_lost, link.n_duplicated, link.n_reordered]);
    let outcomes = |file| {
        let mut outcomes = Outcomes::open(folder, file).unwrap();
        std::iter::from_fn(|| outcomes.next_outcome()).collect()
    };
    Said {
        counts,
        links: links.collect(),
        outcomes: (0..files.len()).map(outcomes).collect(),
    }
}
