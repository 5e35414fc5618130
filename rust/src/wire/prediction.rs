//! Header prediction (V. Jacobson, 1990): a packet has headers like those of one before it, but for what
//! their fields say.
//!
//! A layer that can be predicted names the bits of its header that decide what follows
//! ([`Predictable`]). A frame that has the same bits there as an earlier one, and all headers whole, has
//! the same layers at the same places: its fields are read by the layers' own functions. Any other
//! frame is decoded.

use super::names::layer;
use super::packet::PredictedBy;
use super::tables::Tables;
use super::{Layer, Packet, ethernet, geneve, icmp, icmpv6, ipv4, ipv6, tcp, udp, vlan, vxlan};
use crate::base::cursor::Cursor;
use std::sync::atomic::{AtomicU64, Ordering};

/// Frames of one file have few kinds of headers.
const MOST_KNOWN: usize = 8;
/// Headers that decide something behind so many bytes are not predicted.
const MOST_BYTES: usize = 128;
/// Frames between two examples, where those before fit nothing that came later.
const MOST_BETWEEN: u32 = 256;

/// What a layer says of its header, so that it can be predicted.
pub(super) struct Predictable {
    pub(super) layer: &'static Layer,
    pub(super) role: HeaderRole,
    /// The bits that decide what follows, or where, from the header's first byte on.
    pub(super) decisive: &'static [u8],
    /// How many bytes it has, given those that it starts with; none if more than they decide.
    pub(super) n_bytes: fn(&[u8]) -> Option<usize>,
    /// Where 16 bits of it say how many bytes there are, counted from which of its bytes.
    pub(super) length: Option<(usize, usize)>,
    /// Reads what a header at a place of the frame says.
    pub(super) read: ReadHeader,
}

type ReadHeader = fn(&[u8], usize, &mut Packet);

/// Whose fields a header has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderRole {
    /// None that are looked at again.
    Link,
    /// The tunnel's around the packet, if it is the innermost.
    Tunnel,
    /// The packet's, if it is the innermost.
    Network,
    /// Likewise.
    Transport,
}

static ALL: [&Predictable; 10] = [
    &ethernet::PREDICTABLE,
    &geneve::PREDICTABLE,
    &icmp::PREDICTABLE,
    &icmpv6::PREDICTABLE,
    &ipv4::PREDICTABLE,
    &ipv6::PREDICTABLE,
    &tcp::PREDICTABLE,
    &udp::PREDICTABLE,
    &vlan::PREDICTABLE,
    &vxlan::PREDICTABLE,
];

/// Numbers predictions, from 1.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The headers that frames of one file had, from frame to frame.
#[derive(Default)]
pub struct Predictions {
    known: Vec<Prediction>,
    /// The one that fitted last.
    likely: usize,
    /// Frames since the last example, and those that have to pass before the next.
    n_since: u32,
    n_between: u32,
}

/// Bits of a frame that have to be as they are.
struct Decisive {
    at: usize,
    mask: u128,
    value: u128,
}

impl Decisive {
    const BYTES: usize = size_of::<u128>();

    fn of(bytes: &[u8], at: usize, mask: [u8; Self::BYTES]) -> Option<Self> {
        let mask = u128::from_ne_bytes(mask);
        let value = u128::from_ne_bytes(*bytes.get(at..)?.first_chunk()?) & mask;
        Some(Self { at, mask, value })
    }

    #[inline]
    fn is_same(&self, bytes: &[u8]) -> bool {
        let word = bytes.get(self.at..).and_then(<[u8]>::first_chunk);
        word.is_some_and(|word| u128::from_ne_bytes(*word) & self.mask == self.value)
    }
}

/// The headers that one frame had.
struct Prediction {
    link: u16,
    /// Where bits are that decide, the last first: there most kinds differ.
    decisive: Vec<Decisive>,
    /// Where they end.
    end: usize,
    /// Length fields up to the network header, and where they count from.
    lengths: Vec<(usize, usize)>,
    /// The length field of the last header, and the least that it may say.
    last_length: Option<(usize, usize)>,
    /// Where outer IPv4 headers start.
    outer: Vec<usize>,
    reads: Vec<(ReadHeader, usize)>,
    /// The packet of that frame.
    packet: Packet,
}

impl Predictions {
    /// Fills `packet` if the frame has the headers of an earlier one; false if it does not.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    pub(super) fn apply(
        &mut self,
        tables: &Tables,
        link: u16,
        frame: Cursor<'_>,
        packet: &mut Packet,
    ) -> bool {
        let fits = |known: &Prediction| known.link == link && known.has_same_bits(frame.rest());
        if !self.known.get(self.likely).is_some_and(fits) {
            match self.known.iter().position(fits) {
                Some(found) => self.likely = found,
                None => return false,
            }
        }
        let fitting = self.known.get(self.likely);
        fitting.is_some_and(|known| known.fill(tables, frame, packet))
    }

    /// Takes a decoded frame for an example, if its headers can be predicted.
    #[cold]
    pub(super) fn learn(&mut self, tables: &Tables, link: u16, frame: Cursor<'_>, packet: &Packet) {
        self.n_since += 1;
        if self.n_since <= self.n_between {
            return;
        }
        self.n_since = 0;
        let new = Prediction::of(tables, link, frame, packet);
        if new.is_none() || self.known.len() >= MOST_KNOWN {
            // examples that nothing follows cost more than decoding
            self.n_between = (2 * self.n_between + 1).min(MOST_BETWEEN);
        }
        if let Some(new) = new {
            self.known.truncate(MOST_KNOWN - 1);
            self.known.insert(0, new);
            self.likely = 0;
        }
    }
}

impl Prediction {
    /// None where a layer cannot be predicted, or the prediction would not even hold for this frame.
    fn of(tables: &Tables, link: u16, frame: Cursor<'_>, packet: &Packet) -> Option<Self> {
        let is_plain = packet.stop.is_none() && packet.ip_version != 0 && !packet.is_in_parts();
        let layers = packet.layers.get(..packet.n_layers)?;
        let headers: Option<Vec<_>> = layers.iter().map(|id| predictable(*id)).collect();
        // a layer that declined this frame decided so by bits that are not known here
        let is_last = |header: &&Predictable| {
            header.role != HeaderRole::Network || !tables.protocol_leads_on(packet)
        };
        let headers = headers.filter(|headers| headers.last().is_some_and(is_last));
        let mut new = Self {
            link,
            decisive: Vec::new(),
            end: 0,
            lengths: Vec::new(),
            last_length: None,
            outer: Vec::new(),
            reads: Vec::new(),
            packet: Packet {
                predicted_by: PredictedBy(NEXT.fetch_add(1, Ordering::Relaxed)),
                ..*packet
            },
        };
        let places = new.places(frame.rest(), &headers.filter(|_| is_plain)?)?;
        new.decide(tables, frame.rest(), &places)?;
        new.take_fields(&places);
        let mut again = Packet::EMPTY;
        let holds = new.fill(tables, frame, &mut again);
        (holds && again == *packet).then_some(new)
    }

    /// Where each header starts.
    fn places(
        &mut self,
        bytes: &[u8],
        headers: &[&'static Predictable],
    ) -> Option<Vec<(&'static Predictable, usize)>> {
        let mut places = Vec::new();
        for header in headers {
            places.push((*header, self.end));
            self.end += (header.n_bytes)(bytes.get(self.end..)?)?;
        }
        Some(places)
    }

    /// Which bits have to be as they are.
    fn decide(
        &mut self,
        tables: &Tables,
        bytes: &[u8],
        places: &[(&'static Predictable, usize)],
    ) -> Option<()> {
        let mut mask = [0; MOST_BYTES];
        for (header, at) in places {
            let n_bytes = header.decisive.len();
            mask.get_mut(*at..at + n_bytes)?
                .copy_from_slice(header.decisive);
            let is_last = places.last().is_some_and(|(_, last_at)| last_at == at);
            if header.role == HeaderRole::Transport && !is_last {
                // by the source port alone no tunnel is known for sure
                let port = bytes.get(at + udp::DST_PORT_AT..)?.first_chunk()?;
                mask.get_mut(at + udp::DST_PORT_AT..)?
                    .first_chunk_mut::<2>()?
                    .fill(u8::MAX);
                tables
                    .is_udp_port(u16::from_be_bytes(*port))
                    .then_some(())?;
            }
        }
        while let Some(last) = mask.iter().rposition(|bits| *bits != 0) {
            let at = last.saturating_sub(Decisive::BYTES - 1);
            let bits = mask.get_mut(at..)?.first_chunk_mut()?;
            self.decisive.push(Decisive::of(bytes, at, *bits)?);
            bits.fill(0);
        }
        Some(())
    }

    /// What is to be read anew.
    fn take_fields(&mut self, places: &[(&'static Predictable, usize)]) {
        let last_of = |role| places.iter().rposition(|(header, _)| header.role == role);
        let network = last_of(HeaderRole::Network);
        for (index, (header, at)) in places.iter().enumerate() {
            let length = header.length.map(|(field, from)| (at + field, at + from));
            if Some(index) <= network {
                self.lengths.extend(length);
            } else {
                self.last_length = length.map(|(field, from)| (field, self.end - from));
            }
            if Some(index) == last_of(header.role) && header.role != HeaderRole::Link {
                self.reads.push((header.read, *at));
            } else if std::ptr::eq(header.layer, &raw const ipv4::LAYER) {
                self.outer.push(*at);
            }
        }
    }

    /// Fills `packet` from a frame with the same bits; false if it ends within the headers, or its ports
    /// lead on.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    fn fill(&self, tables: &Tables, frame: Cursor<'_>, packet: &mut Packet) -> bool {
        let bytes = frame.rest();
        let Some(end_at) = self.end_at(bytes) else {
            return false;
        };
        if packet.predicted_by.0 != self.packet.predicted_by.0 {
            *packet = self.packet;
        }
        packet.end_at = end_at;
        for (read, at) in &self.reads {
            read(bytes, *at, packet);
        }
        packet.outer_ip_id = ipv4::outer_ip_id(bytes, &self.outer);
        !tables.ports_lead_on(packet)
    }

    #[inline]
    fn has_same_bits(&self, bytes: &[u8]) -> bool {
        self.decisive.iter().all(|one| one.is_same(bytes))
    }

    /// Where the packet ends, unless that is within the headers.
    #[inline]
    fn end_at(&self, bytes: &[u8]) -> Option<usize> {
        let length_at = |at: usize| -> Option<usize> {
            let field = bytes.get(at..)?.first_chunk()?;
            Some(u16::from_be_bytes(*field).into())
        };
        let mut end_at = bytes.len();
        for (at, from) in &self.lengths {
            // 0 leaves it open
            let n_bytes = length_at(*at).filter(|n_bytes| *n_bytes > 0)?;
            end_at = end_at.min(from + n_bytes);
        }
        let is_last_whole = match self.last_length {
            Some((at, least)) => length_at(at)? >= least,
            None => true,
        };
        (end_at >= self.end && is_last_whole).then_some(end_at)
    }
}

fn predictable(id: u8) -> Option<&'static Predictable> {
    let layer = layer(id)?;
    ALL.iter()
        .find(|one| std::ptr::eq(one.layer, layer))
        .copied()
}
