//! One packet of which fragments have come.

use super::Reassembly;
use super::fragment::Fragment;

/// Fragments of one packet: those of links with an MTU of 576, the least that is in use, are 119.
const MOST_PIECES: usize = 256;

/// What is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatagramState {
    /// Its first fragment has not come: it may be anything.
    Headless,
    /// It is no tunnel's: its fragments are packets of their own.
    Plain,
    /// It is a tunnel's.
    Awaited,
    /// And it is whole.
    Done,
    /// And it cannot be put together.
    Contradictory,
}

#[derive(Debug)]
struct HeldFragment {
    from: u32,
    to: u32,
    /// As far as captured.
    bytes: Vec<u8>,
}

/// The fragments of one packet.
#[derive(Debug)]
pub(super) struct Datagram {
    pub(super) serial: u64,
    pub(super) state: DatagramState,
    /// Its ends have a tunnel.
    is_likely: bool,
    /// The frame of the first fragment up to its body, its IP header's place, and where that ends.
    head: Vec<u8>,
    ip_at: usize,
    is_segmented: bool,
    /// In order, none of them overlapping.
    pieces: Vec<HeldFragment>,
    end: Option<u32>,
    n_bytes: usize,
}

impl Datagram {
    pub(super) fn new(serial: u64, is_likely: bool) -> Self {
        Self {
            serial,
            state: DatagramState::Headless,
            is_likely,
            head: Vec::new(),
            ip_at: 0,
            is_segmented: false,
            pieces: Vec::new(),
            end: None,
            n_bytes: 0,
        }
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// A tunnel's packet of which fragments are missing.
    pub(super) fn is_awaited(&self) -> bool {
        self.state == DatagramState::Awaited
            || self.state == DatagramState::Headless && self.is_likely
    }

    /// True if this very fragment is here already.
    pub(super) fn has_copy_of(&self, part: &Fragment<'_>) -> bool {
        self.pieces
            .get(self.place(part))
            .is_some_and(|piece| piece.is(part))
    }

    fn place(&self, part: &Fragment<'_>) -> usize {
        self.pieces.partition_point(|piece| piece.from < part.from)
    }

    /// Takes one more.
    pub(super) fn take(&mut self, frame: &[u8], part: &Fragment<'_>) -> Reassembly {
        if part.from == 0 && self.state == DatagramState::Headless {
            self.open(frame, part);
        }
        match self.state {
            DatagramState::Plain => return Reassembly::Own,
            DatagramState::Done | DatagramState::Contradictory => return Reassembly::Part,
            DatagramState::Headless | DatagramState::Awaited => {}
        }
        if !self.has_copy_of(part) {
            self.hold(part);
        }
        if !self.is_awaited() && self.state == DatagramState::Headless {
            return Reassembly::Own;
        }
        if self.is_whole() {
            self.state = DatagramState::Done;
            return Reassembly::Whole;
        }
        Reassembly::Part
    }

    fn open(&mut self, frame: &[u8], part: &Fragment<'_>) {
        if !part.is_carriers {
            self.state = DatagramState::Plain;
            return self.empty();
        }
        self.state = DatagramState::Awaited;
        self.head = frame.get(..part.body_at).unwrap_or(&[]).to_vec();
        (self.ip_at, self.is_segmented) = (part.at, part.is_segment);
        self.n_bytes += self.head.len();
    }

    fn empty(&mut self) {
        (self.pieces, self.head, self.n_bytes) = (Vec::new(), Vec::new(), 0);
    }

    fn hold(&mut self, part: &Fragment<'_>) {
        let place = self.place(part);
        if !self.has_room_for(part, place) || self.pieces.len() >= MOST_PIECES {
            self.state = DatagramState::Contradictory;
            return self.empty();
        }
        if part.is_last {
            self.end = Some(part.to);
        }
        self.n_bytes += part.body.len();
        let piece = HeldFragment {
            from: part.from,
            to: part.to,
            bytes: part.body.to_vec(),
        };
        self.pieces.insert(place, piece);
    }

    /// It overlaps no piece, and agrees with where the packet ends.
    fn has_room_for(&self, part: &Fragment<'_>, place: usize) -> bool {
        let before = place
            .checked_sub(1)
            .and_then(|place| self.pieces.get(place));
        before.is_none_or(|piece| piece.to <= part.from)
            && self
                .pieces
                .get(place)
                .is_none_or(|piece| part.to <= piece.from)
            && self.end.is_none_or(|end| part.to <= end && !part.is_last)
            && (!part.is_last || self.pieces.last().is_none_or(|last| last.to <= part.from))
    }

    fn is_whole(&self) -> bool {
        let n_covered: u32 = self.pieces.iter().map(|piece| piece.to - piece.from).sum();
        self.state == DatagramState::Awaited && self.end == Some(n_covered)
    }

    /// Writes the frame that nobody cut, as far as its fragments were captured, and gives back what
    /// it would have been long on the wire.
    pub(super) fn assemble(&mut self, whole: &mut Vec<u8>) -> u32 {
        whole.clear();
        whole.extend_from_slice(&self.head);
        for piece in &self.pieces {
            whole.extend_from_slice(&piece.bytes);
            // what follows bytes that no capture has cannot be reached
            if piece.bytes.len() < (piece.to - piece.from) as usize {
                break;
            }
        }
        let n_body = self.end.unwrap_or(0);
        let n_head = u32::try_from(self.head.len()).unwrap_or(u32::MAX);
        if let Some(header) = whole.get_mut(self.ip_at..) {
            self.make_whole(header, n_body);
        }
        self.empty();
        n_head.saturating_add(n_body)
    }

    /// Makes the headers of the first fragment those of the whole packet.
    fn make_whole(&self, header: &mut [u8], n_body: u32) {
        let n_header = self.head.len().saturating_sub(self.ip_at);
        if !self.is_segmented {
            unfragment(header, n_header);
        }
        let n_total = u32::try_from(n_header).unwrap_or(u32::MAX);
        lengthen(header, n_total.saturating_add(n_body));
    }
}

impl HeldFragment {
    /// A copy: the same bytes, as far as both were captured.
    fn is(&self, part: &Fragment<'_>) -> bool {
        let same = self
            .bytes
            .iter()
            .zip(part.body)
            .all(|(one, other)| one == other);
        (self.from, self.to) == (part.from, part.to) && same
    }
}

fn is_ipv6(header: &[u8]) -> bool {
    header.first().is_some_and(|first| first >> 4 == 6)
}

/// Makes a fragment's headers, so many bytes, those of a whole packet.
fn unfragment(header: &mut [u8], n_header: usize) {
    // an atomic fragment (RFC 6946): its header ends where the body starts
    let fragment_at = if is_ipv6(header) {
        n_header.saturating_sub(6)
    } else {
        6
    };
    put(header, fragment_at, 0);
}

/// Makes the IP packet at the start so long; of what is too long for the field, it is open.
fn lengthen(header: &mut [u8], n_total: u32) {
    const HEADER_BYTES_6: u32 = 40;
    if is_ipv6(header) {
        let n_payload = n_total.saturating_sub(HEADER_BYTES_6);
        return put(header, 4, u16::try_from(n_payload).unwrap_or(0));
    }
    put(header, 2, u16::try_from(n_total).unwrap_or(0));
    let n_words = header.first().map_or(0, |first| usize::from(first & 15));
    if let Some(header) = header.get_mut(..4 * n_words) {
        sum_again(header);
    }
}

fn put(header: &mut [u8], at: usize, value: u16) {
    if let Some(place) = header.get_mut(at..at + 2) {
        place.copy_from_slice(&value.to_be_bytes());
    }
}

/// RFC 1071.
fn sum_again(header: &mut [u8]) {
    let mut sum: u32 = 0;
    for (at, pair) in header.chunks(2).enumerate() {
        let word = pair
            .iter()
            .fold(0, |word, octet| word << 8 | u32::from(*octet));
        sum += if at == 5 { 0 } else { word };
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    if let (Ok(sum), Some(place)) = (u16::try_from(sum), header.get_mut(10..12)) {
        place.copy_from_slice(&(!sum).to_be_bytes());
    }
}
