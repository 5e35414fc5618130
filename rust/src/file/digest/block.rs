//! Many frames as one block: each field a column, headers as differences, byte by byte.

use super::bases::{Bases, MAX_HEADER_BYTES, N_SLOTS};
use super::columns::{Values, folded, push, unfolded};
use super::marks::Content;
use super::{FRAMES, FrameDirection, block, direction_code, direction_of};
use std::collections::HashMap;

/// A frame of a digest, but for its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestedFrame {
    /// See [`super::Frame`].
    pub t_ns: i64,
    /// See [`super::Frame`].
    pub has_time: bool,
    /// See [`super::Frame`].
    pub direction: FrameDirection,
    /// See [`super::Frame`].
    pub interface: u32,
    /// See [`super::Frame`].
    pub link: u16,
    /// See [`super::Frame`].
    pub wire_bytes: u32,
    /// See [`super::Frame`].
    pub fcs_bytes: u8,
    /// What follows its headers.
    pub content: Content,
}

const N_FRAMES: usize = 4096;
const N_COLUMNS: usize = 11;
/// What follows a header is cut there; captures hold no more of a frame (libpcap's `MAXIMUM_SNAPLEN`).
const MAX_CONTENT_BYTES: usize = 1 << 18;

type FrameColumns = [Vec<u64>; N_COLUMNS];

/// Makes blocks of frames.
#[derive(Default)]
pub struct BlockWriter {
    columns: FrameColumns,
    differences: Vec<Vec<u8>>,
    marks: Vec<u8>,
    last_ns: i64,
    bases: Bases,
    slots: HashMap<u64, usize>,
    next_slot: usize,
}

impl BlockWriter {
    /// As much of a header is kept as one.
    pub const MAX_HEADER_BYTES: usize = MAX_HEADER_BYTES;
    /// As much is kept of what follows it.
    pub const MAX_CONTENT_BYTES: usize = MAX_CONTENT_BYTES;

    /// Takes a frame of a flow, with its header and the marks of its content.
    pub fn push(&mut self, frame: &DigestedFrame, flow: u64, header: &[u8], marks: &[u8]) {
        let slot = self.slot_of(flow);
        let time = frame.t_ns.wrapping_sub(self.last_ns);
        self.last_ns = frame.t_ns;
        let flags = u64::from(frame.has_time) | direction_code(frame.direction) << 1;
        let values = [
            folded(time),
            flags | frame.content.code() << 3,
            frame.interface.into(),
            frame.link.into(),
            frame.wire_bytes.into(),
            frame.fcs_bytes.into(),
            header.len() as u64,
            slot as u64,
            frame.content.n_bytes as u64,
            frame.content.n_wire_bytes as u64,
            frame.content.n_padding as u64,
        ];
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(value);
        }
        let mut difference = Vec::with_capacity(header.len());
        self.bases.subtract(slot, header, &mut difference);
        self.differences.push(difference);
        self.marks.extend(marks);
    }

    /// Whether it is time to take a block.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.differences.len() >= N_FRAMES
    }

    /// The block of the frames that were taken since the last; empty if there are none.
    pub fn take(&mut self) -> Vec<u8> {
        let differences = std::mem::take(&mut self.differences);
        if differences.is_empty() {
            return Vec::new();
        }
        let mut body = Vec::new();
        push(&mut body, differences.len() as u64);
        for value in self.columns.iter_mut().flat_map(|column| column.drain(..)) {
            push(&mut body, value);
        }
        for at in 0..differences.iter().map(Vec::len).max().unwrap_or(0) {
            body.extend(
                differences
                    .iter()
                    .filter_map(|difference| difference.get(at)),
            );
        }
        body.append(&mut self.marks);
        block(FRAMES, &body)
    }

    fn slot_of(&mut self, flow: u64) -> usize {
        if let Some(slot) = self.slots.get(&flow) {
            return *slot;
        }
        if self.next_slot == N_SLOTS {
            self.next_slot = 0;
            self.slots.clear();
        }
        let slot = self.next_slot;
        self.next_slot += 1;
        self.slots.insert(flow, slot);
        slot
    }
}

/// Gives back the frames of blocks.
#[derive(Default)]
pub(super) struct BlockReader {
    columns: FrameColumns,
    /// The next frame of the block, and how many it has.
    next: (usize, usize),
    differences: Vec<u8>,
    marks: Vec<u8>,
    /// Where the next frame's lie in both.
    at: (usize, usize),
    last_ns: i64,
    bases: Bases,
    bytes: Vec<u8>,
}

impl BlockReader {
    pub(super) const fn is_empty(&self) -> bool {
        self.next.0 >= self.next.1
    }

    /// The bytes of the frame that was read last.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes a block; `None` if it is damaged.
    pub(super) fn open(&mut self, body: &[u8]) -> Option<()> {
        let mut values = Values::new(body);
        let n_frames = usize::try_from(values.next()?).ok()?;
        if n_frames > N_FRAMES {
            return None;
        }
        for column in &mut self.columns {
            *column = values.column(n_frames)?;
        }
        if !is_sound(&self.columns) {
            return None;
        }
        let [.., headers, _, _, _, _] = &self.columns;
        self.differences = rows(headers, &mut values)?;
        let n_marks = (0..n_frames)
            .map(|at| self.content(at).places().count())
            .sum();
        self.marks = values.raw(n_marks)?.to_vec();
        (self.next, self.at) = ((0, n_frames), (0, 0));
        Some(())
    }

    /// The next frame of the block.
    pub(super) fn next_frame(&mut self) -> Option<DigestedFrame> {
        let at = self.next.0;
        let [
            times,
            flags,
            interfaces,
            links,
            wires,
            checks,
            headers,
            slots,
            ..,
        ] = &self.columns;
        let number = |column: &[u64]| usize::try_from(*column.get(at)?).ok();
        let (n_header, slot) = (number(headers)?, number(slots)?);
        self.last_ns = self.last_ns.wrapping_add(unfolded(*times.get(at)?));
        let flags = *flags.get(at)?;
        let frame = DigestedFrame {
            t_ns: self.last_ns,
            has_time: flags & 1 == 1,
            direction: direction_of(flags >> 1),
            interface: u32::try_from(*interfaces.get(at)?).ok()?,
            link: u16::try_from(*links.get(at)?).ok()?,
            wire_bytes: u32::try_from(*wires.get(at)?).ok()?,
            fcs_bytes: u8::try_from(*checks.get(at)?).ok()?,
            content: self.content(at),
        };
        self.next.0 += 1;
        self.fill(n_header, slot, frame.content)?;
        Some(frame)
    }

    /// Makes the frame's bytes.
    fn fill(&mut self, n_header: usize, slot: usize, content: Content) -> Option<()> {
        let difference = self.differences.get(self.at.0..self.at.0 + n_header)?;
        self.bases.add(slot, difference, &mut self.bytes);
        self.at.0 += n_header;
        self.fill_content(content);
        Some(())
    }

    fn content(&self, at: usize) -> Content {
        let [_, flags, .., contents, on_wire, paddings] = &self.columns;
        let count = |column: &Vec<u64>| {
            let n = column.get(at).and_then(|n| usize::try_from(*n).ok());
            n.unwrap_or(0)
        };
        let code = flags.get(at).map_or(0, |flags| flags >> 3);
        Content::of(code, [contents, on_wire, paddings].map(count))
    }

    fn fill_content(&mut self, content: Content) {
        let start = self.bytes.len();
        self.bytes.resize(start + content.n_bytes, 0);
        for at in content.places() {
            if let (Some(mark), Some(place)) =
                (self.marks.get(self.at.1), self.bytes.get_mut(start + at))
            {
                *place = *mark;
            }
            self.at.1 += 1;
        }
        self.bytes.resize(self.bytes.len() + content.n_padding, 0);
    }
}

/// Whether every number is one that a frame may have.
fn is_sound(columns: &FrameColumns) -> bool {
    const U8: u64 = 0xff;
    const U16: u64 = 0xffff;
    const U32: u64 = 0xffff_ffff;
    const CONTENT: u64 = MAX_CONTENT_BYTES as u64;
    let [
        _,
        _,
        interfaces,
        links,
        wires,
        checks,
        headers,
        slots,
        contents,
        on_wire,
        paddings,
    ] = columns;
    let bounds = [
        (interfaces, U32),
        (links, U16),
        (wires, U32),
        (checks, U8),
        (headers, MAX_HEADER_BYTES as u64),
        (slots, N_SLOTS as u64 - 1),
        (contents, CONTENT),
        (on_wire, U32),
        (paddings, CONTENT),
    ];
    bounds
        .iter()
        .all(|(column, most)| column.iter().all(|value| value <= most))
}

/// Rows of these lengths from planes: first the first bytes of all, then the second ones.
fn rows(lengths: &[u64], values: &mut Values<'_>) -> Option<Vec<u8>> {
    let lengths: Vec<usize> = lengths
        .iter()
        .filter_map(|n| usize::try_from(*n).ok())
        .collect();
    let mut rows = vec![0; lengths.iter().sum()];
    for plane in 0..lengths.iter().copied().max().unwrap_or(0) {
        let n_here = lengths.iter().filter(|n| **n > plane).count();
        let mut bytes = values.raw(n_here)?.iter();
        let mut start = 0;
        for n_bytes in &lengths {
            if *n_bytes > plane {
                *rows.get_mut(start + plane)? = *bytes.next()?;
            }
            start += n_bytes;
        }
    }
    Some(rows)
}
