//! BGZF: gzip in members of at most 64 KiB, each of which says how long it is.
//!
//! Spec: SAM/BAM format specification v1.6, §4.1; made by `bgzip`.

use super::seek_table::{SeekTable, bytes_at};
use std::fs::File;

/// RFC 1952 §2.3: ID, method, flags (extra fields alone), time, two more; then the length of the extra fields.
const MAGIC: &[u8] = &[0x1f, 0x8b, 8, 4];
const HEAD_BYTES: usize = 12;
/// What is looked at for the subfield; `bgzip` writes no other.
const MOST_EXTRA_BYTES: usize = 64;
/// Decompressed length modulo 2³², the last field of a member.
const LENGTH_BYTES: usize = 4;
const MOST_BYTES: u32 = 1 << 16;

/// The table of a file whose members are all of this kind.
pub(super) fn walk(file: &mut File, n_file_bytes: u64) -> Option<SeekTable> {
    let mut table = SeekTable::new();
    let mut head = bytes_at(file, 0, HEAD_BYTES + MOST_EXTRA_BYTES)?;
    while table.at_file_byte() < n_file_bytes {
        let n_member_bytes = member_bytes(&head)?;
        let end_byte = table.at_file_byte().checked_add(n_member_bytes)?;
        let from_byte = end_byte.checked_sub(LENGTH_BYTES as u64)?;
        // its last field, and the head of the next one
        let read = bytes_at(
            file,
            from_byte,
            LENGTH_BYTES + HEAD_BYTES + MOST_EXTRA_BYTES,
        )?;
        let (length, next) = read.split_first_chunk()?;
        let n_bytes = u32::from_le_bytes(*length);
        if n_bytes > MOST_BYTES {
            return None;
        }
        table.add(n_member_bytes, u64::from(n_bytes))?;
        head = next.to_vec();
    }
    Some(table)
}

/// How long the member is that begins so.
fn member_bytes(head: &[u8]) -> Option<u64> {
    let rest = head.strip_prefix(MAGIC)?.get(6..)?;
    let (n_extra, rest) = rest.split_first_chunk()?;
    let mut extra = rest.get(..usize::from(u16::from_le_bytes(*n_extra)))?;
    loop {
        let (name, rest) = extra.split_first_chunk::<2>()?;
        let (n_bytes, rest) = rest.split_first_chunk()?;
        let value = rest.get(..usize::from(u16::from_le_bytes(*n_bytes)))?;
        if let (b"BC", Ok(last)) = (name, value.try_into()) {
            return Some(u64::from(u16::from_le_bytes(last)) + 1);
        }
        extra = rest.get(value.len()..)?;
    }
}
