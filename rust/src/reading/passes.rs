//! A pass over the files: all frames of one, and all files side by side.

use super::Progress;
use crate::base::error::{Error, Result};
use crate::base::panics;
use crate::file::{Capture, Frame};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Frames between two looks at the progress.
const FRAMES_PER_LOOK: u64 = 4096;

/// Files that are read at once, a core: of three files on two cores the third would be read alone.
const FILES_PER_CORE: usize = 2;

/// Reads all frames of a file, telling the progress, until the end or an interruption.
///
/// # Errors
/// The file cannot be opened or is no capture; the user interrupted.
pub fn read_frames(
    path: &Path,
    progress: &Progress,
    each: impl FnMut(&mut Frame<'_>) -> Result<()>,
) -> Result<Capture> {
    let mut capture = Capture::open(path)?;
    progress.advance(capture.bytes_read());
    read_on(&mut capture, progress, each)?;
    Ok(capture)
}

/// Reads the frames of a capture that come next, until the end, a pause or an interruption.
///
/// # Errors
/// The user interrupted.
pub fn read_on(
    capture: &mut Capture,
    progress: &Progress,
    mut each: impl FnMut(&mut Frame<'_>) -> Result<()>,
) -> Result<()> {
    let (mut n_frames, mut n_told) = (0_u64, capture.bytes_read());
    loop {
        // not moved: it is long
        let mut next = capture.next_frame();
        let Some(frame) = &mut next else {
            break;
        };
        each(frame)?;
        n_frames += 1;
        if n_frames.is_multiple_of(FRAMES_PER_LOOK) {
            let n_bytes = capture.bytes_read();
            progress.advance(n_bytes.saturating_sub(n_told));
            n_told = n_bytes;
            if progress.is_cancelled() {
                return Err(Error::Interrupted);
            }
        }
    }
    progress.advance(capture.bytes_read().saturating_sub(n_told));
    Ok(())
}

/// Runs one job per file, some files a core at once; results in the files' order.
///
/// # Errors
/// The first error of a job, in the files' order; the others are asked to stop.
pub fn for_each_file<T: Send>(
    files: &[PathBuf],
    progress: &Progress,
    job: impl Fn(usize, &Path) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let n_cores = std::thread::available_parallelism().map_or(2, usize::from);
    let next = AtomicUsize::new(0);
    let work = || one_by_one(files, &next, progress, &job);
    let mut results: Vec<(usize, Result<T>)> = std::thread::scope(|scope| {
        let n_threads = (FILES_PER_CORE * n_cores).min(files.len());
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        let finished = threads.into_iter().filter_map(|thread| thread.join().ok());
        finished.flatten().collect()
    });
    // of errors, first the one that made the others stop
    results.sort_by_key(|(index, result)| (matches!(result, Err(Error::Interrupted)), *index));
    let values = results.into_iter().map(|(_, result)| result);
    let values: Vec<T> = values.collect::<Result<_>>()?;
    if values.len() < files.len() {
        return Err(panics::message());
    }
    Ok(values)
}

/// Does the job for the next file that no thread has taken, until none is left.
fn one_by_one<T>(
    files: &[PathBuf],
    next: &AtomicUsize,
    progress: &Progress,
    job: &impl Fn(usize, &Path) -> Result<T>,
) -> Vec<(usize, Result<T>)> {
    let mut done = Vec::new();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(path) = files.get(index) else {
            return done;
        };
        let result = job(index, path);
        if result.is_err() {
            progress.cancel();
        }
        done.push((index, result));
    }
}
