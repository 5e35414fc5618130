//! What becomes of a panic, which is a bug of ours: an error like others, with the place to report.

use crate::base::error::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

/// Where the last panic was, and what it said.
static LAST: Mutex<String> = Mutex::new(String::new());

/// From here on panics print nothing, but are kept for the error that tells of them.
pub fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let text = panic.to_string().replace('\n', " ");
            *LAST.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }));
    });
}

/// The error of a thread that panicked, with what the panic said.
#[cold]
#[must_use]
pub fn message() -> Error {
    let text = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // scoped threads of the standard library have no other way to say so
    if text.contains("failed to spawn thread") {
        Error::Threads
    } else {
        Error::Bug(text)
    }
}

/// Does some work that must not take down whoever asked for it.
///
/// # Errors
/// Those of the work; [`Error::Bug`] if it panicked.
pub fn contained<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // whoever is told of a bug asks for nothing more of what it has left behind
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_with_its_place() {
        keep();
        let failed = contained::<()>(|| panic!("of\nsorts")).unwrap_err();
        assert!(matches!(failed, Error::Bug(_)));
        let text = failed.to_string();
        assert!(
            text.contains("panics.rs") && text.contains("of sorts"),
            "{text}"
        );
        assert_eq!(contained(|| Ok(7)).unwrap(), 7);
        let refused = contained::<()>(|| panic!("failed to spawn thread: Os {{ code: 11 }}"));
        assert!(matches!(refused, Err(Error::Threads)));
    }
}
