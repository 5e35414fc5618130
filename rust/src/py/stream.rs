//! The packets table as an Arrow stream.

use super::record::record;
use super::{
    Bound, PointTree, Progress, PyAny, PyCapsule, PyResult, Python, Settings, interruptible,
    pyclass, pymethods, raise,
};
use crate::base::error::Error;
use crate::base::piecewise::PiecewiseLinear;
use crate::export::packets::{
    Batches, Condition, Damages, Failure, Follower, Origin, schema as packets_schema,
};
use crate::file::Damage;
use crate::traffic::{Counted, TrafficPlan};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, Schema};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A file of the packets table: path, name, points and clocks by part, and how it is divided.
type OriginValues = (
    PathBuf,
    String,
    Vec<String>,
    Vec<Option<PiecewiseLinear>>,
    Option<PointTree>,
);

/// The packets table of some files as a one-shot Arrow stream.
#[pyclass(frozen, module = "pcaplat._native")]
pub(super) struct PacketStream {
    batches: Mutex<Option<RecordBatches>>,
    damages: Damages,
    failure: Failure,
    schema: Arc<Schema>,
    counted: Arc<Mutex<Option<Counted>>>,
}

type RecordBatches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

#[pymethods]
impl PacketStream {
    #[new]
    #[pyo3(signature = (origins, settings, *, outcomes_in=None, batch_rows=65_536, details=false, counting=None, columns=None, condition=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        origins: Vec<OriginValues>,
        settings: &Settings,
        outcomes_in: Option<PathBuf>,
        batch_rows: usize,
        details: bool,
        counting: Option<TrafficPlan>,
        columns: Option<Vec<String>>,
        condition: Option<Condition>,
    ) -> PyResult<Self> {
        let reading = settings.reading().map_err(|error| raise(py, error))?;
        let origin = |(path, name, points, clocks, tree): OriginValues| Origin {
            path,
            name,
            points,
            clocks,
            tree,
        };
        let origins = origins.into_iter().map(origin).collect();
        let open = || {
            let batches = Batches::open(reading, origins, outcomes_in, batch_rows, details)?
                .asked(columns.as_deref(), condition)?;
            match counting {
                Some(counting) => batches.counting(counting),
                None => Ok(batches),
            }
        };
        let batches = interruptible(py, &Progress::default(), None, open)?;
        Ok(Self {
            damages: batches.damages(),
            failure: Failure::clone(&batches.failure),
            counted: Arc::clone(&batches.counted),
            schema: batches.schema(),
            batches: Mutex::new(Some(Box::new(batches))),
        })
    }

    /// What was wrong with the files that were read to their end so far: file, byte, what.
    fn damage(&self) -> Vec<(String, u64, String)> {
        let found = self.damages.lock().map(|damages| damages.clone());
        let values = |(file, damage): (String, Damage)| (file, damage.at_byte, damage.text);
        found.unwrap_or_default().into_iter().map(values).collect()
    }

    /// Raises what made reading stop in the middle, if anything did.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let failure = self.failure.lock().ok().and_then(|mut found| found.take());
        failure.map_or(Ok(()), |error| Err(raise(py, error)))
    }

    /// The traffic that was counted, once all is read; none before, or if nobody asked for it.
    fn traffic<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let counted = self.counted.lock().ok().and_then(|mut found| found.take());
        counted
            .map(|counted| traffic_record(py, counted))
            .transpose()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self
            .batches
            .lock()
            .ok()
            .and_then(|mut batches| batches.take());
        let batches = batches.ok_or_else(|| {
            let text = "this stream was read already; call pcaplat.read again".to_owned();
            raise(py, Error::Argument(text))
        })?;
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(
            py,
            FFI_ArrowArrayStream::new(Box::new(reader)),
            c"arrow_array_stream",
        )
    }
}

fn traffic_record(py: Python<'_>, counted: Counted) -> PyResult<Bound<'_, PyAny>> {
    record!(py, "matches.traffic", "CountedTraffic", {
        volumes: ArrowTable(counted.volumes),
        sizes: ArrowTable(counted.sizes),
        connections: ArrowTable(counted.connections),
        n_left_out: counted.n_left_out,
        open: ArrowTable(counted.open),
        overhead: ArrowTable(counted.overhead),
    })
}

/// A table as an Arrow stream of one batch.
#[pyclass(frozen, module = "pcaplat._native")]
pub(super) struct ArrowTable(RecordBatch);

#[pymethods]
impl ArrowTable {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = std::iter::once(Ok(self.0.clone()));
        let reader = RecordBatchIterator::new(batches, self.0.schema());
        PyCapsule::new_with_value(
            py,
            FFI_ArrowArrayStream::new(Box::new(reader)),
            c"arrow_array_stream",
        )
    }
}

/// The packets table of a capture that is still being written, in parts as they come.
#[pyclass(frozen, module = "pcaplat._native")]
pub(super) struct Follow {
    follower: Follower,
    has_details: bool,
}

#[pymethods]
impl Follow {
    #[new]
    #[pyo3(signature = (path, name, point, settings, *, details=false))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        name: String,
        point: String,
        settings: &Settings,
        details: bool,
    ) -> PyResult<Self> {
        let reading = settings.reading().map_err(|error| raise(py, error))?;
        let origin = Origin {
            path,
            name,
            points: vec![point],
            clocks: vec![],
            tree: None,
        };
        Ok(Self {
            follower: Follower::start(reading, origin, details),
            has_details: details,
        })
    }

    /// The rows that came since, as soon as there are some; none when the capture has ended.
    fn rows(&self, py: Python<'_>) -> PyResult<Option<PacketStream>> {
        let progress = Progress::default();
        let found = interruptible(py, &progress, None, || self.follower.rows(&progress))?;
        let stream = |rows| PacketStream {
            batches: Mutex::new(Some(Box::new(std::iter::once(Ok(rows))))),
            damages: Damages::default(),
            failure: Failure::default(),
            schema: packets_schema(self.has_details),
            counted: Arc::default(),
        };
        Ok(found.map(stream))
    }

    /// What was found to be wrong since this was asked last: byte, what.
    fn damage(&self) -> Vec<(u64, String)> {
        let found = self.follower.damage().into_iter();
        found.map(|damage| (damage.at_byte, damage.text)).collect()
    }
}
