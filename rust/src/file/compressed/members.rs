//! Members of a compressed file, one after the other: what came before an error is given, and then
//! the error. The libraries' own readers lose what they had undone in the call that failed.

use super::super::input::Input;
use super::seek_table::Watch;
use std::io::{BufRead, Error, ErrorKind, Read, Result};

/// One way to undo compression, a piece at a time.
pub(super) trait MemberCodec {
    /// Undoes as much as fits: bytes taken, bytes given, and whether the member is over.
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> (usize, usize, Result<bool>);

    /// Gets ready for the next member.
    fn restart(&mut self) -> Result<()>;
}

/// Reads member after member.
pub(super) struct Members<C> {
    input: Input,
    codec: C,
    is_between: bool,
    watch: Option<Watch>,
    /// Said again whenever asked again: a decoder that failed is not to be called.
    failure: Option<(ErrorKind, String)>,
}

impl<C: MemberCodec> Members<C> {
    pub(super) fn new(input: Input, codec: C) -> Self {
        Self {
            input,
            codec,
            is_between: false,
            watch: None,
            failure: None,
        }
    }

    /// The same, compared with what the file says of its members.
    pub(super) fn watched(self, watch: Option<Watch>) -> Self {
        Self { watch, ..self }
    }

    /// Takes note of what a step came to.
    fn note(&mut self, n_in: usize, n_out: usize, result: Result<bool>) {
        self.input.consume(n_in);
        match result {
            Ok(is_over) => self.is_between = is_over,
            Err(error) => self.failure = Some((error.kind(), error.to_string())),
        }
        if let Some(watch) = &mut self.watch {
            watch.advance(n_in, n_out, self.is_between);
        }
    }
}

impl<C: MemberCodec> Read for Members<C> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some((kind, text)) = &self.failure {
                return Err(Error::new(*kind, text.clone()));
            }
            let window = self.input.fill_buf()?;
            let is_end = window.is_empty();
            if self.is_between {
                if is_end {
                    self.watch.iter().for_each(Watch::end);
                    return Ok(0);
                }
                self.codec.restart()?;
                self.is_between = false;
            }
            let (n_in, n_out, result) = self.codec.step(window, out);
            self.note(n_in, n_out, result);
            if n_out > 0 {
                return Ok(n_out);
            }
            if n_in == 0 && !self.is_between && self.failure.is_none() {
                let kind = if is_end {
                    ErrorKind::UnexpectedEof
                } else {
                    ErrorKind::InvalidData
                };
                return Err(kind.into());
            }
        }
    }
}

/// How far two counters went.
fn since(now: (u64, u64), before: (u64, u64)) -> (usize, usize) {
    let gone = |now: u64, before: u64| usize::try_from(now.saturating_sub(before)).unwrap_or(0);
    (gone(now.0, before.0), gone(now.1, before.1))
}

/// RFC 1952.
pub(super) struct Gzip(flate2::Decompress);

impl Gzip {
    /// The largest window there is, 32 KiB (RFC 1951 §2).
    const WINDOW_BITS: u8 = 15;

    pub(super) fn new() -> Self {
        Self(flate2::Decompress::new_gzip(Self::WINDOW_BITS))
    }
}

impl MemberCodec for Gzip {
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> (usize, usize, Result<bool>) {
        let before = (self.0.total_in(), self.0.total_out());
        let status = self.0.decompress(input, out, flate2::FlushDecompress::None);
        let (n_in, n_out) = since((self.0.total_in(), self.0.total_out()), before);
        let is_over = status
            .map(|status| status == flate2::Status::StreamEnd)
            // what it says depends on how much it was asked for at once
            .map_err(|_| Error::new(ErrorKind::InvalidData, "the deflate data are corrupt"));
        (n_in, n_out, is_over)
    }

    fn restart(&mut self) -> Result<()> {
        *self = Self::new();
        Ok(())
    }
}

/// bzip2.
pub(super) struct Bzip2(bzip2::Decompress);

impl Bzip2 {
    pub(super) fn new() -> Self {
        Self(bzip2::Decompress::new(false))
    }
}

impl MemberCodec for Bzip2 {
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> (usize, usize, Result<bool>) {
        let before = (self.0.total_in(), self.0.total_out());
        let status = self.0.decompress(input, out);
        let (n_in, n_out) = since((self.0.total_in(), self.0.total_out()), before);
        let is_over = status
            .map(|status| status == bzip2::Status::StreamEnd)
            .map_err(Error::other);
        (n_in, n_out, is_over)
    }

    fn restart(&mut self) -> Result<()> {
        *self = Self::new();
        Ok(())
    }
}

/// RFC 8878. The library gives nothing of a call that fails: it is shown one block at a time.
pub(super) struct Zstd {
    decoder: zstd::stream::raw::Decoder<'static>,
    /// As much as it can use now, with the header of the block behind.
    n_wanted: usize,
    /// There was no room for all that it had.
    is_full: bool,
}

impl Zstd {
    /// Of a block (RFC 8878 §3.1.1.2).
    const HEADER_BYTES: usize = 3;

    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            decoder: zstd::stream::raw::Decoder::new()?,
            n_wanted: 1,
            is_full: false,
        })
    }

    fn run(&mut self, input: &[u8], out: &mut [u8]) -> (usize, usize, Result<bool>) {
        use zstd::stream::raw::{InBuffer, Operation, OutBuffer};
        let n_out = out.len();
        let (mut from, mut to) = (InBuffer::around(input), OutBuffer::around(out));
        let wanted = self.decoder.run(&mut from, &mut to);
        self.is_full = to.pos() == n_out;
        self.n_wanted = wanted.as_ref().map_or(1, |n_bytes| *n_bytes);
        (from.pos(), to.pos(), wanted.map(|n_bytes| n_bytes == 0))
    }
}

impl MemberCodec for Zstd {
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> (usize, usize, Result<bool>) {
        if self.is_full {
            let rest = self.run(&[], out);
            if rest.1 > 0 || !matches!(rest.2, Ok(false)) {
                return rest;
            }
        }
        // the last octet of a block alone: the call that ends a frame may fail
        let n_shown = self.n_wanted.saturating_sub(Self::HEADER_BYTES + 1).max(1);
        self.run(input.get(..n_shown).unwrap_or(input), out)
    }

    fn restart(&mut self) -> Result<()> {
        (self.n_wanted, self.is_full) = (1, false);
        zstd::stream::raw::Operation::reinit(&mut self.decoder)
    }
}

/// xz, whose library goes from member to member itself.
pub(super) struct Xz(liblzma::stream::Stream);

impl Xz {
    /// At most so many bytes of dictionary.
    pub(super) fn new(most_bytes: u64) -> Result<Self> {
        let flags = liblzma::stream::CONCATENATED;
        Ok(Self(liblzma::stream::Stream::new_stream_decoder(
            most_bytes, flags,
        )?))
    }
}

impl MemberCodec for Xz {
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> (usize, usize, Result<bool>) {
        use liblzma::stream::{Action, Status};
        let before = (self.0.total_in(), self.0.total_out());
        let action = if input.is_empty() {
            Action::Finish
        } else {
            Action::Run
        };
        let status = self.0.process(input, out, action);
        let (n_in, n_out) = since((self.0.total_in(), self.0.total_out()), before);
        let is_over = status
            .map(|status| status == Status::StreamEnd)
            .map_err(Error::from);
        (n_in, n_out, is_over)
    }

    fn restart(&mut self) -> Result<()> {
        Err(ErrorKind::InvalidData.into())
    }
}
