//! What of the plan is not the same in Python, field by field, by itself.

use super::{Borrowed, FromPyObject, PyAny, PyAnyMethods, PyErr, PyKeyError, PyResult};
use crate::base::piecewise::PiecewiseLinear;
use crate::location::{Branch, Dimension};

/// A centre, or a clock: knots (raw times, offsets) as numpy arrays, and the slope outside them.
impl<'py> FromPyObject<'_, 'py> for PiecewiseLinear {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let column = |name: &str| -> PyResult<Vec<i64>> {
            value.getattr(name)?.call_method0("tolist")?.extract()
        };
        let knots = column("t_ns")?.into_iter().zip(column("offset_ns")?);
        let slope = value.getattr("slope")?.extract()?;
        Ok(Self::new(&knots.collect::<Vec<_>>(), slope))
    }
}

/// By its name.
impl<'py> FromPyObject<'_, 'py> for Dimension {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name: String = value.extract()?;
        Self::named(&name).ok_or_else(|| PyKeyError::new_err(name))
    }
}

/// A part of the file, or below 0 the node of that number.
impl<'py> FromPyObject<'_, 'py> for Branch {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let target: i64 = value.extract()?;
        Ok(u32::try_from(target).map_or_else(
            |_| Self::Node(usize::try_from(target.saturating_neg()).unwrap_or(usize::MAX)),
            Self::Point,
        ))
    }
}
