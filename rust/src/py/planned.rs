//! The plan, from Python's dictionary.

use super::{
    Bound, FromPyObject, PyAnyMethods, PyDict, PyDictMethods, PyErr, PyKeyError, PyResult,
};
use crate::base::blocks::Grid;
use crate::base::hashed::HashedMap;
use crate::base::piecewise::Centre;
use crate::location::{Dimension, Division, Question, Step, Value};
use crate::plan::{Band, Copies, Plan};

/// Knots (raw times, offsets) and the slope outside them.
pub(super) type Knots = (Vec<i64>, Vec<i64>, f64);

/// A centre, or a clock.
pub(super) fn centre((t_ns, offset_ns, slope): Knots) -> Centre {
    let knots: Vec<_> = t_ns.into_iter().zip(offset_ns).collect();
    Centre::new(&knots, slope)
}

/// Shares of loss, phantoms, outside, far outside; how far packets stay in order.
type Shares = (f64, f64, f64, f64, f64);
/// A band: lower and upper edge, density; shares; least and greatest.
type Edges = (i64, i64, Vec<f64>, Shares, (i64, i64));

fn band((lo_ns, hi_ns, density, shares, reach_ns): Edges) -> Band {
    let (lost_frac, phantom_frac, outside_frac, far_frac, order_kept) = shares;
    Band {
        lo_ns,
        hi_ns,
        density,
        lost_frac,
        phantom_frac,
        outside_frac,
        far_frac,
        reach_ns,
        order_kept,
    }
}

fn copies((copied_frac, lo_ns, hi_ns): (f64, i64, i64)) -> Copies {
    Copies {
        copied_frac,
        lo_ns,
        hi_ns,
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

/// By hashes, which Python has as signed numbers.
fn by_hash<T>(values: Vec<(i64, T)>) -> HashedMap<T> {
    let values = values.into_iter();
    values
        .map(|(hash, value)| (hash.cast_unsigned(), value))
        .collect()
}

/// A dimension, where its values lead (below 0: to the question of that number, else to a part of
/// the file), and the part that has all others.
type Asked = (String, Vec<(Value, i64)>, u32);

/// The questions of a division.
pub(super) type Questions = Vec<Asked>;

fn step(target: i64) -> Step {
    match u32::try_from(target) {
        Ok(part) => Step::At(part),
        Err(_) => Step::Ask(usize::try_from(target.saturating_neg()).unwrap_or(usize::MAX)),
    }
}

/// The blocks of time that latencies are kept by: begin of the first, and length.
pub(super) fn grid((start_ns, length_ns): (i64, i64)) -> Grid {
    Grid {
        start_ns,
        length_ns,
    }
}

/// How a file is divided.
pub(super) fn division(questions: Questions) -> PyResult<Division> {
    let question = |(name, steps, otherwise): Asked| {
        let dimension = Dimension::named(&name).ok_or_else(|| PyKeyError::new_err(name))?;
        let steps = steps.into_iter().map(|(value, to)| (value, step(to)));
        Ok(Question {
            dimension,
            steps: steps.collect(),
            otherwise,
        })
    };
    let questions = questions.into_iter().map(question);
    Ok(Division {
        questions: questions.collect::<PyResult<_>>()?,
    })
}

/// The plan that `pcaplat/stages/match.py` wrote.
pub(super) fn plan_of(dict: &Bound<'_, PyDict>) -> PyResult<Plan> {
    let centres = |name| -> PyResult<Vec<Centre>> {
        let all: Vec<Knots> = item(dict, name)?;
        Ok(all.into_iter().map(centre).collect())
    };
    let bands = |name| -> PyResult<Vec<Band>> {
        let all: Vec<Edges> = item(dict, name)?;
        Ok(all.into_iter().map(band).collect())
    };
    let divisions = item::<Vec<Option<Questions>>>(dict, "divisions")?
        .into_iter()
        .map(|questions| questions.map(division).transpose())
        .collect::<PyResult<_>>()?;
    let copied: Vec<(f64, i64, i64)> = item(dict, "copies")?;
    Ok(Plan {
        point_of: item(dict, "point_of")?,
        divisions,
        position: item(dict, "position")?,
        component: item(dict, "component")?,
        domain: item(dict, "domain")?,
        centres: [centres("forward_centres")?, centres("reverse_centres")?],
        bands: [bands("forward_bands")?, bands("reverse_bands")?],
        copies: copied.into_iter().map(copies).collect(),
        toward_is_forward: by_hash(item(dict, "toward_is_forward")?),
        mirror_gaps: item(dict, "mirror_gaps")?,
        is_one_way: item(dict, "is_one_way")?,
        fragmented: by_hash(item(dict, "fragmented")?),
        links: item(dict, "links")?,
        torn: item(dict, "torn")?,
        whole: item(dict, "whole")?,
        wide_ns: item(dict, "wide_ns")?,
        horizon_ns: item(dict, "horizon_ns")?,
        cover: item(dict, "cover")?,
        range: item(dict, "range")?,
        bins: item(dict, "bins")?,
        is_short: item(dict, "is_short")?,
        blocks: grid(item(dict, "blocks")?),
        paired_one_in: item(dict, "paired_one_in")?,
    })
}
