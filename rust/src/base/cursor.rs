//! All indexing into the bytes of a frame.
//!
//! A [`Cursor`] knows two ends: where the captured bytes end, and where the data end on the wire as
//! far as the length fields passed so far say. So whoever runs out of bytes can tell a capture that
//! was cut short from a frame that is too short for what it claims.

/// Fewer bytes are left than a header needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// How many it needs, from the cursor on.
    pub n_needed: u32,
}

impl Short {
    #[cold]
    fn of(n_needed: usize) -> Self {
        Self {
            n_needed: u32::try_from(n_needed).unwrap_or(u32::MAX),
        }
    }
}

/// A place in the captured bytes of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    wire_end: usize,
}

impl<'a> Cursor<'a> {
    /// Start at the first of `bytes`, of a frame that had `wire_end` bytes of data on the wire.
    #[must_use]
    pub fn new(bytes: &'a [u8], wire_end: usize) -> Self {
        Self {
            bytes: bytes.get(..wire_end).unwrap_or(bytes),
            at: 0,
            wire_end,
        }
    }

    /// Where the cursor stands, from the start of the frame.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Where the captured data end, from the start of the frame.
    #[must_use]
    pub fn end(&self) -> usize {
        self.bytes.len()
    }

    /// Captured bytes from the cursor on.
    #[must_use]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Bytes from the cursor on that the wire had.
    #[must_use]
    pub fn wire_left(&self) -> usize {
        self.wire_end - self.at
    }

    /// True if `n` bytes from the cursor on were on the wire, but not all of them were captured.
    #[must_use]
    pub fn is_cut_within(&self, n: usize) -> bool {
        n > self.left() && n <= self.wire_left()
    }

    /// Look at the next `N` bytes.
    ///
    /// # Errors
    /// [`Short`] if so many were not captured.
    #[inline]
    pub fn peek<const N: usize>(&self) -> Result<&'a [u8; N], Short> {
        let rest = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk);
        rest.ok_or_else(|| Short::of(N))
    }

    /// Pass the next `N` bytes.
    ///
    /// # Errors
    /// [`Short`] if so many were not captured; the cursor stays.
    #[inline]
    pub fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], Short> {
        let bytes = self.peek()?;
        self.at += N;
        Ok(bytes)
    }

    /// All captured bytes from the cursor on.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Pass `n` bytes without a look.
    ///
    /// # Errors
    /// [`Short`] if so many were not captured; the cursor stays.
    #[inline]
    pub fn skip(&mut self, n: usize) -> Result<(), Short> {
        if n > self.left() {
            return Err(Short::of(n));
        }
        self.at += n;
        Ok(())
    }

    /// A length field says: the data end `n` bytes from here (or where they ended before).
    #[inline]
    pub fn bound(&mut self, n: usize) {
        let end = self.at.saturating_add(n);
        self.wire_end = self.wire_end.min(end);
        self.bytes = self.bytes.get(..end).unwrap_or(self.bytes);
    }

    /// A second cursor, `n` bytes further on (at most at the end of the captured bytes).
    #[inline]
    #[must_use]
    pub fn ahead(&self, n: usize) -> Self {
        Self {
            at: self.at + n.min(self.left()),
            ..*self
        }
    }

    /// A second cursor at an earlier place, for a layer that must know how it was reached.
    #[inline]
    #[must_use]
    pub fn back_at(&self, at: usize) -> Self {
        Self {
            at: self.at.min(at),
            ..*self
        }
    }
}

/// The octets as a number, the first the highest.
#[inline]
#[must_use]
pub fn be(octets: &[u8]) -> u32 {
    octets
        .iter()
        .fold(0, |value, octet| value << 8 | u32::from(*octet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_skips_and_stays_at_the_end() {
        let mut cursor = Cursor::new(&[1, 2, 3, 4, 5], 5);
        assert_eq!(cursor.take(), Ok(&[1, 2]));
        assert_eq!(cursor.skip(2), Ok(()));
        assert_eq!(cursor.take::<2>(), Err(Short { n_needed: 2 }));
        assert_eq!(cursor.skip(2), Err(Short { n_needed: 2 }));
        assert_eq!((cursor.at(), cursor.left()), (4, 1));
    }

    #[test]
    fn a_bound_never_widens() {
        let mut cursor = Cursor::new(&[0; 10], 20);
        cursor.bound(15);
        assert_eq!((cursor.left(), cursor.wire_left()), (10, 15));
        cursor.bound(4);
        cursor.bound(9);
        assert_eq!((cursor.left(), cursor.wire_left(), cursor.end()), (4, 4, 4));
    }

    #[test]
    fn tells_a_cut_capture_from_a_short_frame() {
        let cursor = Cursor::new(&[0; 10], 20);
        assert!(!cursor.is_cut_within(10));
        assert!(cursor.is_cut_within(20));
        assert!(!cursor.is_cut_within(21));
    }

    #[test]
    fn what_follows_the_wire_end_is_not_data() {
        assert_eq!(Cursor::new(&[0; 10], 6).left(), 6);
    }

    #[test]
    fn looks_ahead_and_back() {
        let mut cursor = Cursor::new(&[1, 2, 3], 3);
        assert_eq!(cursor.ahead(2).peek(), Ok(&[3]));
        assert_eq!(cursor.ahead(9).left(), 0);
        assert_eq!(cursor.skip(2), Ok(()));
        assert_eq!(cursor.back_at(1).peek(), Ok(&[2]));
    }

    #[test]
    fn reads_numbers() {
        assert_eq!(be(&[0x12, 0x34, 0x56]), 0x12_3456);
    }
}
