//! Slices: shares of the flows, each matched by itself, wherever that is, and added up.
//!
//! All that matching knows of packets before they are added up, it knows by flow, so slices of flows
//! need no margin, and as many as there are, the sums are the same. What has no flow (what cannot be
//! decoded, or was not asked for) is counted in the first.

use crate::base::error::{Error, Result};
use crate::base::hash::mixed;
use crate::matching::partition::PartitionResult;

/// A share of the flows: one of several that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    index: u64,
    n: u64,
    /// Others add it up, wherever they are.
    is_apart: bool,
}

impl Slice {
    /// All flows, matched where they are added up.
    pub(crate) const WHOLE: Self = Self {
        index: 0,
        n: 1,
        is_apart: false,
    };

    /// The slice of this number, from 0, of so many; `None` if there is no such.
    #[must_use]
    pub fn new(index: u64, n: u64) -> Option<Self> {
        (index < n).then_some(Self {
            index,
            n,
            is_apart: true,
        })
    }

    /// Whether others add it up.
    pub(crate) fn is_apart(self) -> bool {
        self.is_apart
    }

    /// Whether it counts what has no flow.
    pub(crate) fn is_first(self) -> bool {
        self.index == 0
    }

    /// Whether a flow is in it, or whatever else is matched together. Partitions within it are chosen
    /// by other bits.
    #[inline]
    pub(crate) fn has(self, choice: u64) -> bool {
        self.n == 1 || mixed(choice) % self.n == self.index
    }
}

/// What the matching of a slice came to. What is too much to keep lies in files in its folder.
pub struct SliceResult(pub(crate) PartitionResult);

impl SliceResult {
    /// As octets, for another process of this version.
    ///
    /// # Errors
    /// What is kept in memory cannot be written to its folder.
    pub fn to_bytes(mut self) -> Result<Vec<u8>> {
        self.0.leftovers.runs.put_on_disk()?;
        postcard::to_stdvec(&self.0).map_err(|error| Error::Bug(error.to_string()))
    }

    /// From these octets.
    ///
    /// # Errors
    /// They are of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let read = postcard::from_bytes(bytes);
        read.map(Self)
            .map_err(|error| Error::Bug(format!("a slice of another version: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_is_in_one_slice_and_slices_are_alike() {
        for n in [1, 2, 7, 64] {
            let slices: Vec<Slice> = (0..n).filter_map(|index| Slice::new(index, n)).collect();
            let mut counts = vec![0_usize; slices.len()];
            for flow in 0..10_000 {
                let of: Vec<usize> = (0..slices.len())
                    .filter(|at| slices[*at].has(flow))
                    .collect();
                assert_eq!(of.len(), 1);
                counts[of[0]] += 1;
            }
            let usual = 10_000 / counts.len();
            assert!(counts.iter().all(|one| one.abs_diff(usual) < usual / 2));
        }
        assert_eq!(Slice::new(2, 2), None);
    }
}
