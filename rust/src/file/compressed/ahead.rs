//! Reading ahead: compression is undone in a thread of its own, while what it gave is looked at.

use super::Decompressor;
use std::io::{Read, Result};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;

/// As much is undone at once.
const CHUNK_BYTES: usize = 1 << 18;
/// So many of them wait.
const WAITING_CHUNKS: usize = 2;

/// What a thread undid, in order; an error comes behind what was undone before it.
pub(super) struct ReadAhead {
    from: Receiver<Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// How much of it was read.
    at: usize,
}

impl ReadAhead {
    /// Starts the thread, which ends with the last byte, or when nobody reads any more.
    pub(super) fn start(source: Decompressor) -> Result<Self> {
        let (to, from) = sync_channel(WAITING_CHUNKS);
        Builder::new().spawn(move || read(source, &to))?;
        Ok(Self {
            from,
            chunk: Vec::new(),
            at: 0,
        })
    }
}

impl Read for ReadAhead {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if self.at >= self.chunk.len() {
            let Ok(chunk) = self.from.recv() else {
                return Ok(0);
            };
            (self.chunk, self.at) = (chunk?, 0);
        }
        let n_bytes = self.chunk.get(self.at..).unwrap_or_default().read(out)?;
        self.at += n_bytes;
        Ok(n_bytes)
    }
}

/// Until the end, an error, or nobody asks for more.
fn read(mut source: Decompressor, to: &SyncSender<Result<Vec<u8>>>) {
    loop {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        let most_bytes = CHUNK_BYTES as u64;
        let result = source.by_ref().take(most_bytes).read_to_end(&mut chunk);
        let is_over = result.is_err() || chunk.len() < CHUNK_BYTES;
        if !chunk.is_empty() && to.send(Ok(chunk)).is_err() {
            return;
        }
        if let Err(error) = result {
            // who does not listen any more does not mind
            let _ = to.send(Err(error));
        }
        if is_over {
            return;
        }
    }
}
