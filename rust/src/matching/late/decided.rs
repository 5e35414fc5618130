//! What is decided, in few bytes: the packet ID of every trajectory that nothing is left of; and what
//! cannot be told, in a log of its own.

use crate::base::error::{Error, Result};
use crate::base::spill::Spill;
use crate::matching::late::leftover::flow_way;
use crate::matching::late::sorted_runs::read_record;
use crate::matching::observation::Observation;
use crate::plan::Direction;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A packet that was decided, or an observation of which it cannot be told what it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    pub(crate) key: u64,
    /// Its flow, one way.
    pub(crate) flow_way: u64,
    pub(crate) aligned_ns: i64,
}

/// The log of one partition.
pub(crate) struct DecidedLog(Spill);

impl DecidedLog {
    /// The logs of what is decided, and of what cannot be told.
    pub(crate) fn create(directory: &Path, partition: usize) -> Result<[Self; 2]> {
        let create = |of: &str| Spill::create(directory, &format!("{of}-{partition}")).map(Self);
        Ok([create("decided")?, create("untold")?])
    }

    #[inline]
    pub(crate) fn write(&mut self, first: &Observation, direction: Direction) {
        let flow_way = flow_way(first, direction);
        let [key, flow_way] = [first.key, flow_way].map(u64::cast_signed);
        self.0.write([key, flow_way, first.aligned_ns]);
    }

    pub(crate) fn finish(self) -> Result<PathBuf> {
        self.0.finish()
    }
}

/// Hands over all that a log has.
pub(crate) fn read_decided(path: &Path, take: &mut dyn FnMut(&Decided)) -> Result<()> {
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
