//! What the threads of a live capture share: when it begins and ends, and what each point has counted.

use crate::file::libpcap::{KernelCounts, StampClock};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

const PATIENCE: Duration = Duration::from_millis(2);

/// Since 1970.
pub(super) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}

/// The time that is captured: by the host's clock, the same for all points.
#[derive(Debug)]
pub(super) struct CaptureSpan {
    begin_ns: AtomicI64,
    end_ns: AtomicI64,
    n_packets: u64,
}

impl CaptureSpan {
    pub(super) fn new(n_packets: Option<u64>) -> Self {
        Self {
            begin_ns: AtomicI64::new(i64::MAX),
            end_ns: AtomicI64::new(i64::MAX),
            n_packets: n_packets.unwrap_or(u64::MAX),
        }
    }

    pub(super) fn begin(&self, duration_ns: Option<i64>) {
        let begin_ns = now_ns();
        if let Some(duration_ns) = duration_ns {
            self.end_at(begin_ns.saturating_add(duration_ns));
        }
        self.begin_ns.store(begin_ns, Ordering::Release);
    }

    pub(super) fn stop(&self) {
        self.end_at(now_ns());
    }

    pub(super) fn end_at(&self, t_ns: i64) {
        self.end_ns.fetch_min(t_ns, Ordering::AcqRel);
    }

    pub(super) fn begin_ns(&self) -> i64 {
        self.begin_ns.load(Ordering::Acquire)
    }

    pub(super) fn end_ns(&self) -> i64 {
        self.end_ns.load(Ordering::Acquire)
    }

    pub(super) fn is_over(&self) -> bool {
        self.end_ns() <= now_ns()
    }

    /// Waits for the other points; false if it ended before it began.
    pub(super) fn wait_for_begin(&self) -> bool {
        while self.begin_ns() == i64::MAX && !self.is_over() {
            std::thread::sleep(PATIENCE);
        }
        self.begin_ns() != i64::MAX
    }

    /// Whether a point that has so many packets wants one more; the last one that it wants ends all.
    pub(super) fn wants(&self, n_packets: u64, t_ns: i64) -> bool {
        if n_packets.saturating_add(1) == self.n_packets {
            self.end_at(t_ns);
        }
        n_packets < self.n_packets
    }
}

/// What a point has captured so far.
#[derive(Clone, Debug, Default)]
pub struct PointCounts {
    /// Packets in its files, those of a ring that are gone too.
    pub n_packets: u64,
    /// Their lengths on the wire.
    pub n_bytes: u64,
    /// Packets that passed the filter, dropped ones too, as libpcap counts them.
    pub n_received: u64,
    /// Packets for which the buffer had no room; of a stream, what it says itself.
    pub n_dropped: u64,
    /// Packets that the interface dropped, where the system tells.
    pub n_dropped_by_interface: u64,
    /// Packets before the common begin or after the common end.
    pub n_outside: u64,
    /// Whose clock stamps them; none: that of another host.
    pub clock: Option<StampClock>,
    /// Whether nothing more will come.
    pub is_over: bool,
    /// What ended it before the others, if anything did.
    pub problem: Option<String>,
    /// Its files, in the order of time.
    pub files: Vec<PathBuf>,
}

/// The same as it is counted.
#[derive(Debug, Default)]
pub(super) struct PointState {
    pub(super) n_packets: AtomicU64,
    pub(super) n_bytes: AtomicU64,
    pub(super) n_outside: AtomicU64,
    n_received: AtomicU64,
    n_dropped: AtomicU64,
    n_dropped_by_interface: AtomicU64,
    clock: OnceLock<StampClock>,
    is_over: AtomicBool,
    problem: OnceLock<String>,
    pub(super) files: Arc<Mutex<Vec<PathBuf>>>,
}

impl PointState {
    pub(super) fn stamped_by(&self, clock: StampClock) {
        self.clock.get_or_init(|| clock);
    }

    pub(super) fn fail(&self, problem: String) {
        self.problem.get_or_init(|| problem);
    }

    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    pub(super) fn kernel_counted(&self, counts: KernelCounts) {
        let store = |counter: &AtomicU64, n: u32| counter.store(n.into(), Ordering::Relaxed);
        store(&self.n_received, counts.received);
        store(&self.n_dropped, counts.dropped);
        store(&self.n_dropped_by_interface, counts.dropped_by_interface);
    }

    pub(super) fn stream_dropped(&self, n_dropped: u64) {
        self.n_dropped.store(n_dropped, Ordering::Relaxed);
    }

    pub(super) fn count(&self, wire_bytes: u32) {
        self.n_packets.fetch_add(1, Ordering::Relaxed);
        self.n_bytes.fetch_add(wire_bytes.into(), Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> PointCounts {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        PointCounts {
            is_over: self.is_over.load(Ordering::Acquire),
            n_packets: load(&self.n_packets),
            n_bytes: load(&self.n_bytes),
            n_received: load(&self.n_received),
            n_dropped: load(&self.n_dropped),
            n_dropped_by_interface: load(&self.n_dropped_by_interface),
            n_outside: load(&self.n_outside),
            clock: self.clock.get().copied(),
            problem: self.problem.get().cloned(),
            files: files.clone(),
        }
    }
}
