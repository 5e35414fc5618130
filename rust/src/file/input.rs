//! Reading in large blocks: a window onto the file that frames borrow from.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

/// Large enough to make system calls rare, small enough to stay in the cache.
const BUFFER_BYTES: usize = 1 << 18;

/// Damage that is longer is the rest of the file, of which compression may promise any amount.
const MAX_GAP_BYTES: u64 = 128 << 20;

/// A source of bytes and the part of it that is in memory.
pub(super) struct Input {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    dropped_bytes: u64,
    is_at_end: bool,
    /// What is not there yet may take long to come.
    is_live: bool,
    failure: Option<Error>,
}

impl Input {
    pub(super) fn new(source: Box<dyn Read + Send>) -> Self {
        Self {
            source,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            dropped_bytes: 0,
            is_at_end: false,
            is_live: false,
            failure: None,
        }
    }

    /// The same of a source that is still being written.
    pub(super) fn live(source: Box<dyn Read + Send>) -> Self {
        Self {
            is_live: true,
            ..Self::new(source)
        }
    }

    /// The same of a source that begins at a byte of the file.
    pub(super) fn from_byte(source: Box<dyn Read + Send>, at_byte: u64) -> Self {
        Self {
            dropped_bytes: at_byte,
            ..Self::new(source)
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Where in the source the window starts.
    #[inline]
    pub(super) fn at_byte(&self) -> u64 {
        self.dropped_bytes + self.start as u64
    }

    /// What made reading stop before the end, if anything did.
    pub(super) fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// All that is in memory.
    #[inline]
    pub(super) fn window(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Makes the window at least `n_bytes` long; false if the source ends before.
    #[inline]
    pub(super) fn fill(&mut self, n_bytes: usize) -> bool {
        self.end - self.start >= n_bytes || self.refill(n_bytes)
    }

    /// Makes the window as long if that can be had without waiting for what is not written yet; false
    /// if it is not.
    #[cold]
    pub(super) fn fill_ahead(&mut self, n_bytes: usize) -> bool {
        if self.is_live {
            return self.end - self.start >= n_bytes;
        }
        self.fill(n_bytes)
    }

    /// The next `n_bytes`, or all that is left, or, while it is being written, all that is there: what
    /// is made of it must not depend on how much more is in memory.
    pub(super) fn ahead(&mut self, n_bytes: usize) -> &[u8] {
        self.fill_ahead(n_bytes);
        let window = self.window();
        window.get(..n_bytes).unwrap_or(window)
    }

    /// The next `n_bytes`, which must be in the window, and moves past them.
    #[inline]
    pub(super) fn take(&mut self, n_bytes: usize) -> &[u8] {
        let taken = self.start..(self.start + n_bytes).min(self.end);
        self.start = taken.end;
        self.buffer.get(taken).unwrap_or_default()
    }

    /// The same without the first `n_header` of them.
    #[inline]
    pub(super) fn take_behind(&mut self, n_header: usize, n_bytes: usize) -> Option<&[u8]> {
        let from = self.start + n_header;
        self.start = (self.start + n_bytes).min(self.end);
        self.buffer.get(from..self.start)
    }

    /// Moves past `n_bytes` without keeping them; false if the source ends before.
    pub(super) fn skip(&mut self, mut n_bytes: u64) -> bool {
        while n_bytes > 0 && self.fill(1) {
            let n_here =
                (self.end - self.start).min(usize::try_from(n_bytes).unwrap_or(usize::MAX));
            self.start += n_here;
            n_bytes -= n_here as u64;
        }
        n_bytes == 0
    }

    /// Moves to the next place, at least `step` bytes on and in steps of so many, at which `found`
    /// likes what it sees; to the end, or [`MAX_GAP_BYTES`] on, and false, if there is none. `found`
    /// is shown `look_bytes`, or all that is left.
    #[cold]
    pub(super) fn seek(
        &mut self,
        step: usize,
        look_bytes: usize,
        found: impl Fn(&[u8]) -> bool,
    ) -> bool {
        let mut first_at = step;
        let last_at = self.at_byte() + MAX_GAP_BYTES;
        while self.at_byte() < last_at && self.fill(1) {
            let is_more = self.fill_ahead(2 * look_bytes);
            let window = self.window();
            let n_unseen = if is_more { look_bytes } else { 0 };
            let n_allowed = usize::try_from(last_at - self.at_byte()).unwrap_or(usize::MAX);
            let end = (window.len() - n_unseen).min(n_allowed);
            let ahead = |at: usize| window.get(at..window.len().min(at + look_bytes));
            let mut places = (first_at..end).step_by(step);
            let place = places.find(|at| ahead(*at).is_some_and(&found));
            if let Some(place) = place {
                self.take(place);
                return true;
            }
            first_at = 0;
            self.take(end.next_multiple_of(step));
        }
        false
    }

    /// The same within what is in memory; stays, and is false, if there is no such place.
    #[cold]
    pub(super) fn seek_here(&mut self, step: usize, found: impl Fn(&[u8]) -> bool) -> bool {
        let window = self.window();
        let mut places = (step..window.len()).step_by(step);
        let place = places.find(|at| window.get(*at..).is_some_and(&found));
        self.take(place.unwrap_or_default());
        place.is_some()
    }

    #[cold]
    fn refill(&mut self, n_bytes: usize) -> bool {
        self.buffer.copy_within(self.start..self.end, 0);
        self.dropped_bytes += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < n_bytes {
            self.buffer.resize(n_bytes.next_power_of_two(), 0);
        }
        while self.end < n_bytes && !self.is_at_end {
            self.read_once();
        }
        self.end >= n_bytes
    }

    fn read_once(&mut self) {
        let spare = self.buffer.get_mut(self.end..).unwrap_or_default();
        match self.source.read(spare) {
            Ok(0) => self.is_at_end = true,
            Ok(n_bytes) => self.end = (self.end + n_bytes).min(self.buffer.len()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                self.failure = Some(error);
                self.is_at_end = true;
            }
        }
    }
}

impl Input {
    /// A reader of what comes next, up to so many bytes.
    pub(super) fn take_at_most(&mut self, n_bytes: u64) -> impl BufRead {
        Read::take(self, n_bytes)
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let n_bytes = self.fill_buf()?.read(out)?;
        self.consume(n_bytes);
        Ok(n_bytes)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        if !self.fill(1)
            && let Some(failure) = self.take_failure()
        {
            return Err(failure);
        }
        Ok(self.window())
    }

    fn consume(&mut self, n_bytes: usize) {
        self.take(n_bytes);
    }
}
