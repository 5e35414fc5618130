//! Outcomes of tasks: each has those of its frames, with their numbers; joined they are those of all.

use super::{RECORD_BYTES, path_in};
use crate::base::error::{Error, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Number and outcome of a frame.
const NUMBERED_BYTES: usize = 8 + RECORD_BYTES;

type Numbered = (i64, [u8; RECORD_BYTES]);

/// One outcome as a slice writes it.
pub(super) fn numbered(number: i64, record: [u8; RECORD_BYTES]) -> [u8; NUMBERED_BYTES] {
    let mut bytes = [0; NUMBERED_BYTES];
    let (to_number, to_record) = bytes.split_at_mut(8);
    to_number.copy_from_slice(&number.to_le_bytes());
    to_record.copy_from_slice(&record);
    bytes
}

/// Writes the outcomes of all frames of all files, from what all tasks wrote of each.
pub(crate) fn join_outcomes(
    shares: &[(usize, PathBuf)],
    directory: &Path,
    n_files: usize,
) -> Result<()> {
    if shares.is_empty() {
        return Ok(());
    }
    (0..n_files).try_for_each(|file| {
        let of_file = shares.iter().filter(|(of, _)| *of == file);
        join(of_file.map(|(_, path)| path), &path_in(directory, file))
    })
}

fn join<'a>(shares: impl Iterator<Item = &'a PathBuf>, to: &Path) -> Result<()> {
    let failed = |source| Error::Io {
        path: to.to_owned(),
        source,
    };
    let open = |path: &PathBuf| SliceFile::open(path.clone());
    let mut slices = shares.map(open).collect::<Result<Vec<_>>>()?;
    let mut heads = BinaryHeap::new();
    for (index, slice) in slices.iter_mut().enumerate() {
        heads.extend(slice.next()?.map(|one| Reverse((one, index))));
    }
    let mut out = BufWriter::with_capacity(1 << 18, File::create(to).map_err(failed)?);
    while let Some(Reverse(((_, record), index))) = heads.pop() {
        out.write_all(&record).map_err(failed)?;
        if let Some(slice) = slices.get_mut(index) {
            heads.extend(slice.next()?.map(|one| Reverse((one, index))));
        }
    }
    out.flush().map_err(failed)
}

/// The outcomes of one slice for one file, in the order of its frames.
struct SliceFile {
    from: BufReader<File>,
    path: PathBuf,
}

impl SliceFile {
    fn open(path: PathBuf) -> Result<Self> {
        match File::open(&path) {
            Ok(file) => Ok(Self {
                from: BufReader::with_capacity(1 << 15, file),
                path,
            }),
            Err(source) => Err(Error::Io { path, source }),
        }
    }

    fn next(&mut self) -> Result<Option<Numbered>> {
        let (mut number, mut record) = ([0; 8], [0; RECORD_BYTES]);
        let read = self.from.read_exact(&mut number);
        match read.and_then(|()| self.from.read_exact(&mut record)) {
            Ok(()) => Ok(Some((i64::from_le_bytes(number), record))),
            Err(end) if end.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(source) => Err(Error::Io {
                path: self.path.clone(),
                source,
            }),
        }
    }
}
