//! Requests and their responses, as dictionaries.

use super::matched::{blocks_dict, histogram_dict, texts};
use super::{Bound, PyDict, PyDictMethods, PyList, PyListMethods, PyResult, Python};
use crate::base::latencies::Latencies;
use crate::matching::shares::{KINDS, Shares};

/// The dictionary of what pairs came to.
pub(super) fn trips_dict<'py>(
    py: Python<'py>,
    shares: &Shares,
    one_in: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("one_in", one_in)?;
    dict.set_item("kinds", KINDS.to_vec())?;
    dict.set_item("n_left_out", shares.n_left_out.to_vec())?;
    let links = PyList::empty(py);
    for of_link in &shares.links {
        links.append(counted_list(py, of_link)?)?;
    }
    dict.set_item("links", links)?;
    let seen = PyList::empty(py);
    for of_kind in &shares.seen {
        let both = PyList::empty(py);
        for ends in of_kind {
            both.append(counted_list(py, ends)?)?;
        }
        seen.append(both)?;
    }
    dict.set_item("seen", seen)?;
    let spills = shares.spills.iter();
    let spills: Vec<Vec<Vec<String>>> = spills
        .map(|of| of.iter().map(|one| texts(one)).collect())
        .collect();
    dict.set_item("spills", spills)?;
    Ok(dict)
}

/// A dictionary each: the histogram's, with its blocks.
pub(super) fn counted_list<'py>(
    py: Python<'py>,
    all: &[Latencies],
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for counted in all {
        let dict = histogram_dict(py, &counted.histogram)?;
        dict.set_item("blocks", blocks_dict(py, &counted.blocks)?)?;
        list.append(dict)?;
    }
    Ok(list)
}
