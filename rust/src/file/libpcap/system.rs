//! Calls of the system: network namespaces, and waiting for a file to have something.
#![expect(unsafe_code, reason = "the system's calls are C")]

use std::ffi::c_int;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::time::Duration;

/// Moves this thread, and no other, into the network namespace at a path.
///
/// # Errors
/// There is none, or this process may not enter it.
#[cfg(target_os = "linux")]
pub fn enter_namespace(path: &Path) -> Result<()> {
    let namespace = File::open(path)?;
    // SAFETY: setns takes a descriptor, which is open, and changes this thread alone.
    if unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } == 0 {
        return Ok(());
    }
    Err(Error::last_os_error())
}

/// Elsewhere there are none.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn enter_namespace(path: &Path) -> Result<()> {
    File::open(path)?;
    Err(Error::from(ErrorKind::Unsupported))
}

/// Waits until a descriptor can be read, or has ended, or the time is over, which gives false.
///
/// # Errors
/// The descriptor cannot be waited for.
pub fn is_readable(descriptor: RawFd, patience: Duration) -> Result<bool> {
    let mut asked = libc::pollfd {
        fd: descriptor,
        events: libc::POLLIN,
        revents: 0,
    };
    let patience_ms = c_int::try_from(patience.as_millis()).unwrap_or(c_int::MAX);
    // SAFETY: one descriptor is asked for, and one is there.
    match unsafe { libc::poll(&raw mut asked, 1, patience_ms) } {
        -1 => {
            let failure = Error::last_os_error();
            let is_signal = failure.kind() == ErrorKind::Interrupted;
            if is_signal { Ok(false) } else { Err(failure) }
        }
        n => Ok(n > 0),
    }
}
