//! Datagrams of which some points see fragments, and others all in one or other fragments: which bytes
//! of which datagram a packet carries.
//!
//! IPv4 says which by its identification. IPv6 has one in fragments only, so there a whole datagram is
//! named by how its bytes begin, fragments are by their identification, and the first of them, which
//! have both, say which of these names is which ([`crate::matching::streams::Alias`]). Where identifications are used again so soon
//! that datagrams which begin differently have the same one, none of them is told. Whatever is no
//! fragment and too short to be cut is no datagram here.

use crate::base::hash::{fold, two, word};
use crate::base::hashed::HashedMap;
use crate::identity::stream_bytes::StreamBytes;
use crate::identity::{ICMP, ICMPV6, Identity, Prefixes, TCP, UDP, class};
use crate::plan::Plan;
use crate::reading::fragments::cut_by;
use crate::wire::Packet;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes that name a datagram; of fewer nothing is taken for the beginning of one.
const MOST_NAMING_BYTES: usize = 512;
const LEAST_NAMING_BYTES: usize = 16;

/// Without options; of it the numbers stay as they are.
const TCP_HEADER_BYTES: usize = 20;

/// Names of three kinds are told apart: an IPv4 identification with its protocol is below both.
const OF_CONTENT: u32 = 1 << 30;
const OF_FRAGMENTS: u32 = 1 << 29;

/// Finds out which bytes of which datagram packets carry.
pub(crate) struct Datagrams<'a> {
    fragmented: &'a HashedMap<u32>,
    prefixes: Prefixes,
}

/// Where a packet belongs.
pub(crate) struct Placed {
    /// Chooses its partition: fragments have no ports, so all that go between two addresses meet in
    /// one.
    pub(crate) choice: u64,
    /// The bytes it carries.
    pub(crate) range: StreamBytes,
    /// Another name of its datagram.
    pub(crate) alias: Option<u32>,
}

impl<'a> Datagrams<'a> {
    pub(crate) fn new(plan: &'a Plan, prefixes: Prefixes) -> Self {
        Self {
            fragmented: &plan.fragmented,
            prefixes,
        }
    }

    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    pub(crate) fn place(&self, packet: &Packet, bytes: &[u8], identity: &Identity) -> Placed {
        let by = |choice, range| Placed {
            choice,
            range,
            alias: None,
        };
        if packet.ip_version == 0 {
            // a cooked capture lacks the receiver's address, which the others have in the flow
            return by(fold(0, u64::from(packet.ether_type)), StreamBytes::NONE);
        }
        let own = if packet.protocol == TCP {
            identity.range
        } else {
            StreamBytes::NONE
        };
        match self.fragmented.get(&cut_by(packet, identity.pair)).copied() {
            None => by(identity.flow, own),
            Some(least) if packet.fragment == 0 && packet.transport_wire_bytes <= least => {
                by(identity.pair, own)
            }
            Some(least) => self.named(packet, bytes, identity.pair, least),
        }
    }

    #[cold]
    fn named(&self, packet: &Packet, bytes: &[u8], pair: u64, least: u32) -> Placed {
        let is_later = packet.fragment >> 1 != 0;
        let content = (!is_later).then(|| self.by_content(packet, bytes, least));
        let content = content.flatten();
        let identified = StreamBytes::by_ip_id(packet).datagram();
        let identified = identified.or_else(|| by_fragments(packet));
        let name = identified.or(content);
        let range = name.map_or(StreamBytes::of_nameless(), |name| {
            StreamBytes::of_datagram(name, packet.fragment & !7, packet.transport_wire_bytes)
        });
        Placed {
            choice: pair,
            range,
            alias: identified.and(content),
        }
    }

    /// By how its bytes begin, as far as all points have them in the shortest first fragment, without
    /// what translators and cards change.
    fn by_content(&self, packet: &Packet, bytes: &[u8], least: u32) -> Option<u32> {
        let known = self.prefixes.get(class(packet))?.min(&least);
        let n_bytes = MOST_NAMING_BYTES.min(*known as usize);
        let body = packet.transport(bytes).get(..n_bytes)?;
        let (header, rest) = match packet.protocol {
            UDP => (word(body, 4, 6), 8),
            ICMP | ICMPV6 => (word(body, 0, 2), 4),
            TCP => (word(body, 4, 12), TCP_HEADER_BYTES),
            _ => (0, 0),
        };
        let named = fold(xxh3_64(body.get(rest..)?), header);
        let named = fold(named, u64::from(packet.protocol.cast_unsigned()));
        (n_bytes >= LEAST_NAMING_BYTES).then_some(OF_CONTENT | (low(named) & (OF_CONTENT - 1)))
    }
}

/// By the identification of its fragments, which no other has for a while; 0 is none.
fn by_fragments(packet: &Packet) -> Option<u32> {
    let protocol = u32::from(packet.protocol.cast_unsigned());
    let named = low(fold(1, two(protocol, packet.ip_id)));
    (packet.fragment != 0 && packet.ip_id != 0)
        .then_some(OF_FRAGMENTS | (named & (OF_FRAGMENTS - 1)))
}

#[expect(clippy::cast_possible_truncation, reason = "the low half of a hash")]
fn low(hash: u64) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::Seed;
    use crate::identity::{WHOLE, identify};
    use crate::reading::fragments::made::{cut, tunnelled};
    use crate::wire::Decoder;

    /// What becomes of frames whose ends are known to send fragments.
    fn placed(frames: &[Vec<u8>], prefixes: &Prefixes, least: u32) -> Vec<Placed> {
        let decoder = Decoder::new(&[]).unwrap();
        let place = |bytes: &Vec<u8>| {
            let mut packet = Packet::new();
            decoder.decode(
                1,
                bytes,
                u32::try_from(bytes.len()).unwrap(),
                0,
                &mut packet,
            );
            let identity = identify(&packet, bytes, prefixes, Seed::PUBLIC, false);
            let plan = Plan {
                fragmented: HashedMap::from_iter([(identity.pair, least)]),
                ..Plan::default()
            };
            Datagrams::new(&plan, *prefixes).place(&packet, bytes, &identity)
        };
        frames.iter().map(place).collect()
    }

    /// A datagram in no tunnel, and its fragments.
    fn datagram(version: u8, n_payload: usize, n_body: usize, id: u8) -> (Vec<u8>, Vec<Vec<u8>>) {
        let mut whole = tunnelled(version, n_payload);
        let ports_at = if version == 4 { 36 } else { 56 };
        whole[ports_at] = 0x13;
        let parts = cut(&whole, n_body, id);
        if version == 4 {
            whole[19] = id;
        }
        (whole, parts)
    }

    fn spans(placed: &[Placed]) -> Vec<(i64, u32)> {
        let of = |one: &Placed| (one.range.start_near(0), one.range.length().unwrap());
        placed.iter().map(of).collect()
    }

    #[test]
    fn fragments_carry_the_bytes_of_what_was_whole() {
        for (version, n_body) in [(4, 1480), (4, 552), (6, 1448), (6, 1232)] {
            let (whole, parts) = datagram(version, 3_000, n_body, 9);
            let n_whole = u32::try_from(3_000 + 28 + 14 + 16).unwrap();
            let least = u32::try_from(n_body).unwrap();
            let parts = placed(&parts, &WHOLE, least);
            let whole = placed(&[whole], &WHOLE, least);
            assert_eq!(spans(&whole), [(0, n_whole)]);
            let mut end = 0;
            for (start, length) in spans(&parts) {
                assert_eq!(start, end);
                end += i64::from(length);
            }
            assert_eq!(end, i64::from(n_whole));
            assert!(parts.iter().all(|one| one.choice == whole[0].choice));
            // the first fragment has the name of the whole, or another one for it
            let own = whole[0].range.datagram();
            assert_eq!(parts[0].range.datagram() == own, version == 4);
            assert_eq!(whole[0].alias.or(own), parts[0].alias);
            assert!(parts[1..].iter().all(|one| one.alias.is_none()));
            let same = |one: &Placed| one.range.datagram() == parts[0].range.datagram();
            assert!(parts.iter().all(same));
        }
    }

    #[test]
    fn datagrams_have_names_of_their_own() {
        for version in [4, 6] {
            let (one, parts) = datagram(version, 3_000, 1_232, 9);
            let (other, others) = datagram(version, 3_001, 1_232, 10);
            let wholes = placed(&[one, other], &WHOLE, 1_232);
            assert_ne!(wholes[0].range.datagram(), wholes[1].range.datagram());
            assert_ne!(wholes[0].alias, wholes[1].alias.or(Some(1)));
            let parts = placed(&[parts[1].clone(), others[1].clone()], &WHOLE, 1_232);
            assert_ne!(parts[0].range.datagram(), parts[1].range.datagram());
        }
    }

    #[test]
    fn what_cannot_be_cut_is_no_datagram() {
        for version in [4, 6] {
            let (whole, _) = datagram(version, 1_000, 552, 9);
            let n_whole = 1_000 + 28 + 14 + 16;
            for (least, is_one) in [(2_000, false), (n_whole, false), (n_whole - 1, true)] {
                let placed = placed(std::slice::from_ref(&whole), &WHOLE, least);
                assert_eq!(placed[0].range != StreamBytes::NONE, is_one, "{least}");
            }
        }
    }

    #[test]
    fn too_few_bytes_name_nothing() {
        let prefixes = WHOLE.map(|_| 12);
        let (whole, parts) = datagram(6, 3_000, 1_448, 9);
        let whole = placed(&[whole], &prefixes, 1_448);
        assert!(whole[0].range.is_nameless());
        let parts = placed(&parts, &prefixes, 1_448);
        assert!(parts.iter().all(|one| one.alias.is_none()));
    }

    #[test]
    fn fragments_without_identification_are_nameless() {
        let (_, parts) = datagram(6, 3_000, 1_448, 0);
        let placed = placed(&parts, &WHOLE, 1_448);
        assert!(placed[0].range.datagram().is_some(), "by how it begins");
        assert!(placed[1..].iter().all(|one| one.range.is_nameless()));
    }

    #[test]
    fn the_length_that_udp_says_is_in_a_name() {
        let (one, _) = datagram(6, 3_000, 1_448, 9);
        let mut other = one.clone();
        other[58] ^= 1;
        let placed = placed(&[one, other], &WHOLE, 1_448);
        assert_ne!(placed[0].range.datagram(), placed[1].range.datagram());
    }
}
