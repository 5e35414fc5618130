//! What the core hands over: dataclasses of `pcaplat.model` with the fields of the core's structs,
//! and columns as numpy arrays.

use super::{Bound, PyAny, PyAnyMethods, PyBytes, PyDict, PyResult, Python};
use pyo3::intern;

/// A dataclass, of the named values: one that it lacks or does not know is a `TypeError`.
macro_rules! record {
    ($py:expr, $module:literal, $class:literal, { $($name:ident $(: $value:expr)?),* $(,)? }) => {{
        let py = $py;
        let fields = pyo3::types::PyDict::new(py);
        $(pyo3::types::PyDictMethods::set_item(
            &fields,
            pyo3::intern!(py, stringify!($name)),
            $crate::py::record::record!(@ $name $(, $value)?),
        )?;)*
        $crate::py::record::made(py, concat!("pcaplat.model.", $module), $class, &fields)
    }};
    (@ $name:ident) => { $name };
    (@ $name:ident, $value:expr) => { $value };
}

/// Structs that become dataclasses. All fields are named: a new one that Python is to have, or not,
/// does not compile before it is decided.
macro_rules! records {
    ($($kind:ty as $module:literal . $class:literal {
        $($name:ident $(: $value:expr)?),* $(,)?
    })*) => {$(
        impl<'py> pyo3::IntoPyObject<'py> for &$kind {
            type Target = pyo3::PyAny;
            type Output = pyo3::Bound<'py, pyo3::PyAny>;
            type Error = pyo3::PyErr;

            fn into_pyobject(self, py: pyo3::Python<'py>) -> pyo3::PyResult<Self::Output> {
                type Kind = $kind;
                let Kind { $($name),* } = self;
                $crate::py::record::record!(py, $module, $class, { $($name $(: $value)?),* })
            }
        }
    )*};
}

pub(super) use {record, records};

/// The dataclass of some values.
pub(super) fn made<'py>(
    py: Python<'py>,
    module: &str,
    class: &str,
    fields: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import(module)?.getattr(class)?.call((), Some(fields))
}

/// A column of whole numbers.
pub(super) fn ints(
    py: Python<'_>,
    values: impl Iterator<Item = i64>,
) -> PyResult<Bound<'_, PyAny>> {
    column(py, "<i8", values.map(i64::to_le_bytes))
}

/// A column of counts.
pub(super) fn counts(
    py: Python<'_>,
    values: impl Iterator<Item = u64>,
) -> PyResult<Bound<'_, PyAny>> {
    ints(py, values.map(|n| i64::try_from(n).unwrap_or(i64::MAX)))
}

/// A column of numbers.
pub(super) fn floats(
    py: Python<'_>,
    values: impl Iterator<Item = f64>,
) -> PyResult<Bound<'_, PyAny>> {
    column(py, "<f8", values.map(f64::to_le_bytes))
}

/// Little-endian, as numpy reads them in place.
fn column<'py>(
    py: Python<'py>,
    kind: &str,
    values: impl Iterator<Item = [u8; 8]>,
) -> PyResult<Bound<'py, PyAny>> {
    // whole numbers are collected: byte by byte took a quarter of a second for the sample
    let values: Vec<[u8; 8]> = values.collect();
    let bytes = PyBytes::new(py, values.as_flattened());
    let numpy = py.import(intern!(py, "numpy"))?;
    numpy.call_method1(intern!(py, "frombuffer"), (bytes, kind))
}
