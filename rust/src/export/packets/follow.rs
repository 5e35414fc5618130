//! The rows of a capture that is still being written, as they come.
//!
//! A thread of its own reads, and blocks where nothing is there yet; whoever wants rows takes those
//! that it has put down so far. So no format needs to know that files can grow.

use super::columns::Columns;
use super::{Origin, RowMaker};
use crate::base::error::{Error, Result};
use crate::base::panics::contained;
use crate::file::{Capture, Damage};
use crate::reading::{Progress, Reading};
use crate::stamp::{LiveSearch, Sought, Stamper, find};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// As many rows wait to be taken.
const MAX_ROWS: usize = 65_536;
/// Between two looks at whether the waiting was given up.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the reading thread has put down, and how it ended.
struct Heap {
    columns: Columns,
    damage: Vec<Damage>,
    end: Option<Result<()>>,
}

/// What both sides see.
struct Shared {
    heap: Mutex<Heap>,
    is_changed: Condvar,
    is_over: Arc<AtomicBool>,
    schema: Arc<Schema>,
}

impl Shared {
    fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, not for long, until something changes.
    fn wait<'a>(&self, heap: MutexGuard<'a, Heap>) -> MutexGuard<'a, Heap> {
        let waited = self.is_changed.wait_timeout(heap, PATIENCE);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// The heap, when there is room for a row.
    fn room(&self) -> MutexGuard<'_, Heap> {
        let mut heap = self.heap();
        while heap.columns.n_rows >= MAX_ROWS && !self.is_over() {
            heap = self.wait(heap);
        }
        heap
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Follows one capture.
pub struct Follower(Arc<Shared>);

impl Follower {
    /// Starts to read what is at the origin's path, or on standard input if that is `-`.
    #[must_use]
    pub fn start(reading: Reading, origin: Origin, has_details: bool) -> Self {
        let schema = super::schema(has_details);
        let columns = Columns::new(&schema);
        let shared = Arc::new(Shared {
            heap: Mutex::new(Heap {
                columns,
                damage: Vec::new(),
                end: None,
            }),
            is_changed: Condvar::new(),
            is_over: Arc::default(),
            schema,
        });
        let of_thread = Arc::clone(&shared);
        let path = origin.path.clone();
        let thread = Builder::new().name("follow".into());
        let started = thread.spawn(move || {
            let end = contained(|| follow(&reading, &origin, &of_thread));
            of_thread.heap().end = Some(end);
            of_thread.is_changed.notify_all();
        });
        if let Err(source) = started {
            shared.heap().end = Some(Err(Error::Io { path, source }));
        }
        Self(shared)
    }

    /// The rows that came since, waiting for at least one; none where the capture has ended.
    ///
    /// # Errors
    /// The file cannot be opened, or is no capture; the user interrupted.
    pub fn rows(&self, progress: &Progress) -> Result<Option<RecordBatch>> {
        let mut heap = self.0.heap();
        loop {
            if heap.columns.n_rows > 0 {
                let empty = Columns::new(&self.0.schema);
                let columns = std::mem::replace(&mut heap.columns, empty);
                self.0.is_changed.notify_all();
                return columns.finish().map(Some);
            }
            if let Some(end) = heap.end.take() {
                heap.end = Some(Ok(()));
                return end.map(|()| None);
            }
            if progress.is_cancelled() {
                return Err(Error::Interrupted);
            }
            heap = self.0.wait(heap);
        }
    }

    /// What was found to be wrong since this was asked last.
    #[must_use]
    pub fn damage(&self) -> Vec<Damage> {
        std::mem::take(&mut self.0.heap().damage)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// Reads the capture, and those that take its place.
fn follow(reading: &Reading, origin: &Origin, shared: &Shared) -> Result<()> {
    let mut rows = RowMaker::default();
    loop {
        let (mut capture, successor) = Capture::follow(&origin.path, Arc::clone(&shared.is_over))?;
        let mut n_told = 0;
        // what is there already is searched as it always is; in what comes, evidence is waited for
        let found = find(&origin.path, &reading.decoder, &Sought::default()).unwrap_or_default();
        let mut watch = found.is_empty().then(LiveSearch::default);
        rows.history.stamper = Stamper::new(&found);
        while let Some(mut frame) = capture.next_frame() {
            let found = watch
                .as_mut()
                .and_then(|watch| watch.look(&reading.decoder, &frame));
            if let Some(found) = found {
                rows.history.stamper = Stamper::new(&found);
                watch = None;
            }
            let mut heap = shared.room();
            if rows.put(reading, origin, &mut frame, None, &mut heap.columns) {
                heap.columns.put_marks(capture.marks());
            }
            drop(heap);
            shared.is_changed.notify_all();
            n_told = tell(&capture, n_told, shared);
            if shared.is_over() {
                return Ok(());
            }
        }
        tell(&capture, n_told, shared);
        if !successor.wait() {
            return Ok(());
        }
    }
}

/// Says what is wrong of which nothing was said.
fn tell(capture: &Capture, n_told: usize, shared: &Shared) -> usize {
    let found = capture.damage();
    if let Some(new) = found.get(n_told..).filter(|new| !new.is_empty()) {
        shared.heap().damage.extend_from_slice(new);
        shared.is_changed.notify_all();
    }
    found.len()
}
