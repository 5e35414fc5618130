//! What is read of captures, for the documentation.

use super::{pyclass, pyfunction};
use crate::file::{CODECS, FORMATS};
use crate::stamp::STAMPS;
use crate::wire::LAYERS;

/// Name, specification, and what there is below or above.
type Row = (&'static str, &'static str, Vec<String>);

/// Every file format, compression, layer and in-packet stamp, with where it is specified.
#[pyclass(frozen, get_all, module = "pcaplat._native")]
pub(super) struct Formats {
    /// And variants.
    files: Vec<Row>,
    codecs: Vec<&'static str>,
    /// And parents.
    layers: Vec<Row>,
    stamps: Vec<(&'static str, &'static str)>,
}

/// What is read.
#[pyfunction]
pub(super) fn formats() -> Formats {
    let texts = |all: &[&str]| all.iter().map(ToString::to_string).collect();
    let files = FORMATS.iter();
    let layers = LAYERS.iter().map(|layer| {
        let parents = layer.parents.iter().map(ToString::to_string);
        (layer.name, layer.spec, parents.collect())
    });
    Formats {
        files: files
            .map(|format| (format.name, format.spec, texts(format.variants)))
            .collect(),
        codecs: CODECS.iter().map(|codec| codec.name).collect(),
        layers: layers.collect(),
        stamps: STAMPS.to_vec(),
    }
}
