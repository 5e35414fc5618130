//! Byte order: capture files are written in that of the machine that captured.

/// The order of the octets in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// The two octets at `at`.
    pub(super) fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        let raw = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            Self::Little => u16::from_le_bytes(raw),
            Self::Big => u16::from_be_bytes(raw),
        })
    }

    /// The four octets at `at`.
    #[inline]
    pub(super) fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        Some(self.u32_of(*bytes.get(at..)?.first_chunk()?))
    }

    /// The four octets.
    #[inline]
    pub(super) fn u32_of(self, raw: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(raw),
            Self::Big => u32::from_be_bytes(raw),
        }
    }

    /// The eight octets at `at`.
    pub(super) fn u64_at(self, bytes: &[u8], at: usize) -> Option<u64> {
        let raw = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            Self::Little => u64::from_le_bytes(raw),
            Self::Big => u64::from_be_bytes(raw),
        })
    }

    /// Two words at `at`, the high one first, as pcapng writes ticks: not a 64-bit number.
    #[inline]
    pub(super) fn ticks_at(self, bytes: &[u8], at: usize) -> Option<u64> {
        let high = self.u32_at(bytes, at)?;
        let low = self.u32_at(bytes, at + 4)?;
        Some(u64::from(high) << 32 | u64::from(low))
    }
}
