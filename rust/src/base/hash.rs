//! Numbers of many octets: a digest that takes one word after another.

/// Folds a part into a digest: both halves of their product (Wang Yi's wyhash).
#[expect(clippy::cast_possible_truncation, reason = "the halves of 128 bits")]
pub(crate) fn fold(digest: u64, part: u64) -> u64 {
    const DIGEST_MASK: u64 = 0xa076_1d64_78bd_642f;
    const PART_MASK: u64 = 0xe703_7ed1_a0b4_28db;
    let product = u128::from(digest ^ DIGEST_MASK) * u128::from(part ^ PART_MASK);
    product as u64 ^ (product >> 64) as u64
}

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
    let joined = |part: &[u8]| {
        let octets = part.iter().map(|octet| u64::from(*octet));
        octets.fold(0, |word, octet| word << 8 | octet)
    };
    match bytes.get(from..to) {
        // whose length is known beforehand: one load
        Some(whole) => joined(whole),
        None => joined(bytes.get(from..).unwrap_or(&[])),
    }
}

/// Two numbers as one.
pub(crate) fn two(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
