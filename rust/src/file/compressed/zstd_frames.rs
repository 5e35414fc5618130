//! Frames of zstd: how long each is, without decompressing it.
//!
//! Spec: RFC 8878 §3.1. Each block of a frame says how long it is. Many frames say how long they are
//! decompressed; of those that do not, a table at the end may (zstd's `contrib/seekable_format`).

use super::seek_table::{MOST_MEMBER_BYTES, SeekTable, bytes_at};
use std::fs::File;

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;
const SKIPPABLE_HEAD_BYTES: u64 = 8;
/// The longest head: magic, descriptor, window, dictionary, length.
const MOST_HEAD_BYTES: usize = 4 + 1 + 1 + 4 + 8;
const BLOCK_HEAD_BYTES: usize = 3;
const CHECKSUM_BYTES: u64 = 4;

/// The table of a file whose frames are all short, and say how long.
pub(super) fn walk(file: &mut File, n_file_bytes: u64) -> Option<SeekTable> {
    let mut table = SeekTable::new();
    let mut listed = None;
    while table.at_file_byte() < n_file_bytes {
        let at_byte = table.at_file_byte();
        let bytes = bytes_at(file, at_byte, MOST_HEAD_BYTES)?;
        if let Some(n_file_bytes) = skippable_bytes(&bytes) {
            table.add(n_file_bytes, 0)?;
            continue;
        }
        let head = FrameHead::read(&bytes)?;
        let n_bytes = head.n_bytes.or_else(|| {
            let listed = listed.get_or_insert_with(|| Listed::read(file, n_file_bytes));
            listed.as_ref()?.n_bytes(at_byte)
        })?;
        // before its blocks are counted: a file of one frame is of no use
        if n_bytes > MOST_MEMBER_BYTES {
            return None;
        }
        let end_byte = blocks_end(file, at_byte.checked_add(head.head_bytes)?, n_file_bytes)?;
        let n_frame_bytes = end_byte + head.checksum_bytes - at_byte;
        table.add(n_frame_bytes, n_bytes)?;
    }
    // a frame that is cut ends behind the file
    (table.at_file_byte() == n_file_bytes).then_some(table)
}

fn skippable_bytes(bytes: &[u8]) -> Option<u64> {
    let (magic, rest) = bytes.split_first_chunk()?;
    let is_skippable = u32::from_le_bytes(*magic) & !0xf == SKIPPABLE_MAGIC;
    let n_bytes = u32::from_le_bytes(*rest.first_chunk()?);
    is_skippable.then_some(SKIPPABLE_HEAD_BYTES + u64::from(n_bytes))
}

/// What stands before the blocks of a frame.
#[expect(clippy::struct_field_names, reason = "names end with their unit")]
struct FrameHead {
    head_bytes: u64,
    checksum_bytes: u64,
    /// How long it is decompressed, if it says so.
    n_bytes: Option<u64>,
}

impl FrameHead {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (descriptor, _) = bytes.strip_prefix(&MAGIC)?.split_first()?;
        let is_single = descriptor & 0x20 != 0;
        let n_length_bytes = match (descriptor >> 6, is_single) {
            (0, false) => 0,
            (size, _) => 1_usize << size,
        };
        let n_dictionary_bytes = [0, 1, 2, 4].get(usize::from(descriptor & 3))?;
        let at = MAGIC.len() + 1 + usize::from(!is_single) + n_dictionary_bytes;
        let mut length = [0; 8];
        let given = bytes.get(at..at + n_length_bytes)?;
        length.get_mut(..n_length_bytes)?.copy_from_slice(given);
        // two bytes begin where one ends
        let least = if n_length_bytes == 2 { 256 } else { 0 };
        let n_bytes = u64::from_le_bytes(length).saturating_add(least);
        let has_checksum = descriptor & 4 != 0;
        Some(Self {
            head_bytes: (at + n_length_bytes) as u64,
            checksum_bytes: if has_checksum { CHECKSUM_BYTES } else { 0 },
            n_bytes: (n_length_bytes > 0).then_some(n_bytes),
        })
    }
}

/// Where the blocks of a frame end that begin at a byte.
fn blocks_end(file: &mut File, mut at_byte: u64, n_file_bytes: u64) -> Option<u64> {
    const RUN: u32 = 1;
    while at_byte < n_file_bytes {
        let bytes = bytes_at(file, at_byte, BLOCK_HEAD_BYTES)?;
        let &[low, middle, high] = bytes.first_chunk()?;
        let head = u32::from_le_bytes([low, middle, high, 0]);
        let is_last = head & 1 == 1;
        let n_bytes = if (head >> 1) & 3 == RUN { 1 } else { head >> 3 };
        at_byte += BLOCK_HEAD_BYTES as u64 + u64::from(n_bytes);
        if is_last {
            return Some(at_byte);
        }
    }
    None
}

/// The table at the end of a file in the seekable format: a hint, like all that a file says.
struct Listed {
    /// By frame: where it begins in the file, and its decompressed length.
    frames: Vec<(u64, u64)>,
}

impl Listed {
    /// Number of frames, descriptor, magic.
    const FOOT_BYTES: usize = 9;
    const FOOT_MAGIC: &[u8] = &[0xb1, 0xea, 0x92, 0x8f];
    const MOST_FRAMES: u32 = 1 << 20;

    fn read(file: &mut File, n_file_bytes: u64) -> Option<Self> {
        let from_byte = n_file_bytes.checked_sub(Self::FOOT_BYTES as u64)?;
        let foot = bytes_at(file, from_byte, Self::FOOT_BYTES)?;
        let (n_frames, rest) = foot.split_first_chunk()?;
        let n_frames = u32::from_le_bytes(*n_frames);
        let (descriptor, magic) = rest.split_first()?;
        if magic != Self::FOOT_MAGIC || n_frames > Self::MOST_FRAMES {
            return None;
        }
        let n_each = if descriptor & 0x80 == 0 { 8 } else { 12 };
        let n_bytes = n_frames as usize * n_each;
        let rows = bytes_at(file, from_byte.checked_sub(n_bytes as u64)?, n_bytes)?;
        let (mut frames, mut at_byte) = (Vec::with_capacity(n_frames as usize), 0);
        for row in rows.chunks_exact(n_each) {
            let (n_frame_bytes, rest) = row.split_first_chunk()?;
            frames.push((at_byte, u64::from(u32::from_le_bytes(*rest.first_chunk()?))));
            at_byte += u64::from(u32::from_le_bytes(*n_frame_bytes));
        }
        Some(Self { frames })
    }

    fn n_bytes(&self, at_byte: u64) -> Option<u64> {
        let found = self.frames.binary_search_by_key(&at_byte, |frame| frame.0);
        self.frames.get(found.ok()?).map(|frame| frame.1)
    }
}
