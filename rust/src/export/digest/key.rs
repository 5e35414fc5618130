//! The key of digests: what turns content and addresses into numbers that only its holders can compare.

use blake3::Hasher;

/// Not a round of any kind of address.
const OPAQUE: u8 = 0xfe;

/// A key, made of whatever secret bytes it is given.
#[derive(Clone)]
pub struct DigestKey {
    content: [u8; 32],
    addresses: [u8; 32],
    check: u64,
}

impl DigestKey {
    /// The key that a secret stands for: each use has a key of its own, and none tells of the secret
    /// (BLAKE3 §5.3.3).
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        let check = blake3::derive_key("pcaplat 2026 digest: check value of the key", secret);
        Self {
            content: blake3::derive_key("pcaplat 2026 digest: content of packets", secret),
            addresses: blake3::derive_key("pcaplat 2026 digest: addresses", secret),
            check: first(&check),
        }
    }

    /// The same of the same key; of the key it tells nothing.
    #[must_use]
    pub const fn check(&self) -> u64 {
        self.check
    }

    /// Begins to take the content of a packet.
    pub(super) fn content(&self) -> Hasher {
        Hasher::new_keyed(&self.content)
    }

    /// A number that an address stands for, in a round of many.
    pub(super) fn of_address(&self, round: u8, value: u64) -> u64 {
        let mut hasher = Hasher::new_keyed(&self.addresses);
        hasher.update(&[round]).update(&value.to_le_bytes());
        first(hasher.finalize().as_bytes())
    }

    /// Puts in the place of bytes as many that depend on all of them.
    pub(super) fn of_bytes(&self, bytes: &mut [u8]) {
        let mut hasher = Hasher::new_keyed(&self.addresses);
        hasher.update(&[OPAQUE]).update(bytes);
        hasher.finalize_xof().fill(bytes);
    }
}

fn first(bytes: &[u8; 32]) -> u64 {
    let (first, _) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
    u64::from_le_bytes(*first)
}
