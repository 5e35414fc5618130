//! A digest: what matching asks of a capture's frames, without their payload and addresses.
//!
//! Written by `export::digest`, described in docs/digest.md. Its headers are whole but for addresses, which
//! are pseudonyms (RFC 6235 §4.1); of what follows them there are a few keyed bytes at fixed places, all else
//! reads as 0. So a digest is read as a capture.
//!
//! ```text
//!  "pcapldig"  version  key check  blocks:  kind  length  body
//!  8           2        8                   1     4       …
//! ```
//! Numbers are little-endian. All of it is compressed as one zstd stream, which is undone before.

mod bases;
mod block;
mod columns;
mod marks;

use super::input::Input;
use super::{
    Capture, Damage, Findings, Format, Frame, FrameDirection, Interface, Opened, Records, Sign,
};
use block::BlockReader;
pub use block::{BlockWriter, DigestedFrame};
use columns::Values;
pub use marks::{Content, ContentKind};

pub(super) const FORMAT: Format = Format {
    name: "digest",
    spec: "docs/digest.md (pcaplat's own)",
    variants: &[],
    sign: Sign::Magic(|head| head.starts_with(MAGIC)),
    open,
};

const MAGIC: &[u8; 8] = b"pcapldig";
const VERSION: u16 = 1;
const HEADER_BYTES: usize = 18;
const BLOCK_HEADER_BYTES: usize = 5;
/// A longer block is none.
const MAX_BLOCK_BYTES: usize = 64 << 20;
/// A second: no clock of packets is coarser.
const MAX_RESOLUTION_NS: f64 = 1e9;

/// Of an interface whose clock the capture does not tell.
const UNKNOWN_CLOCK: u32 = u32::MAX;

/// The kinds of blocks.
const INTERFACE: u8 = b'I';
const FRAMES: u8 = b'F';
const DROPPED: u8 = b'D';
const DAMAGE: u8 = b'X';
const END: u8 = b'E';

/// The start of a digest made with a key whose check value this is.
#[must_use]
pub fn file_header(key_check: u64) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend(VERSION.to_le_bytes());
    header.extend(key_check.to_le_bytes());
    header
}

/// The block of an interface.
#[must_use]
pub fn interface_block(interface: &Interface) -> Vec<u8> {
    let mut body = interface.link.to_le_bytes().to_vec();
    body.extend(interface.resolution_ns.to_le_bytes());
    body.extend(interface.snap_bytes.to_le_bytes());
    body.extend(interface.clock.unwrap_or(UNKNOWN_CLOCK).to_le_bytes());
    if let Some(name) = &interface.name {
        body.push(1);
        body.extend(name.as_bytes());
    }
    block(INTERFACE, &body)
}

/// What is known at a capture's end: frames that each interface dropped, and damage. Then the end.
#[must_use]
pub fn last_blocks(capture: &Capture) -> Vec<u8> {
    let mut dropped = Vec::new();
    for interface in capture.interfaces() {
        let told = interface.n_dropped.map_or(0, |n| n.saturating_add(1));
        columns::push(&mut dropped, told);
    }
    let mut last = block(DROPPED, &dropped);
    for damage in capture.damage() {
        let mut body = vec![u8::from(capture.is_truncated())];
        body.extend(damage.at_byte.to_le_bytes());
        last.extend(block(DAMAGE, &body));
    }
    last.extend(block(END, &[]));
    last
}

fn block(kind: u8, body: &[u8]) -> Vec<u8> {
    let n_bytes = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let mut bytes = vec![kind];
    bytes.extend(n_bytes.to_le_bytes());
    bytes.extend(body);
    bytes
}

fn open(input: &mut Input, findings: &mut Findings) -> Opened {
    let refused = |text| Damage { at_byte: 0, text };
    let had = input.window().len();
    if !input.fill(HEADER_BYTES) {
        return Err(refused(format!(
            "a digest cut in its header: {HEADER_BYTES} bytes needed, {had} there"
        )));
    }
    let header = input.take(HEADER_BYTES);
    let behind_magic = header.get(MAGIC.len()..).unwrap_or_default();
    let (version, key_check) = behind_magic.split_first_chunk().unwrap_or((&[0; 2], &[]));
    let version = u16::from_le_bytes(*version);
    if version != VERSION {
        return Err(refused(format!(
            "a digest of version {version}; only {VERSION} is known: install a newer pcaplat"
        )));
    }
    findings.digest_key = key_check.first_chunk().copied().map(u64::from_le_bytes);
    Ok(Box::new(Digest::default()))
}

/// Reads a digest.
#[derive(Default)]
struct Digest {
    frames: BlockReader,
    has_ended: bool,
}

impl Digest {
    /// Reads blocks until there are frames; `None` where there are no more.
    fn next_block(&mut self, input: &mut Input, findings: &mut Findings) -> Option<()> {
        while self.frames.is_empty() {
            let at_byte = input.at_byte();
            let (kind, n_bytes) = self.block_header(input, findings)?;
            if self
                .take_block(kind, input.take(n_bytes), findings)
                .is_none()
            {
                findings.is_truncated = true;
                let text =
                    format!("a block of {n_bytes} bytes is damaged; what came before is used");
                findings.damaged(at_byte, text);
                return None;
            }
        }
        Some(())
    }

    fn take_block(&mut self, kind: u8, body: &[u8], findings: &mut Findings) -> Option<()> {
        match kind {
            FRAMES => self.frames.open(body)?,
            INTERFACE => findings.interfaces.push(interface(body)?),
            DROPPED => note_dropped(body, findings)?,
            DAMAGE => note_damage(body, findings)?,
            END => self.has_ended = true,
            _ => return None,
        }
        Some(())
    }

    /// What block is next, and how many bytes it has, all of which are there then.
    fn block_header(&self, input: &mut Input, findings: &mut Findings) -> Option<(u8, usize)> {
        if !input.fill(BLOCK_HEADER_BYTES) {
            self.ended(input, findings);
            return None;
        }
        let [kind, length @ ..] = *input.window().first_chunk::<BLOCK_HEADER_BYTES>()?;
        let n_bytes = u32::from_le_bytes(length) as usize;
        if n_bytes > MAX_BLOCK_BYTES {
            findings.is_truncated = true;
            let text = format!("a block claims {n_bytes} bytes; what came before is used");
            findings.damaged(input.at_byte(), text);
            return None;
        }
        if !input.fill(BLOCK_HEADER_BYTES + n_bytes) {
            findings.ended(input, BLOCK_HEADER_BYTES + n_bytes, "a block");
            return None;
        }
        input.take(BLOCK_HEADER_BYTES);
        Some((kind, n_bytes))
    }

    /// A digest says where it ends.
    #[cold]
    fn ended(&self, input: &mut Input, findings: &mut Findings) {
        if !input.window().is_empty() {
            findings.ended(input, BLOCK_HEADER_BYTES, "a block");
        } else if !self.has_ended {
            findings.is_truncated = true;
            let text = "the digest was cut short; what came before is used".to_owned();
            findings.damaged(input.at_byte(), text);
        }
    }
}

fn note_dropped(body: &[u8], findings: &mut Findings) -> Option<()> {
    let mut values = Values::new(body);
    for interface in &mut findings.interfaces {
        let n_dropped = values.next()?.checked_sub(1);
        interface.n_dropped = n_dropped.filter(|n| i64::try_from(*n).is_ok());
    }
    Some(())
}

fn note_damage(body: &[u8], findings: &mut Findings) -> Option<()> {
    let (is_truncated, at_byte) = body.split_first()?;
    findings.is_truncated |= *is_truncated != 0;
    let text = "the capture is damaged here; its digest ends here".to_owned();
    findings.damaged(u64::from_le_bytes(*at_byte.first_chunk()?), text);
    Some(())
}

fn interface(body: &[u8]) -> Option<Interface> {
    let (link, rest) = body.split_first_chunk()?;
    let (resolution_ns, rest) = rest.split_first_chunk()?;
    let (snap_bytes, rest) = rest.split_first_chunk()?;
    let (clock, rest) = rest.split_first_chunk()?;
    let resolution_ns = f64::from_le_bytes(*resolution_ns);
    if !(0.0..=MAX_RESOLUTION_NS).contains(&resolution_ns) {
        return None;
    }
    let name = rest.split_first().map(|(_, name)| name);
    Some(Interface {
        name: name.map(|name| String::from_utf8_lossy(name).into_owned()),
        link: u16::from_le_bytes(*link),
        resolution_ns,
        snap_bytes: u32::from_le_bytes(*snap_bytes),
        clock: Some(u32::from_le_bytes(*clock)).filter(|clock| *clock != UNKNOWN_CLOCK),
        is_aligned: false,
        n_dropped: None,
    })
}

impl Records for Digest {
    fn next_frame<'a>(
        &'a mut self,
        input: &'a mut Input,
        findings: &mut Findings,
    ) -> Option<Frame<'a>> {
        self.next_block(input, findings)?;
        let frame = self.frames.next_frame()?;
        if frame.interface as usize >= findings.interfaces.len() {
            findings.is_truncated = true;
            let text = "a frame of an interface that is not there; what came before is used";
            findings.damaged(input.at_byte(), text.to_owned());
            return None;
        }
        let number = findings.next_number();
        Some(Frame {
            number,
            t_ns: frame.t_ns,
            stamp_ns: None,
            late_ns: 0,
            packet_id: 0,
            has_time: frame.has_time,
            interface: frame.interface,
            link: frame.link,
            wire_bytes: frame.wire_bytes,
            fcs_bytes: frame.fcs_bytes,
            direction: frame.direction,
            bytes: self.frames.bytes(),
        })
    }
}

/// A direction as a number.
const fn direction_code(direction: FrameDirection) -> u64 {
    match direction {
        FrameDirection::Unknown => 0,
        FrameDirection::In => 1,
        FrameDirection::Out => 2,
    }
}

/// See [`direction_code`].
const fn direction_of(code: u64) -> FrameDirection {
    match code & 3 {
        1 => FrameDirection::In,
        2 => FrameDirection::Out,
        _ => FrameDirection::Unknown,
    }
}
