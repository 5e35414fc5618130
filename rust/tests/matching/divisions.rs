//! Captures read in extents, wherever each ends, and matched in slices: the answer is that of one reading.

use super::running::{Folder, each_by_itself, said, said_by};
use super::simulation::{Random, Record, plan, udp, write};
use pcaplat_core::file::{ExtentStart, FileExtent, RecordPlace};
use pcaplat_core::matching::{Keep, Matched, Options, add_up, match_slice, read_capture};
use pcaplat_core::reading::{Progress, Reading};
use pcaplat_core::wire::Decoder;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const N_SLICES: usize = 3;
const START_NS: i64 = 1_760_000_000_000_000_000;
/// Of the last point's clock.
const CLOCK_NS: i64 = 37_000_000_000;
const HEADERS_BYTES: [u64; 2] = [24, 16];

/// Places between the records of a file, every so many of them.
fn places(records: &[Record], every: usize) -> Vec<RecordPlace> {
    let [mut at_byte, header_bytes] = HEADERS_BYTES;
    let mut found = Vec::new();
    for (n_before, (_, bytes)) in records.iter().enumerate() {
        if n_before > 0 && n_before % every == 0 {
            let n_before = n_before as u64;
            found.push(RecordPlace { at_byte, n_before });
        }
        at_byte += header_bytes + bytes.len() as u64;
    }
    found
}

/// Extents from each place to the next.
fn extents(places: &[RecordPlace]) -> Vec<FileExtent> {
    let starts = std::iter::once(ExtentStart::File);
    let starts = starts.chain(places.iter().copied().map(ExtentStart::Place));
    let ends = places.iter().map(|place| place.at_byte);
    let of = |(start, until_byte)| FileExtent { start, until_byte };
    starts
        .zip(ends.chain(std::iter::once(u64::MAX)))
        .map(of)
        .collect()
}

fn options(directory: &Path) -> Options<'_> {
    Options {
        directory,
        keep: Keep {
            rows: true,
            crossings: true,
        },
        n_partitions: 1,
    }
}

fn folder_in(folder: &Path, name: String) -> PathBuf {
    let own = folder.join(name);
    std::fs::create_dir_all(&own).unwrap();
    own
}

/// Reads files in extents of so many frames, and matches them in slices.
fn divided(folder: &Path, files: &[(PathBuf, &[Record])], every: usize) -> Matched {
    let plan = Arc::new(each_by_itself(plan(), files.len()));
    let reading = Reading::everything(Decoder::new(&[]).unwrap());
    let mut results = Vec::new();
    let mut folders = vec![Vec::new(); files.len()];
    for (file, (path, records)) in files.iter().enumerate() {
        for (at, extent) in extents(&places(records, every)).iter().enumerate() {
            let own = folder_in(folder, format!("read-{file}-{at}"));
            let (given, told) = ((file, path.as_path(), extent), Progress::default());
            let how = options(&own);
            results.push(read_capture(given, &reading, &plan, N_SLICES, &how, &told));
            folders[file].push(own);
        }
    }
    for slice in 0..u32::try_from(N_SLICES).unwrap() {
        let own = folder_in(folder, format!("slice-{slice}"));
        results.push(match_slice(&folders, &plan, slice, &options(&own)));
    }
    add_up(&plan, &options(folder), files.len(), results.into_iter()).unwrap()
}

/// Equal packets that come again after less than the horizon of the plan, or after more. The captures of all
/// three points have some frames behind later ones, by several horizons at most.
fn disordered(n_packets: i64, seed: u64) -> [Vec<Record>; 3] {
    let mut random = Random(seed);
    let mut files: [Vec<(i64, Record)>; 3] = Default::default();
    for sent in 0..n_packets {
        let (flow, number) = (random.below(38), random.below(100));
        let frame = udp(flow, false, u32::try_from(number).unwrap());
        let mut t_ns = START_NS + sent * 1_000 + random.below(800);
        for (file, clock_ns) in files.iter_mut().zip([0, 0, CLOCK_NS]) {
            if random.below(50) == 0 {
                break;
            }
            let behind_ns = match random.below(20) {
                0 => random.below(20_000_000),
                _ => 0,
            };
            file.push((t_ns + behind_ns, (t_ns + clock_ns, frame.clone())));
            t_ns += 11_000 + random.below(2_000);
        }
    }
    files.map(|mut records| {
        records.sort_by_key(|(written_ns, _)| *written_ns);
        records.into_iter().map(|(_, record)| record).collect()
    })
}

/// A stream without a pause that is sent in segments of several packets, some of them again soon after, and
/// joined again behind the second point. Its sequence numbers begin again after so many bursts.
fn bulk(n_bursts: u32, again_after: u32, seed: u64) -> [Vec<Record>; 3] {
    const PIECES: u32 = 8;
    let mut random = Random(seed);
    let mut files: [Vec<Record>; 3] = Default::default();
    for burst in 0..n_bursts {
        let n_sent = if random.below(4) == 0 { 2 } else { 1 };
        for again in 0..n_sent {
            let sent_ns = i64::from(burst) * 20_000 + again * random.below(1_900_000);
            let first = burst % again_after * PIECES;
            files[0].push((sent_ns, tcp(first, PIECES)));
            for piece in 0..PIECES {
                let at_ns = sent_ns + 11_000 + i64::from(piece) * 1_200;
                files[1].push((at_ns, tcp(first + piece, 1)));
            }
            let cut = u32::try_from(1 + random.below(7)).unwrap();
            for (piece, n) in [(0, cut), (cut, PIECES - cut)] {
                let at_ns = sent_ns + 34_000 + i64::from(piece + n) * 1_200;
                files[2].push((at_ns, tcp(first + piece, n)));
            }
        }
    }
    let mut start_ns = [START_NS, START_NS, START_NS + CLOCK_NS].into_iter();
    files.map(|mut records| {
        records.sort_by_key(|(t_ns, _)| *t_ns);
        let start_ns = start_ns.next().unwrap();
        let later = |(t_ns, frame)| (t_ns + start_ns, frame);
        records.into_iter().map(later).collect()
    })
}

/// Some pieces of a stream, from one of them on.
fn tcp(first: u32, n: u32) -> Vec<u8> {
    const BYTES: u32 = 50;
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let ip_bytes = u16::try_from(40 + n * BYTES).unwrap();
    frame.extend([0x45, 0]);
    frame.extend(ip_bytes.to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 1, 1]);
    frame.extend(
        [40_000_u16, 9_000]
            .iter()
            .flat_map(|port| port.to_be_bytes()),
    );
    frame.extend((first * BYTES).to_be_bytes());
    frame.extend([0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    frame.extend((first..first + n).flat_map(|piece| [piece.to_le_bytes()[0]; BYTES as usize]));
    frame
}

/// Asserts that files come to the same in extents of several lengths.
fn assert_same_in_any_extents(name: &str, captures: &[Vec<Record>; 3]) {
    let folder = Folder::new(name);
    let files: Vec<PathBuf> = (0..)
        .zip(captures)
        .map(|(point, records)| write(&folder.0, &format!("{point}.pcap"), records))
        .collect();
    let whole = said(&folder, &files, 2);
    let records = captures.iter().map(Vec::as_slice);
    let with_records: Vec<_> = files.iter().cloned().zip(records).collect();
    for every in [300, 1_500, 7_000] {
        let own = folder_in(&folder.0, format!("divided-{every}"));
        let found = said_by(divided(&own, &with_records, every), &own, files.len());
        assert_eq!(found.counts, whole.counts, "{name}, extents of {every}");
        assert!(found == whole, "{name}, extents of {every}");
    }
}

#[test]
fn equal_packets_of_captures_out_of_order_are_matched_the_same_in_any_extents() {
    for seed in 0..3 {
        let captures = disordered(20_000, seed);
        assert_same_in_any_extents(&format!("disordered-{seed}"), &captures);
    }
}

#[test]
fn streams_without_a_pause_are_matched_the_same_in_any_extents() {
    for again_after in [4, 10, u32::MAX] {
        let captures = bulk(4_000, again_after, again_after.into());
        assert_same_in_any_extents(&format!("bulk-{again_after}"), &captures);
    }
}
