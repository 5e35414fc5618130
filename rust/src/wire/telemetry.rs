//! Telemetry that the nodes of a path write into packets: where it stands, and what each node wrote.
//!
//! Spec: P4.org INT 1.0 §4.7, 2.1 §5.8 (INT-MD); RFC 9197 §4.4 (IOAM trace options), RFC 9486 §3.
//!
//! ```text
//! INT     |  Ver  |    flags      | Hop ML  |RemainingHopCnt| Instruction Bitmap |  …  |  stack
//! IOAM    |  Namespace-ID |NodeLen|Flags|RemainingLen| IOAM-Trace-Type |  Reserved  |  node data list
//! ```
//! In both the last node's data come first. A value of ones alone was not available.

use crate::base::cursor::be;
use serde::{Deserialize, Serialize};

/// Whose format it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TelemetryKind {
    /// In-band network telemetry of P4.org.
    Int,
    /// In situ OAM of the IETF; what stands first is the type of its option.
    Ioam,
}

/// Where in a frame telemetry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// Its format.
    pub kind: TelemetryKind,
    /// Where its header starts.
    pub at: u32,
    /// Where its data end.
    pub end: u32,
}

impl Telemetry {
    pub(super) fn new(kind: TelemetryKind, at: usize, end: usize) -> Option<Self> {
        Some(Self {
            kind,
            at: u32::try_from(at).ok()?,
            end: u32::try_from(end).ok()?,
        })
    }
}

/// Bytes that telemetry put between a packet's headers; without them it is the packet of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// Where the UDP header before them starts.
    pub udp_at: u32,
    /// Where the UDP payload, or the header that was there before, goes on.
    pub end: u32,
    /// What the headers said before.
    pub before: BeforeInsertion,
}

/// What a header said before telemetry was inserted behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeforeInsertion {
    /// UDP's destination port.
    UdpPort(u16),
    /// IP's protocol: the UDP header was inserted too.
    IpProtocol(u8),
}

/// Which of a node's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HopSide {
    /// When the packet was received.
    Ingress,
    /// When it was sent.
    Egress,
}

/// A node, and which of its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopKey {
    /// The format it wrote.
    pub kind: TelemetryKind,
    /// Its number, or, if it gives none, its place among those that wrote, from 1.
    pub node: u64,
    /// It gave its number.
    pub is_named: bool,
    /// Which of its times.
    pub side: HopSide,
}

/// How a time is laid out; which unit it has is another question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeLayout {
    /// A counter of 64 bits.
    Counter64,
    /// A counter of 32 bits.
    Counter32,
    /// Seconds and a fraction of a second, in 32 bits each.
    SecondsAndFraction,
    /// The fraction alone.
    Fraction,
}

/// A time as a node wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopTime {
    /// How it is laid out.
    pub layout: TimeLayout,
    /// Its bits.
    pub raw: u64,
}

/// Gives `take` the times of all nodes in a frame's telemetry.
pub fn each_hop(telemetry: Telemetry, frame: &[u8], take: &mut dyn FnMut(HopKey, HopTime)) {
    let data = data_of(telemetry, frame);
    let mut nodes = Vec::new();
    let _ = match telemetry.kind {
        TelemetryKind::Int => int_nodes(data, &mut nodes),
        TelemetryKind::Ioam => ioam_nodes(data, &mut nodes),
    };
    let n_nodes = nodes.len();
    for (index, node) in nodes.into_iter().enumerate() {
        let place = (n_nodes - index) as u64;
        for (side, time) in node.times() {
            take(node.key(telemetry.kind, place, side), time);
        }
    }
}

/// The bytes of telemetry, as far as a snap length left them.
fn data_of(telemetry: Telemetry, frame: &[u8]) -> &[u8] {
    let whole = frame.get(telemetry.at as usize..telemetry.end as usize);
    let cut = || frame.get(telemetry.at as usize..);
    whole.or_else(cut).unwrap_or_default()
}

/// What one node wrote.
#[derive(Clone, Copy, Debug, Default)]
struct NodeData {
    number: Option<u64>,
    ingress: Option<HopTime>,
    egress: Option<HopTime>,
}

impl NodeData {
    fn key(&self, kind: TelemetryKind, place: u64, side: HopSide) -> HopKey {
        HopKey {
            kind,
            node: self.number.unwrap_or(place),
            is_named: self.number.is_some(),
            side,
        }
    }

    fn times(&self) -> impl Iterator<Item = (HopSide, HopTime)> {
        let both = [
            (HopSide::Ingress, self.ingress),
            (HopSide::Egress, self.egress),
        ];
        both.into_iter()
            .filter_map(|(side, time)| Some((side, time?)))
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let octets: &[u8; 4] = bytes.get(at..)?.first_chunk()?;
    Some(be(octets)).filter(|word| *word != u32::MAX)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let octets = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_be_bytes(*octets)).filter(|long| *long != u64::MAX)
}

/// Bytes of each field that a bitmap of instructions asks for, the most significant bit first.
struct FieldWidths {
    /// Bits whose fields have eight bytes.
    wide: u32,
}

impl FieldWidths {
    /// Where a field starts among those of `bitmap`, if it is one of them; bits are counted from the most
    /// significant of 32.
    fn place(&self, bitmap: u32, bit: u32) -> Option<usize> {
        let mask = |bit: u32| 1_u32.checked_shl(31_u32.saturating_sub(bit)).unwrap_or(0);
        if bitmap & mask(bit) == 0 {
            return None;
        }
        let before = bitmap & !(mask(bit) | (mask(bit) - 1));
        let n_wide = (before & self.wide).count_ones();
        Some(4 * (before.count_ones() + n_wide) as usize)
    }
}

/// INT-MD: bits 4 to 6 of version 2 are wide, of version 1 bit 6 alone.
fn int_nodes(data: &[u8], nodes: &mut Vec<NodeData>) -> Option<()> {
    const NODE_BIT: u32 = 0;
    const INGRESS_BIT: u32 = 4;
    const EGRESS_BIT: u32 = 5;
    let [first, _, hop_words, _, high, low, ..] = *data.first_chunk::<8>()?;
    let (header_bytes, widths, layout) = match first >> 4 {
        1 => (8, FieldWidths { wide: 0x0200_0000 }, TimeLayout::Counter32),
        2 => (12, FieldWidths { wide: 0x0e00_0000 }, TimeLayout::Counter64),
        _ => return None,
    };
    let bitmap = u32::from(u16::from_be_bytes([high, low])) << 16;
    let node_bytes = 4 * usize::from(hop_words & 0x1f);
    if node_bytes == 0 {
        return None;
    }
    // what the source alone adds stands behind its data, at the end
    for node in data.get(header_bytes..)?.chunks_exact(node_bytes) {
        let field = |bit| widths.place(bitmap, bit);
        let time = |bit| {
            let at = field(bit)?;
            let raw = match layout {
                TimeLayout::Counter64 => long(node, at),
                _ => word(node, at).map(u64::from),
            };
            raw.map(|raw| HopTime { layout, raw })
        };
        nodes.push(NodeData {
            number: field(NODE_BIT).and_then(|at| word(node, at)).map(u64::from),
            ingress: time(INGRESS_BIT),
            egress: time(EGRESS_BIT),
        });
    }
    Some(())
}

/// Of a trace option, the octet of its type before it.
const IOAM_HEADER_BYTES: usize = 9;
const PRE_ALLOCATED: u8 = 0;
const INCREMENTAL: u8 = 1;
/// Bit 22: a snapshot with a length of its own stands behind a node's data.
const OPAQUE_MASK: u32 = 1 << 9;

/// IOAM's pre-allocated and incremental trace options.
fn ioam_nodes(data: &[u8], nodes: &mut Vec<NodeData>) -> Option<()> {
    let [kind, _, _, lengths, remaining, types @ ..] = *data.first_chunk::<IOAM_HEADER_BYTES>()?;
    let bitmap = be(&types) & 0xffff_ff00;
    let node_bytes = 4 * usize::from(lengths >> 3);
    let skipped = match kind {
        PRE_ALLOCATED => 4 * usize::from(remaining & 0x7f),
        INCREMENTAL => 0,
        _ => return None,
    };
    let mut rest = data.get(IOAM_HEADER_BYTES..)?.get(skipped..)?;
    while node_bytes > 0 && rest.len() >= node_bytes {
        nodes.push(ioam_node(rest.get(..node_bytes)?, bitmap));
        let n_opaque = match rest.get(node_bytes) {
            Some(n_words) if bitmap & OPAQUE_MASK != 0 => 4 + 4 * usize::from(*n_words),
            _ => 0,
        };
        rest = rest.get(node_bytes + n_opaque..).unwrap_or_default();
    }
    Some(())
}

/// What one node wrote, as far as it has no length of its own.
fn ioam_node(node: &[u8], bitmap: u32) -> NodeData {
    const SHORT_NODE_BIT: u32 = 0;
    const SECONDS_BIT: u32 = 2;
    const FRACTION_BIT: u32 = 3;
    const WIDE_NODE_BIT: u32 = 8;
    const WIDE: FieldWidths = FieldWidths { wide: 0x00e0_0000 };
    let field = |bit| WIDE.place(bitmap, bit);
    let short = field(SHORT_NODE_BIT).and_then(|at| word(node, at));
    let wide = || field(WIDE_NODE_BIT).and_then(|at| long(node, at));
    let number = short.map(|word| u64::from(word & 0x00ff_ffff));
    NodeData {
        number: number.or_else(|| wide().map(|long| long & (u64::MAX >> 8))),
        ingress: ioam_time(node, field(SECONDS_BIT), field(FRACTION_BIT)),
        egress: None,
    }
}

/// Seconds alone are too coarse for a time. The places are `None` where there is no such field.
fn ioam_time(
    node: &[u8],
    seconds_at: Option<usize>,
    fraction_at: Option<usize>,
) -> Option<HopTime> {
    let fraction = u64::from(word(node, fraction_at?)?);
    Some(match seconds_at {
        Some(at) => HopTime {
            layout: TimeLayout::SecondsAndFraction,
            raw: u64::from(word(node, at)?) << 32 | fraction,
        },
        None => HopTime {
            layout: TimeLayout::Fraction,
            raw: fraction,
        },
    })
}

/// The INT of a Geneve header, given from its first byte on and where that stands: option class 0x0103,
/// type 1.
pub(super) fn in_geneve(header: &[u8], at: usize) -> Option<Telemetry> {
    const INT_MD: [u8; 3] = [1, 3, 1];
    let n_bytes = 4 * usize::from(header.first()? & 0x3f);
    let mut place = 8;
    while place < 8 + n_bytes {
        let [class_high, class_low, kind, length] = *header.get(place..)?.first_chunk()?;
        let end = place + 4 + 4 * usize::from(length & 0x1f);
        if [class_high, class_low, kind & 0x7f] == INT_MD {
            return Telemetry::new(TelemetryKind::Int, at + place + 4, at + end);
        }
        place = end;
    }
    None
}

/// The IOAM trace option of an IPv6 extension header with options, given from its first byte on and where
/// that stands (RFC 9486 §3).
pub(super) fn in_options(header: &[u8], at: usize) -> Option<Telemetry> {
    const PAD: u8 = 0;
    const IOAM: [u8; 2] = [0x11, 0x31];
    const LAST_TRACE: u8 = 1;
    let mut place = 2;
    while let Some(kind) = header.get(place) {
        if *kind == PAD {
            place += 1;
            continue;
        }
        let n_bytes = usize::from(*header.get(place + 1)?);
        let end = place + 2 + n_bytes;
        let is_trace = header
            .get(place + 3)
            .is_some_and(|kind| *kind <= LAST_TRACE);
        if IOAM.contains(kind) && is_trace {
            return Telemetry::new(TelemetryKind::Ioam, at + place + 3, at + end);
        }
        place = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use HopSide::{Egress, Ingress};

    fn hops(kind: TelemetryKind, data: &[u8]) -> Vec<(u64, bool, HopSide, TimeLayout, u64)> {
        let mut found = Vec::new();
        let telemetry = Telemetry::new(kind, 2, 2 + data.len()).unwrap();
        each_hop(telemetry, &[&[9, 9], data].concat(), &mut |key, time| {
            found.push((key.node, key.is_named, key.side, time.layout, time.raw));
        });
        found
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn int_2_has_times_of_64_bits_the_last_node_first() {
        // node id, interfaces, both times; a node without its egress time; four bytes of the source
        let data = words(&[
            0x2000_0606,
            0xcc00_0000,
            0, //
            7,
            0x0001_0002,
            1,
            500,
            1,
            900, //
            6,
            0x0001_0002,
            0,
            400,
            u32::MAX,
            u32::MAX, //
            0xdead,
        ]);
        let layout = TimeLayout::Counter64;
        let second = 1 << 32;
        let wanted = vec![
            (7, true, Ingress, layout, second + 500),
            (7, true, Egress, layout, second + 900),
            (6, true, Ingress, layout, 400),
        ];
        assert_eq!(hops(TelemetryKind::Int, &data), wanted);
        // cut in the second node
        assert_eq!(hops(TelemetryKind::Int, &data[..40]), wanted[..2]);
    }

    #[test]
    fn int_1_has_times_of_32_bits() {
        let data = words(&[0x1000_0305, 0x8c00_0000, 5, 111, 222, 4, 11, 22]);
        let layout = TimeLayout::Counter32;
        let found = hops(TelemetryKind::Int, &data);
        assert_eq!(found[0], (5, true, HopSide::Ingress, layout, 111));
        assert_eq!(found[3], (4, true, HopSide::Egress, layout, 22));
        assert_eq!(hops(TelemetryKind::Int, &words(&[0x5000_0305, 0, 1])), []);
    }

    #[test]
    fn nodes_without_a_number_are_known_by_their_place() {
        let data = words(&[0x2000_0204, 0x0800_0000, 0, 0, 90, 0, 80, 0, 70]);
        let found: Vec<_> = hops(TelemetryKind::Int, &data);
        let places: Vec<_> = found.iter().map(|hop| (hop.0, hop.1, hop.4)).collect();
        assert_eq!(places, [(3, false, 90), (2, false, 80), (1, false, 70)]);
    }

    #[test]
    fn ioam_skips_what_is_still_free_and_opaque_data() {
        // pre-allocated: one node's three words are free
        let types = 0xb000_0000_u32;
        let header = [&[0, 0, 1, 3 << 3, 3][..], &types.to_be_bytes()].concat();
        let list = words(&[0, 0, 0, 0x3f00_0002, 100, 5, 0x4000_0001, 99, 4]);
        let found = hops(TelemetryKind::Ioam, &[header, list].concat());
        let layout = TimeLayout::SecondsAndFraction;
        let side = HopSide::Ingress;
        assert_eq!(
            found,
            [
                (2, true, side, layout, 100 << 32 | 5),
                (1, true, side, layout, 99 << 32 | 4)
            ]
        );
        // incremental: wide numbers, the fraction alone, a snapshot of one word
        let types = 0x1080_0200_u32;
        let header = [&[1, 0, 1, 3 << 3, 9][..], &types.to_be_bytes()].concat();
        let node = |number, fraction| words(&[fraction, 0x4000_0000, number, 0x0100_0000, 0xabcd]);
        let found = hops(
            TelemetryKind::Ioam,
            &[header, node(8, 70), node(7, 60)].concat(),
        );
        let layout = TimeLayout::Fraction;
        assert_eq!(
            found,
            [(8, true, side, layout, 70), (7, true, side, layout, 60)]
        );
    }

    #[test]
    fn what_is_damaged_says_nothing() {
        for kind in [TelemetryKind::Int, TelemetryKind::Ioam] {
            for n in 0..40 {
                for octet in [0, 0xff] {
                    let _ = hops(kind, &vec![octet; n]);
                }
            }
        }
        assert_eq!(in_geneve(&[0x3f, 0, 0, 0], 0), None);
        assert_eq!(
            in_options(&[0, 0, 0x31, 200, 0, 0], 0).map(|one| one.end),
            Some(204)
        );
        assert_eq!(in_options(&[0, 0, 1, 4, 0, 0, 0, 0], 0), None);
    }
}
