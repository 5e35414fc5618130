//! Looks for stamps in the first frames of a file.

use super::found::{FileStamps, FoundStamp, Sought};
use super::frame::StampedFrame;
use super::key::Key;
use super::track::unfolded;
use super::{ALL, Mark, StampEvidence};
use crate::base::error::{Error, Result};
use crate::file::{Capture, Frame};
use crate::wire::{Decoder, Packet};
use std::path::Path;

/// Frames that are looked at.
pub(super) const N_LOOKED_AT: u64 = 1024;
/// Frames that are looked through for a key frame, where the first ones may carry ticks: key frames
/// come once a second.
const N_UNTIL_KEY: u64 = 4_000_000;
const UNTIL_KEY_NS: i64 = 3 * super::NS_PER_S;
/// Interfaces that are told apart.
const MAX_INTERFACES: usize = 256;
/// Share of the frames, one in so many, in which a check sequence has to hold.
const LEAST_SHARE: usize = 10;
/// Ticks that fit are ticks if there are so many.
const LEAST_TICKS: usize = 2;
/// Times that nothing names are stamps if there are so many.
const LEAST_TIMES: usize = 8;
/// How far ticks may be from the file's time, about the usual difference.
const TICKS_WITHIN_NS: i64 = 10_000_000;

/// What one interface showed so far.
#[derive(Default)]
pub(super) struct StampCandidates {
    n_frames: usize,
    n_maybe_ticks: usize,
    keys: Vec<Key>,
    /// By stamp: values, with the file's time.
    marks: Vec<Vec<(i64, Mark)>>,
}

/// Whether there is a stamp of a name.
///
/// # Errors
/// [`Error::Argument`] if there is not.
pub fn check_name(name: &str) -> Result<()> {
    if ALL.iter().any(|stamp| stamp.name == name) {
        return Ok(());
    }
    let known: Vec<&str> = ALL.iter().map(|stamp| stamp.name).collect();
    let text = format!(
        "{name:?} is no in-packet timestamp; there are {}",
        known.join(", ")
    );
    Err(Error::Argument(text))
}

/// Which stamps the frames of a file carry; only the one that is named, if one is.
///
/// # Errors
/// The file cannot be opened, or is no capture.
pub fn find(path: &Path, decoder: &Decoder, sought: &Sought) -> Result<FileStamps> {
    let (last_bit_bps, hop) = (sought.last_bit_bps, sought.hop);
    let interfaces = if path.is_file() && hop.is_none() {
        look(path, decoder, sought.name.as_deref())?
    } else {
        Vec::new()
    };
    Ok(FileStamps {
        interfaces,
        last_bit_bps,
        hop,
    })
}

/// By interface.
fn look(path: &Path, decoder: &Decoder, named: Option<&str>) -> Result<Vec<Option<FoundStamp>>> {
    let mut seen = Vec::new();
    look_at(path, decoder, &mut seen, is_not_keyed)?;
    let may_have_ticks = named.is_some_and(is_keyed_name)
        || seen.iter().any(|one| one.n_maybe_ticks * 2 > one.n_frames);
    if may_have_ticks {
        find_keys(path, decoder, &mut seen)?;
    }
    if seen.iter().any(|one| !one.keys.is_empty()) {
        look_at(path, decoder, &mut seen, |evidence| !is_not_keyed(evidence))?;
    }
    let best = |one: &StampCandidates| {
        let named = named.and_then(|name| one.best(Some(name)));
        named.or_else(|| one.best(None))
    };
    Ok(seen.iter().map(best).collect())
}

fn is_not_keyed(evidence: StampEvidence) -> bool {
    evidence != StampEvidence::Keyed
}

fn is_keyed_name(name: &str) -> bool {
    ALL.iter()
        .any(|stamp| stamp.name == name && stamp.evidence == StampEvidence::Keyed)
}

/// Reads the values of some stamps in the first frames.
fn look_at(
    path: &Path,
    decoder: &Decoder,
    seen: &mut Vec<StampCandidates>,
    wants: fn(StampEvidence) -> bool,
) -> Result<()> {
    let is_first = seen.is_empty();
    each_frame(path, decoder, N_LOOKED_AT, |frame, packet| {
        let Some(of_interface) = slot(seen, frame.interface as usize) else {
            return true;
        };
        if is_first {
            of_interface.count(frame, packet);
        }
        if Key::of(frame, packet).is_none() {
            of_interface.read(frame, packet, wants);
        }
        true
    })
}

/// Looks further for key frames.
fn find_keys(path: &Path, decoder: &Decoder, seen: &mut Vec<StampCandidates>) -> Result<()> {
    let mut until_ns = None;
    each_frame(path, decoder, N_UNTIL_KEY, |frame, packet| {
        if frame.has_time {
            let until_ns = *until_ns.get_or_insert(frame.t_ns.saturating_add(UNTIL_KEY_NS));
            if frame.t_ns > until_ns {
                return false;
            }
        }
        if let (Some(key), Some(of_interface)) =
            (Key::of(frame, packet), slot(seen, frame.interface as usize))
        {
            of_interface.take_key(key);
        }
        true
    })
}

/// Decodes the first frames, as long as `each` wants more.
fn each_frame(
    path: &Path,
    decoder: &Decoder,
    n_frames: u64,
    mut each: impl FnMut(&Frame<'_>, &Packet) -> bool,
) -> Result<()> {
    let mut capture = Capture::open(path)?;
    let mut packet = Packet::new();
    for _ in 0..n_frames {
        let Some(frame) = capture.next_frame() else {
            break;
        };
        decoder.decode_frame(&frame, &mut packet);
        if !each(&frame, &packet) {
            break;
        }
    }
    Ok(())
}

pub(super) fn slot(
    seen: &mut Vec<StampCandidates>,
    interface: usize,
) -> Option<&mut StampCandidates> {
    if interface >= MAX_INTERFACES {
        return None;
    }
    if interface >= seen.len() {
        seen.resize_with(interface + 1, StampCandidates::default);
    }
    seen.get_mut(interface)
}

impl StampCandidates {
    pub(super) fn count(&mut self, frame: &Frame<'_>, packet: &Packet) {
        if let Some(key) = Key::of(frame, packet) {
            return self.take_key(key);
        }
        self.n_frames += 1;
        self.n_maybe_ticks += usize::from(may_have_ticks(frame, packet));
    }

    /// The first two are enough: the time of one, and the rate.
    fn take_key(&mut self, key: Key) {
        let is_new = self.keys.last().is_none_or(|last| last.ticks < key.ticks);
        if is_new && self.keys.len() < 2 {
            self.keys.push(key);
        }
    }

    /// The first key, with the rate that the first two show.
    fn key(&self) -> Option<Key> {
        let first = *self.keys.first()?;
        let mut key = first;
        if let Some(next) = self.keys.get(1).filter(|next| first.agrees(next)) {
            key.go_on(*next);
        }
        Some(Key {
            ns_per_tick: key.ns_per_tick,
            ..first
        })
    }

    pub(super) fn read(
        &mut self,
        frame: &Frame<'_>,
        packet: &Packet,
        wants: fn(StampEvidence) -> bool,
    ) {
        if !frame.has_time {
            return;
        }
        let key = self.key();
        let look = StampedFrame::new(frame, packet, key.as_ref());
        self.marks.resize_with(ALL.len(), Vec::new);
        for (stamp, marks) in ALL.iter().zip(&mut self.marks) {
            if wants(stamp.evidence)
                && let Some(mark) = (stamp.read)(&look).filter(|mark| mark.is_sound)
            {
                marks.push((frame.t_ns, mark));
            }
        }
    }

    /// The stamp that most frames have, and of equals the one nearest to the file's time.
    pub(super) fn best(&self, named: Option<&str>) -> Option<FoundStamp> {
        let all = ALL.iter().zip(&self.marks).enumerate();
        let wanted = all.filter(|(_, (stamp, _))| named.is_none_or(|name| name == stamp.name));
        let found = wanted.filter_map(|(kind, (stamp, marks))| {
            let (base_ns, n) = usual(marks, stamp.evidence)?;
            self.is_enough(stamp.evidence, n, marks.len())
                .then_some(())?;
            let (_, mark) = marks.first()?;
            let found = self.found(kind, base_ns, mark);
            let is_named = named.is_some();
            Some((n, FoundStamp { is_named, ..found }))
        });
        let nearest = |found: &FoundStamp| std::cmp::Reverse(found.base_ns.unsigned_abs());
        found
            .max_by_key(|(n, found)| (*n, nearest(found)))
            .map(|(_, found)| found)
    }

    fn found(&self, kind: usize, base_ns: i64, mark: &Mark) -> FoundStamp {
        let is_keyed = ALL.get(kind).is_some_and(|of| !is_not_keyed(of.evidence));
        FoundStamp {
            kind,
            base_ns,
            key: self.key().filter(|_| is_keyed),
            wrap_ns: mark.wrap_ns,
            resolution_ns: mark.resolution_ns,
            label: mark.timescale,
            is_named: false,
        }
    }

    /// Whether so many values that agree are evidence.
    fn is_enough(&self, evidence: StampEvidence, n: usize, n_marks: usize) -> bool {
        let is_usual = n * 2 > n_marks;
        let share = self.n_frames.div_ceil(LEAST_SHARE);
        is_usual
            && match evidence {
                StampEvidence::Named => n > 0,
                StampEvidence::Checked => n >= share,
                StampEvidence::Keyed => n >= share.max(LEAST_TICKS),
                StampEvidence::Timed => n >= LEAST_TIMES.max(self.n_frames.div_ceil(2)),
            }
    }
}

/// The usual difference from the file's time, and how many values have it.
fn usual(marks: &[(i64, Mark)], evidence: StampEvidence) -> Option<(i64, usize)> {
    let off =
        |base_ns, (t_ns, mark): &(i64, Mark)| unfolded(mark, *t_ns, base_ns)?.checked_sub(*t_ns);
    let base_ns = marks.iter().find_map(|one| off(0, one))?;
    let mut offs: Vec<i64> = marks.iter().filter_map(|one| off(base_ns, one)).collect();
    offs.sort_unstable();
    let usual_ns = *offs.get(offs.len() / 2)?;
    let within_ns = match evidence {
        StampEvidence::Keyed => TICKS_WITHIN_NS,
        StampEvidence::Named | StampEvidence::Checked | StampEvidence::Timed => {
            marks.first().map_or(0, |(_, mark)| mark.within_ns)
        }
    };
    let near = offs
        .iter()
        .filter(|off_ns| off_ns.abs_diff(usual_ns) <= within_ns.unsigned_abs());
    Some((usual_ns, near.count()))
}

/// Four octets that are no check sequence behind an IP packet, or four before one, are what ticks
/// would look like.
fn may_have_ticks(frame: &Frame<'_>, packet: &Packet) -> bool {
    const LONGER_THAN_PADDED: usize = 68;
    const TICKS_BYTES: usize = 4;
    let n = frame.bytes.len();
    if n < LONGER_THAN_PADDED || n < frame.wire_bytes as usize || packet.ip_version == 0 {
        return false;
    }
    match n.checked_sub(packet.end_at) {
        Some(TICKS_BYTES) => !super::embedded::has_fcs(frame.bytes),
        Some(8) => super::embedded::has_fcs(frame.bytes),
        _ => false,
    }
}
