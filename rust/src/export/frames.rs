//! Some frames of a capture by their numbers, as they were captured, with the places of their headers.

use std::path::Path;

use crate::base::error::{Error, Result};
use crate::file::Capture;
use crate::wire::{Decoder, Packet, layer_path};

/// A frame as it was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameByNumber {
    /// Its number within the file.
    pub number: u64,
    /// Its link type.
    pub link: u16,
    /// Its length on the wire.
    pub wire_bytes: u32,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its layers, outermost first, one after the other behind a slash.
    pub layers: String,
    /// Where each of them starts.
    pub starts: Vec<usize>,
}

/// So many frames go by between two questions whether to stop.
const N_FRAMES_PER_QUESTION: u64 = 1 << 14;

/// The frames of these numbers, in ascending order; what lies behind the last is not read.
///
/// # Errors
/// [`Error::Interrupted`] once `cancelled` says so, [`Error::Capture`] or [`Error::Io`] where the
/// file cannot be read.
pub fn frames_at(
    path: &Path,
    numbers: &[u64],
    decoder: &Decoder,
    cancelled: &dyn Fn() -> bool,
) -> Result<Vec<FrameByNumber>> {
    let last = numbers.iter().copied().max().unwrap_or(0);
    let mut capture = Capture::open(path)?;
    let mut found = Vec::new();
    let mut packet = Packet::new();
    let mut number = 0;
    while number < last {
        let Some(frame) = capture.next_frame() else {
            break;
        };
        number = frame.number;
        if number % N_FRAMES_PER_QUESTION == 0 && cancelled() {
            return Err(Error::Interrupted);
        }
        if numbers.contains(&number) {
            let starts = decoder.layer_starts(&frame, &mut packet);
            found.push(FrameByNumber {
                number,
                link: frame.link,
                wire_bytes: frame.wire_bytes,
                bytes: frame.bytes.to_vec(),
                layers: layer_path(&packet),
                starts,
            });
        }
    }
    Ok(found)
}
