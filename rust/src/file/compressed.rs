//! Compression: undone while reading, recognised by the first bytes, never by the file's name.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use liblzma::stream::{Action, CONCATENATED, Status, Stream};

use super::input::Input;

type Decoder = Box<dyn Read + Send>;

/// A way to compress files.
pub struct Codec {
    /// Its name.
    pub name: &'static str,
    magic: &'static [u8],
    decode: fn(Input) -> Result<Decoder>,
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
        Ok(Box::new(flate2::bufread::MultiGzDecoder::new(input)))
    }),
    codec("zstd", &[0x28, 0xb5, 0x2f, 0xfd], |input| {
        Ok(Box::new(zstd::stream::read::Decoder::with_buffer(input)?))
    }),
    codec("lz4", &[0x04, 0x22, 0x4d, 0x18], |input| {
        Ok(Box::new(Lz4Frames::new(input)))
    }),
    codec("xz", b"\xfd7zXZ\0", xz),
    codec("bzip2", b"BZh", |input| {
        Ok(Box::new(bzip2::bufread::MultiBzDecoder::new(input)))
    }),
];

const fn codec(
    name: &'static str,
    magic: &'static [u8],
    decode: fn(Input) -> Result<Decoder>,
) -> Codec {
    Codec {
        name,
        magic,
        decode,
    }
}

/// A dictionary of this size is what `xz -9` and `zstd --long` ask for, and then some.
const MAX_DECODER_BYTES: u64 = 256 << 20;

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
        Input::new(plain)
    };
    Ok((plain, Some(codec.name)))
}

fn xz(input: Input) -> Result<Decoder> {
    let stream = Stream::new_stream_decoder(MAX_DECODER_BYTES, CONCATENATED)?;
    Ok(Box::new(Xz {
        input,
        stream,
        failure: None,
    }))
}

/// Gives what came before an error, and then the error; the library's own reader loses it.
struct Xz {
    input: Input,
    stream: Stream,
    failure: Option<Error>,
}

impl Read for Xz {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        loop {
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            let (n_in, n_out) = (self.stream.total_in(), self.stream.total_out());
            let window = self.input.fill_buf()?;
            let is_end = window.is_empty();
            let action = if is_end { Action::Finish } else { Action::Run };
            let status = self.stream.process(window, out, action);
            let n_in = usize::try_from(self.stream.total_in() - n_in).unwrap_or(0);
            let n_out = usize::try_from(self.stream.total_out() - n_out).unwrap_or(0);
            self.input.consume(n_in);
            self.failure = match status {
                Ok(Status::StreamEnd) => return Ok(n_out),
                Ok(_) if is_end && n_out == 0 => Some(ErrorKind::UnexpectedEof.into()),
                Ok(_) if n_in + n_out == 0 => Some(ErrorKind::InvalidData.into()),
                Ok(_) => None,
                Err(error) => Some(error.into()),
            };
            if n_out > 0 || out.is_empty() {
                return Ok(n_out);
            }
        }
    }
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
