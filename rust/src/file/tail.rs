//! A file that is still being written, or a pipe: reading waits where it would end.

use std::fs::File;
use std::io::{Read, Result, Stdin};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Between two looks at a file that has nothing new.
const PATIENCE: Duration = Duration::from_millis(100);
/// Standard input, as the command line names it.
const STANDARD_INPUT: &str = "-";

/// What a path was when it was opened; another file may have its name later.
#[derive(Clone)]
struct OpenedPath {
    path: PathBuf,
    /// Device and number; none of what cannot grow, such as a pipe.
    file: Option<(u64, u64)>,
    n_read: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl OpenedPath {
    /// Has the path become another file, or has the file begun anew?
    fn is_replaced(&self) -> bool {
        let found = std::fs::metadata(&self.path).ok();
        found.is_some_and(|found| {
            Some((found.dev(), found.ino())) != self.file
                || found.len() < self.n_read.load(Ordering::Relaxed)
        })
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Could more be written to what was opened here?
    fn may_grow(&self) -> bool {
        self.file.is_some() && !self.is_over() && !self.is_replaced()
    }
}

enum TailSource {
    File(File),
    StandardInput(Stdin),
}

/// What is at a path, read as it is written.
pub(super) struct Tail {
    source: TailSource,
    place: OpenedPath,
}

/// Waits for what follows a file at its path.
pub struct Successor(OpenedPath);

impl Successor {
    /// Waits until another file is there; false if there will be none.
    #[must_use]
    pub fn wait(&self) -> bool {
        while self.0.may_grow() {
            std::thread::sleep(PATIENCE);
        }
        self.0.file.is_some() && !self.0.is_over()
    }
}

impl Tail {
    /// Opens `path`, until `is_over`. A pipe that nobody writes to yet is waited for.
    pub(super) fn open(path: &Path, is_over: Arc<AtomicBool>) -> Result<(Self, Successor)> {
        let (source, file) = if path == Path::new(STANDARD_INPUT) {
            (TailSource::StandardInput(std::io::stdin()), None)
        } else {
            let file = File::open(path)?;
            let found = file.metadata()?;
            let number = (found.dev(), found.ino());
            (TailSource::File(file), found.is_file().then_some(number))
        };
        let place = OpenedPath {
            path: path.into(),
            file,
            n_read: Arc::default(),
            is_over,
        };
        let successor = Successor(place.clone());
        Ok((Self { source, place }, successor))
    }

    fn read_once(&mut self, out: &mut [u8]) -> Result<usize> {
        let n_bytes = match &mut self.source {
            TailSource::File(file) => file.read(out)?,
            TailSource::StandardInput(input) => input.read(out)?,
        };
        let n_read = &self.place.n_read;
        n_read.fetch_add(n_bytes as u64, Ordering::Relaxed);
        Ok(n_bytes)
    }
}

impl Read for Tail {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        loop {
            // asked first, or what was written just before a replacement would be missed
            let may_grow = self.place.may_grow();
            let n_bytes = self.read_once(out)?;
            if n_bytes > 0 || out.is_empty() || !may_grow {
                return Ok(n_bytes);
            }
            std::thread::sleep(PATIENCE);
        }
    }
}
