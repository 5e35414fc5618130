//! Observations on their way from who read a capture to who match slices of the flows: a file of
//! chunks, compressed, each of one slice, and an index of them at its end.
//!
//! A capture is read once, wherever it lies, and a slice is matched wherever there is room; each reads
//! of a file what is of its slice. Blocks are those that threads of one machine hand each other.

use crate::base::error::{Error, Result};
use crate::matching::dispatch::ObservationBlock;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Octets of blocks, before they are compressed, of which a chunk is made.
const CHUNK_BYTES: usize = 1 << 18;

/// A higher one makes chunks a few per cent smaller, and takes longer than all that follows.
const ZSTD_LEVEL: i32 = 1;

/// Where the observations of one slice stand in the file.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Chunk {
    slice: u32,
    at_byte: u64,
    n_bytes: u64,
    n_unpacked: u64,
}

/// The place of the index: the last octets of the file.
const TRAILER_BYTES: u64 = 8;

/// Writes the observations of one capture.
pub(crate) struct ShuffleWriter {
    path: PathBuf,
    out: BufWriter<File>,
    at_byte: u64,
    waiting: Vec<Vec<u8>>,
    chunks: Vec<Chunk>,
}

impl ShuffleWriter {
    pub(crate) fn create(path: &Path, n_slices: usize) -> Result<Self> {
        let file = File::create(path).map_err(|source| failed(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            out: BufWriter::with_capacity(1 << 18, file),
            at_byte: 0,
            waiting: vec![Vec::new(); n_slices],
            chunks: Vec::new(),
        })
    }

    /// Takes the next block of a slice.
    pub(crate) fn take(&mut self, slice: usize, block: &ObservationBlock) -> Result<()> {
        let Some(waiting) = self.waiting.get_mut(slice) else {
            return Ok(());
        };
        let before = std::mem::take(waiting);
        *waiting = postcard::to_extend(block, before).map_err(|error| bug(&error))?;
        if waiting.len() < CHUNK_BYTES {
            return Ok(());
        }
        self.write(slice)
    }

    fn write(&mut self, slice: usize) -> Result<()> {
        let blocks = self.waiting.get_mut(slice).map(std::mem::take);
        let blocks = blocks.unwrap_or_default();
        let packed = zstd::bulk::compress(&blocks, ZSTD_LEVEL);
        let written = packed.and_then(|packed| self.out.write_all(&packed).map(|()| packed.len()));
        let n_bytes = written.map_err(|source| failed(&self.path, source))? as u64;
        self.chunks.push(Chunk {
            slice: u32::try_from(slice).unwrap_or(u32::MAX),
            at_byte: self.at_byte,
            n_bytes,
            n_unpacked: blocks.len() as u64,
        });
        self.at_byte += n_bytes;
        Ok(())
    }

    /// Writes the rest, and the index.
    pub(crate) fn finish(mut self) -> Result<()> {
        (0..self.waiting.len()).try_for_each(|slice| self.write(slice))?;
        let index = postcard::to_stdvec(&self.chunks).map_err(|error| bug(&error))?;
        let out = &mut self.out;
        let written = out.write_all(&index);
        let written = written.and_then(|()| out.write_all(&self.at_byte.to_le_bytes()));
        let written = written.and_then(|()| out.flush());
        written.map_err(|source| failed(&self.path, source))
    }
}

/// Reads the observations of one slice, of one capture after another, as threads hand them over.
pub(crate) struct ShuffleReader {
    slice: u32,
    files: VecDeque<PathBuf>,
    open: Option<(PathBuf, File)>,
    chunks: VecDeque<Chunk>,
    blocks: Vec<u8>,
    /// Octets of the blocks that were read.
    at: usize,
    /// Read already, as it may have been of the block before.
    ahead: Option<ObservationBlock>,
}

impl ShuffleReader {
    /// Of files that follow each other in time.
    pub(crate) fn new(files: impl Iterator<Item = PathBuf>, slice: u32) -> Self {
        Self {
            slice,
            files: files.collect(),
            open: None,
            chunks: VecDeque::new(),
            blocks: Vec::new(),
            at: 0,
            ahead: None,
        }
    }

    /// The next block, whole: parts of it may have been read in the extents on either side of their border.
    fn next_block(&mut self) -> Result<Option<ObservationBlock>> {
        let first = match self.ahead.take() {
            Some(ahead) => Some(ahead),
            None => self.next_part()?,
        };
        let Some(mut block) = first else {
            return Ok(None);
        };
        while self.ahead.is_none()
            && let Some(part) = self.next_part()?
        {
            self.ahead = block.join(part);
        }
        Ok(Some(block))
    }

    fn next_part(&mut self) -> Result<Option<ObservationBlock>> {
        while self.at == self.blocks.len() {
            if !(self.read_chunk()? || self.open_next()?) {
                return Ok(None);
            }
        }
        let rest = self.blocks.get(self.at..).unwrap_or_default();
        let (part, rest) =
            postcard::take_from_bytes::<ObservationBlock>(rest).map_err(|error| bug(&error))?;
        self.at = self.blocks.len() - rest.len();
        Ok(Some(part))
    }

    /// Unpacks the next chunk of the open file, if there is one.
    fn read_chunk(&mut self) -> Result<bool> {
        let Some(((path, file), chunk)) = self.open.as_mut().zip(self.chunks.pop_front()) else {
            return Ok(false);
        };
        let mut packed = vec![0; usize::try_from(chunk.n_bytes).unwrap_or(0)];
        let most = usize::try_from(chunk.n_unpacked).unwrap_or(0);
        let read = file.seek(SeekFrom::Start(chunk.at_byte));
        let read = read.and_then(|_| file.read_exact(&mut packed));
        let unpacked = read.and_then(|()| zstd::bulk::decompress(&packed, most));
        self.blocks = unpacked.map_err(|source| failed(path, source))?;
        self.at = 0;
        Ok(true)
    }

    /// Opens the next file, if there is one.
    fn open_next(&mut self) -> Result<bool> {
        let Some(path) = self.files.pop_front() else {
            return Ok(false);
        };
        let mut file = File::open(&path).map_err(|source| failed(&path, source))?;
        let index = read_index(&mut file).map_err(|source| failed(&path, source))?;
        let chunks: Vec<Chunk> = postcard::from_bytes(&index).map_err(|error| bug(&error))?;
        let of_slice = chunks.into_iter().filter(|one| one.slice == self.slice);
        self.chunks = of_slice.collect();
        self.open = Some((path, file));
        Ok(true)
    }
}

impl Iterator for ShuffleReader {
    type Item = Result<ObservationBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_block().transpose()
    }
}

fn read_index(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut at_byte = [0; 8];
    file.seek(SeekFrom::End(-TRAILER_BYTES.cast_signed()))?;
    file.read_exact(&mut at_byte)?;
    file.seek(SeekFrom::Start(u64::from_le_bytes(at_byte)))?;
    let mut index = Vec::new();
    file.read_to_end(&mut index)?;
    index.truncate(index.len().saturating_sub(at_byte.len()));
    Ok(index)
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        source,
    }
}

fn bug(error: &postcard::Error) -> Error {
    Error::Bug(format!("observations of another version: {error}"))
}
