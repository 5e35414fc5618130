//! Captures as digests.

use super::{Bound, Progress, PyAny, PyResult, Python, Settings, interruptible, pyfunction, raise};
use crate::export::digest::{DigestCounts, DigestKey, write_digest as run_write_digest};
use std::path::PathBuf;

/// Writes the digest of a capture under the key that a secret stands for, and returns how many frames it
/// has, how many of them have a header that counts as payload, and how many bytes it has.
#[pyfunction]
#[pyo3(signature = (path, settings, out, secret, *, keep_addresses=false, tell=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(super) fn write_digest(
    py: Python<'_>,
    path: PathBuf,
    settings: &Settings,
    out: PathBuf,
    secret: Vec<u8>,
    keep_addresses: bool,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<(u64, u64, u64)> {
    let reading = settings.reading().map_err(|error| raise(py, error))?;
    let key = DigestKey::new(&secret);
    let progress = Progress::default();
    let job = || {
        let is_over = || progress.is_cancelled();
        run_write_digest(
            &path,
            &reading.decoder,
            &key,
            keep_addresses,
            &out,
            &is_over,
        )
    };
    let DigestCounts {
        n_frames,
        n_hidden,
        n_bytes,
    } = interruptible(py, &progress, tell.as_ref(), job)?;
    Ok((n_frames, n_hidden, n_bytes))
}
