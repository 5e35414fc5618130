//! The bad news that makes an input unusable. Damage inside a frame is a `wire::Stop`, damage inside
//! a file a `file::Damage`: values, not errors.

use std::fmt;
use std::path::PathBuf;

/// Why an input cannot be used.
#[derive(Debug)]
pub enum Error {
    /// The operating system refused: missing file, no permission, a directory.
    Io {
        /// What was being read.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is there but is no capture that can be read.
    Capture {
        /// What was being read.
        path: PathBuf,
        /// Where in the (decompressed) file.
        at_byte: u64,
        /// What was found, what was expected, what to do.
        text: String,
    },
    /// An argument makes no sense.
    Argument(String),
    /// The operating system gave no further thread.
    Threads,
    /// The core itself failed; where, and how.
    Bug(String),
    /// The user interrupted.
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Capture {
                path,
                at_byte,
                text,
            } => {
                write!(f, "{}: byte {at_byte}: {text}", path.display())
            }
            Self::Argument(text) => f.write_str(text),
            Self::Threads => f.write_str("the system gave no further thread: raise the limit (ulimit -u), or give fewer cores"),
            Self::Bug(text) => write!(f, "the core failed: {text}"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
