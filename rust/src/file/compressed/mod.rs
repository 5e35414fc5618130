//! Compression: undone while reading, recognised by the first bytes, never by the file's name.

mod ahead;
mod members;

use std::io::{ErrorKind, Read, Result};

use super::input::Input;
use ahead::ReadAhead;
use members::{Bzip2, Gzip, Members, Xz, Zstd};

type Decompressor = Box<dyn Read + Send>;

/// A way to compress files.
pub struct Codec {
    /// Its name.
    pub name: &'static str,
    magic: &'static [u8],
    decode: fn(Input) -> Result<Decompressor>,
}

impl Codec {
    /// Whether a file that starts with these bytes is compressed so.
    #[must_use]
    pub fn knows(&self, head: &[u8]) -> bool {
        head.starts_with(self.magic)
    }
}

/// Every codec there is.
pub static CODECS: [Codec; 5] = [
    codec("gzip", &[0x1f, 0x8b], |input| {
        Ok(Box::new(Members::new(input, Gzip::new())))
    }),
    codec("zstd", &[0x28, 0xb5, 0x2f, 0xfd], |input| {
        Ok(Box::new(Members::new(input, Zstd::new()?)))
    }),
    codec("lz4", &[0x04, 0x22, 0x4d, 0x18], |input| {
        Ok(Box::new(Lz4Frames::new(input)))
    }),
    codec("xz", b"\xfd7zXZ\0", |input| {
        Ok(Box::new(Members::new(input, Xz::new(MAX_DECODER_BYTES)?)))
    }),
    codec("bzip2", b"BZh", |input| {
        Ok(Box::new(Members::new(input, Bzip2::new())))
    }),
];

const fn codec(
    name: &'static str,
    magic: &'static [u8],
    decode: fn(Input) -> Result<Decompressor>,
) -> Codec {
    Codec {
        name,
        magic,
        decode,
    }
}

/// A dictionary of 64 MiB is what `xz -9` asks for; all of us stay below 256 MB.
const MAX_DECODER_BYTES: u64 = 128 << 20;

/// The longest magic.
const MAGIC_BYTES: usize = 6;

/// `input` without its compression, and the name of that.
pub(super) fn undo(mut input: Input) -> Result<(Input, Option<&'static str>)> {
    input.fill(MAGIC_BYTES);
    let Some(codec) = CODECS.iter().find(|codec| codec.knows(input.window())) else {
        return Ok((input, None));
    };
    let is_live = input.is_live();
    let plain = (codec.decode)(input)?;
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
