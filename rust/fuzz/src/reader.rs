//! Reading a capture file.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Cursor, Error, ErrorKind, Read};
use std::path::Path;

use pcaplat_core::file::{CODECS, Capture, Frame, NO_LINK};
use pcaplat_core::wire::{Decoder, Packet};

use super::wire::assert_lawful;

/// Enough for every seed; a small compressed file may hold millions.
const MAX_FRAMES: u64 = 20_000;
/// As many of a file are kept, and one of them says that there are more.
const MAX_DAMAGES: usize = 64;

/// Reads the bytes as a capture: whole, and in small pieces.
///
/// # Panics
/// A law is broken.
pub fn reader(bytes: &[u8]) {
    let whole = read(bytes, Box::new(Cursor::new(bytes.to_vec())));
    let pieces = Pieces {
        whole: Cursor::new(bytes.to_vec()),
        n_calls: 0,
    };
    assert_eq!(whole, read(bytes, Box::new(pieces)), "in pieces and whole");
}

/// All that a reading said, as numbers and texts.
type Said = Result<(u64, u64, String), String>;

fn read(bytes: &[u8], source: Box<dyn Read + Send>) -> Said {
    let mut capture =
        Capture::from_read(source, Path::new("fuzz")).map_err(|error| error.to_string())?;
    let decoder = Decoder::new(&[]).map_err(|error| error.to_string())?;
    let mut packet = Packet::new();
    let mut rows = DefaultHasher::new();
    let (mut n_frames, mut n_bytes) = (0, 0);
    while let Some(frame) = capture.next_frame() {
        n_frames += 1;
        n_bytes += frame.bytes.len();
        assert_eq!(frame.number, n_frames, "frames are numbered from 1");
        hash(&frame, &mut rows);
        let (link, interface) = (frame.link, frame.interface as usize);
        decoder.decode(
            link,
            frame.bytes,
            frame.wire_bytes,
            frame.fcs_bytes,
            &mut packet,
        );
        assert_lawful(&packet, frame.bytes, frame.wire_bytes as usize);
        assert!(link == NO_LINK || interface < capture.interfaces().len());
        if n_frames == MAX_FRAMES {
            break;
        }
    }
    assert_accounted(&capture, bytes, n_bytes);
    let found = (
        capture.interfaces(),
        capture.damage(),
        capture.is_truncated(),
    );
    Ok((n_frames, rows.finish(), format!("{found:?}")))
}

fn hash(frame: &Frame<'_>, rows: &mut DefaultHasher) {
    let time = (frame.t_ns, frame.has_time, frame.interface, frame.link);
    let size = (frame.wire_bytes, frame.fcs_bytes, frame.bytes);
    (time, size, frame.direction as u8).hash(rows);
}

fn assert_accounted(capture: &Capture, bytes: &[u8], n_bytes: usize) {
    assert!(capture.bytes_read() <= bytes.len() as u64);
    assert!(capture.damage().len() <= MAX_DAMAGES);
    for damage in capture.damage() {
        assert!(!damage.text.is_empty());
        assert!(!damage.text.contains(char::is_control), "{}", damage.text);
    }
    let is_plain = !CODECS.iter().any(|codec| codec.knows(bytes));
    if is_plain {
        assert!(n_bytes <= bytes.len(), "more captured than there is");
        let mut places = capture.damage().iter().map(|damage| damage.at_byte);
        assert!(places.all(|at_byte| at_byte <= bytes.len() as u64));
    }
}

/// Gives a few bytes at a time, and is interrupted before each.
struct Pieces {
    whole: Cursor<Vec<u8>>,
    n_calls: usize,
}

impl Read for Pieces {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.n_calls += 1;
        if self.n_calls.is_multiple_of(2) {
            return Err(Error::from(ErrorKind::Interrupted));
        }
        let n_bytes = (self.n_calls * 7 % 61 + 1).min(out.len());
        self.whole.read(&mut out[..n_bytes])
    }
}
