//! Five bytes a frame: which way its packet goes, and how long it is.

use super::{TrafficPlan, UNKNOWN};
use crate::base::error::Result;
use crate::matching::FrameId;
use crate::matching::counts::match_rows::MatchedPair;
use crate::matching::counts::match_rows::pairs;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Of one file, by frame number.
#[derive(Default)]
struct OfFile {
    ways: Vec<u8>,
    n_bytes: Vec<u32>,
}

/// The frames of all files.
pub(super) struct FrameLengths(Vec<OfFile>);

/// Whole packets of a segment: its number, whether the direction is reverse, and the lengths of
/// their frames at its near and far end.
pub(super) type CrossingSizes = (usize, bool, u32, u32);

impl FrameLengths {
    /// Notes the direction of the frames of all pairs.
    pub(super) fn new(n_files: usize, spilled: &[PathBuf]) -> Result<Self> {
        let mut found = Self((0..n_files).map(|_| OfFile::default()).collect());
        for path in spilled {
            for pair in pairs(path)? {
                let pair = pair?;
                found.mark(pair.up, pair.is_reverse);
                found.mark(pair.down, pair.is_reverse);
            }
        }
        Ok(found)
    }

    fn mark(&mut self, frame: FrameId, is_reverse: bool) {
        if let Some((file, at)) = self.file(frame) {
            *slot(&mut file.ways, at, UNKNOWN) = u8::from(is_reverse);
        }
    }

    /// Notes how long a frame is, and gives its direction.
    pub(super) fn note(&mut self, frame: FrameId, wire_bytes: u32) -> u8 {
        self.file(frame).map_or(UNKNOWN, |(file, at)| {
            *slot(&mut file.n_bytes, at, 0) = wire_bytes;
            file.ways.get(at).copied().unwrap_or(UNKNOWN)
        })
    }

    fn file(&mut self, frame: FrameId) -> Option<(&mut OfFile, usize)> {
        let at = usize::try_from(frame.number()).ok()?;
        Some((self.0.get_mut(frame.file())?, at))
    }

    fn of(&self, frame: FrameId) -> u32 {
        let file = self.0.get(frame.file());
        let at = usize::try_from(frame.number()).ok();
        let found = file.zip(at).and_then(|(file, at)| file.n_bytes.get(at));
        found.copied().unwrap_or(0)
    }

    /// How many whole packets of which lengths crossed each segment.
    pub(super) fn pairs(&self, counting: &TrafficPlan) -> Result<BTreeMap<CrossingSizes, i64>> {
        let mut found = BTreeMap::new();
        for path in &counting.pairs {
            for pair in pairs(path)? {
                let pair = pair?;
                if let Some(crossing) = self.crossing(counting, &pair) {
                    *found.entry(crossing).or_default() += 1;
                }
            }
        }
        Ok(found)
    }

    fn crossing(&self, counting: &TrafficPlan, pair: &MatchedPair) -> Option<CrossingSizes> {
        let mut points = (pair.up_point, pair.down_point);
        let mut n_bytes = (self.of(pair.up), self.of(pair.down));
        if pair.is_reverse {
            points = (points.1, points.0);
            n_bytes = (n_bytes.1, n_bytes.0);
        }
        let link = counting.links.iter().position(|link| *link == points);
        let whole = link.filter(|_| pair.is_whole)?;
        Some((whole, pair.is_reverse, n_bytes.0, n_bytes.1))
    }
}

/// A place of a list, which grows to have it.
fn slot<T: Copy + Default>(list: &mut Vec<T>, at: usize, unknown: T) -> &mut T {
    if list.len() <= at {
        list.resize(at + 1, unknown);
    }
    #[expect(clippy::indexing_slicing, reason = "it was made just now")]
    &mut list[at]
}
