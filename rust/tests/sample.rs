//! The survey's sample: the same packets at every point, in bounded room.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that panics has failed"
)]

use pcaplat_core::identity::WHOLE;
use pcaplat_core::reading::{Progress, Reading};
use pcaplat_core::survey::{Sample, SampledPacket, sample};
use pcaplat_core::wire::Decoder;
use std::collections::BTreeSet;
use std::path::PathBuf;

const START_S: u32 = 1_760_000_000;

/// A packet of a flow, with 100 octets of data.
fn udp(flow: u16, number: u32) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    frame.extend([
        0x45, 0, 0, 128, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ]);
    frame.extend((10_000 + flow).to_be_bytes());
    frame.extend([0x23, 0x28, 0, 108, 0, 0]);
    frame.extend(number.to_be_bytes());
    frame.resize(14 + 128, 0xee);
    frame
}

/// Captures in a folder of their own, cut to a snap length each.
struct Captures {
    folder: PathBuf,
    files: Vec<PathBuf>,
}

impl Captures {
    fn new(name: &str, files: &[(usize, Vec<Vec<u8>>)]) -> Self {
        let folder = std::env::temp_dir().join(format!("sample-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |(index, (snap_bytes, frames)): (usize, &(usize, Vec<Vec<u8>>))| {
            let words = [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 262_144, 1];
            let mut out: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            for (number, frame) in (0_u32..).zip(frames) {
                let n_wire = u32::try_from(frame.len()).unwrap();
                let cut = &frame[..frame.len().min(*snap_bytes)];
                let n_captured = u32::try_from(cut.len()).unwrap();
                for word in [
                    START_S + number / 1000,
                    number % 1000 * 1000,
                    n_captured,
                    n_wire,
                ] {
                    out.extend(word.to_le_bytes());
                }
                out.extend(cut);
            }
            let path = folder.join(index.to_string());
            std::fs::write(&path, out).unwrap();
            path
        };
        let files = files.iter().enumerate().map(write).collect();
        Self { folder, files }
    }

    fn sample(&self, limit: usize, one_in: u64) -> (Sample, Reading) {
        let mut reading = Reading::everything(Decoder::new(&[]).unwrap());
        reading.one_in = one_in;
        let sample = sample(&self.files, &mut reading, limit, &[], &Progress::default()).unwrap();
        (sample, reading)
    }
}

impl Drop for Captures {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn keys(sample: &Sample) -> Vec<BTreeSet<u64>> {
    let of = |rows: &Vec<_>| rows.iter().map(|row: &SampledPacket| row.key).collect();
    sample.rows.iter().map(of).collect()
}

fn packets(numbers: impl Iterator<Item = u32>) -> Vec<Vec<u8>> {
    numbers
        .map(|number| udp(u16::try_from(number % 500).unwrap(), number))
        .collect()
}

#[test]
fn every_point_selects_the_same_packets() {
    let all = packets(0..40_000);
    let few = packets((0..40_000).filter(|number| number % 7 == 0));
    let captures = Captures::new(
        "same",
        &[(9999, all.clone()), (9999, all), (9999, few.clone())],
    );
    let (sample, _) = captures.sample(1000, 1);
    let keys = keys(&sample);
    assert_eq!(keys[0], keys[1]);
    assert!((250..2000).contains(&keys[0].len()), "{}", keys[0].len());
    assert!(sample.threshold < u64::MAX);
    let alone = Captures::new("few", &[(9999, few)]);
    let (whole, _) = alone.sample(100_000, 1);
    assert_eq!(whole.threshold, u64::MAX);
    let common: BTreeSet<u64> = keys[0]
        .intersection(&self::keys(&whole)[0])
        .copied()
        .collect();
    assert_eq!(keys[2], common, "what the third point saw of the selected");
}

#[test]
fn every_point_selects_the_same_further_packets() {
    let mut all = packets(0..40_000);
    all.extend(packets(0..400));
    let seventh = packets((0..40_000).filter(|number| number % 7 == 0));
    let captures = Captures::new(
        "further",
        &[(9999, all.clone()), (9999, all), (9999, seventh.clone())],
    );
    let (sample, _) = captures.sample(1000, 1);
    let of = |rows: &[SampledPacket]| -> BTreeSet<u64> { rows.iter().map(|row| row.key).collect() };
    let (few, more) = (of(&sample.rows[0]), of(&sample.more[0]));
    assert_eq!(more, of(&sample.more[1]));
    let alone = Captures::new("further-alone", &[(9999, seventh)]);
    let all_there = of(&alone.sample(100_000, 1).0.rows[0]);
    let common: BTreeSet<u64> = more.intersection(&all_there).copied().collect();
    assert!(!common.is_empty());
    let third = of(&sample.more[2]);
    assert_eq!(third, common, "what the third point saw of the further");
    assert!(few.is_disjoint(&more), "none is there twice");
    let n_all = few.len() + more.len();
    assert!((1000..4000).contains(&n_all), "{n_all}");
    let (whole, _) = captures.sample(100_000, 1);
    assert!(whole.more.iter().all(Vec::is_empty), "there are no further");
}

#[test]
fn where_no_packet_equals_another_there_are_no_further() {
    let captures = Captures::new("unequal", &[(9999, packets(0..40_000))]);
    let (sample, _) = captures.sample(1000, 1);
    assert!(sample.threshold < u64::MAX, "not all were selected");
    assert!(sample.more.iter().all(Vec::is_empty));
}

#[test]
fn flows_are_selected_whole_with_their_first_packet() {
    let captures = Captures::new(
        "flows",
        &[(9999, packets(0..20_000)), (9999, packets(0..20_000))],
    );
    let (sample, _) = captures.sample(100, 1);
    let flows = |file: usize| {
        sample.flows[file]
            .iter()
            .map(|flow| flow.flow)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(flows(0), flows(1));
    assert!((20..=100).contains(&flows(0).len()), "{}", flows(0).len());
    let last_first_ns = sample.flows[0]
        .iter()
        .map(|flow| flow.first_t_ns)
        .max()
        .unwrap();
    assert!(
        last_first_ns < i64::from(START_S + 1) * 1_000_000_000,
        "the first of each 500"
    );
}

#[test]
fn what_repeats_without_end_stays_in_bounds() {
    let mut frames: Vec<Vec<u8>> = (0..50_000).map(|_| udp(1, 1)).collect();
    frames.extend(packets(0..300));
    let captures = Captures::new("repeats", &[(9999, frames)]);
    let (sample, _) = captures.sample(1000, 1);
    assert!(sample.rows[0].len() < 2000, "{}", sample.rows[0].len());
    assert!(keys(&sample)[0].len() >= 300, "the others are there");
    for limit in [0, 1, 5] {
        let (sample, _) = captures.sample(limit, 1);
        assert!(sample.rows[0].len() <= 2 * limit.max(1));
    }
}

#[test]
fn cut_frames_shorten_the_prefix_of_all() {
    let captures = Captures::new("cut", &[(9999, packets(0..500)), (80, packets(0..500))]);
    let (sample, reading) = captures.sample(10_000, 1);
    let udp_class = 1;
    assert_eq!(sample.prefixes[udp_class], 80 - 34);
    assert_eq!(reading.prefixes, sample.prefixes);
    assert!(
        sample
            .prefixes
            .iter()
            .zip(WHOLE)
            .filter(|(one, whole)| *one != whole)
            .count()
            == 1
    );
    let keys = keys(&sample);
    assert_eq!(keys[0], keys[1]);
    assert_eq!(keys[0].len(), 500);
}

#[test]
fn the_prefix_is_that_of_frames_outside_the_sample_too() {
    // one frame is cut shorter than all others, and hardly ever one of the sample
    let whole = packets(0..500);
    for one_in in [1, 50, 1000] {
        let captures = Captures::new(
            &format!("outside-{one_in}"),
            &[(70, whole.clone()), (9999, whole.clone())],
        );
        let shorter = Captures::new(
            &format!("shorter-{one_in}"),
            &[(60, vec![whole[250].clone()])],
        );
        let files = [captures.files.clone(), shorter.files.clone()].concat();
        let mut reading = Reading::everything(Decoder::new(&[]).unwrap());
        reading.one_in = one_in;
        let sample = sample(&files, &mut reading, 10_000, &[], &Progress::default()).unwrap();
        assert_eq!(sample.prefixes[1], 60 - 34, "1/{one_in}");
        let keys = keys(&sample);
        assert_eq!(keys[0], keys[1]);
    }
}

#[test]
fn facts_are_stated() {
    let mut frames = packets(0..100);
    frames[50] = vec![0xff; 14];
    frames[50].extend([8, 0]);
    let captures = Captures::new("facts", &[(9999, frames)]);
    let (sample, _) = captures.sample(10, 1);
    let facts = sample.facts[0].interfaces[0].as_ref().unwrap();
    assert_eq!((facts.n_frames, facts.disorder_ns, facts.link), (100, 0, 1));
    assert_eq!(facts.last_t_ns - facts.first_t_ns, 99_000);
    assert_eq!(facts.observed_resolution_ns, 1000);
}

#[test]
fn the_earliest_packet_opens_a_flow_wherever_it_stands() {
    let request = udp(1, 0);
    let mut reply = request.clone();
    for (from, to, n) in [(26, 30, 4), (34, 36, 2)] {
        (0..n).for_each(|i| reply.swap(from + i, to + i));
    }
    let whole = usize::MAX;
    let files = [
        (whole, vec![request.clone(), reply.clone()]),
        (whole, vec![reply, request]),
    ];
    let captures = Captures::new("unsorted", &files);
    // the same stamp for the same packet: those of the second file change places
    let mut bytes = std::fs::read(&captures.files[1]).unwrap();
    let second = 24 + 16 + 142;
    (0..8).for_each(|i| bytes.swap(24 + i, second + i));
    std::fs::write(&captures.files[1], bytes).unwrap();
    let (sample, _) = captures.sample(100, 1);
    let opened = |file: usize| {
        let flow = sample.flows[file][0];
        (flow.first_t_ns, flow.first_toward)
    };
    assert_eq!(opened(0), (i64::from(START_S) * 1_000_000_000, true));
    assert_eq!(opened(1), opened(0));
}
