//! What a pass and the thread that waits for it tell each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far a pass has come, and whether it should go on; shared with the thread that waits for it.
#[derive(Debug, Default)]
pub struct Progress {
    n_bytes: AtomicU64,
    is_cancelled: AtomicBool,
}

impl Progress {
    /// Bytes read of all files so far.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.n_bytes.load(Ordering::Relaxed)
    }

    /// Counts bytes read.
    pub fn advance(&self, n_bytes: u64) {
        self.n_bytes.fetch_add(n_bytes, Ordering::Relaxed);
    }

    /// Asks all threads of the pass to stop.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}
