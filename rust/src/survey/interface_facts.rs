//! What the frames of one interface show, frame by frame.

use super::{Checksums, Hidden, InterfaceFacts, Mirrors, Queue, StampOrder};
use crate::file::Frame;

impl InterfaceFacts {
    pub(super) fn new(frame: &Frame<'_>) -> Self {
        Self {
            n_frames: 0,
            n_undecoded: 0,
            n_cut: 0,
            first_t_ns: i64::MAX,
            last_t_ns: i64::MIN,
            disorder_ns: 0,
            is_of_decoded: false,
            observed_resolution_ns: 1_000_000_000,
            link: frame.link,
            longest_bytes: 0,
            stamps: None,
            order: StampOrder::default(),
            queue: Queue::default(),
            hidden: Hidden::default(),
            checksums: Checksums::default(),
            mirrors: Mirrors::default(),
        }
    }

    pub(super) fn note_time(&mut self, t_ns: i64, is_decoded: bool) {
        while self.observed_resolution_ns > 1 && t_ns % self.observed_resolution_ns != 0 {
            self.observed_resolution_ns /= 10;
        }
        // what damage left of a record says nothing of when the capture was taken
        if is_decoded && !self.is_of_decoded {
            self.is_of_decoded = true;
            (self.first_t_ns, self.last_t_ns, self.disorder_ns) = (t_ns, t_ns, 0);
        }
        if is_decoded != self.is_of_decoded {
            return;
        }
        self.first_t_ns = self.first_t_ns.min(t_ns);
        if t_ns >= self.last_t_ns {
            self.last_t_ns = t_ns;
        } else {
            self.disorder_ns = self.disorder_ns.max(self.last_t_ns.saturating_sub(t_ns));
        }
    }
}
