//! Slices: shares of the flows, each matched by itself, wherever that is, and added up.
//!
//! All that matching knows of packets before they are added up, it knows by flow, so slices of flows
//! need no margin, and as many as there are, the sums are the same. Captures are read by tasks of their
//! own, which count what has no flow (what cannot be decoded, or was not asked for).

use crate::base::error::{Error, Result};
use crate::file::FileExtent;
use crate::matching::dispatch::{BlockTakers, ObservationBlock, Stage};
use crate::matching::observation::FrameId;
use crate::matching::outcome::{Outbox, OutcomeFiles};
use crate::matching::partition::PartitionResult;
use crate::matching::pipeline::shuffle::{ShuffleReader, ShuffleWriter};
use crate::matching::pipeline::{Options, decode, match_partition, with_outcomes};
use crate::plan::Plan;
use crate::reading::{Progress, Reading};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a task came to. What is too much to keep lies in files in its folder.
pub struct SliceResult(pub(crate) PartitionResult);

impl SliceResult {
    /// As octets, for another process of this version.
    ///
    /// # Errors
    /// What is kept in memory cannot be written to its folder.
    pub fn to_bytes(mut self) -> Result<Vec<u8>> {
        self.0.leftovers.runs.put_on_disk()?;
        postcard::to_stdvec(&self.0).map_err(|error| Error::Bug(error.to_string()))
    }

    /// From these octets.
    ///
    /// # Errors
    /// They are of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let read = postcard::from_bytes(bytes);
        read.map(Self)
            .map_err(|error| Error::Bug(format!("a slice of another version: {error}")))
    }
}

/// The observations of a capture, in the folder of the task that read it.
fn observations_in(directory: &Path) -> PathBuf {
    directory.join("observations")
}

/// Reads an extent of a capture, and writes what is observed into the folder of `options`, by slice.
///
/// # Errors
/// It cannot be read, what it shows not be written, or the user interrupted.
pub fn read_capture(
    (file, path, extent): (usize, &Path, &FileExtent),
    reading: &Reading,
    plan: &Plan,
    n_slices: usize,
    options: &Options<'_>,
    progress: &Progress,
) -> Result<SliceResult> {
    let mut shuffled = ShuffleWriter::create(&observations_in(options.directory), n_slices)?;
    let outcomes = OutcomeFiles {
        directory: options.directory,
        files: file..file + 1,
        is_share: true,
        n_before: extent.n_before(),
    };
    let counts = with_outcomes(options, &outcomes, |outbox| {
        let to = BlockTakers {
            n: n_slices,
            take: Box::new(|slice, block| shuffled.take(slice, &block)),
            are_apart: true,
        };
        let mut stage = Stage::new(plan, to, outbox, reading.prefixes);
        decode((file, path), extent, reading, &mut stage, progress)?;
        stage.finish()
    })?;
    shuffled.finish()?;
    let mut all = PartitionResult::of_counts(plan, options.directory, counts);
    all.outcomes = outcomes.written(options);
    Ok(SliceResult(all))
}

/// Matches one slice of the flows: what the tasks that read the captures wrote of it into their
/// folders, given by capture in the order of its extents.
///
/// # Errors
/// Of what they wrote, something cannot be read, or what is found here not be written.
pub fn match_slice(
    folders: &[Vec<PathBuf>],
    plan: &Arc<Plan>,
    slice: u32,
    options: &Options<'_>,
) -> Result<SliceResult> {
    let outcomes = OutcomeFiles {
        directory: options.directory,
        files: 0..folders.len(),
        is_share: true,
        n_before: 0,
    };
    let mut all = with_outcomes(options, &outcomes, |outbox| {
        let sequences = plan.sequences.iter().map(|sequence| {
            let files = sequence.iter().filter_map(|file| folders.get(*file));
            let folders = files.flatten().map(|folder| observations_in(folder));
            let blocks = ShuffleReader::new(folders, slice);
            Announced::new(blocks, outbox.clone())
        });
        match_partition(plan, options, 0, sequences.collect(), outbox.clone())
    })?;
    all.outcomes = outcomes.written(options);
    Ok(SliceResult(all))
}

/// Blocks of a slice, of which the outcomes of frames are told that are not in it.
struct Announced {
    blocks: ShuffleReader,
    outbox: Option<Outbox>,
    last: FrameId,
}

impl Announced {
    fn new(blocks: ShuffleReader, outbox: Option<Outbox>) -> Self {
        Self {
            blocks,
            outbox,
            last: FrameId::new(0, 0),
        }
    }

    /// Outcomes are written in the order of frames, and wait for those before them.
    fn announce(&mut self, block: &ObservationBlock) {
        let Some(outbox) = &mut self.outbox else {
            return;
        };
        for observation in &block.observations {
            let frame = observation.frame;
            let is_new = self.last.file() != frame.file();
            let before = if is_new { 0 } else { self.last.number() };
            outbox.pass_over(frame.file(), before + 1..frame.number());
            self.last = frame;
        }
        outbox.send();
    }
}

impl Iterator for Announced {
    type Item = Result<ObservationBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        let block = self.blocks.next()?;
        if let Ok(block) = &block {
            self.announce(block);
        }
        Some(block)
    }
}
