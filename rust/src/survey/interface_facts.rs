//! What the frames of one interface show, frame by frame.

use super::{Checksums, Hidden, HopTimes, InterfaceFacts, Mirrors, Queue, StampOrder};
use crate::file::Frame;
use crate::identity::Identity;
use crate::reading::ReadOutcome;
use crate::wire::{Packet, Stop, StopReason};

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

    #[inline]
    pub(super) fn note_frame(&mut self, frame: &Frame<'_>, packet: &Packet, seen: &ReadOutcome) {
        self.n_frames += 1;
        let is_decoded = !matches!(seen, ReadOutcome::Undecoded);
        if !is_decoded {
            let is_cut = |stop: Stop| stop.reason == StopReason::SnapLength;
            self.n_undecoded += 1;
            self.n_cut += u64::from(packet.stop.is_some_and(is_cut));
        }
        self.longest_bytes = self.longest_bytes.max(frame.unchecked_bytes());
        if frame.has_time {
            self.hop_times.note(frame, packet);
            self.note_timed(frame, packet, seen);
        }
    }

    #[inline]
    fn note_timed(&mut self, frame: &Frame<'_>, packet: &Packet, seen: &ReadOutcome) {
        self.note_time(frame.stamped_ns(), !matches!(seen, ReadOutcome::Undecoded));
        // zeros where a record should be are no stamp
        if frame.wire_bytes > 0 {
            self.order.note(frame, frame.stamped_ns());
        }
        if !matches!(seen, ReadOutcome::Part) {
            self.mirrors.note(packet.mirror, frame.time_ns());
        }
    }

    #[inline]
    pub(super) fn note_packet(&mut self, frame: &Frame<'_>, packet: &Packet, identity: &Identity) {
        self.hidden.note(packet, frame.bytes);
        self.checksums.note(packet, frame.bytes, identity.toward);
        if identity.directed {
            self.queue.note(frame, identity);
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
