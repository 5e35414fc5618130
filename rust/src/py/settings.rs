//! How captures are read, as Python says it.

use super::stamped::{FoundValues, HopValues, known, sought};
use super::translated::Learned;
use super::{
    Bound, PyAny, PyAnyMethods, PyBytes, PyRef, PyResult, PyValueError, pyclass, pymethods,
};
use crate::base::error::{Error, Result};
use crate::base::hash::Seed;
use crate::identity::{N_CLASSES, Prefixes, WHOLE};
use crate::reading::filter::Filter;
use crate::reading::tenants::{Inside, Tenant, Tenants};
use crate::reading::translations::Translations;
use crate::reading::{EXTENT_BYTES, Reading};
use crate::stamp::Times;
use crate::wire::{Decoder, parse_decode};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Whose traffic is inside which tunnel, by file.
type KnownTenants = Vec<Vec<(Inside, Tenant)>>;

/// How captures are read: filters, what is decoded as what, and the bytes that enter identities.
#[pyclass(frozen, module = "pcaplat._native")]
#[derive(Serialize, Deserialize)]
#[expect(
    clippy::unsafe_derive_deserialize,
    reason = "what is unsafe is of the macro's making, and asks nothing of the fields"
)]
pub(super) struct Settings {
    filter: Option<String>,
    filter_outer: Option<String>,
    decode: Vec<String>,
    one_in: u64,
    prefixes: Prefixes,
    libpcap: Option<String>,
    tenants: Option<Arc<Tenants>>,
    translations: Option<Arc<Translations>>,
    times: Times,
    extent_bytes: u64,
}

#[pymethods]
impl Settings {
    #[new]
    #[pyo3(signature = (*, filter=None, filter_outer=None, decode=Vec::new(), one_in=1, prefixes=None, libpcap=None, tenants=None, translations=None, stamp_names=Vec::new(), stamps=None, last_bit_bps=Vec::new(), hops=Vec::new(), extent_bytes=EXTENT_BYTES))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        filter: Option<String>,
        filter_outer: Option<String>,
        decode: Vec<String>,
        one_in: u64,
        prefixes: Option<Vec<u32>>,
        libpcap: Option<String>,
        tenants: Option<(KnownTenants, bool)>,
        translations: Option<PyRef<'_, Learned>>,
        stamp_names: Vec<Option<String>>,
        stamps: Option<Vec<Vec<Option<FoundValues>>>>,
        last_bit_bps: Vec<Option<u64>>,
        hops: Vec<Option<HopValues>>,
        extent_bytes: u64,
    ) -> Self {
        let prefixes = prefixes.and_then(|given| <[u32; N_CLASSES]>::try_from(given).ok());
        Self {
            filter,
            filter_outer,
            decode,
            one_in,
            prefixes: prefixes.unwrap_or(WHOLE),
            libpcap,
            tenants: tenants.map(|(known, are_alike)| Arc::new(Tenants::new(known, are_alike))),
            translations: translations.map(|learned| learned.translations()),
            times: match stamps {
                Some(stamps) => Times::Known(known(stamps, &last_bit_bps, &hops)),
                None => Times::Search(sought(&stamp_names, &last_bit_bps, &hops)),
            },
            extent_bytes: extent_bytes.max(1),
        }
    }

    /// Bytes after which a file may be divided.
    #[getter]
    fn extent_bytes(&self) -> u64 {
        self.extent_bytes
    }

    /// From what `__reduce__` gave.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        postcard::from_bytes(bytes).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// For other processes of this version: as octets.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = postcard::to_stdvec(slf.get());
        let bytes = bytes.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let from_bytes = slf.get_type().getattr("from_bytes")?;
        Ok((from_bytes, (PyBytes::new(slf.py(), &bytes),)))
    }
}

impl Settings {
    pub(super) fn decoder(&self) -> Result<Decoder> {
        let claims = self.decode.iter().map(|text| parse_decode(text));
        let claims = claims.collect::<Result<Vec<_>>>();
        let decoder = claims.and_then(|claims| Decoder::new(&claims));
        decoder.map_err(|error| of_option("--decode", error))
    }

    /// The same for captures that are read as `reading` says now.
    pub(super) fn again(&self, reading: &Reading) -> Self {
        Self {
            prefixes: reading.prefixes,
            times: reading.times.clone(),
            filter: self.filter.clone(),
            filter_outer: self.filter_outer.clone(),
            decode: self.decode.clone(),
            libpcap: self.libpcap.clone(),
            tenants: self.tenants.clone(),
            translations: self.translations.clone(),
            ..*self
        }
    }

    pub(super) fn reading(&self) -> Result<Reading> {
        let compile = |option, text: &Option<String>| {
            let filter = text
                .as_deref()
                .map(|text| Filter::new(text, self.libpcap.as_deref()));
            filter.transpose().map_err(|error| of_option(option, error))
        };
        Ok(Reading {
            decoder: self.decoder()?,
            filter: compile("--filter", &self.filter)?,
            filter_outer: compile("--filter-outer", &self.filter_outer)?,
            prefixes: self.prefixes,
            seed: Seed::PUBLIC,
            one_in: self.one_in.max(1),
            tenants: self.tenants.clone(),
            translations: self.translations.clone(),
            times: self.times.clone(),
            extent_bytes: self.extent_bytes,
        })
    }
}

/// What makes no sense is told with the option that it was given to.
fn of_option(option: &str, error: Error) -> Error {
    match error {
        Error::Argument(text) => Error::Argument(format!("{option}: {text}")),
        other => other,
    }
}
