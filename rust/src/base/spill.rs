//! What is too much to keep: numbers, little-endian, in files of their own.

use crate::base::error::{Error, Result};
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// A file of numbers in the making. A failure to write is told at the end: nobody in between could
/// do anything about it.
pub(crate) struct Spill {
    path: PathBuf,
    out: BufWriter<File>,
    failure: Option<std::io::Error>,
}

impl Spill {
    pub(crate) fn create(directory: &Path, name: &str) -> Result<Self> {
        const BUFFER_BYTES: usize = 1 << 16;
        let path = directory.join(name);
        match File::create(&path) {
            Ok(file) => {
                let out = BufWriter::with_capacity(BUFFER_BYTES, file);
                Ok(Self {
                    path,
                    out,
                    failure: None,
                })
            }
            Err(source) => Err(Error::Io { path, source }),
        }
    }

    #[inline]
    pub(crate) fn write<const N: usize>(&mut self, values: [i64; N]) {
        if self.failure.is_none() {
            let octets = values.map(i64::to_le_bytes);
            self.failure = self.out.write_all(octets.as_flattened()).err();
        }
    }

    /// Where all of it is now.
    pub(crate) fn finish(mut self) -> Result<PathBuf> {
        match self.failure.map_or_else(|| self.out.flush(), Err) {
            Ok(()) => Ok(self.path),
            Err(source) => Err(Error::Io {
                path: self.path,
                source,
            }),
        }
    }
}

/// Reads rows of numbers back, in the order in which they were written.
///
/// # Errors
/// The file cannot be read; it is told row by row from the first one on.
pub(crate) fn numbers<const N: usize>(
    path: &Path,
) -> Result<impl Iterator<Item = Result<[i64; N]>> + use<N>> {
    const BUFFER_BYTES: usize = 1 << 18;
    let failed = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    let path = path.to_owned();
    let mut from = BufReader::with_capacity(BUFFER_BYTES, file);
    Ok(std::iter::from_fn(move || {
        let mut octets = [[0; 8]; N];
        match from.read_exact(octets.as_flattened_mut()) {
            Ok(()) => Some(Ok(octets.map(i64::from_le_bytes))),
            Err(end) if end.kind() == ErrorKind::UnexpectedEof => None,
            Err(source) => Some(Err(Error::Io {
                path: path.clone(),
                source,
            })),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_failures_are_told() {
        let folder = std::env::temp_dir();
        let name = format!("spill-{}", std::process::id());
        let mut spill = Spill::create(&folder, &name).unwrap();
        (0..100_000).for_each(|i| spill.write([i, -i]));
        let path = spill.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 1_600_000);
        assert_eq!(&bytes[1_599_992..], (-99_999_i64).to_le_bytes());
        let rows: Result<Vec<[i64; 2]>> = numbers(&path).unwrap().collect();
        assert_eq!(
            rows.unwrap(),
            (0..100_000).map(|i| [i, -i]).collect::<Vec<_>>()
        );
        std::fs::remove_file(path).unwrap();
        assert!(matches!(
            Spill::create(&folder.join(&name), "x"),
            Err(Error::Io { .. })
        ));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told_with_its_path() {
        let mut spill = Spill::create(Path::new("/dev"), "full").unwrap();
        spill.write([1]);
        let told = spill.finish();
        assert!(matches!(told, Err(Error::Io { path, .. }) if path == Path::new("/dev/full")));
    }
}
