//! Two bytes and a quarter a frame: which way its packet goes, and how long it is.

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
    /// Four in a byte.
    ways: Vec<u8>,
    /// The low halves of their lengths.
    low: Vec<u16>,
    /// The high ones, as far as there is one that is not 0.
    high: Vec<u16>,
}

/// Four frames whose way is not known.
const UNKNOWN_WAYS: u8 = UNKNOWN << 6 | UNKNOWN << 4 | UNKNOWN << 2 | UNKNOWN;

impl OfFile {
    fn set_way(&mut self, at: usize, way: u8) {
        let shift = at % 4 * 2;
        let four = slot(&mut self.ways, at / 4, UNKNOWN_WAYS);
        *four = *four & !(0b11 << shift) | way << shift;
    }

    fn way(&self, at: usize) -> u8 {
        let four = self.ways.get(at / 4).copied().unwrap_or(UNKNOWN_WAYS);
        four >> (at % 4 * 2) & 0b11
    }

    fn set_n_bytes(&mut self, at: usize, n_bytes: u32) {
        let [b0, b1, b2, b3] = n_bytes.to_le_bytes();
        let high = u16::from_le_bytes([b2, b3]);
        *slot(&mut self.low, at, 0) = u16::from_le_bytes([b0, b1]);
        if high > 0 || at < self.high.len() {
            *slot(&mut self.high, at, 0) = high;
        }
    }

    fn n_bytes(&self, at: usize) -> u32 {
        let half = |list: &[u16]| list.get(at).copied().map_or(0, u32::from);
        half(&self.high) << 16 | half(&self.low)
    }
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
            file.set_way(at, u8::from(is_reverse));
        }
    }

    /// Notes how long a frame is, and gives its direction.
    pub(super) fn note(&mut self, frame: FrameId, wire_bytes: u32) -> u8 {
        self.file(frame).map_or(UNKNOWN, |(file, at)| {
            file.set_n_bytes(at, wire_bytes);
            file.way(at)
        })
    }

    fn file(&mut self, frame: FrameId) -> Option<(&mut OfFile, usize)> {
        let at = usize::try_from(frame.number()).ok()?;
        Some((self.0.get_mut(frame.file())?, at))
    }

    fn of(&self, frame: FrameId) -> u32 {
        let file = self.0.get(frame.file());
        let at = usize::try_from(frame.number()).ok();
        file.zip(at).map_or(0, |(file, at)| file.n_bytes(at))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_of_a_frame_is_its_own() {
        let mut file = OfFile::default();
        let lengths = [60, 65_535, 65_536, 0, u32::MAX, 1514, 200_000, 9];
        // frames may come in any order, and some not at all
        for (at, n_bytes) in lengths.into_iter().enumerate().rev() {
            file.set_n_bytes(3 * at, n_bytes);
            file.set_way(3 * at, u8::from(at % 2 == 1));
        }
        for (at, n_bytes) in lengths.into_iter().enumerate() {
            assert_eq!(file.n_bytes(3 * at), n_bytes);
            assert_eq!(file.way(3 * at), u8::from(at % 2 == 1));
            assert_eq!(
                (file.n_bytes(3 * at + 1), file.way(3 * at + 1)),
                (0, UNKNOWN)
            );
        }
        assert_eq!((file.n_bytes(1000), file.way(1000)), (0, UNKNOWN));
        file.set_way(0, 1);
        file.set_way(0, 0);
        assert_eq!(file.way(0), 0);
    }

    #[test]
    fn only_long_frames_take_more_memory() {
        let mut file = OfFile::default();
        (0..100).for_each(|at| file.set_n_bytes(at, 65_535));
        assert!(file.high.is_empty());
        file.set_n_bytes(100, 65_536);
        file.set_n_bytes(101, 60);
        assert_eq!(
            (file.n_bytes(99), file.n_bytes(100), file.n_bytes(101)),
            (65_535, 65_536, 60)
        );
    }
}
