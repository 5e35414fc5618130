//! The stamps of one file, frame by frame.

use super::found::{FileStamps, FoundStamp};
use super::frame::StampedFrame;
use super::key::Key;
use super::track::Track;
use super::{HopStamp, Mark, NS_PER_S, Stamp, StampEvidence};
use crate::file::Frame;
use crate::wire::{Decoder, Packet};

/// What a frame's time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamped {
    /// That of the file: frames of its interface have no stamps.
    ByFile,
    /// That of its stamp.
    ByStamp,
    /// Unknown: it lacks the stamp that the others have.
    Without,
    /// Unknown: its stamp is damaged.
    Damaged,
    /// Unknown, and of no matter: it tells the time of a tick counter.
    Key,
    /// None: the node whose capture this is wrote nothing into it.
    Elsewhere,
}

/// Reads the stamps of one file's frames, in the file's order.
#[derive(Debug, Default)]
pub struct Stamper {
    interfaces: Vec<Option<InterfaceStamper>>,
    hop: Option<(HopStamp, Track, StampCounts)>,
    last_bit_bps: Option<u64>,
}

#[derive(Debug)]
struct InterfaceStamper {
    stamp: &'static Stamp,
    track: Track,
    key: Option<Key>,
    n_odd_keys: u32,
    counts: StampCounts,
}

/// Frames by what their stamps were; key frames are not counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StampCounts {
    pub(crate) stamped: u64,
    pub(crate) damaged: u64,
    pub(crate) without: u64,
}

impl StampCounts {
    fn add(&mut self, stamped: Stamped) {
        match stamped {
            Stamped::ByFile | Stamped::Key | Stamped::Elsewhere => {}
            Stamped::ByStamp => self.stamped += 1,
            Stamped::Damaged => self.damaged += 1,
            Stamped::Without => self.without += 1,
        }
    }
}

impl std::fmt::Debug for Stamp {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(self.name)
    }
}

impl Stamper {
    /// With what was found in the file.
    #[must_use]
    pub fn new(stamps: &FileStamps) -> Self {
        let state = |found: &Option<FoundStamp>| {
            let found = found.as_ref()?;
            Some(InterfaceStamper {
                stamp: found.stamp()?,
                track: Track::new(found.base_ns),
                key: found.key,
                n_odd_keys: 0,
                counts: StampCounts::default(),
            })
        };
        let of_file = &stamps.interfaces[..];
        let interfaces = if stamps.is_empty() { &[] } else { of_file };
        Self {
            interfaces: interfaces.iter().map(state).collect(),
            hop: stamps
                .hop
                .map(|hop| (hop, hop.track(), StampCounts::default())),
            last_bit_bps: stamps.last_bit_bps,
        }
    }

    /// Whether the frames have the file's time anyway, so that nothing need be done.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.interfaces.is_empty() && self.hop.is_none()
    }

    /// Gives a decoded frame its stamp, or takes the file's time from one that lacks it. What was put
    /// behind the frame is no part of its packet: where it was taken for one, it is decoded anew. A
    /// stamp of the last bit is known to be late by what the frame takes.
    #[inline]
    pub fn stamp(
        &mut self,
        frame: &mut Frame<'_>,
        packet: &mut Packet,
        decoder: &Decoder,
    ) -> Stamped {
        if let Some(hop) = &mut self.hop {
            return at_hop(hop, frame, packet);
        }
        let (stamped, cut_at) = match self.interfaces.get_mut(frame.interface as usize) {
            Some(Some(state)) if frame.has_time => state.stamp_and_cut(frame, packet, decoder),
            _ => (Stamped::ByFile, None),
        };
        if let Some(rate_bps) = self.last_bit_bps {
            frame.late_ns = takes_ns(n_octets(frame, cut_at, packet.mirrored), rate_bps);
        }
        stamped
    }

    /// How many frames of an interface were what.
    pub(crate) fn counts(&self, interface: usize) -> StampCounts {
        if let Some((_, _, counts)) = &self.hop {
            return *counts;
        }
        let state = self.interfaces.get(interface).and_then(Option::as_ref);
        state.map_or_else(StampCounts::default, |state| state.counts)
    }
}

/// Gives a frame the time that a node wrote into it, none where it wrote nothing.
fn at_hop(
    (hop, track, counts): &mut (HopStamp, Track, StampCounts),
    frame: &mut Frame<'_>,
    packet: &Packet,
) -> Stamped {
    let mark = hop.read(packet, frame.bytes).filter(|_| frame.has_time);
    let ns = mark.map(|mark| track.unfold(&mark, frame.t_ns));
    frame.has_time = false;
    let stamped = match ns {
        None => Stamped::Elsewhere,
        Some(None) => Stamped::Damaged,
        Some(Some(ns)) => {
            (frame.has_time, frame.stamp_ns) = (true, Some(ns));
            Stamped::ByStamp
        }
    };
    counts.add(stamped);
    stamped
}

/// Octets of a frame between its start delimiter and its end, its check sequence among them; without
/// what was put behind it, or around it by the mirror whose stamp it has.
fn n_octets(frame: &Frame<'_>, cut_at: Option<usize>, mirrored: Option<(u32, u32)>) -> u64 {
    const LEAST: u64 = 60;
    const CHECK: u64 = 4;
    let n = frame.unchecked_bytes();
    let n = match (cut_at, mirrored) {
        (Some(at), _) if at < frame.bytes.len() => at as u64,
        (Some(_), Some((from, _))) => n.saturating_sub(from).into(),
        _ => n.into(),
    };
    n.max(LEAST) + CHECK
}

/// How long so many octets take, to the nearest nanosecond.
fn takes_ns(n_octets: u64, rate_bps: u64) -> i64 {
    const BITS_NS: u64 = 8 * NS_PER_S.unsigned_abs();
    let rate_bps = rate_bps.max(1);
    let ns = (n_octets
        .saturating_mul(BITS_NS)
        .saturating_add(rate_bps / 2))
        / rate_bps;
    i64::try_from(ns).unwrap_or(i64::MAX)
}

impl InterfaceStamper {
    fn stamp_and_cut(
        &mut self,
        frame: &mut Frame<'_>,
        packet: &mut Packet,
        decoder: &Decoder,
    ) -> (Stamped, Option<usize>) {
        let (stamped, cut_at) = self.stamp(frame, packet);
        self.counts.add(stamped);
        frame.has_time = stamped == Stamped::ByStamp;
        if let Some(cut_at) = cut_at
            && (packet.ip_version == 0 || packet.end_at > cut_at)
            && let Some(bytes) = frame.bytes.get(..cut_at)
        {
            let wire_bytes = u32::try_from(cut_at).unwrap_or(u32::MAX);
            decoder.decode(frame.link, bytes, wire_bytes, 0, packet);
        }
        (stamped, cut_at)
    }

    fn stamp(&mut self, frame: &mut Frame<'_>, packet: &Packet) -> (Stamped, Option<usize>) {
        if self.key.is_some()
            && let Some(key) = Key::of(frame, packet)
        {
            self.take_key(key);
            return (Stamped::Key, None);
        }
        let look = StampedFrame::new(frame, packet, self.key.as_ref());
        let Some(mark) = (self.stamp.read)(&look) else {
            return (Stamped::Without, None);
        };
        let t_ns = frame.t_ns;
        if let Some(ns) = self.track.unfold(&mark, t_ns) {
            frame.stamp_ns = Some(ns);
            return (Stamped::ByStamp, Some(mark.cut_at));
        }
        self.misfit(&mark, t_ns)
    }

    /// A damaged stamp, or something else.
    fn misfit(&self, mark: &Mark, t_ns: i64) -> (Stamped, Option<usize>) {
        let was_one = mark.is_sound
            || self.stamp.evidence == StampEvidence::Named
            || self.track.is_near(mark, t_ns);
        if was_one {
            (Stamped::Damaged, Some(mark.cut_at))
        } else {
            (Stamped::Without, None)
        }
    }

    /// A key frame that tells another time than the ones before is damaged, unless it is repeated.
    fn take_key(&mut self, next: Key) {
        const ENOUGH_ODD: u32 = 3;
        let Some(key) = &mut self.key else {
            return;
        };
        if key.agrees(&next) {
            self.n_odd_keys = 0;
            if next.ticks > key.ticks {
                key.go_on(next);
            }
            return;
        }
        self.n_odd_keys += 1;
        if self.n_odd_keys >= ENOUGH_ODD {
            self.n_odd_keys = 0;
            *key = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{T_NS, frame_of};
    use super::*;

    fn late_ns(n_octets: usize, fcs_bytes: u8, rate_bps: u64) -> i64 {
        let stamps = FileStamps {
            last_bit_bps: Some(rate_bps),
            ..FileStamps::default()
        };
        let bytes = vec![0; n_octets];
        let mut frame = Frame {
            fcs_bytes,
            ..frame_of(&bytes)
        };
        let decoder = Decoder::new(&[]).unwrap();
        let mut stamper = Stamper::new(&stamps);
        assert_eq!(
            stamper.stamp(&mut frame, &mut Packet::new(), &decoder),
            Stamped::ByFile
        );
        assert_eq!(frame.stamped_ns(), T_NS);
        T_NS - frame.time_ns()
    }

    #[test]
    fn a_stamp_of_the_last_bit_goes_back_to_the_first() {
        // 1,518 octets with the check sequence: 1,214.4 ns at 10 Gbit/s, whether it was captured or not
        assert_eq!(
            [
                late_ns(1514, 0, 10_000_000_000),
                late_ns(1518, 4, 10_000_000_000)
            ],
            [1214; 2]
        );
        // a frame is padded before it is sent
        assert_eq!(late_ns(42, 0, 1_000_000_000), 512);
        assert_eq!(late_ns(1514, 0, 400_000_000_000), 30);
        assert_eq!(late_ns(1514, 0, 0), 12_144_000_000_000);
    }

    #[test]
    fn what_was_put_around_a_stamped_frame_or_behind_it_was_not_on_its_wire() {
        let bytes = vec![0; 1014];
        let frame = frame_of(&bytes);
        assert_eq!(n_octets(&frame, Some(998), None), 1002, "a trailer");
        assert_eq!(
            n_octets(&frame, Some(1014), Some((50, 1014))),
            968,
            "a mirror's header"
        );
        // what the collector stamped is what it received
        assert_eq!(n_octets(&frame, None, Some((50, 1014))), 1018);
    }
}
