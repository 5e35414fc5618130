//! The order of an interface's stamps in the file: which go back, and which are equal in bursts.

use crate::file::Frame;
use serde::{Deserialize, Serialize};

/// Burst sizes are told apart by decades of the bytes that share a stamp, from 100 bytes on.
pub(super) const DECADES: usize = 6;

/// How the stamps of one interface follow one another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StampOrder {
    /// Frames whose stamp is before that of the frame before.
    pub n_backward: u64,
    /// The longest run of frames that are all stamped before an earlier one.
    pub longest_behind: u64,
    /// Where that run starts.
    pub behind_from: u64,
    /// How far its first frame is behind.
    pub behind_ns: i64,
    /// Frames in runs of three or more with one stamp, by how many bytes came after the run's first.
    pub n_in_bursts: [u64; DECADES],
    /// The longest such run.
    pub longest_burst: u64,
    /// Where it starts.
    pub burst_from: u64,
    /// The least time from a stamp to the next where that is a run's: as long its frames may wait.
    pub least_wait_ns: Option<i64>,
    last_ns: Option<i64>,
    latest_ns: i64,
    behind: Behind,
    burst: Burst,
}

/// The frames so far that are stamped before an earlier one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Behind {
    from: u64,
    n: u64,
    by_ns: i64,
}

/// The frames so far that have the present stamp.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Burst {
    from: u64,
    n: u64,
    n_bytes: u64,
    since_ns: Option<i64>,
}

impl Burst {
    #[inline]
    fn begun_by(frame: &Frame<'_>, since_ns: Option<i64>) -> Self {
        Self {
            from: frame.number,
            n: 1,
            n_bytes: 0,
            since_ns,
        }
    }
}

/// A frame seen by two taps of one host has one stamp; three frames do not come so by chance.
const LEAST_BURST: u64 = 3;

impl StampOrder {
    /// Takes the next frame of the file.
    #[inline]
    pub(super) fn note(&mut self, frame: &Frame<'_>, t_ns: i64) {
        match self.last_ns {
            None => self.latest_ns = t_ns,
            Some(last_ns) if last_ns == t_ns => {
                self.burst.n += 1;
                self.burst.n_bytes += u64::from(frame.wire_bytes);
            }
            Some(last_ns) => {
                self.n_backward += u64::from(t_ns < last_ns);
                self.end_burst();
            }
        }
        if self.last_ns != Some(t_ns) {
            let since_ns = self.last_ns.map(|last_ns| t_ns.saturating_sub(last_ns));
            self.burst = Burst::begun_by(frame, since_ns);
        }
        self.last_ns = Some(t_ns);
        self.note_behind(frame.number, t_ns);
    }

    #[inline]
    fn note_behind(&mut self, number: u64, t_ns: i64) {
        if t_ns >= self.latest_ns {
            self.latest_ns = t_ns;
            self.end_behind();
            return;
        }
        if self.behind.n == 0 {
            let by_ns = self.latest_ns.saturating_sub(t_ns);
            self.behind = Behind {
                from: number,
                n: 0,
                by_ns,
            };
        }
        self.behind.n += 1;
    }

    fn end_behind(&mut self) {
        if self.behind.n > self.longest_behind {
            self.longest_behind = self.behind.n;
            self.behind_from = self.behind.from;
            self.behind_ns = self.behind.by_ns;
        }
        self.behind.n = 0;
    }

    #[inline]
    fn end_burst(&mut self) {
        if self.burst.n >= LEAST_BURST {
            self.note_burst();
        }
    }

    fn note_burst(&mut self) {
        // 100 bytes and more, 1,000 and more …
        let decade = (self.burst.n_bytes.max(10).ilog10() as usize)
            .saturating_sub(2)
            .min(DECADES - 1);
        if let Some(n) = self.n_in_bursts.get_mut(decade) {
            *n += self.burst.n;
        }
        let waits = [self.least_wait_ns, self.burst.since_ns];
        self.least_wait_ns = waits.into_iter().flatten().filter(|ns| *ns > 0).min();
        if self.burst.n > self.longest_burst {
            self.longest_burst = self.burst.n;
            self.burst_from = self.burst.from;
        }
    }

    /// Takes what is still open at the end of an extent of the file: what comes next follows nothing.
    pub(super) fn close(&mut self) {
        self.end_behind();
        self.end_burst();
        self.burst = Burst::default();
        self.last_ns = None;
    }

    /// Adds that of frames that come later, whose numbers are behind so many; both are closed.
    pub(super) fn join(&mut self, later: &Self, n_before: u64) {
        self.n_backward += later.n_backward;
        if later.longest_behind > self.longest_behind {
            self.longest_behind = later.longest_behind;
            self.behind_from = later.behind_from + n_before;
            self.behind_ns = later.behind_ns;
        }
        let bursts = self.n_in_bursts.iter_mut().zip(later.n_in_bursts);
        bursts.for_each(|(n, more)| *n += more);
        if later.longest_burst > self.longest_burst {
            self.longest_burst = later.longest_burst;
            self.burst_from = later.burst_from + n_before;
        }
        let waits = [self.least_wait_ns, later.least_wait_ns];
        self.least_wait_ns = waits.into_iter().flatten().min();
    }
}

#[cfg(test)]
mod tests {
    use super::StampOrder;
    use crate::file::{Frame, FrameDirection};

    fn of(stamps_ns: &[i64]) -> StampOrder {
        let mut order = StampOrder::default();
        for (number, t_ns) in (1..).zip(stamps_ns) {
            let frame = Frame {
                number,
                t_ns: *t_ns,
                stamp_ns: None,
                late_ns: 0,
                packet_id: 0,
                has_time: true,
                interface: 0,
                link: 1,
                wire_bytes: 1_000,
                fcs_bytes: 0,
                direction: FrameDirection::Unknown,
                bytes: &[],
            };
            order.note(&frame, *t_ns);
        }
        order.close();
        order
    }

    #[test]
    fn a_clock_set_back_is_one_long_run_behind() {
        let stamps: Vec<i64> = (100..150).chain(80..140).collect();
        let order = of(&stamps);
        assert_eq!((order.n_backward, order.longest_behind), (1, 60));
        assert_eq!((order.behind_from, order.behind_ns), (51, 69));
    }

    #[test]
    fn frames_with_one_stamp_are_a_burst_from_three_on() {
        let order = of(&[1, 2, 2, 3, 4, 4, 4, 4]);
        assert_eq!((order.longest_burst, order.burst_from), (4, 5));
        // three more of 1,000 bytes each
        assert_eq!(order.n_in_bursts, [0, 4, 0, 0, 0, 0]);
    }

    #[test]
    fn frames_of_a_batch_wait_at_most_since_the_stamp_before() {
        let order = of(&[5, 5, 5, 6, 46, 46, 46, 50, 80, 80, 80]);
        assert_eq!(order.least_wait_ns, Some(30));
        assert_eq!(of(&[7, 7, 7, 7]).least_wait_ns, None);
    }

    #[test]
    fn a_stamp_that_goes_back_is_no_wait() {
        assert_eq!(of(&[46, 40, 40, 40]).least_wait_ns, None);
        assert_eq!(of(&[46, 40, 40, 40, 49, 49, 49]).least_wait_ns, Some(9));
    }
}
