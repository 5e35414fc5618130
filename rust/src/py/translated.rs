//! Learned translations: opaque to Python but for what is shown of them.

use super::interruptible::{interruptible, raise};
use super::settings::Settings;
use super::{
    Bound, PyAny, PyDict, PyDictMethods, PyResult, Python, pyclass, pyfunction, pymethods,
};
use crate::base::piecewise::PiecewiseLinear;
use crate::location::PointTree;
use crate::reading::Progress;
use crate::reading::translations::{PlaceOf, Translations};
use crate::survey::translation::session::{Session, Side};
use crate::survey::translation::sessions::LeftOut;
use crate::survey::translation::{Beforehand, LearnedTranslations, learn as run_learn};
use std::path::PathBuf;
use std::sync::Arc;

/// Flows that are known by other addresses elsewhere.
#[pyclass(frozen, module = "pcaplat._native")]
pub(super) struct Learned {
    translations: Arc<Translations>,
    sessions: Vec<Session>,
    left_out: Option<LeftOut>,
}

impl Learned {
    pub(super) fn translations(&self) -> Arc<Translations> {
        Arc::clone(&self.translations)
    }
}

#[pymethods]
impl Learned {
    /// Packets of flows beyond those that are kept, and the first one's time.
    #[getter]
    fn left_out(&self) -> Option<(u64, i64)> {
        self.left_out.map(|left| (left.n, left.from_ns))
    }

    /// One dictionary a session, in order of time.
    fn sessions<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut sessions: Vec<&Session> = self.sessions.iter().collect();
        sessions.sort_by_key(|session| session.sides[0].first_ns);
        sessions
            .into_iter()
            .map(|session| session_dict(py, session))
            .collect()
    }

    fn __len__(&self) -> usize {
        self.sessions.len()
    }
}

fn session_dict<'py>(py: Python<'py>, session: &Session) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let sides = session.sides.iter().map(|side| side_dict(py, side));
    dict.set_item("sides", sides.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("n", session.n)?;
    // as of the first packet: its own numbers, and those it acknowledges
    let [away, toward] = session.ahead;
    let (sent, heard) = if session.sides[0].toward {
        (toward, away)
    } else {
        (away, toward)
    };
    dict.set_item("ahead", (sent, heard))?;
    Ok(dict)
}

fn side_dict<'py>(py: Python<'py>, side: &Side) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let addresses = &side.addresses;
    dict.set_item("file", side.source.0)?;
    dict.set_item("interface", side.source.1)?;
    dict.set_item("place", side.place)?;
    dict.set_item("leg", side.tuple_hash.cast_signed())?;
    dict.set_item("src", addresses.src.0.to_string())?;
    dict.set_item("src_port", addresses.src.1)?;
    dict.set_item("dst", addresses.dst.0.to_string())?;
    dict.set_item("dst_port", addresses.dst.1)?;
    dict.set_item("protocol", addresses.protocol)?;
    dict.set_item("is_forward_pair", (side.pair.cast_signed(), side.toward))?;
    dict.set_item("first_t_ns", side.raw_ns.0)?;
    dict.set_item("last_t_ns", side.raw_ns.1)?;
    Ok(dict)
}

/// Reads all files for flows that are translated, given usual differences of the points' stamps.
#[pyfunction]
#[pyo3(signature = (files, settings, point_of, trees, centres, window_ns, tell=None, most_sessions=1_048_576))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(super) fn learn(
    py: Python<'_>,
    files: Vec<PathBuf>,
    settings: &Settings,
    point_of: PlaceOf,
    trees: Vec<Option<PointTree>>,
    centres: Vec<PiecewiseLinear>,
    window_ns: i64,
    tell: Option<Bound<'_, PyAny>>,
    most_sessions: usize,
) -> PyResult<Learned> {
    let reading = settings.reading().map_err(|error| raise(py, error))?;
    let progress = Progress::default();
    let beforehand = Beforehand {
        place_of: point_of,
        trees,
        centres,
        window_ns,
        most_sessions,
    };
    let job = || run_learn(&files, &reading, &beforehand, &progress);
    let LearnedTranslations {
        translations,
        sessions,
        left_out,
    } = interruptible(py, &progress, tell.as_ref(), job)?;
    Ok(Learned {
        translations: Arc::new(translations),
        sessions,
        left_out,
    })
}
