//! The border: the only file that names Python. Large tables cross as Arrow streams, small ones as
//! bytes of little-endian int64 (numpy reads them in place), the rest as plain values.

use crate::attribute::latencies;
use crate::error::Error;
use crate::filter::Filter;
use crate::histogram::{Histogram, middle_ns};
use crate::identity::{N_CLASSES, Prefixes, WHOLE};
use crate::matching::tally::{LinkTally, Tally};
use crate::matching::{Matched, Options, STATUSES, match_files as run_match};
use crate::merged::{MergePoint, write_merged as run_write_merged};
use crate::packets::{Batches, Origin};
use crate::plan::{Band, Centre, Direction, Plan};
use crate::reading::{Progress, Reading};
use crate::sample::{FileFacts, Sample, sample as run_sample};
use crate::wire::{Decoder, Packet, Parent, layer_path};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::RecordBatchIterator;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Between two looks at Python's signals.
const PATIENCE: Duration = Duration::from_millis(80);

fn raise(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Io { path, source } => {
            let number = source.raw_os_error();
            let text = source.to_string();
            pyo3::exceptions::PyOSError::new_err((number, text, path.display().to_string()))
        }
        other => match py.import("pcaplat.errors").and_then(|module| module.getattr("InputError")) {
            Ok(kind) => match kind.call1((other.to_string(),)) {
                Ok(value) => PyErr::from_value(value),
                Err(failure) => failure,
            },
            Err(failure) => failure,
        },
    }
}

/// Runs a job on a thread of its own while this one minds Python's signals and the progress.
fn attend<T: Send>(
    py: Python<'_>,
    progress: &Progress,
    tell: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce() -> crate::error::Result<T> + Send,
) -> PyResult<T> {
    let (done, wait) = channel();
    let wait = Mutex::new(wait);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The receiver lives until the job is done.
            let _ = done.send(job());
        });
        let mut trouble = None;
        loop {
            let received = py.detach(|| match wait.lock() {
                Ok(wait) => wait.recv_timeout(PATIENCE),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            });
            match received {
                Ok(result) => {
                    return trouble.map_or_else(|| result.map_err(|error| raise(py, error)), Err);
                }
                Err(RecvTimeoutError::Timeout) if trouble.is_none() => {
                    let told = tell.map(|tell| tell.call1((progress.n_bytes(),)));
                    if let Err(error) = py.check_signals().and(told.transpose()) {
                        progress.cancel();
                        trouble = Some(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let died = Error::Argument("a thread of the core died; please report this".into());
                    return Err(trouble.unwrap_or_else(|| raise(py, died)));
                }
            }
        }
    })
}

/// How captures are read: filters, ports, and the bytes that enter identities.
#[pyclass(frozen, module = "pcaplat._native")]
struct Settings {
    filter: Option<String>,
    filter_outer: Option<String>,
    udp_ports: Vec<(u16, String)>,
    one_in: u64,
    prefixes: Prefixes,
    libpcap: Option<String>,
}

#[pymethods]
impl Settings {
    #[new]
    #[pyo3(signature = (*, filter=None, filter_outer=None, udp_ports=Vec::new(), one_in=1, prefixes=None, libpcap=None))]
    fn new(
        filter: Option<String>,
        filter_outer: Option<String>,
        udp_ports: Vec<(u16, String)>,
        one_in: u64,
        prefixes: Option<Vec<u32>>,
        libpcap: Option<String>,
    ) -> Self {
        let prefixes = prefixes.and_then(|given| <[u32; N_CLASSES]>::try_from(given).ok());
        Self { filter, filter_outer, udp_ports, one_in, prefixes: prefixes.unwrap_or(WHOLE), libpcap }
    }
}

impl Settings {
    fn reading(&self) -> crate::error::Result<Reading> {
        let ports: Vec<(Parent, &str)> =
            self.udp_ports.iter().map(|(port, name)| (Parent::UdpDst(*port), name.as_str())).collect();
        let compile = |text: &Option<String>| {
            text.as_deref().map(|text| Filter::new(text, self.libpcap.as_deref())).transpose()
        };
        Ok(Reading {
            decoder: Decoder::new(&ports)?,
            filter: compile(&self.filter)?,
            filter_outer: compile(&self.filter_outer)?,
            prefixes: self.prefixes,
            one_in: self.one_in.max(1),
        })
    }
}

fn numbers<'py>(py: Python<'py>, values: impl Iterator<Item = i64>) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.flat_map(i64::to_le_bytes).collect();
    PyBytes::new(py, &bytes)
}

/// Selects the same packets of all files, and states the facts about each file.
#[pyfunction]
#[pyo3(signature = (files, settings, limit, tell=None))]
fn sample<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    settings: &Settings,
    limit: usize,
    tell: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut reading = settings.reading().map_err(|error| raise(py, error))?;
    let progress = Progress::default();
    let job = || run_sample(&files, &mut reading, limit, &progress);
    let sample = attend(py, &progress, tell.as_ref(), job)?;
    sample_dict(py, &sample)
}

fn sample_dict<'py>(py: Python<'py>, sample: &Sample) -> PyResult<Bound<'py, PyDict>> {
    let rows = || sample.rows.iter().enumerate().flat_map(|(file, rows)| rows.iter().map(move |row| (file, row)));
    let flows = || sample.flows.iter().enumerate().flat_map(|(file, flows)| flows.iter().map(move |flow| (file, flow)));
    let index = |file: usize| i64::try_from(file).unwrap_or(-1);
    let out = PyDict::new(py);
    let columns = PyDict::new(py);
    columns.set_item("file", numbers(py, rows().map(|(file, _)| index(file))))?;
    columns.set_item("interface", numbers(py, rows().map(|(_, row)| i64::from(row.interface))))?;
    columns.set_item("key", numbers(py, rows().map(|(_, row)| row.identity.key.cast_signed())))?;
    columns.set_item("pair", numbers(py, rows().map(|(_, row)| row.identity.pair.cast_signed())))?;
    columns.set_item("flow", numbers(py, rows().map(|(_, row)| row.identity.flow.cast_signed())))?;
    columns.set_item("is_toward", numbers(py, rows().map(|(_, row)| i64::from(row.identity.toward))))?;
    columns.set_item("is_directed", numbers(py, rows().map(|(_, row)| i64::from(row.identity.directed))))?;
    columns.set_item("copy_tag", numbers(py, rows().map(|(_, row)| i64::from(row.identity.copy_tag))))?;
    columns.set_item("t_ns", numbers(py, rows().map(|(_, row)| row.t_ns)))?;
    columns.set_item("depth", numbers(py, rows().map(|(_, row)| i64::from(row.depth))))?;
    columns.set_item("ttl", numbers(py, rows().map(|(_, row)| i64::from(row.ttl))))?;
    columns.set_item("tcp_bytes", numbers(py, rows().map(|(_, row)| i64::from(row.tcp_bytes))))?;
    out.set_item("packets", columns)?;
    let columns = PyDict::new(py);
    columns.set_item("file", numbers(py, flows().map(|(file, _)| index(file))))?;
    columns.set_item("interface", numbers(py, flows().map(|(_, flow)| i64::from(flow.interface))))?;
    columns.set_item("flow", numbers(py, flows().map(|(_, flow)| flow.flow.cast_signed())))?;
    columns.set_item("pair", numbers(py, flows().map(|(_, flow)| flow.pair.cast_signed())))?;
    columns.set_item("first_t_ns", numbers(py, flows().map(|(_, flow)| flow.first_t_ns)))?;
    columns.set_item("is_first_toward", numbers(py, flows().map(|(_, flow)| i64::from(flow.first_toward))))?;
    columns.set_item("opens", numbers(py, flows().map(|(_, flow)| i64::from(flow.opens))))?;
    out.set_item("flows", columns)?;
    out.set_item("prefixes", sample.prefixes.to_vec())?;
    out.set_item("is_whole", sample.level == u64::MAX)?;
    out.set_item("facts", facts_list(py, &sample.facts)?)?;
    Ok(out)
}

fn facts_list<'py>(py: Python<'py>, facts: &[FileFacts]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for file in facts {
        let dict = PyDict::new(py);
        dict.set_item("format", file.format)?;
        dict.set_item("is_truncated", file.is_truncated)?;
        let damage: Vec<(u64, String)> =
            file.damage.iter().map(|damage| (damage.at_byte, damage.text.clone())).collect();
        dict.set_item("damage", damage)?;
        let interfaces = PyList::empty(py);
        for (index, seen) in file.interfaces.iter().enumerate() {
            let Some(seen) = seen else { continue };
            let one = PyDict::new(py);
            let declared = file.declared.get(index);
            one.set_item("interface", index)?;
            one.set_item("name", declared.and_then(|declared| declared.name.clone()))?;
            one.set_item("link", seen.link)?;
            one.set_item("declared_resolution_ns", declared.map_or(1000.0, |declared| declared.resolution_ns))?;
            one.set_item("n_dropped", declared.and_then(|declared| declared.n_dropped))?;
            one.set_item("observed_resolution_ns", seen.observed_resolution_ns)?;
            one.set_item("n_frames", seen.n_frames)?;
            one.set_item("n_undecoded", seen.n_undecoded)?;
            one.set_item("first_t_ns", seen.first_t_ns)?;
            one.set_item("last_t_ns", seen.last_t_ns)?;
            one.set_item("disorder_ns", seen.disorder_ns)?;
            interfaces.append(one)?;
        }
        dict.set_item("interfaces", interfaces)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// Knots (raw times, offsets) and the slope outside them.
type Knots = (Vec<i64>, Vec<i64>, f64);

fn centre((t_ns, offset_ns, slope): Knots) -> Centre {
    Centre { t_ns, offset_ns, slope }
}

/// A band: lower and upper edge, density, loss, phantoms.
type Edges = (i64, i64, Vec<f64>, f64, f64);

fn band((lo_ns, hi_ns, density, lost_frac, phantom_frac): Edges) -> Band {
    Band { lo_ns, hi_ns, density, lost_frac, phantom_frac }
}

fn item<'py, T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>>(plan: &Bound<'py, PyDict>, name: &str) -> PyResult<T> {
    let value = plan.get_item(name)?;
    let value = value.ok_or_else(|| pyo3::exceptions::PyKeyError::new_err(name.to_owned()))?;
    value.extract().map_err(Into::into)
}

fn plan_of(dict: &Bound<'_, PyDict>) -> PyResult<Plan> {
    let centres = |name| -> PyResult<Vec<Centre>> {
        Ok(item::<Vec<Knots>>(dict, name)?.into_iter().map(centre).collect())
    };
    let bands = |name| -> PyResult<Vec<Band>> {
        Ok(item::<Vec<Edges>>(dict, name)?.into_iter().map(band).collect())
    };
    let pairs: Vec<(i64, bool)> = item(dict, "toward_is_forward")?;
    Ok(Plan {
        point_of: item(dict, "point_of")?,
        position: item(dict, "position")?,
        component: item(dict, "component")?,
        domain: item(dict, "domain")?,
        centres: [centres("forward_centres")?, centres("reverse_centres")?],
        bands: [bands("forward_bands")?, bands("reverse_bands")?],
        toward_is_forward: pairs.into_iter().map(|(pair, to)| (pair.cast_unsigned(), to)).collect::<HashMap<_, _>>(),
        links: item(dict, "links")?,
        whole: item(dict, "whole")?,
        wide_ns: item(dict, "wide_ns")?,
        horizon_ns: item(dict, "horizon_ns")?,
        cover: item(dict, "cover")?,
        range: item(dict, "range")?,
        bins: item(dict, "bins")?,
    })
}

/// Matches the frames of all files as the plan says; spilled files go into `directory`.
#[pyfunction]
#[pyo3(signature = (files, settings, plan, directory, keep_rows, n_partitions=0, tell=None))]
fn match_files<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    settings: &Settings,
    plan: &Bound<'py, PyDict>,
    directory: PathBuf,
    keep_rows: bool,
    n_partitions: usize,
    tell: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let reading = settings.reading().map_err(|error| raise(py, error))?;
    let plan = Arc::new(plan_of(plan)?);
    let progress = Progress::default();
    let options = Options { directory: &directory, keep_rows, n_partitions };
    let job = || run_match(&files, &reading, &plan, &options, &progress);
    let matched = attend(py, &progress, tell.as_ref(), job)?;
    matched_dict(py, &matched, plan.links.len())
}

fn matched_dict<'py>(py: Python<'py>, matched: &Matched, n_links: usize) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("statuses", STATUSES.to_vec())?;
    out.set_item("counts", matched.counts.iter().map(|of| of.to_vec()).collect::<Vec<_>>())?;
    let links = PyList::empty(py);
    for index in 0..n_links {
        let both = PyList::empty(py);
        for side in 0..2 {
            both.append(link_dict(py, &matched.tallies, index, side)?)?;
        }
        links.append(both)?;
    }
    out.set_item("links", links)?;
    out.set_item("least", least_list(py, &matched.tallies)?)?;
    let rows = matched.tallies.iter().filter_map(|tally| tally.rows.as_ref());
    out.set_item("rows", rows.map(|spill| spill.path.display().to_string()).collect::<Vec<_>>())?;
    Ok(out)
}

fn link_dict<'py>(py: Python<'py>, tallies: &[Tally], index: usize, side: usize) -> PyResult<Bound<'py, PyDict>> {
    let mut total = LinkTally::default();
    let mut spills = Vec::new();
    for tally in tallies {
        if let Some(one) = tally.links.get(index).and_then(|both| both.get(side)) {
            total.n += one.n;
            total.n_lost += one.n_lost;
            total.n_duplicated += one.n_duplicated;
            total.n_reordered += one.n_reordered;
            total.histogram.merge(&one.histogram);
        }
        if let Some(Some(spill)) = tally.spills.get(index).and_then(|both| both.get(side)) {
            spills.push(spill.path.display().to_string());
        }
    }
    let dict = PyDict::new(py);
    dict.set_item("n", total.n)?;
    dict.set_item("n_lost", total.n_lost)?;
    dict.set_item("n_duplicated", total.n_duplicated)?;
    dict.set_item("n_reordered", total.n_reordered)?;
    dict.set_item("histogram", histogram_dict(py, &total.histogram)?)?;
    dict.set_item("spills", spills)?;
    Ok(dict)
}

fn histogram_dict<'py>(py: Python<'py>, histogram: &Histogram) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (bins, counts): (Vec<i32>, Vec<u64>) = histogram.bins().unzip();
    dict.set_item("n", histogram.n)?;
    dict.set_item("sum_ns", histogram.sum_ns)?;
    dict.set_item("sum_of_squares", histogram.sum_of_squares)?;
    dict.set_item("min_ns", histogram.min_ns)?;
    dict.set_item("max_ns", histogram.max_ns)?;
    dict.set_item("middles_ns", bins.into_iter().map(middle_ns).collect::<Vec<_>>())?;
    dict.set_item("counts", counts)?;
    Ok(dict)
}

fn least_list<'py>(py: Python<'py>, tallies: &[Tally]) -> PyResult<Bound<'py, PyList>> {
    let mut keys: Vec<_> = tallies.iter().flat_map(|tally| tally.least.keys().copied()).collect();
    keys.sort_unstable();
    keys.dedup();
    let list = PyList::empty(py);
    for key in keys {
        let bins = || tallies.iter().filter_map(|tally| tally.least.get(&key)).flatten().flatten();
        let one = PyDict::new(py);
        one.set_item("up", key.0)?;
        one.set_item("down", key.1)?;
        one.set_item("is_reverse", key.2 == 1)?;
        one.set_item("aligned_ns", numbers(py, bins().map(|least| least.aligned_ns)))?;
        one.set_item("raw_ns", numbers(py, bins().map(|least| least.raw_ns)))?;
        one.set_item("n", numbers(py, bins().map(|least| i64::try_from(least.n).unwrap_or(i64::MAX))))?;
        list.append(one)?;
    }
    Ok(list)
}

/// The latencies of spilled raw differences, given the far clock's offset against the near one.
#[pyfunction]
fn attribute<'py>(py: Python<'py>, spills: Vec<PathBuf>, is_reverse: bool, clock: Knots) -> PyResult<Bound<'py, PyDict>> {
    let direction = if is_reverse { Direction::Reverse } else { Direction::Forward };
    let clock = centre(clock);
    let histogram = attend(py, &Progress::default(), None, || latencies(&spills, direction, &clock))?;
    histogram_dict(py, &histogram)
}

/// A file of the packets table: path, name, points and clocks by interface.
type OriginValues = (PathBuf, String, Vec<String>, Vec<Option<Knots>>);

/// The packets table of some files as a one-shot Arrow stream.
#[pyclass(frozen, module = "pcaplat._native")]
struct PacketStream {
    batches: Mutex<Option<Batches>>,
}

#[pymethods]
impl PacketStream {
    #[new]
    #[pyo3(signature = (origins, settings, *, outcomes_in=None, batch_rows=65_536))]
    fn new(
        py: Python<'_>,
        origins: Vec<OriginValues>,
        settings: &Settings,
        outcomes_in: Option<PathBuf>,
        batch_rows: usize,
    ) -> PyResult<Self> {
        let reading = settings.reading().map_err(|error| raise(py, error))?;
        let origin = |(path, name, points, clocks): OriginValues| Origin {
            path,
            name,
            points,
            clocks: clocks.into_iter().map(|knots| knots.map(centre)).collect(),
        };
        let origins = origins.into_iter().map(origin).collect();
        let batches = Batches::new(reading, origins, outcomes_in, batch_rows);
        Ok(Self { batches: Mutex::new(Some(batches)) })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.batches.lock().ok().and_then(|mut batches| batches.take());
        let batches = batches.ok_or_else(|| {
            let text = "this stream was read already; call pcaplat.read again".to_owned();
            raise(py, Error::Argument(text))
        })?;
        let reader = RecordBatchIterator::new(batches, crate::packets::schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }
}

/// A point of merged.pcapng: name, files, interface of the files, clock knots.
type MergeValues = (String, Vec<PathBuf>, Option<u32>, Vec<(i64, i64)>);

/// Writes merged.pcapng and returns how many frames it holds.
#[pyfunction]
#[pyo3(signature = (points, out, tell=None))]
fn write_merged(
    py: Python<'_>,
    points: Vec<MergeValues>,
    out: PathBuf,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let point = |(name, files, interface, clock): MergeValues| MergePoint { name, files, interface, clock };
    let points: Vec<MergePoint> = points.into_iter().map(point).collect();
    let progress = Progress::default();
    let job = || run_write_merged(&points, &out, &|| progress.is_cancelled());
    attend(py, &progress, tell.as_ref(), job)
}

/// One frame, decoded: for documentation and debugging.
#[pyfunction]
fn decode<'py>(py: Python<'py>, frame: &[u8], link: u16) -> PyResult<Bound<'py, PyDict>> {
    let decoder = Decoder::new(&[]).map_err(|error| raise(py, error))?;
    let mut packet = Packet::new();
    let wire_bytes = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    decoder.decode(link, frame, wire_bytes, 0, &mut packet);
    let dict = PyDict::new(py);
    dict.set_item("layers", layer_path(&packet))?;
    dict.set_item("tunnel_id", (packet.tunnel_id >= 0).then_some(packet.tunnel_id))?;
    dict.set_item("ttl", packet.ttl)?;
    dict.set_item("ip_id", packet.ip_id)?;
    dict.set_item("transport", packet.transport(frame))?;
    dict.set_item("stop", packet.stop.map(|stop| format!("{:?} at byte {}", stop.reason, stop.at_byte)))?;
    Ok(dict)
}

/// The native module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Settings>()?;
    module.add_class::<PacketStream>()?;
    module.add_function(wrap_pyfunction!(sample, module)?)?;
    module.add_function(wrap_pyfunction!(match_files, module)?)?;
    module.add_function(wrap_pyfunction!(attribute, module)?)?;
    module.add_function(wrap_pyfunction!(write_merged, module)?)?;
    module.add_function(wrap_pyfunction!(decode, module)?)?;
    module.add("IS_DEBUG_BUILD", cfg!(debug_assertions))?;
    Ok(())
}
