//! What is decided, in few bytes: the packet ID of every trajectory that nothing is left of.

use super::super::Sight;
use super::super::spill::Spill;
use super::leftover::flow_way;
use super::sorted_runs::read_record;
use crate::base::error::{Error, Result};
use crate::plan::Direction;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A packet that was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decided {
    pub(super) key: u64,
    /// Its flow, one way.
    pub(super) flow_way: u64,
    pub(super) aligned_ns: i64,
}

/// The log of one partition.
pub(super) struct DecidedLog(Spill);

impl DecidedLog {
    pub(super) fn create(directory: &Path, partition: usize) -> Result<Self> {
        let name = format!("decided-{partition}");
        Ok(Self(Spill::create(directory, &name)?))
    }

    #[inline]
    pub(super) fn write(&mut self, first: &Sight, direction: Direction) {
        let flow_way = flow_way(first, direction);
        let [key, flow_way] = [first.key, flow_way].map(u64::cast_signed);
        self.0.write([key, flow_way, first.aligned_ns]);
    }

    pub(super) fn finish(self) -> Result<PathBuf> {
        self.0.finish()
    }
}

/// Hands over all that a log has.
pub(super) fn read_decided(path: &Path, take: &mut dyn FnMut(&Decided)) -> Result<()> {
    let file = File::open(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    let mut from = BufReader::with_capacity(1 << 16, file);
    while let Some([key, flow_way, aligned_ns]) = read_record(&mut from, path)? {
        take(&Decided {
            key: key.cast_unsigned(),
            flow_way: flow_way.cast_unsigned(),
            aligned_ns,
        });
    }
    Ok(())
}
