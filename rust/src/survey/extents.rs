//! The survey of a file in extents, wherever each is read: what was selected adds up.
//!
//! All but the first may begin where nobody has counted frames yet, at what looks like a place between two
//! records. The extents are those of the file if each begins where the one before ends; what was found is the
//! file's if none of them needed what came before.

use super::selection::{Limits, Selection, select};
use super::{Sample, Unused, settle};
use crate::base::error::{Error, Result};
use crate::file::{Capture, FileExtent, RecordPlace};
use crate::reading::{Progress, Reading};
use std::path::{Path, PathBuf};

/// What was selected of an extent.
pub struct ExtentSelection(Selection);

/// Reads an extent of a file and selects; `n_parts` says of how many files its point is.
///
/// # Errors
/// The file cannot be opened or is no capture; the user interrupted.
pub fn survey_extent(
    (file, path): (usize, &Path),
    extent: &FileExtent,
    reading: &Reading,
    (limit, n_parts): (usize, usize),
    progress: &Progress,
) -> Result<ExtentSelection> {
    let limits = Limits::of_file(limit, n_parts, 1);
    select((file, path), extent, reading, limits, progress).map(ExtentSelection)
}

impl ExtentSelection {
    /// As octets, for another process of this version.
    ///
    /// # Errors
    /// Never, but for mistakes of the core.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(&self.0).map_err(|error| Error::Bug(error.to_string()))
    }

    /// From these octets.
    ///
    /// # Errors
    /// They are of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let read = postcard::from_bytes(bytes);
        read.map(Self)
            .map_err(|error| Error::Bug(format!("an extent of another version: {error}")))
    }

    /// Where reading began and ended.
    #[must_use]
    pub fn range(&self) -> [RecordPlace; 2] {
        [self.0.from, self.0.to]
    }

    /// Whether the file ends in it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.end.is_over
    }

    /// Whether something in it is damaged.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.0.end.is_damaged
    }

    /// Whether the file has to be read in one, because what came before could have changed what was found.
    #[must_use]
    pub fn needs_whole(&self) -> bool {
        self.0.end.needs_whole
    }

    /// Adds the extent that comes next.
    ///
    /// # Errors
    /// It does not begin where this one ends.
    pub fn join(&mut self, later: Self) -> Result<()> {
        self.0.join(later.0)
    }
}

/// A survey whose files are read elsewhere, until what they show no longer changes how they are read.
pub struct SurveyRounds {
    reading: Reading,
    unused: Vec<Unused>,
}

impl SurveyRounds {
    /// Finds the stamps of all files.
    ///
    /// # Errors
    /// A file cannot be opened, or is no capture.
    pub fn begin(files: &[PathBuf], mut reading: Reading, progress: &Progress) -> Result<Self> {
        reading.find_stamps(files, progress)?;
        Ok(Self {
            reading,
            unused: Vec::new(),
        })
    }

    /// How the files are to be read.
    #[must_use]
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Takes what was selected of each file; `None` where they have to be read again.
    pub fn settle(&mut self, selections: Vec<ExtentSelection>) -> Option<Sample> {
        let selections = selections.into_iter().map(|one| one.0).collect();
        settle(selections, &mut self.reading, &mut self.unused)
    }
}

/// Whether a file may be read from its middle, as far as its beginning tells, and how long it is, decompressed.
///
/// # Errors
/// It cannot be opened, or is no capture.
pub fn seekable_bytes((file, path): (usize, &Path), reading: &Reading) -> Result<Option<u64>> {
    let is_free = reading.history(file).stamper.is_idle();
    if !is_free || !path.is_file() {
        return Ok(None);
    }
    let mut capture = Capture::open_extent(path, &FileExtent::ALL)?;
    let has_frames = capture.next_frame().is_some();
    let of_file = std::fs::metadata(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    let n_bytes = capture.decompressed_bytes().unwrap_or(of_file.len());
    Ok((has_frames && capture.is_seekable()).then_some(n_bytes))
}
