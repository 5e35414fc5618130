//! The plan, from Python's dictionary.

use super::{
    Bound, FromPyObject, PyAnyMethods, PyDict, PyDictMethods, PyErr, PyKeyError, PyResult,
};
use crate::plan::{Band, Centre, Plan};

/// Knots (raw times, offsets) and the slope outside them.
pub(super) type Knots = (Vec<i64>, Vec<i64>, f64);

/// A centre, or a clock.
pub(super) fn centre((t_ns, offset_ns, slope): Knots) -> Centre {
    Centre {
        t_ns,
        offset_ns,
        slope,
    }
}

/// A band: lower and upper edge, density, loss, phantoms.
type Edges = (i64, i64, Vec<f64>, f64, f64);

fn band((lo_ns, hi_ns, density, lost_frac, phantom_frac): Edges) -> Band {
    Band {
        lo_ns,
        hi_ns,
        density,
        lost_frac,
        phantom_frac,
    }
}

fn item<'py, T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>>(
    plan: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<T> {
    let value = plan.get_item(name)?;
    let value = value.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
    value.extract().map_err(Into::into)
}

/// The plan that `pcaplat/stages/match.py` wrote.
pub(super) fn plan_of(dict: &Bound<'_, PyDict>) -> PyResult<Plan> {
    let centres = |name| -> PyResult<Vec<Centre>> {
        Ok(item::<Vec<Knots>>(dict, name)?
            .into_iter()
            .map(centre)
            .collect())
    };
    let bands = |name| -> PyResult<Vec<Band>> {
        Ok(item::<Vec<Edges>>(dict, name)?
            .into_iter()
            .map(band)
            .collect())
    };
    let pairs: Vec<(i64, bool)> = item(dict, "toward_is_forward")?;
    Ok(Plan {
        point_of: item(dict, "point_of")?,
        position: item(dict, "position")?,
        component: item(dict, "component")?,
        domain: item(dict, "domain")?,
        centres: [centres("forward_centres")?, centres("reverse_centres")?],
        bands: [bands("forward_bands")?, bands("reverse_bands")?],
        toward_is_forward: pairs
            .into_iter()
            .map(|(pair, to)| (pair.cast_unsigned(), to))
            .collect(),
        links: item(dict, "links")?,
        torn: item(dict, "torn")?,
        whole: item(dict, "whole")?,
        wide_ns: item(dict, "wide_ns")?,
        horizon_ns: item(dict, "horizon_ns")?,
        cover: item(dict, "cover")?,
        range: item(dict, "range")?,
        bins: item(dict, "bins")?,
    })
}
