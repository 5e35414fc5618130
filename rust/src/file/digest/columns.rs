//! Numbers of a digest: seven bits a byte, the low ones first (LEB128).

/// Appends a number.
pub(super) fn push(to: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        to.push(low_bits(value) | 0x80);
        value >>= 7;
    }
    to.push(low_bits(value));
}

const fn low_bits(value: u64) -> u8 {
    (value & 0x7f) as u8
}

/// Of a signed number one that is small where it is near 0.
pub(super) const fn folded(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// See [`folded`].
pub(super) const fn unfolded(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

/// Numbers one after the other.
pub(super) struct Values<'a> {
    bytes: &'a [u8],
}

impl<'a> Values<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next `n` numbers.
    pub(super) fn column(&mut self, n: usize) -> Option<Vec<u64>> {
        let values: Vec<u64> = self.take(n).collect();
        (values.len() == n).then_some(values)
    }

    /// The next bytes as they are.
    pub(super) fn raw(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(n_bytes)?;
        self.bytes = rest;
        Some(taken)
    }
}

impl Iterator for Values<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte >> 7 == 0 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let mut bytes = Vec::new();
        for number in numbers {
            push(&mut bytes, number);
        }
        assert_eq!(Values::new(&bytes).column(7).as_deref(), Some(&numbers[..]));
        assert_eq!(Values::new(&bytes).column(8), None);
        for number in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unfolded(folded(number)), number);
        }
        assert_eq!(Values::new(&[0xff; 20]).next(), None);
    }
}
