//! Which bytes of what follows the headers are there. Each depends on no byte behind it, so that captures
//! that were cut differently agree as far as both reach.

/// What follows a frame's headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// So many bytes of it were captured.
    pub n_bytes: usize,
    /// So many zeros follow it, which may be padding.
    pub n_padding: usize,
    /// None of it was cut off.
    pub is_whole: bool,
    /// How much of it tells packets apart.
    pub kind: ContentKind,
}

/// How much of what follows a frame's headers tells packets apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentKind {
    /// Nothing: parts of a datagram are known by their place in it.
    #[default]
    Part,
    /// Its first 64 bytes: a segment of TCP, which has numbers.
    Segment,
    /// All of it, as far as 512 bytes.
    Datagram,
}

/// Where a mark ends, and how many bytes it has.
const PLACES: [(usize, usize); 4] = [(8, 2), (16, 2), (64, 2), (512, 4)];
const N_OF_SEGMENTS: usize = 3;
const LAST_BYTES: usize = 4;

impl Content {
    /// Where marks stand, from the first on: start and end.
    pub fn places(self) -> impl Iterator<Item = (usize, usize)> {
        let n_places = match self.kind {
            ContentKind::Part => 0,
            ContentKind::Segment => N_OF_SEGMENTS,
            ContentKind::Datagram => PLACES.len(),
        };
        let places = PLACES.iter().take(n_places);
        let (n_bytes, last_end) = (self.n_bytes, places.clone().last().map_or(0, |last| last.0));
        let before = places.clone().map(|(end, _)| *end);
        let before = before
            .take_while(move |end| *end <= n_bytes)
            .last()
            .unwrap_or(0);
        let is_last = self.is_whole && before < n_bytes && n_bytes < last_end;
        let last = is_last.then(|| (n_bytes - LAST_BYTES.min(n_bytes - before), n_bytes));
        let reached = places.take_while(move |(end, _)| *end <= n_bytes);
        reached.map(|(end, width)| (end - width, *end)).chain(last)
    }

    /// As one number, and back.
    pub(super) const fn code(self) -> u64 {
        let kind = match self.kind {
            ContentKind::Part => 0,
            ContentKind::Segment => 1,
            ContentKind::Datagram => 2,
        };
        kind << 1 | self.is_whole as u64
    }

    /// See [`Content::code`].
    pub(super) const fn of(code: u64, n_bytes: usize, n_padding: usize) -> Self {
        Self {
            n_bytes,
            n_padding,
            is_whole: code & 1 == 1,
            kind: match code >> 1 & 3 {
                1 => ContentKind::Segment,
                2 => ContentKind::Datagram,
                _ => ContentKind::Part,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(n_bytes: usize, is_whole: bool, kind: ContentKind) -> Vec<(usize, usize)> {
        let content = Content {
            n_bytes,
            n_padding: 7,
            is_whole,
            kind,
        };
        assert_eq!(Content::of(content.code(), n_bytes, 7), content);
        content.places().collect()
    }

    #[test]
    fn what_was_cut_has_the_first_marks_of_the_whole() {
        use ContentKind::{Datagram, Part, Segment};
        assert_eq!(places(1000, true, Part), []);
        assert_eq!(places(1000, true, Segment), [(6, 8), (14, 16), (62, 64)]);
        assert_eq!(places(17, true, Segment), [(6, 8), (14, 16), (16, 17)]);
        assert_eq!(places(3, true, Segment), [(0, 3)]);
        assert_eq!(places(0, true, Datagram), []);
        assert_eq!(
            places(200, true, Datagram),
            [(6, 8), (14, 16), (62, 64), (196, 200)]
        );
        for n_captured in 0..1000 {
            let cut = places(n_captured, false, Datagram);
            let whole = places(1000, true, Datagram);
            assert_eq!(cut, whole[..cut.len()]);
        }
    }
}
