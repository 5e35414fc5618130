//! Live capture, as Python starts and stops it.

use super::record::records;
use super::{Bound, PyAny, PyResult, Python, pyclass, pymethods, raise};
use crate::base::panics::contained;
use crate::file::capturing::{
    CaptureOptions, CapturePoint, LiveCapture, PointCounts, PointSource, Ring,
};
use crate::file::libpcap::StampClock;
use pyo3::IntoPyObject;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A point: its name, its source as it was typed, the interface and its namespace or none of both and a
/// pipe, whether its adapter's own clock stamps, and its file without the ending.
type PointValues = (
    String,
    String,
    Option<String>,
    Option<PathBuf>,
    bool,
    PathBuf,
);

records! {
    PointCounts as "files.live"."PointCounts" {
        n_packets, n_bytes, n_received, n_dropped, n_dropped_by_interface, n_outside,
        clock: clock.map(clock_name), is_over, problem, files,
    }
}

/// Points that are being captured.
#[pyclass(frozen, module = "pcaplat._native")]
pub(super) struct LivePoints(Mutex<LiveCapture>);

#[pymethods]
impl LivePoints {
    #[new]
    #[pyo3(signature = (points, *, filter=None, snap_bytes=262_144, buffer_bytes=0, n_packets=None, duration_ns=None, ring=None, libpcap=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        points: Vec<PointValues>,
        filter: Option<String>,
        snap_bytes: u32,
        buffer_bytes: u32,
        n_packets: Option<u64>,
        duration_ns: Option<i64>,
        ring: Option<(usize, u64)>,
        libpcap: Option<String>,
    ) -> PyResult<Self> {
        let points = points.into_iter().map(point).collect();
        let options = CaptureOptions {
            filter,
            snap_bytes,
            buffer_bytes,
            n_packets,
            duration_ns,
            ring: ring.map(|(n_files, file_bytes)| Ring {
                n_files,
                file_bytes,
            }),
            extra_library: libpcap,
        };
        let started = py.detach(|| contained(|| LiveCapture::start(points, &options)));
        let capture = started.map_err(|error| raise(py, error))?;
        Ok(Self(Mutex::new(capture)))
    }

    /// What each point has captured so far.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let counts = self.capture().counts();
        counts.iter().map(|each| each.into_pyobject(py)).collect()
    }

    /// Lets all points end now.
    fn stop(&self) {
        self.capture().stop();
    }

    /// Waits until all points have ended, and their files are whole.
    fn finish(&self, py: Python<'_>) {
        py.detach(|| self.capture().finish());
    }
}

impl LivePoints {
    fn capture(&self) -> MutexGuard<'_, LiveCapture> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn point(
    (name, source_text, device, place, is_stamped_by_adapter, file): PointValues,
) -> CapturePoint {
    let source = match (device, place) {
        (Some(device), namespace) => PointSource::Interface {
            device,
            namespace,
            is_stamped_by_adapter,
        },
        (None, pipe) => PointSource::Stream(pipe.unwrap_or_default()),
    };
    CapturePoint {
        name,
        source_text,
        source,
        file,
    }
}

fn clock_name(clock: StampClock) -> &'static str {
    match clock {
        StampClock::Host => "host",
        StampClock::Adapter => "adapter",
        StampClock::AdapterOwn => "adapter-own",
    }
}
