//! Key frames: what time a switch's tick counter stood at, sent once a second.
//!
//! Spec: Arista EOS, timestamping on the 7150 series; Cisco's n3550-timestamp-decoder.
//!
//! ```text
//! 7150, payload of IP protocol 253, 46 octets, or 62 from EOS 4.13 on:
//! | ticks (64) | UTC ns (64) | last sync (64) | [skew (2 × 64)] | sent (64) | drops (64) |
//! | device (16) | interface (16) | mode (8) | 0 (8) |
//! Exablaze, of EtherType 0x88B5 or IP protocol 253, 40 octets:
//! | "EXKF" 1, or 1 (32 LE) 0 (8) | 0 (24) | UTC ns (64) | counter (64) | Hz (64) | last sync (64) |
//! ```

use super::NS_PER_S;
use crate::file::Frame;
use crate::wire::Packet;
use serde::{Deserialize, Serialize};

/// Which counter the frames carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum TickCounter {
    /// 31 bits, with a 0 put in at bit 7.
    Arista,
    /// 32 bits.
    Exablaze,
}

/// What a key frame says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(super) counter: TickCounter,
    pub(super) ticks: u64,
    pub(super) utc_ns: i64,
    /// When the file says it came.
    pub(super) t_ns: i64,
    /// Measured between key frames where there were two.
    pub(super) ns_per_tick: f64,
}

const IP_PROTOCOL: i16 = 253;
const ETHER_TYPE: u16 = 0x88B5;
const ARISTA_BYTES: [usize; 2] = [46, 62];
const EXABLAZE_BYTES: usize = 40;
const ARISTA_NS_PER_TICK: f64 = 20.0 / 7.0;
/// Modes: off, before the FCS, instead of it; a real switch sends 3.
const LAST_MODE: u8 = 3;

#[cfg(feature = "python")]
impl Key {
    pub(super) fn from_values(
        (is_arista, ticks, utc_ns, t_ns, ns_per_tick): (bool, u64, i64, i64, f64),
    ) -> Self {
        Self {
            counter: if is_arista {
                TickCounter::Arista
            } else {
                TickCounter::Exablaze
            },
            ticks,
            utc_ns,
            t_ns,
            ns_per_tick,
        }
    }

    pub(super) fn values(&self) -> (bool, u64, i64, i64, f64) {
        let is_arista = self.counter == TickCounter::Arista;
        (
            is_arista,
            self.ticks,
            self.utc_ns,
            self.t_ns,
            self.ns_per_tick,
        )
    }
}

impl Key {
    /// What a frame says, if it is a key frame.
    #[inline]
    pub(super) fn of(frame: &Frame<'_>, packet: &Packet) -> Option<Self> {
        let is_one = packet.protocol == IP_PROTOCOL
            || packet.ip_version == 0 && packet.ether_type == ETHER_TYPE;
        if is_one { read(frame, packet) } else { None }
    }

    /// The time of a frame's ticks, of which only the low `bits` are there.
    pub(super) fn time_ns(&self, ticks: u32, bits: u32, t_ns: i64) -> Option<i64> {
        let wrap = 1_i64 << bits;
        let low = i64::try_from(self.ticks & (wrap.cast_unsigned() - 1)).ok()?;
        let expected = ticks_in(t_ns.checked_sub(self.t_ns)?, self.ns_per_tick)?;
        let ahead = (i64::from(ticks) - low).checked_sub(expected)?;
        let ahead = (ahead.checked_add(wrap / 2)?).rem_euclid(wrap) - wrap / 2;
        let n_ticks = expected.checked_add(ahead)?;
        self.utc_ns.checked_add(ns_of(n_ticks, self.ns_per_tick)?)
    }

    /// Goes on to a later key frame, and measures the counter's rate between the two.
    pub(super) fn go_on(&mut self, next: Self) {
        let nominal = next.ns_per_tick;
        let measured = rate(self, &next);
        *self = next;
        self.ns_per_tick = measured.unwrap_or(nominal);
    }

    /// Whether another key frame is of the same counter, and tells the same time.
    pub(super) fn agrees(&self, next: &Self) -> bool {
        let by_key = next.utc_ns.saturating_sub(self.utc_ns);
        let by_file = next.t_ns.saturating_sub(self.t_ns);
        self.counter == next.counter && by_key.abs_diff(by_file) < NS_PER_S.unsigned_abs()
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "between key frames there are few ticks"
)]
fn rate(last: &Key, next: &Key) -> Option<f64> {
    const MOST_ADRIFT: f64 = 1e-3;
    let n_ticks = next.ticks.checked_sub(last.ticks).filter(|n| *n > 0)?;
    let measured = next.utc_ns.checked_sub(last.utc_ns)? as f64 / n_ticks as f64;
    let adrift = (measured / next.ns_per_tick - 1.0).abs();
    (adrift < MOST_ADRIFT).then_some(measured)
}

/// Furthest from a key frame that its rate is used, ns.
const REACH_NS: i64 = 60 * NS_PER_S;

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "within reach they are far below 2^53"
)]
fn ticks_in(ns: i64, ns_per_tick: f64) -> Option<i64> {
    (ns.abs() <= REACH_NS).then(|| (ns as f64 / ns_per_tick).round() as i64)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "within reach they are far below 2^53"
)]
fn ns_of(ticks: i64, ns_per_tick: f64) -> Option<i64> {
    (ticks.abs() < 1 << 50).then(|| (ticks as f64 * ns_per_tick).round() as i64)
}

fn read(frame: &Frame<'_>, packet: &Packet) -> Option<Key> {
    let data = packet.transport(frame.bytes);
    // behind an EtherType only the wire's length bounds the data: padding, stamp and FCS may follow
    let exact = if packet.ip_version == 0 {
        data.get(..EXABLAZE_BYTES.min(data.len()))?
    } else {
        data
    };
    if exact.len() == EXABLAZE_BYTES {
        return exablaze(frame, exact);
    }
    if packet.ip_version != 0 && ARISTA_BYTES.contains(&exact.len()) {
        return arista(frame, exact);
    }
    None
}

fn arista(frame: &Frame<'_>, data: &[u8]) -> Option<Key> {
    let [.., ..=LAST_MODE, 0] = data else {
        return None;
    };
    let (ticks, utc) = (octets(data, 0)?, octets(data, 8)?);
    // a real switch sends them the other way round
    let key = |ticks, utc| {
        let utc_ns = i64::try_from(utc).ok()?;
        let is_likely = utc_ns.abs_diff(frame.t_ns) < LIKELY_WITHIN_NS;
        is_likely.then_some(Key {
            counter: TickCounter::Arista,
            ticks,
            utc_ns,
            t_ns: frame.t_ns,
            ns_per_tick: ARISTA_NS_PER_TICK,
        })
    };
    key(u64::from_be_bytes(ticks), u64::from_be_bytes(utc))
        .or_else(|| key(u64::from_le_bytes(ticks), u64::from_le_bytes(utc)))
}

/// Ten years: what is further from the file's time is no time.
const LIKELY_WITHIN_NS: u64 = 10 * 365 * 86_400 * NS_PER_S.unsigned_abs();

#[expect(clippy::cast_precision_loss, reason = "a frequency")]
fn exablaze(frame: &Frame<'_>, data: &[u8]) -> Option<Key> {
    const MAGICS: [[u8; 5]; 2] = [*b"EXKF\x01", [1, 0, 0, 0, 0]];
    MAGICS
        .iter()
        .any(|magic| data.starts_with(magic))
        .then_some(())?;
    let hz = number(data, 24).filter(|hz| (1_000_000..=100_000_000_000).contains(hz))?;
    Some(Key {
        counter: TickCounter::Exablaze,
        ticks: number(data, 16)?,
        utc_ns: i64::try_from(number(data, 8)?).ok()?,
        t_ns: frame.t_ns,
        ns_per_tick: NS_PER_S as f64 / hz as f64,
    })
}

fn number(data: &[u8], at: usize) -> Option<u64> {
    octets(data, at).map(u64::from_be_bytes)
}

fn octets(data: &[u8], at: usize) -> Option<[u8; 8]> {
    data.get(at..at + 8)?.try_into().ok()
}
