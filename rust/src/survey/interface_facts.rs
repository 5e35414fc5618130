//! What the frames of one interface show, frame by frame.

use super::{Checksums, Hidden, HopTimes, InterfaceFacts, Mirrors, Queue, StampOrder};
use crate::file::Frame;
use crate::identity::Identity;
use crate::reading::ReadOutcome;
use crate::wire::{Packet, Stop, StopReason};

/// What a frame is to its interface.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameSort {
    /// It was decoded, whatever it holds.
    Whole,
    /// A part of a packet.
    Part,
    /// It could not be decoded.
    Undecoded,
}

impl FrameSort {
    pub(super) fn of(seen: &ReadOutcome) -> Self {
        match seen {
            ReadOutcome::Undecoded => Self::Undecoded,
            ReadOutcome::Part => Self::Part,
            _ => Self::Whole,
        }
    }
}

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
            hop_times: HopTimes::default(),
        }
    }

    /// Takes what is still open at the end of an extent of the file.
    pub(super) fn close(&mut self) {
        self.order.close();
        self.queue.close();
    }

    /// Whether what came before an extent could have changed what was found in it.
    pub(super) fn needs_what_came_before(&self) -> bool {
        !self.mirrors.is_empty() || !self.hop_times.is_empty() || self.hidden.is_full()
    }

    /// Adds those of an extent that comes later, whose frames are numbered behind so many; both are closed,
    /// and need nothing that came before.
    pub(super) fn join(&mut self, later: Self, n_before: u64) {
        self.join_times(&later);
        self.n_frames += later.n_frames;
        self.n_undecoded += later.n_undecoded;
        self.n_cut += later.n_cut;
        self.observed_resolution_ns =
            (self.observed_resolution_ns).min(later.observed_resolution_ns);
        self.longest_bytes = self.longest_bytes.max(later.longest_bytes);
        self.order.join(&later.order, n_before);
        self.queue.join(&later.queue);
        self.hidden.join(later.hidden);
        self.checksums.join(&later.checksums);
    }

    /// Those of an extent, if its frames are numbered behind so many.
    pub(super) fn behind(mut self, n_before: u64) -> Self {
        let order = std::mem::take(&mut self.order);
        self.order.join(&order, n_before);
        self
    }

    /// Where any frame could be decoded, only the times of these count.
    fn join_times(&mut self, later: &Self) {
        if self.is_of_decoded != later.is_of_decoded {
            if later.is_of_decoded {
                self.is_of_decoded = true;
                self.first_t_ns = later.first_t_ns;
                self.last_t_ns = later.last_t_ns;
                self.disorder_ns = later.disorder_ns;
            }
            return;
        }
        // without a frame that has a time, the first is after the last
        let back_ns = self.last_t_ns.saturating_sub(later.first_t_ns);
        self.disorder_ns = self.disorder_ns.max(later.disorder_ns).max(back_ns);
        self.first_t_ns = self.first_t_ns.min(later.first_t_ns);
        self.last_t_ns = self.last_t_ns.max(later.last_t_ns);
    }

    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    pub(super) fn note_frame(&mut self, frame: &Frame<'_>, packet: &Packet, sort: FrameSort) {
        self.n_frames += 1;
        if sort == FrameSort::Undecoded {
            let is_cut = |stop: Stop| stop.reason == StopReason::SnapLength;
            self.n_undecoded += 1;
            self.n_cut += u64::from(packet.stop.is_some_and(is_cut));
        }
        self.longest_bytes = self.longest_bytes.max(frame.unchecked_bytes());
        if frame.has_time {
            self.hop_times.note(frame, packet);
            self.note_timed(frame, packet, sort);
        }
    }

    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    fn note_timed(&mut self, frame: &Frame<'_>, packet: &Packet, sort: FrameSort) {
        self.note_time(frame.stamped_ns(), sort != FrameSort::Undecoded);
        // zeros where a record should be are no stamp
        if frame.wire_bytes > 0 {
            self.order.note(frame, frame.stamped_ns());
        }
        if sort != FrameSort::Part {
            self.mirrors.note(packet.mirror, frame.time_ns());
        }
    }

    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    pub(super) fn note_packet(
        &mut self,
        frame: &Frame<'_>,
        t_ns: i64,
        packet: &Packet,
        identity: &Identity,
    ) {
        self.hidden.note(packet, frame.bytes);
        self.checksums.note(packet, frame.bytes, identity.toward);
        if identity.directed {
            self.queue.note(frame, t_ns, identity);
        }
    }

    #[inline]
    fn note_time(&mut self, t_ns: i64, is_decoded: bool) {
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
