//! A capture as a digest: the same frames without their payload and addresses, so that two who hold captures
//! of one path can compare them without showing each other packets.

mod frame;
mod headers;
mod key;
mod pseudonyms;

use crate::base::error::{Error, Result};
use crate::file::{BlockWriter, Capture, Interface, file_header, interface_block, last_blocks};
use crate::wire::{Decoder, Packet};
use frame::FrameDigester;
pub use key::DigestKey;
use pseudonyms::Pseudonyms;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// What became of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DigestCounts {
    /// Its frames.
    pub n_frames: u64,
    /// Those of which a header could not be shown without addresses; it counts as payload.
    pub n_hidden: u64,
    /// Bytes of the digest.
    pub n_bytes: u64,
}

/// So many frames go by between two questions whether to stop.
const N_FRAMES_PER_QUESTION: u64 = 1 << 14;
/// Of zstd: what takes longer makes digests of a million packets 3 % smaller.
const LEVEL: i32 = 9;

/// Writes the digest of a capture to `out`, which must not exist, and returns what became of it.
///
/// # Errors
/// [`Error::Interrupted`] once `cancelled` says so, [`Error::Capture`] or [`Error::Io`] where a file
/// cannot be read or written.
pub fn write_digest(
    path: &Path,
    decoder: &Decoder,
    key: &DigestKey,
    keeps_addresses: bool,
    out: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<DigestCounts> {
    let mut capture = Capture::open(path)?;
    if capture.digest_key().is_some() {
        let text = format!("{}: is a digest already", path.display());
        return Err(Error::Argument(text));
    }
    let failed = |source| Error::Io {
        path: out.into(),
        source,
    };
    let mut writer = DigestWriter::create(out, key).map_err(failed)?;
    let names = Pseudonyms::new((!keeps_addresses).then(|| key.clone()));
    let mut digester = FrameDigester::new(key.clone(), names);
    let mut packet = Packet::new();
    while let Some(frame) = capture.next_frame() {
        if frame.number % N_FRAMES_PER_QUESTION == 0 && cancelled() {
            return Err(Error::Interrupted);
        }
        let starts = decoder.layer_starts(&frame, &mut packet);
        digester.take(&frame, &packet, &starts, &mut writer.frames);
        if writer.frames.is_full() {
            writer.write(capture.interfaces()).map_err(failed)?;
        }
    }
    let n_bytes = writer.finish(&capture).map_err(failed)?;
    Ok(DigestCounts {
        n_bytes,
        ..digester.counts
    })
}

/// Writes blocks, compressed.
struct DigestWriter {
    out: zstd::Encoder<'static, BufWriter<File>>,
    frames: BlockWriter,
    n_interfaces: usize,
}

impl DigestWriter {
    fn create(path: &Path, key: &DigestKey) -> std::io::Result<Self> {
        let file = BufWriter::new(File::create_new(path)?);
        let mut out = zstd::Encoder::new(file, LEVEL)?;
        out.include_checksum(true)?;
        out.write_all(&file_header(key.check()))?;
        Ok(Self {
            out,
            frames: BlockWriter::default(),
            n_interfaces: 0,
        })
    }

    /// An interface stands before the frames that it saw.
    fn write(&mut self, interfaces: &[Interface]) -> std::io::Result<()> {
        for interface in interfaces.iter().skip(self.n_interfaces) {
            self.out.write_all(&interface_block(interface))?;
        }
        self.n_interfaces = interfaces.len();
        self.out.write_all(&self.frames.take())
    }

    fn finish(mut self, capture: &Capture) -> std::io::Result<u64> {
        self.write(capture.interfaces())?;
        self.out.write_all(&last_blocks(capture))?;
        let file = self.out.finish()?.into_inner()?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    }
}
