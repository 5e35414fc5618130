//! What is read of captures, for the documentation.

use super::{Bound, PyDict, PyDictMethods, PyResult, Python, pyfunction};
use crate::file::{CODECS, FORMATS};
use crate::stamp::STAMPS;
use crate::wire::LAYERS;

/// Every file format, compression and layer, with where it is specified.
#[pyfunction]
pub(super) fn formats(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let files = FORMATS
        .iter()
        .map(|format| (format.name, format.spec, format.variants.to_vec()));
    dict.set_item("files", files.collect::<Vec<_>>())?;
    dict.set_item(
        "codecs",
        CODECS.iter().map(|codec| codec.name).collect::<Vec<_>>(),
    )?;
    let layers = LAYERS.iter().map(|layer| {
        let parents = layer.parents.iter().map(ToString::to_string);
        (layer.name, layer.spec, parents.collect::<Vec<_>>())
    });
    dict.set_item("layers", layers.collect::<Vec<_>>())?;
    dict.set_item("stamps", STAMPS.to_vec())?;
    Ok(dict)
}
