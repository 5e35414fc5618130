//! Addresses under a key: each has one pseudonym, and no two have the same (RFC 6235 §4.1.2, permutation).
//!
//! An address of many receivers, one that means none, and a loopback's stay as they are: how a packet travels
//! depends on what they are, and they name no host.

use super::key::DigestKey;
use std::collections::HashMap;

/// So many addresses are remembered; what is forgotten is found again.
const MAX_REMEMBERED: usize = 1 << 18;
const N_ROUNDS: u8 = 6;

/// Which pseudonym each address has.
pub(super) struct Pseudonyms {
    key: Option<DigestKey>,
    known: HashMap<(AddressKind, u128), u128>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum AddressKind {
    Ipv4,
    Ipv6,
    Mac,
}

impl Pseudonyms {
    /// Under a key; without one, addresses stay as they are.
    pub(super) fn new(key: Option<DigestKey>) -> Self {
        Self {
            key,
            known: HashMap::new(),
        }
    }

    /// Replaces an IPv4 address.
    pub(super) fn ipv4(&mut self, octets: Option<&mut [u8]>) {
        self.replace::<4>(AddressKind::Ipv4, octets);
    }

    /// Replaces an IPv6 address.
    pub(super) fn ipv6(&mut self, octets: Option<&mut [u8]>) {
        self.replace::<16>(AddressKind::Ipv6, octets);
    }

    /// Replaces a MAC address.
    pub(super) fn mac(&mut self, octets: Option<&mut [u8]>) {
        self.replace::<6>(AddressKind::Mac, octets);
    }

    /// Replaces bytes that may be anything by as many that depend on them.
    pub(super) fn opaque(&self, octets: Option<&mut [u8]>) {
        if let (Some(key), Some(octets)) = (&self.key, octets)
            && octets.iter().any(|octet| *octet != 0)
        {
            key.of_bytes(octets);
        }
    }

    fn replace<const N: usize>(&mut self, kind: AddressKind, octets: Option<&mut [u8]>) {
        let (Some(key), Some(octets)) = (&self.key, octets) else {
            return;
        };
        if octets.len() != N {
            // cut within: what is there of it could be told by trying
            octets.fill(0);
            return;
        }
        let address = octets
            .iter()
            .fold(0, |all, octet| all << 8 | u128::from(*octet));
        if self.known.len() >= MAX_REMEMBERED {
            self.known.clear();
        }
        let name = self
            .known
            .entry((kind, address))
            .or_insert_with(|| kind.pseudonym(key, address));
        if let Some(name) = name.to_be_bytes().get(16 - N..) {
            octets.copy_from_slice(name);
        }
    }
}

impl AddressKind {
    /// Walks along the permutation until it comes to an address that has a pseudonym: those are
    /// permuted among themselves (Black and Rogaway 2002, cycle walking).
    fn pseudonym(self, key: &DigestKey, address: u128) -> u128 {
        if !self.is_host(address) {
            return self.group(key, address);
        }
        let mut name = self.permuted(key, address);
        while !self.is_host(name) {
            name = self.permuted(key, name);
        }
        name
    }

    /// A host's own, so that it has a pseudonym.
    const fn is_host(self, address: u128) -> bool {
        match self {
            // neither "this host", a loopback, many receivers nor all (RFC 6890)
            Self::Ipv4 => {
                !matches!(address, 0 | 0xffff_ffff) && !matches!(address >> 24, 127 | 224..=239)
            }
            // an address of few bits would be taken for IPv4
            Self::Ipv6 => address >> 32 != 0 && address >> 120 != 0xff,
            // groups, and none
            Self::Mac => address != 0 && address >> 40 & 1 == 0,
        }
    }

    /// What stands for an address of no host: itself, unless a host's is a part of it (RFC 4291 §2.5.5 and
    /// §2.7.1, RFC 3306, RFC 2464 §7).
    fn group(self, key: &DigestKey, address: u128) -> u128 {
        const LOW_24: u128 = 0xff_ffff;
        const LOW_112: u128 = (1 << 112) - 1;
        let hashed = |bits: u128| u128::from(key.of_address(0xff, low(bits) ^ low(bits >> 64)));
        match self {
            Self::Ipv6 if address >> 120 == 0xff && address & LOW_112 > LOW_24 => {
                address & !LOW_112 | hashed(address & LOW_112) | 1 << 64
            }
            Self::Ipv6 if address >> 32 == 0 && address > 1 => Self::Ipv4.pseudonym(key, address),
            Self::Mac if address >> 24 == 0x33_33ff => address & !LOW_24 | hashed(address) & LOW_24,
            _ => address,
        }
    }

    /// A Feistel network over the two halves of an address.
    fn permuted(self, key: &DigestKey, address: u128) -> u128 {
        let n_half_bits = match self {
            Self::Ipv4 => 16,
            Self::Ipv6 => 64,
            Self::Mac => 24,
        };
        let mask = (1_u128 << n_half_bits) - 1;
        let (mut left, mut right) = (address >> n_half_bits & mask, address & mask);
        for round in 0..N_ROUNDS {
            let round = round | (self as u8) << 4;
            let turned = u128::from(key.of_address(round, low(right))) & mask;
            (left, right) = (right, left ^ turned);
        }
        left << n_half_bits | right
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "halves have at most 64 bits"
)]
const fn low(half: u128) -> u64 {
    half as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_address_has_a_pseudonym_of_its_own() {
        let mut names = Pseudonyms::new(Some(DigestKey::new(b"a secret")));
        let of = |names: &mut Pseudonyms, number: u32| {
            let mut octets = number.to_be_bytes();
            names.ipv4(Some(&mut octets));
            u32::from_be_bytes(octets)
        };
        let hosts = (0x0a00_0000..0x0a00_4000).map(|number| of(&mut names, number));
        let hosts: HashSet<u32> = hosts.collect();
        assert_eq!(hosts.len(), 0x4000);
        assert!(
            hosts
                .iter()
                .all(|host| !matches!(host >> 24, 127 | 224..=239))
        );
        for stays in [0, 0x7f00_0001, 0xe000_00fb, u32::MAX] {
            assert_eq!(of(&mut names, stays), stays);
        }
        let mut other = Pseudonyms::new(Some(DigestKey::new(b"another")));
        assert_ne!(of(&mut names, 0x0a00_0001), of(&mut other, 0x0a00_0001));
    }

    #[test]
    fn groups_stay_and_stations_do_not() {
        let mut names = Pseudonyms::new(Some(DigestKey::new(b"a secret")));
        let mut group = [0x33, 0x33, 0, 0, 0, 1];
        names.mac(Some(&mut group));
        assert_eq!(group, [0x33, 0x33, 0, 0, 0, 1]);
        let mut station = [2, 0, 0, 0, 0, 1];
        names.mac(Some(&mut station));
        assert_ne!(station, [2, 0, 0, 0, 0, 1]);
        assert_eq!(station[0] & 1, 0);
        let mut cut = [10, 0, 0];
        names.ipv4(Some(&mut cut));
        assert_eq!(cut, [0; 3]);
    }
}
