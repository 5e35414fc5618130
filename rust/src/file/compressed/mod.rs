//! Compression: undone while reading, recognised by the first bytes, never by the file's name.

mod ahead;
mod bgzf;
mod members;
mod seek_table;
mod zstd_frames;

use std::io::{ErrorKind, Read, Result};
use std::path::Path;
use std::sync::Arc;

use super::input::Input;
use ahead::ReadAhead;
use members::{Bzip2, Gzip, Members, Xz, Zstd};
use seek_table::{FirstLie, SeekTable, Watch};

type Decompressor = Box<dyn Read + Send>;

/// A way to compress files.
pub struct Codec {
    /// Its name.
    pub name: &'static str,
    magics: &'static [&'static [u8]],
    decode: Decode,
}

type Decode = fn(Input, Option<Watch>) -> Result<Decompressor>;

impl Codec {
    /// Whether a file that starts with these bytes is compressed so.
    #[must_use]
    pub fn knows(&self, head: &[u8]) -> bool {
        self.magics.iter().any(|magic| head.starts_with(magic))
    }
}

/// Every codec there is.
pub static CODECS: [Codec; 5] = [
    codec("gzip", &[&[0x1f, 0x8b]], |input, watch| {
        Ok(Box::new(Members::new(input, Gzip::new()).watched(watch)))
    }),
    codec("zstd", &[ZSTD_MAGIC, PZSTD_MAGIC], |input, watch| {
        Ok(Box::new(Members::new(input, Zstd::new()?).watched(watch)))
    }),
    codec("lz4", &[&[0x04, 0x22, 0x4d, 0x18]], |input, _| {
        Ok(Box::new(Lz4Frames::new(input)))
    }),
    codec("xz", &[b"\xfd7zXZ\0"], |input, _| {
        Ok(Box::new(Members::new(input, Xz::new(MAX_DECODER_BYTES)?)))
    }),
    codec("bzip2", &[b"BZh"], |input, _| {
        Ok(Box::new(Members::new(input, Bzip2::new())))
    }),
];

const fn codec(name: &'static str, magics: &'static [&'static [u8]], decode: Decode) -> Codec {
    Codec {
        name,
        magics,
        decode,
    }
}

/// A dictionary of 64 MiB is what `xz -9` asks for; all of us stay below 256 MB.
const MAX_DECODER_BYTES: u64 = 128 << 20;

/// The longest magic.
const MAGIC_BYTES: usize = 8;
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// `pzstd` writes the length of each frame before it, in 4 bytes that are to be skipped.
const PZSTD_MAGIC: &[u8] = &[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0];

fn codec_of(head: &[u8]) -> Option<&'static Codec> {
    CODECS.iter().find(|codec| codec.knows(head))
}

/// How a compressed file is read from its middle.
pub(super) struct Seeking {
    codec: &'static Codec,
    table: Arc<SeekTable>,
    lie: FirstLie,
}

impl Seeking {
    /// Of a file that allows it, as far as it says.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let (table, codec) = SeekTable::of(path)?;
        Some(Self {
            codec,
            table: Arc::new(table),
            lie: FirstLie::none(),
        })
    }

    /// How long the file is, decompressed, if its table is right.
    pub(super) fn n_bytes(&self) -> u64 {
        self.table.n_bytes()
    }

    /// Whether the table was right in what was read up to a byte of the decompressed file.
    pub(super) fn is_right_until(&self, at_byte: u64) -> bool {
        !self.lie.is_before(at_byte)
    }

    /// Where in the file to begin, to read from a byte of the decompressed file on.
    pub(super) fn file_byte(&self, at_byte: u64) -> u64 {
        self.table.before(at_byte).1.at_file_byte
    }

    /// Reads from there, and moves to the byte.
    pub(super) fn read(&self, input: Input, at_byte: u64) -> Result<Input> {
        let from_byte = self.table.before(at_byte).1.at_byte;
        let plain = (self.codec.decode)(input, Some(self.watch(at_byte)))?;
        let mut input = Input::from_byte(Box::new(ReadAhead::start(plain)?), from_byte);
        input.skip(at_byte - from_byte);
        Ok(input)
    }

    fn watch(&self, at_byte: u64) -> Watch {
        let place = self.table.before(at_byte);
        Watch::from(Arc::clone(&self.table), place, self.lie.clone())
    }
}

/// `input` without its compression, and the name of that.
pub(super) fn undo(
    mut input: Input,
    seeking: Option<&Seeking>,
) -> Result<(Input, Option<&'static str>)> {
    input.fill(MAGIC_BYTES);
    let Some(codec) = codec_of(input.window()) else {
        return Ok((input, None));
    };
    let is_live = input.is_live();
    let plain = (codec.decode)(input, seeking.map(|seeking| seeking.watch(0)))?;
    let plain = if is_live {
        Input::live(plain)
    } else {
        Input::new(Box::new(ReadAhead::start(plain)?))
    };
    Ok((plain, Some(codec.name)))
}

/// Reads frame after frame, and tells a frame that was cut from one that ended: the decoder
/// itself takes an end of input between two blocks for the end of the frame.
struct Lz4Frames(lz4_flex::frame::FrameDecoder<WithSentinel>);

/// An input that can be followed by four bytes: too long for a block, too short for a frame.
struct WithSentinel {
    input: Input,
    sentinel: &'static [u8],
}

const SENTINEL: &[u8] = &[0xff; 4];

impl Read for WithSentinel {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        match self.input.read(out)? {
            0 => self.sentinel.read(out),
            n_bytes => Ok(n_bytes),
        }
    }
}

impl Lz4Frames {
    fn new(input: Input) -> Self {
        let source = WithSentinel {
            input,
            sentinel: &[],
        };
        Self(lz4_flex::frame::FrameDecoder::new(source))
    }
}

impl Read for Lz4Frames {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        loop {
            let n_bytes = self.0.read(out)?;
            if n_bytes > 0 || out.is_empty() {
                return Ok(n_bytes);
            }
            let source = self.0.get_mut();
            if !source.input.fill(1) {
                source.sentinel = SENTINEL;
                return self
                    .0
                    .read(out)
                    .map_err(|_| ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
