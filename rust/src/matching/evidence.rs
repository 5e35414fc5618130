//! How two observations came to be one packet, for the rows of `matches`.

use crate::identity::class;
use crate::identity::message::MessageKind;
use crate::identity::stream_bytes::StreamBytes;
use crate::identity::traffic_kind::TrafficKind;
use crate::matching::observation::Observation;
use crate::plan::Plan;
use crate::wire::{Packet, is_opaque};
use serde::{Deserialize, Serialize};

/// How an observation was joined to the one before it; the numbers are those of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum By {
    /// No other of its identity was near.
    #[default]
    Unique = 0,
    /// Likewise, in a flow whose packets are known to be equal: it lies where one packet would.
    UsualTime = 1,
    /// Equal packets were told apart, by how likely that is.
    Posterior = 2,
    /// Both carry the same bytes of a stream.
    Bytes = 3,
    /// No other of its identity was in the whole capture, and it was slow.
    Late = 4,
}

/// Names of these, by number.
pub const MATCHED_BY: [&str; 5] = ["unique", "usual-time", "posterior", "bytes", "late"];

/// Names of what two frames were recognised by: bit 0 is set where addresses were translated, bit 1
/// where too little was captured, see [`code`].
pub const IDENTITIES: [&str; 4] = ["whole", "translated", "short", "short-translated"];

/// What is known of an observation besides what it is matched by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    pub(crate) by: By,
    /// The probability that what was told by posterior is wrong.
    pub(crate) doubt: f32,
    /// Addresses and ports as this point saw them.
    leg: u32,
    /// Bits of [`Self::SHORT`] and the like.
    traits: u8,
    /// The kind of traffic that it is of.
    pub(crate) kind: TrafficKind,
}

impl Evidence {
    /// The snap length left too little to recognise packets of its class by.
    pub(crate) const SHORT: u8 = 1;
    /// What is inside cannot be read.
    pub(crate) const OPAQUE: u8 = 2;
    /// A fragment whose bytes cannot be followed.
    pub(crate) const FRAGMENT: u8 = 4;
    /// It is not known which way its flow goes.
    pub(crate) const NO_WAY: u8 = 8;
    /// Its bytes may be in more than one packet elsewhere.
    pub(crate) const BYTES_TWICE: u8 = 16;
    /// Which of equal packets within the window it continues is open.
    pub(crate) const BEGINS_IN_DOUBT: u8 = 32;
    /// It and another, which nothing else was near, are one slow packet or two.
    pub(crate) const SLOW_OR_TWO: u8 = 64;
    /// It stands for one that began, and continues none of the equal packets within the window.
    pub(crate) const CONTINUES_NONE: u8 = 128;

    #[expect(clippy::cast_possible_truncation, reason = "to tell a few apart")]
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    pub(crate) fn of(
        plan: &Plan,
        packet: &Packet,
        (leg, message): (u64, MessageKind),
        range: StreamBytes,
    ) -> Self {
        let last = packet.n_layers.checked_sub(1);
        let last = last.and_then(|last| packet.layers.get(last));
        let is_opaque = last.is_some_and(|id| is_opaque(*id));
        let is_short = plan.is_short.get(class(packet)) == Some(&true);
        let is_fragment = packet.fragment != 0 && range.length().is_none();
        let bit = |is_so: bool, bit: u8| if is_so { bit } else { 0 };
        Self {
            leg: leg as u32,
            traits: bit(is_short, Self::SHORT)
                | bit(is_opaque, Self::OPAQUE)
                | bit(is_fragment, Self::FRAGMENT),
            kind: TrafficKind::of(packet, message, range),
            ..Self::default()
        }
    }

    pub(crate) fn is(self, bit: u8) -> bool {
        self.traits & bit != 0
    }

    /// One of which only these bits are known.
    pub(crate) fn with(traits: u8) -> Self {
        Self {
            traits,
            ..Self::default()
        }
    }

    pub(crate) fn traits(self) -> u8 {
        self.traits
    }

    pub(crate) fn add(&mut self, bit: u8) {
        self.traits |= bit;
    }

    /// Told apart from equal ones.
    pub(crate) fn likely(&mut self, probability: f64) {
        self.doubt_by(By::Posterior, 1.0 - probability);
    }

    /// Joined in this way, which is wrong with some probability.
    pub(crate) fn doubt_by(&mut self, by: By, doubt: f64) {
        self.by = by;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "of a doubt few digits count"
        )]
        let doubt = doubt as f32;
        self.doubt = doubt;
    }

    /// What does not depend on the observation before it, as one number.
    pub(crate) fn packed(self) -> i64 {
        i64::from(self.leg) | i64::from(self.traits) << 32 | i64::from(self.kind.number()) << 40
    }

    /// See [`Self::packed`].
    pub(crate) fn from_packed(packed: i64) -> Self {
        Self {
            leg: u32::try_from(packed & 0xffff_ffff).unwrap_or(0),
            traits: u8::try_from(packed >> 32 & 0xff).unwrap_or(0),
            kind: TrafficKind::from_number(u16::try_from(packed >> 40 & 0xffff).unwrap_or(0)),
            ..Self::default()
        }
    }
}

/// What a row says of how its two observations were matched: by what, whether by other addresses, whether
/// by too few bytes, and in the upper half the doubt, as the bits of a float.
pub(crate) fn code(up: &Observation, down: &Observation, by: By) -> i64 {
    let [one, other] = [up, down].map(|observation| observation.evidence);
    let is_translated = one.leg != other.leg;
    let is_short = one.is(Evidence::SHORT) || other.is(Evidence::SHORT);
    let doubt = if matches!(by, By::Posterior | By::Late) {
        other.doubt
    } else {
        0.0
    };
    i64::from(by as u8)
        | i64::from(is_translated) << 8
        | i64::from(is_short) << 9
        | i64::from(doubt.to_bits()) << 32
}

#[cfg(test)]
mod tests;
