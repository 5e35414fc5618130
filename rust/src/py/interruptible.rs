//! Work of the core while Python's signals are minded, and its errors as exceptions.

use super::{
    Bound, PyAny, PyAnyMethods, PyErr, PyKeyboardInterrupt, PyOSError, PyResult, PyRuntimeError,
    Python,
};
use crate::base::error::Error;
use crate::base::panics::{self, contained};
use crate::reading::Progress;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

/// Between two looks at Python's signals.
const PATIENCE: Duration = Duration::from_millis(80);

/// The exception that an error becomes.
pub(super) fn raise(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Bug(_) => PyRuntimeError::new_err(error.to_string()),
        Error::Io { path, source } => {
            let number = source.raw_os_error();
            let text = source.to_string();
            PyOSError::new_err((number, text, path.into_os_string()))
        }
        other => {
            let module = py.import("pcaplat.errors");
            let kind = module.and_then(|module| module.getattr("InputError"));
            let value = kind.and_then(|kind| kind.call1((other.to_string(),)));
            value.map_or_else(|failure| failure, PyErr::from_value)
        }
    }
}

/// Runs a job on a thread of its own while this one minds Python's signals and the progress.
pub(super) fn interruptible<T: Send>(
    py: Python<'_>,
    progress: &Progress,
    tell: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce() -> crate::base::error::Result<T> + Send,
) -> PyResult<T> {
    let (done, wait) = channel();
    let wait = Mutex::new(wait);
    std::thread::scope(|scope| {
        // the receiver lives until the job is done
        let run = move || _ = done.send(contained(job));
        let started = Builder::new().spawn_scoped(scope, run);
        started.map_err(|_| raise(py, Error::Threads))?;
        let mut trouble = None;
        loop {
            let received = py.detach(|| match wait.lock() {
                Ok(wait) => wait.recv_timeout(PATIENCE),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            });
            match received {
                Ok(result) => {
                    return trouble.map_or_else(|| result.map_err(|error| raise(py, error)), Err);
                }
                Err(RecvTimeoutError::Timeout) if trouble.is_none() => {
                    let told = tell.map(|tell| tell.call1((progress.n_bytes(),)));
                    if let Err(error) = py.check_signals().and(told.transpose()) {
                        progress.cancel();
                        trouble = Some(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(trouble.unwrap_or_else(|| raise(py, panics::message())));
                }
            }
        }
    })
}
