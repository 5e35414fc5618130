//! A point that is an interface of this host.

use super::point_file::{InterfaceCounts, InterfaceText, PointFile};
use super::state::now_ns;
use super::{PointSource, PointWork};
use crate::base::error::{Error, Result};
use crate::file::libpcap::{LiveHandle, LiveOptions, LivePacket, StampClock, enter_namespace};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// So long the kernel may keep packets to hand them over together.
const PATIENCE: Duration = Duration::from_millis(100);
/// Between two times that packets are written and drops are asked for.
const WRITE_EVERY: Duration = Duration::from_millis(200);
/// Packets of several processors are this far out of order, and some more.
const DISORDER_NS: i64 = 10_000_000;
/// After the end, an interface without packets is waited for so long, one with packets at most so long.
const QUIET_NS: i64 = 3 * 100_000_000;
const BUSY_NS: i64 = 2_000_000_000;
const EPERM: i32 = 1;
const EACCES: i32 = 13;

/// An open interface, and its file.
pub(super) struct InterfacePoint<'a> {
    work: &'a PointWork,
    handle: LiveHandle,
    text: InterfaceText,
}

impl<'a> InterfacePoint<'a> {
    pub(super) fn open(work: &'a PointWork) -> Result<Self> {
        let PointSource::Interface {
            device,
            namespace,
            is_stamped_by_adapter,
        } = &work.point.source
        else {
            return Err(Error::Bug("no interface".into()));
        };
        if let Some(namespace) = namespace {
            enter_namespace(namespace).map_err(|problem| not_entered(namespace, &problem))?;
        }
        let options = &work.options;
        let handle = LiveHandle::open(&LiveOptions {
            device: device.clone(),
            snap_bytes: options.snap_bytes,
            buffer_bytes: options.buffer_bytes,
            patience: PATIENCE,
            filter: options.filter.clone(),
            is_stamped_by_adapter: *is_stamped_by_adapter,
            extra_library: options.extra_library.clone(),
        })?;
        work.state.stamped_by(handle.clock());
        let text = InterfaceText {
            link: handle.link(),
            snap_bytes: options.snap_bytes,
            clock: Some(0),
            name: device.clone(),
            description: described(
                &work.point.source_text,
                handle.clock(),
                handle.resolution_ns(),
            ),
            filter: options.filter.clone().unwrap_or_default(),
        };
        Ok(Self { work, handle, text })
    }

    /// Captures until all points end.
    pub(super) fn capture(&mut self) -> Result<()> {
        let state = &self.work.state;
        let files = std::sync::Arc::clone(&state.files);
        let ring = self.work.options.ring;
        let mut file = PointFile::create(&self.work.point.file, ring, files)?;
        file.describe(self.text.clone());
        let outcome = self.read(&mut file);
        if let Ok(counts) = self.handle.counts() {
            state.kernel_counted(counts);
        }
        self.count(&mut file);
        file.finish()?;
        outcome
    }

    fn read(&mut self, file: &mut PointFile) -> Result<()> {
        let mut written = Instant::now();
        loop {
            self.handle.wait(PATIENCE)?;
            let mut taker = Taker::new(self.work, self.handle.clock(), file);
            let n = self.handle.dispatch(&mut |packet| taker.take(packet))?;
            let (failure, is_past) = (taker.failure.take(), taker.is_past);
            failure.map_or(Ok(()), Err)?;
            if written.elapsed() >= WRITE_EVERY {
                written = Instant::now();
                self.work.state.kernel_counted(self.handle.counts()?);
                self.count(file);
                file.flush()?;
            }
            let late_ns = now_ns().saturating_sub(self.work.span.end_ns());
            if late_ns > 0 && (is_past || late_ns > BUSY_NS || (n == 0 && late_ns > QUIET_NS)) {
                return Ok(());
            }
        }
    }

    fn count(&self, file: &mut PointFile) {
        let counts = self.work.state.counts();
        file.counted(
            0,
            InterfaceCounts {
                accepted: Some(counts.n_received),
                dropped: counts.n_dropped,
                dropped_by_interface: counts.n_dropped_by_interface,
                delivered: 0,
            },
        );
    }
}

/// Takes packets that libpcap hands over.
struct Taker<'a> {
    work: &'a PointWork,
    file: &'a mut PointFile,
    span_ns: (i64, i64),
    failure: Option<Error>,
    /// Whether a packet of after the end was seen.
    is_past: bool,
}

impl<'a> Taker<'a> {
    fn new(work: &'a PointWork, clock: StampClock, file: &'a mut PointFile) -> Self {
        let is_hosts = clock != StampClock::AdapterOwn;
        let span_ns = (work.span.begin_ns(), work.span.end_ns());
        Self {
            work,
            file,
            // another clock does not say what is before and what is after
            span_ns: if is_hosts {
                span_ns
            } else {
                (i64::MIN, i64::MAX)
            },
            failure: None,
            is_past: false,
        }
    }

    #[inline]
    fn take(&mut self, packet: LivePacket<'_>) {
        let (begin_ns, end_ns) = self.span_ns;
        let state = &self.work.state;
        self.is_past |= packet.t_ns > end_ns.saturating_add(DISORDER_NS);
        let is_inside = begin_ns <= packet.t_ns && packet.t_ns <= end_ns;
        let n_packets = state.n_packets.load(Ordering::Relaxed);
        if !is_inside || !self.work.span.wants(n_packets, packet.t_ns) {
            state.n_outside.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let (t_ns, wire_bytes) = (packet.t_ns, packet.wire_bytes);
        match self.file.packet(0, t_ns, wire_bytes, packet.bytes) {
            Ok(()) => state.count(wire_bytes),
            Err(problem) => self.failure = self.failure.take().or(Some(problem)),
        }
    }
}

/// What stands in the file beside the interface's name.
fn described(source: &str, clock: StampClock, resolution_ns: i64) -> String {
    let clock = match clock {
        StampClock::Host => "timestamped by the kernel",
        StampClock::Adapter => "timestamped by the adapter, in the host's time",
        StampClock::AdapterOwn => "timestamped by the adapter's own clock, received packets only",
    };
    format!("{source}, {clock}, {resolution_ns} ns")
}

/// Why a namespace cannot be entered, and what to do.
fn not_entered(namespace: &Path, problem: &std::io::Error) -> Error {
    let path = namespace.display();
    let text = match (problem.kind(), problem.raw_os_error()) {
        (ErrorKind::NotFound, _) => format!(
            "there is no network namespace {path}; `ip netns list` names those of this host"
        ),
        (_, Some(EPERM | EACCES)) => format!(
            "entering the network namespace {path} needs the capability CAP_SYS_ADMIN (of another \
             user's process also CAP_SYS_PTRACE), which this process lacks; run as root"
        ),
        _ => format!("the network namespace {path} cannot be entered: {problem}"),
    };
    Error::Argument(text)
}
