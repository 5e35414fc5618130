//! Address translation: what one point knows by these addresses, another knows by others.
//!
//! [`Translations`] is what `survey::translation` learned: a flow's addresses at a point, and
//! when, lead to the flow that all points agree on. Where nothing was learned, nothing is looked up.

use crate::base::hash::fold;
use crate::base::hashed::HashedMap;
use crate::base::piecewise::PiecewiseLinear;
use crate::identity::{Identity, TranslationKind, Unaddressed, halves};
use serde::{Deserialize, Serialize};

/// Which capture point a file's interface is, or its part.
pub type PlaceOf = Vec<Vec<Option<u16>>>;

/// Addresses and ports at one point for a while, and what stands for them everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leg {
    /// Where.
    pub place: u16,
    /// From when, coarse reference time.
    pub from_ns: i64,
    /// Until when.
    pub until_ns: i64,
    /// Its first packet opens a connection.
    pub opens: bool,
    /// The flow that stands for all legs.
    pub flow: u64,
    /// Its two addresses.
    pub pair: u64,
    /// The smaller address here is at the other end there.
    pub is_turned: bool,
    /// The IP identification is the same everywhere, of packets from the greater address there, and of
    /// those from the smaller.
    pub keeps_ip_id: [bool; 2],
    /// How far TCP's sequence numbers are ahead of those that stand for all, of packets from the
    /// greater address there, and of those from the smaller.
    pub ahead: [u32; 2],
}

/// All translations that were learned.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Translations {
    of_tuple: HashedMap<Vec<Leg>>,
    keeps_ip_id: HashedMap<[bool; 2]>,
    place_of: PlaceOf,
    centres: Vec<PiecewiseLinear>,
}

impl Translations {
    /// What was learned: legs by [`Unaddressed::tuple_hash`]; of flows without one, and by it, whether
    /// IP identifications are the same everywhere, as of a [`Leg`]; which point saw a frame, and the points' usual difference to a common time.
    #[must_use]
    pub fn new(
        of_tuple: HashedMap<Vec<Leg>>,
        keeps_ip_id: HashedMap<[bool; 2]>,
        place_of: PlaceOf,
        centres: Vec<PiecewiseLinear>,
    ) -> Self {
        Self {
            of_tuple,
            keeps_ip_id,
            place_of,
            centres,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of_tuple.is_empty() && self.keeps_ip_id.is_empty()
    }

    /// Puts the flow that all points agree on in the place of this point's.
    pub fn apply(&self, file: usize, interface: u32, t_ns: i64, identity: &mut Identity) {
        let Some(leg) = self.find(file, interface, t_ns, identity.unaddressed.tuple_hash) else {
            return self.renumber(identity);
        };
        let unaddressed = identity.unaddressed;
        let toward = unaddressed.toward != leg.is_turned;
        let same = leg.everywhere(unaddressed, toward);
        identity.flow = unaddressed.errors_of(leg.flow);
        identity.pair = leg.pair;
        // an error goes the other way than what it quotes
        identity.toward = toward != (unaddressed.kind == TranslationKind::Error);
        let (sent, acked) = leg.ahead_of(toward);
        identity.range = identity.range.behind(sent);
        identity.message = identity.message.behind(acked);
        if !leg.keeps_ip_id_of(toward) {
            identity.range = identity.range.without_ip_id();
        }
        identity.key = fold(same.digest(), identity.flow ^ u64::from(toward));
    }

    /// Leaves out an IP identification that is not the same everywhere.
    fn renumber(&self, identity: &mut Identity) {
        let unaddressed = identity.unaddressed;
        let keeps = self.keeps_ip_id.get(&unaddressed.tuple_hash);
        let keeps = keeps.and_then(|ways| ways.get(usize::from(unaddressed.toward)));
        if keeps != Some(&false) || unaddressed.kind == TranslationKind::Error {
            return;
        }
        let same = Unaddressed {
            ip_id: 0,
            ..unaddressed
        };
        identity.range = identity.range.without_ip_id();
        identity.key = fold(same.digest(), identity.flow ^ u64::from(identity.toward));
    }

    /// The leg of this place and time; of no other place's knowledge if it has its own.
    fn find(&self, file: usize, interface: u32, t_ns: i64, tuple_hash: u64) -> Option<&Leg> {
        let legs = self.of_tuple.get(&tuple_hash)?;
        let of_file = self.place_of.get(file)?;
        // of a divided file any place: they share a clock, and addresses tell them apart
        let place = of_file.get(interface as usize).copied().flatten();
        let place = place.or_else(|| of_file.iter().copied().flatten().next())?;
        let centre = self.centres.get(usize::from(place));
        let at_ns = centre.map_or(t_ns, |centre| t_ns.saturating_sub(centre.at(t_ns)));
        let is_then = |leg: &&Leg| (leg.from_ns..=leg.until_ns).contains(&at_ns);
        let own = legs.iter().filter(|leg| leg.place == place).find(is_then);
        own.or_else(|| legs.iter().find(is_then))
    }
}

impl Leg {
    fn keeps_ip_id_of(&self, toward: bool) -> bool {
        let [away, to] = self.keeps_ip_id;
        if toward { to } else { away }
    }

    /// How far sequence and acknowledgment numbers are ahead here.
    fn ahead_of(&self, toward: bool) -> (u32, u32) {
        if toward {
            (self.ahead[1], self.ahead[0])
        } else {
            (self.ahead[0], self.ahead[1])
        }
    }

    /// A packet of this leg as it is everywhere.
    fn everywhere(&self, unaddressed: Unaddressed, toward: bool) -> Unaddressed {
        Unaddressed {
            numbers: self.numbers(&unaddressed, toward),
            ip_id: if self.keeps_ip_id_of(toward) {
                unaddressed.ip_id
            } else {
                0
            },
            ..unaddressed
        }
    }

    /// Sequence numbers as they are everywhere.
    fn numbers(&self, unaddressed: &Unaddressed, toward: bool) -> u64 {
        let (sent, acked) = self.ahead_of(toward);
        match unaddressed.kind {
            TranslationKind::Other | TranslationKind::Datagram | TranslationKind::Echo(_) => {
                unaddressed.numbers
            }
            TranslationKind::Tcp | TranslationKind::Error => {
                let (sequence, acknowledged) = halves(unaddressed.numbers);
                let acknowledged = if acknowledged == 0 {
                    0
                } else {
                    acknowledged.wrapping_sub(acked)
                };
                u64::from(sequence.wrapping_sub(sent)) << 32 | u64::from(acknowledged)
            }
        }
    }
}
