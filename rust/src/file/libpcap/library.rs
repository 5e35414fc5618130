//! Where libpcap is, and its functions by their names.
#![expect(unsafe_code, reason = "libpcap is a C library, found at run time")]

use crate::base::error::{Error, Result};
use libloading::Library;

const NAMES: [&str; 5] = [
    "libpcap.so.1",
    "libpcap.so.0.8",
    "libpcap.so",
    "libpcap.dylib",
    "wpcap.dll",
];

/// Opens the system's libpcap; `extra` is the path of a copy that is tried where the system has none.
///
/// # Errors
/// There is none.
pub fn open_library(extra: Option<&str>) -> Result<Library> {
    NAMES
        .into_iter()
        .chain(extra)
        // SAFETY: libpcap's initialisers have no requirements.
        .find_map(|name| unsafe { Library::new(name) }.ok())
        .ok_or_else(|| {
            let text =
                "filters and live capture need libpcap, which was not found; install libpcap";
            Error::Argument(text.into())
        })
}

/// A function of libpcap, copied out of the library: it may be called as long as that is open.
///
/// # Safety
/// `F` is the type of the function as libpcap's headers declare it.
pub(super) unsafe fn function<F: Copy>(
    library: &Library,
    name: &str,
) -> std::result::Result<F, String> {
    // SAFETY: the caller vouches for the type.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found
        .map(|symbol| *symbol)
        .map_err(|error| format!("libpcap: {error}"))
}
