//! How much of a file was read.

use std::io::{Read, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what is read from the file itself, below any compression.
pub(super) struct CountedRead {
    source: Box<dyn Read + Send>,
    n_bytes: Arc<AtomicU64>,
}

impl CountedRead {
    pub(super) fn new(source: Box<dyn Read + Send>, n_bytes: Arc<AtomicU64>) -> Self {
        Self { source, n_bytes }
    }
}

impl Read for CountedRead {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let n_bytes = self.source.read(out)?;
        self.n_bytes.fetch_add(n_bytes as u64, Ordering::Relaxed);
        Ok(n_bytes)
    }
}
