//! Finding the times inside the frames of a file, and reading them.

use std::path::{Path, PathBuf};

use pcaplat_core::file::{Capture, Frame};
use pcaplat_core::reading::{Asked, Progress, ReadOutcome, Reading};
use pcaplat_core::stamp::{FileStamps, STAMPS, Sought, Stamped, Times};
use pcaplat_core::wire::{Decoder, Packet};

use super::folder::Folder;
use super::wire::assert_lawful;

/// Of a record: octets of the frame, how many more were on the wire, ms since the one before.
const HEAD_BYTES: usize = 4;
const START_NS: i64 = 1_700_000_000_000_000_000;
const NS_PER_S: i64 = 1_000_000_000;
const NS_PER_MS: i64 = 1_000_000;
/// Two stamps, one after the other, are off the file's time by as much within twice this: each is
/// within a second of the usual difference, which moves by an eighth of what they stray.
const STRAY_NS: i64 = NS_PER_S + NS_PER_S / 8;

/// Finds stamps in a file of the frames that the bytes tell, and reads them.
///
/// # Panics
/// A law is broken.
pub fn stamp(bytes: &[u8]) {
    let folder = Folder::new();
    let path = write(&folder.0, bytes);
    let mut reading = reading(bytes);
    reading
        .find_stamps(std::slice::from_ref(&path), &Progress::default())
        .unwrap();
    let mut again = self::reading(bytes);
    again
        .find_stamps(std::slice::from_ref(&path), &Progress::default())
        .unwrap();
    assert_eq!(reading.all_stamps(), again.all_stamps(), "found twice");
    let times = stamped(&path, &reading);
    assert_eq!(times, stamped(&path, &reading), "read twice");
    assert_runs_with_the_file(&times);
    assert_eq!(seen(&path, &reading), seen(&path, &again), "seen twice");
}

/// What is found in a seed of this target.
pub fn stamps(bytes: &[u8]) -> Option<&'static str> {
    let folder = Folder::new();
    let path = write(&folder.0, bytes);
    let mut reading = reading(bytes);
    reading.find_stamps(&[path], &Progress::default()).unwrap();
    reading.stamps(0).and_then(|found| found.name(0))
}

/// The first octet names the stamp that is looked for first, if it is a stamp's number.
fn reading(bytes: &[u8]) -> Reading {
    let number = bytes.first().copied().map_or(usize::MAX, usize::from);
    let named = STAMPS.get(number).map(|(name, _)| (*name).to_owned());
    let sought = Sought {
        name: named,
        last_bit_bps: None,
        hop: None,
    };
    Reading {
        times: Times::Search(vec![sought]),
        ..Reading::everything(Decoder::new(&[]).unwrap())
    }
}

/// A capture of nanoseconds.
fn write(folder: &Path, bytes: &[u8]) -> PathBuf {
    let mut out = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        out.extend(word.to_le_bytes());
    }
    let mut rest = bytes.get(1..).unwrap_or_default();
    let mut t_ns = START_NS;
    while let Some((&[n_bytes, n_cut, high, low], behind)) = rest.split_first_chunk::<HEAD_BYTES>()
    {
        let (frame, behind) = behind.split_at(behind.len().min(n_bytes.into()));
        t_ns += i64::from(u16::from_be_bytes([high, low])) * NS_PER_MS;
        let n_captured = u32::try_from(frame.len()).unwrap();
        for word in [t_ns / NS_PER_S, t_ns % NS_PER_S] {
            out.extend(u32::try_from(word).unwrap().to_le_bytes());
        }
        out.extend(n_captured.to_le_bytes());
        out.extend((n_captured + u32::from(n_cut)).to_le_bytes());
        out.extend(frame);
        rest = behind;
    }
    let path = folder.join("fuzz.pcap");
    std::fs::write(&path, out).unwrap();
    path
}

/// Of each frame the file's time, what its own is, and that.
fn stamped(path: &Path, reading: &Reading) -> Vec<(i64, Stamped, Option<i64>)> {
    let mut capture = Capture::open(path).unwrap();
    let mut reader = reading.history(0).stamper;
    let mut packet = Packet::new();
    let mut times = Vec::new();
    while let Some(mut frame) = capture.next_frame() {
        reading.decoder.decode_frame(&frame, &mut packet);
        let before = (frame, packet);
        let stamped = reader.stamp(&mut frame, &mut packet, &reading.decoder);
        assert_leaves_the_frame(&before, &frame, &packet, &reading.decoder);
        let is_timed = matches!(stamped, Stamped::ByStamp | Stamped::ByFile);
        assert_eq!(frame.has_time, is_timed, "{stamped:?}");
        assert_eq!(frame.stamp_ns.is_some(), stamped == Stamped::ByStamp);
        times.push((frame.t_ns, stamped, frame.stamp_ns));
    }
    let is_none = reading.stamps(0).is_none_or(FileStamps::is_empty);
    assert!(!is_none || times.iter().all(|time| time.1 == Stamped::ByFile));
    times
}

/// A stamp is behind or before a frame, and takes nothing else from it.
fn assert_leaves_the_frame(
    (old, whole): &(Frame<'_>, Packet),
    frame: &Frame<'_>,
    packet: &Packet,
    decoder: &Decoder,
) {
    assert_eq!((frame.bytes, frame.t_ns), (old.bytes, old.t_ns));
    assert_eq!(frame.wire_bytes, old.wire_bytes);
    assert_lawful(packet, frame.bytes, frame.wire_bytes as usize);
    let now = format!("{packet:?}");
    if now == format!("{whole:?}") {
        return;
    }
    let is_without_its_end = (0..=frame.bytes.len()).rev().any(|n_bytes| {
        let mut prefix = Packet::new();
        let n_wire = u32::try_from(n_bytes).unwrap();
        decoder.decode(frame.link, &frame.bytes[..n_bytes], n_wire, 0, &mut prefix);
        format!("{prefix:?}") == now
    });
    assert!(is_without_its_end, "{packet:?} of {:02x?}", frame.bytes);
}

fn assert_runs_with_the_file(times: &[(i64, Stamped, Option<i64>)]) {
    for pair in times.windows(2) {
        if let [
            (one_ns, _, Some(stamp_ns)),
            (next_ns, _, Some(next_stamp_ns)),
        ] = pair
        {
            let passed_ns = next_ns - one_ns;
            let strays_ns = next_stamp_ns - stamp_ns - passed_ns;
            assert!(strays_ns.abs() <= 2 * STRAY_NS, "{pair:?}");
            assert!(passed_ns <= 2 * STRAY_NS || next_stamp_ns > stamp_ns);
        }
    }
}

/// What the passes make of each frame: what it is, its time, and where its packet ends.
fn seen(path: &Path, reading: &Reading) -> Vec<(u8, u64, Option<i64>, usize)> {
    let mut capture = Capture::open(path).unwrap();
    let (mut history, mut packet) = (reading.history(0), Packet::new());
    let mut rows = Vec::new();
    while let Some(mut frame) = capture.next_frame() {
        let (seen, whole) = reading.see(Asked::Matching, &mut frame, &mut history, &mut packet);
        assert_lawful(&packet, whole.bytes, whole.wire_bytes as usize);
        let (kind, key) = match seen {
            ReadOutcome::Packet(identity) => (0, identity.key),
            ReadOutcome::Undecoded => (1, 0),
            ReadOutcome::Untimed => (2, 0),
            ReadOutcome::Part => (3, 0),
            ReadOutcome::Excluded | ReadOutcome::Unsampled => panic!("nobody asked for that"),
        };
        rows.push((kind, key, frame.stamp_ns, packet.end_at));
    }
    let tally = history.fragments.tally();
    let n_parts = rows.iter().filter(|row| row.0 == 3).count();
    assert_eq!(tally.n_parts, n_parts as u64, "{tally:?}");
    assert!(tally.n_whole + tally.n_parts <= rows.len() as u64);
    assert!(tally.n_unfinished <= tally.n_parts, "{tally:?}");
    rows
}
