//! Sorts frames that come nearly in order, holding a bounded number of them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::file::Frame;

/// A frame that waits to be written.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WaitingFrame {
    pub(super) t_ns: i64,
    /// Keeps frames of equal time in the order of their file.
    sequence: u64,
    pub(super) link: u16,
    pub(super) wire_bytes: u32,
    pub(super) fcs_bytes: u8,
    pub(super) bytes: Box<[u8]>,
    /// What is said of it.
    pub(super) comment: String,
}

const MAX_FRAMES: usize = 65_536;
const MAX_BYTES: usize = 64 << 20;

/// Frames that came in order are queued; only stragglers pay for a heap.
#[derive(Default)]
pub(super) struct Sorter {
    in_order: VecDeque<WaitingFrame>,
    stragglers: BinaryHeap<Reverse<WaitingFrame>>,
    held_bytes: usize,
    n_pushed: u64,
}

impl Sorter {
    /// Whether a frame has to leave before another may come.
    pub(super) fn is_full(&self) -> bool {
        self.in_order.len() + self.stragglers.len() >= MAX_FRAMES || self.held_bytes >= MAX_BYTES
    }

    pub(super) fn push(&mut self, t_ns: i64, frame: &Frame<'_>, comment: String) {
        let waiting = WaitingFrame {
            t_ns,
            sequence: self.n_pushed,
            link: frame.link,
            wire_bytes: frame.wire_bytes,
            fcs_bytes: frame.fcs_bytes,
            bytes: frame.bytes.into(),
            comment,
        };
        self.n_pushed += 1;
        self.held_bytes += waiting.bytes.len();
        if self.in_order.back().is_some_and(|last| last.t_ns > t_ns) {
            self.stragglers.push(Reverse(waiting));
        } else {
            self.in_order.push_back(waiting);
        }
    }

    /// When the earliest frame is.
    pub(super) fn next_ns(&self) -> Option<i64> {
        let in_order = self.in_order.front().map(|frame| frame.t_ns);
        let straggler = self.stragglers.peek().map(|Reverse(frame)| frame.t_ns);
        in_order.into_iter().chain(straggler).min()
    }

    /// The earliest frame.
    pub(super) fn pop(&mut self) -> Option<WaitingFrame> {
        let popped = match (self.in_order.front(), self.stragglers.peek()) {
            (Some(first), Some(Reverse(straggler))) if first < straggler => {
                self.in_order.pop_front()
            }
            (_, Some(_)) => self.stragglers.pop().map(|Reverse(frame)| frame),
            (_, None) => self.in_order.pop_front(),
        }?;
        self.held_bytes -= popped.bytes.len();
        Some(popped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::FrameDirection;

    fn frame(bytes: &[u8]) -> Frame<'_> {
        Frame {
            number: 1,
            t_ns: 0,
            stamp_ns: None,
            late_ns: 0,
            packet_id: 0,
            has_time: true,
            interface: 0,
            link: 1,
            wire_bytes: 0,
            fcs_bytes: 0,
            direction: FrameDirection::Unknown,
            bytes,
        }
    }

    #[test]
    fn any_order_comes_out_sorted_and_equal_times_as_they_came() {
        let mut sorter = Sorter::default();
        let times_ns: Vec<i64> = (0..1000).map(|i| (i * 7919) % 101).collect();
        for (i, t_ns) in times_ns.iter().enumerate() {
            sorter.push(*t_ns, &frame(&i.to_be_bytes()), String::new());
        }
        let mut expected: Vec<_> = times_ns.iter().copied().zip(0_usize..).collect();
        expected.sort_unstable();
        for (t_ns, i) in expected {
            assert_eq!(sorter.next_ns(), Some(t_ns));
            let popped = sorter.pop().unwrap();
            assert_eq!(
                (popped.t_ns, &popped.bytes[..]),
                (t_ns, &i.to_be_bytes()[..])
            );
        }
        assert!(sorter.pop().is_none());
        assert_eq!(sorter.held_bytes, 0);
    }

    #[test]
    fn it_is_full_by_frames_or_by_bytes() {
        let mut many = Sorter::default();
        (0..65_535).for_each(|i| many.push(i, &frame(&[]), String::new()));
        assert!(!many.is_full());
        many.push(0, &frame(&[]), String::new());
        assert!(many.is_full());
        let mut large = Sorter::default();
        large.push(0, &frame(&vec![0; MAX_BYTES]), String::new());
        assert!(large.is_full());
    }
}
