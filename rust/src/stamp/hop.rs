//! The times that one node of the path wrote into packets: a file read so is a capture at that node.

use super::track::{Track, unfolded};
use super::{Mark, NS_PER_S, Timescale};
use crate::wire::Packet;
use crate::wire::telemetry::{HopKey, HopTime, TelemetryKind, TimeLayout, each_hop};
use serde::{Deserialize, Serialize};

/// What the numbers of a node's times are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeUnit {
    /// Nanoseconds; of a fraction of a second too (PTP's truncated format, RFC 8877 §4.3).
    Nanosecond,
    /// Microseconds (POSIX, RFC 9197 §5.3).
    Microsecond,
    /// Parts of a second: 2^-32 (NTP, RFC 5905 §6).
    Ntp,
}

/// A node's times, and how they are read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HopStamp {
    /// Whose.
    pub key: HopKey,
    /// How they are laid out; of others nothing is known.
    pub layout: TimeLayout,
    /// What their numbers are.
    pub unit: TimeUnit,
    /// What they usually differ from the file's time.
    pub base_ns: i64,
}

impl HopStamp {
    /// Of which one time is known: by the file, and as its bits.
    #[must_use]
    pub fn new(key: HopKey, time: HopTime, unit: TimeUnit, t_ns: i64) -> Self {
        let layout = time.layout;
        let mark = mark_of(time, unit);
        let base_ns = mark.and_then(|mark| unfolded(&mark, t_ns, 0)?.checked_sub(t_ns));
        Self {
            key,
            layout,
            unit,
            base_ns: base_ns.unwrap_or(0),
        }
    }

    /// What such stamps are called.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.key.kind {
            TelemetryKind::Int => "int",
            TelemetryKind::Ioam => "ioam",
        }
    }

    /// Their finest step, ns.
    #[must_use]
    pub fn resolution_ns(&self) -> f64 {
        match self.unit {
            TimeUnit::Microsecond => 1e3,
            TimeUnit::Nanosecond | TimeUnit::Ntp => 1.0,
        }
    }

    pub(super) fn track(&self) -> Track {
        Track::new(self.base_ns)
    }

    /// When the node saw a packet, if it wrote that down.
    pub(super) fn read(&self, packet: &Packet, frame: &[u8]) -> Option<Mark> {
        let mut found = None;
        each_hop(packet.telemetry?, frame, &mut |key, time| {
            // a packet that a node saw twice: where it came first is last in the list
            if key == self.key && time.layout == self.layout {
                found = Some(time);
            }
        });
        mark_of(found?, self.unit)
    }
}

fn mark_of(time: HopTime, unit: TimeUnit) -> Option<Mark> {
    let (ns, wrap_ns, is_sound) = instant_of(time, unit)?;
    let wrap_ns = i64::try_from(wrap_ns).unwrap_or(0);
    let within_ns = match wrap_ns {
        0 => NS_PER_S,
        _ => NS_PER_S.min(wrap_ns / 8),
    };
    Some(Mark {
        ns: i64::try_from(ns).ok()?,
        wrap_ns,
        within_ns,
        resolution_ns: 1.0,
        timescale: Timescale::Unknown,
        cut_at: usize::MAX,
        is_sound,
    })
}

/// The fraction of a second, ns, and whether it is less than one.
fn fraction_of(time: HopTime, unit: TimeUnit) -> (u64, bool) {
    let fraction = time.raw & u64::from(u32::MAX);
    match unit {
        TimeUnit::Nanosecond => (fraction, fraction < 1_000_000_000),
        TimeUnit::Microsecond => (fraction * 1_000, fraction < 1_000_000),
        TimeUnit::Ntp => ((fraction * 1_000_000_000) >> 32, true),
    }
}

/// Seconds since 1970, or since whenever the node counts.
fn seconds_of(time: HopTime, unit: TimeUnit) -> u64 {
    /// From 1900 to 1970.
    const NTP_ERA_S: u64 = 2_208_988_800;
    let since = if unit == TimeUnit::Ntp { NTP_ERA_S } else { 0 };
    (time.raw >> 32).wrapping_sub(since) & u64::from(u32::MAX)
}

/// Nanoseconds, after how many they begin anew (0: never), and whether they can be a time.
fn instant_of(time: HopTime, unit: TimeUnit) -> Option<(u64, u64, bool)> {
    const SECOND_NS: u64 = 1_000_000_000;
    let step_ns = if unit == TimeUnit::Microsecond {
        1_000
    } else {
        1
    };
    let (fraction_ns, is_sound) = fraction_of(time, unit);
    Some(match time.layout {
        TimeLayout::Counter64 => (time.raw.checked_mul(step_ns)?, 0, true),
        TimeLayout::Counter32 => (time.raw * step_ns, step_ns << 32, true),
        TimeLayout::Fraction => (fraction_ns, SECOND_NS, is_sound),
        TimeLayout::SecondsAndFraction => {
            let seconds_ns = seconds_of(time, unit).checked_mul(SECOND_NS)?;
            (
                seconds_ns.checked_add(fraction_ns)?,
                SECOND_NS << 32,
                is_sound,
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const T_NS: i64 = 1_700_000_000 * NS_PER_S;

    fn ns_of(layout: TimeLayout, raw: u64, unit: TimeUnit) -> Option<(i64, bool)> {
        mark_of(HopTime { layout, raw }, unit).map(|mark| (mark.ns, mark.is_sound))
    }

    #[test]
    fn seconds_and_fractions_of_all_three_formats() {
        let layout = TimeLayout::SecondsAndFraction;
        let at = |seconds: u64, fraction: u64| seconds << 32 | fraction;
        let wanted = Some((T_NS + 500_000_000, true));
        let posix = at(1_700_000_000, 500_000);
        assert_eq!(ns_of(layout, posix, TimeUnit::Microsecond), wanted);
        let ptp = at(1_700_000_000, 500_000_000);
        assert_eq!(ns_of(layout, ptp, TimeUnit::Nanosecond), wanted);
        let ntp = at(1_700_000_000 + 2_208_988_800, 1 << 31);
        assert_eq!(ns_of(layout, ntp, TimeUnit::Ntp), wanted);
        let damaged = ns_of(layout, ptp, TimeUnit::Microsecond);
        assert!(damaged.is_some_and(|(_, is_sound)| !is_sound));
    }

    #[test]
    fn counters_of_32_bits_are_unfolded_about_the_files_time() {
        let key = HopKey {
            kind: TelemetryKind::Int,
            node: 1,
            is_named: true,
            side: crate::wire::telemetry::HopSide::Ingress,
        };
        let layout = TimeLayout::Counter32;
        let time = |ns: i64| HopTime {
            layout,
            raw: ns.cast_unsigned() & u64::from(u32::MAX),
        };
        let stamp = HopStamp::new(key, time(T_NS + 77), TimeUnit::Nanosecond, T_NS);
        let mut track = stamp.track();
        for step in 0..20 {
            let t_ns = T_NS + step * 700_000_000;
            let mark = mark_of(time(t_ns + 77), TimeUnit::Nanosecond).unwrap();
            assert_eq!(track.unfold(&mark, t_ns), Some(t_ns + 77));
        }
    }
}
