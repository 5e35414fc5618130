//! Learned translations: opaque to Python but for what is shown of them.

use super::interruptible::{interruptible, raise};
use super::record::record;
use super::settings::Settings;
use super::{Bound, IntoPyObject, PyAny, PyErr, PyResult, Python, pyclass, pyfunction, pymethods};
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
    #[pyo3(get)]
    n_not_followed: u64,
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

    /// In order of time.
    fn sessions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut sessions: Vec<&Session> = self.sessions.iter().collect();
        sessions.sort_by_key(|session| session.sides[0].first_ns);
        sessions.into_pyobject(py)
    }

    fn __len__(&self) -> usize {
        self.sessions
            .len()
            .max(usize::from(!self.translations.is_empty()))
    }
}

impl<'py> IntoPyObject<'py> for &Session {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        // as of the first packet: its own numbers, and those it acknowledges
        let [away, toward] = self.ahead;
        let is_toward = self.sides[0].toward;
        record!(py, "translated", "TranslatedSession", {
            sides: &self.sides,
            n: self.n,
            ahead: if is_toward { (toward, away) } else { (away, toward) },
        })
    }
}

impl<'py> IntoPyObject<'py> for &Side {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let addresses = &self.addresses;
        record!(py, "translated", "SessionSide", {
            file: self.source.0,
            interface: self.source.1,
            place: self.place,
            leg: self.tuple_hash.cast_signed(),
            src: addresses.src.0.to_string(),
            src_port: addresses.src.1,
            dst: addresses.dst.0.to_string(),
            dst_port: addresses.dst.1,
            protocol: addresses.protocol,
            is_forward_pair: (self.pair.cast_signed(), self.toward),
            first_t_ns: self.raw_ns.0,
            last_t_ns: self.raw_ns.1,
        })
    }
}

/// Reads all files for flows that are translated, given usual differences of the points' stamps.
#[pyfunction]
#[pyo3(signature = (files, settings, point_of, trees, centres, window_ns, sequences, tell=None, most_sessions=1_048_576))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(super) fn learn(
    py: Python<'_>,
    files: Vec<PathBuf>,
    settings: &Settings,
    point_of: PlaceOf,
    trees: Vec<Option<PointTree>>,
    centres: Vec<PiecewiseLinear>,
    window_ns: i64,
    sequences: Vec<Vec<usize>>,
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
        sequences,
        most_sessions,
    };
    let job = || run_learn(&files, &reading, &beforehand, &progress);
    let LearnedTranslations {
        translations,
        sessions,
        left_out,
        n_not_followed,
    } = interruptible(py, &progress, tell.as_ref(), job)?;
    Ok(Learned {
        translations: Arc::new(translations),
        sessions,
        left_out,
        n_not_followed,
    })
}
