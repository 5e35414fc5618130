//! Numbers of many octets: a digest that takes one word after another.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

const DIGEST_MASK: u64 = 0xa076_1d64_78bd_642f;
const TURNED_MASK: u64 = 0xe703_7ed1_a0b4_28db;

/// Folds a part into a digest (after Wang Yi's wyhash). Of a digest that nobody can foresee both factors
/// are so too: no part makes one of them 0, and all that follows equal.
#[inline]
pub(crate) fn fold(digest: u64, part: u64) -> u64 {
    product(
        digest ^ part ^ DIGEST_MASK,
        digest.rotate_left(32) ^ TURNED_MASK,
    )
}

/// Both halves of the product.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves of 128 bits")]
pub(super) fn product(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// What the digests of octets begin with. Where a run keeps it to itself, nobody can make packets whose
/// digests are equal (RFC 5475 §6.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed([u64; 2]);

impl Seed {
    /// Everybody's: what is chosen by it is chosen in every run.
    pub const PUBLIC: Self = Self([DIGEST_MASK, TURNED_MASK]);

    /// One that a number stands for.
    #[must_use]
    pub fn new(number: u64) -> Self {
        let first = fold(number, 1);
        Self([first, fold(first, number)])
    }

    /// One that nobody knows.
    #[must_use]
    pub fn secret() -> Self {
        // whose keys the operating system draws
        Self::new(RandomState::new().hash_one(0))
    }

    /// What a digest begins with, and what is mixed into it.
    pub(super) fn parts(self) -> [u64; 2] {
        self.0
    }

    /// Folds a part into a digest, as [`fold`] does for everybody.
    #[inline]
    pub(crate) fn fold(self, digest: u64, part: u64) -> u64 {
        let [start, mask] = self.0;
        product(digest ^ part ^ start, digest.rotate_left(32) ^ mask)
    }

    /// The digest of many octets.
    #[inline]
    pub(crate) fn digest(self, bytes: &[u8]) -> u64 {
        let [start, mask] = self.0;
        let (blocks, rest) = bytes.as_chunks::<16>();
        let mut digest = start ^ bytes.len() as u64;
        for block in blocks {
            let (low, high) = halves(*block);
            digest = product(low ^ mask, high ^ digest);
        }
        if rest.is_empty() {
            return digest;
        }
        // of eight octets and more two words that overlap
        let (low, high) = match (rest.first_chunk(), rest.last_chunk()) {
            (Some(first), Some(last)) => (u64::from_ne_bytes(*first), u64::from_ne_bytes(*last)),
            _ => (word(rest, 0, rest.len()), 0),
        };
        product(low ^ mask, high ^ digest.rotate_left(32))
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves of 128 bits")]
fn halves(block: [u8; 16]) -> (u64, u64) {
    let both = u128::from_ne_bytes(block);
    (both as u64, (both >> 64) as u64)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves of 128 bits")]
pub(crate) fn fold_address(digest: u64, address: u128) -> u64 {
    fold(fold(digest, address as u64), (address >> 64) as u64)
}

/// An address as one number, to recognise it by.
#[must_use]
pub fn address_hash(address: u128) -> u64 {
    fold_address(0, address)
}

/// Up to eight octets as a number, those that were captured.
#[inline]
pub(crate) fn word(bytes: &[u8], from: usize, to: usize) -> u64 {
    match bytes.get(from..to) {
        // whose length is known beforehand: one load
        Some(whole) => joined(whole),
        None => joined(bytes.get(from..).unwrap_or(&[])),
    }
}

/// Up to eight octets as a number: of four and more two halves that overlap.
#[inline]
fn joined(octets: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (octets.first_chunk(), octets.last_chunk())
        && octets.len() <= size_of::<u64>()
    {
        let n_more_bits = 8 * (octets.len() - size_of::<u32>());
        let [first, last] = [first, last].map(|half| u64::from(u32::from_be_bytes(*half)));
        return first << n_more_bits | last & ((1 << n_more_bits) - 1);
    }
    let octets = octets.iter().map(|octet| u64::from(*octet));
    octets.fold(0, |word, octet| word << 8 | octet)
}

/// A hash of a number (`SplitMix64`).
pub(crate) fn mixed(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

/// Two numbers as one.
pub(crate) fn two(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
