//! Which bytes of what follows the headers are there. Each depends on no byte behind it, so that captures
//! that were cut differently agree as far as both reach.

/// What follows a frame's headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// So many bytes of it were captured.
    pub n_bytes: usize,
    /// So many went over the wire.
    pub n_wire_bytes: usize,
    /// So many zeros follow it, which may be padding.
    pub n_padding: usize,
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
    /// Where marks stand, a byte each, as far as the content was captured. Where they stand depends on
    /// what went over the wire, which captures that were cut know too.
    pub fn places(self) -> impl Iterator<Item = usize> {
        let n_places = match self.kind {
            ContentKind::Part => 0,
            ContentKind::Segment => N_OF_SEGMENTS,
            ContentKind::Datagram => PLACES.len(),
        };
        let places = PLACES.iter().take(n_places).copied();
        let n_wire = self.n_wire_bytes;
        let last_end = places.clone().next_back().map_or(0, |last| last.0);
        let reached = places.filter(move |(end, _)| *end <= n_wire);
        let before = reached.clone().next_back().map_or(0, |last| last.0);
        let is_last = before < n_wire && n_wire < last_end;
        let last = is_last.then(|| (n_wire, LAST_BYTES.min(n_wire - before)));
        let all = reached.chain(last);
        let n_bytes = self.n_bytes;
        all.flat_map(|(end, width)| end - width..end)
            .filter(move |place| *place < n_bytes)
    }

    /// As one number, and back.
    pub(super) const fn code(self) -> u64 {
        match self.kind {
            ContentKind::Part => 0,
            ContentKind::Segment => 1,
            ContentKind::Datagram => 2,
        }
    }

    /// See [`Content::code`].
    pub(super) const fn of(code: u64, [n_bytes, n_wire_bytes, n_padding]: [usize; 3]) -> Self {
        Self {
            n_bytes,
            n_wire_bytes,
            n_padding,
            kind: match code & 3 {
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

    fn places(n_bytes: usize, n_wire_bytes: usize, kind: ContentKind) -> Vec<usize> {
        let content = Content {
            n_bytes,
            n_wire_bytes,
            n_padding: 7,
            kind,
        };
        let sizes = [n_bytes, n_wire_bytes, 7];
        assert_eq!(Content::of(content.code(), sizes), content);
        content.places().collect()
    }

    #[test]
    fn what_was_cut_has_the_first_marks_of_the_whole() {
        use ContentKind::{Datagram, Part, Segment};
        assert!(places(1000, 1000, Part).is_empty());
        assert_eq!(places(1000, 1000, Segment), [6, 7, 14, 15, 62, 63]);
        assert_eq!(places(17, 17, Segment), [6, 7, 14, 15, 16]);
        assert_eq!(places(3, 3, Segment), [0, 1, 2]);
        assert!(places(0, 0, Datagram).is_empty());
        for kind in [Segment, Datagram] {
            for n_wire in 0..600 {
                let whole = places(n_wire, n_wire, kind);
                for n_captured in 0..n_wire {
                    let cut = places(n_captured, n_wire, kind);
                    assert_eq!(cut, whole[..cut.len()]);
                    assert!(whole[cut.len()..].iter().all(|place| *place >= n_captured));
                }
            }
        }
    }
}
