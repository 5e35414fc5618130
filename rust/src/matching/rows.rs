//! The rows of `matches`, spilled.

use super::Sight;
use super::evidence::{By, code};
use super::ranges::{Cut, Kind};
use super::spill::Spill;
use crate::base::error::Result;
use crate::plan::Direction;
use std::path::{Path, PathBuf};

/// Values of one row.
pub(super) const VALUES: usize = 7;
/// The place of the trajectory among them.
pub(super) const TRAJECTORY: usize = 5;

/// The pairs of a partition, if they are kept.
pub(super) struct Rows(Option<Spill>);

impl Rows {
    pub(super) fn new(
        directory: &Path,
        partition: impl std::fmt::Display,
        are_kept: bool,
    ) -> Result<Self> {
        let spill = are_kept.then(|| Spill::create(directory, &format!("rows-{partition}")));
        Ok(Self(spill.transpose()?))
    }

    /// Keeps two sights of one packet, with its trajectory.
    pub(super) fn keep(&mut self, up: &Sight, down: &Sight, direction: Direction, first: &Sight) {
        let id = first.frame.packed();
        self.write((up, down), direction, Kind::Packet, id, down.evidence.by);
    }

    /// Keeps two packets that carry the same bytes. They have no trajectory: what stands for it is
    /// negative, and puts them in the order of the upstream frames.
    pub(super) fn keep_cut(&mut self, cut: &Cut<'_>) {
        let order = i64::MIN.saturating_add(cut.up.frame.packed());
        let ends = (cut.up, cut.down);
        self.write(ends, cut.direction, cut.kind, order, By::Bytes);
    }

    fn write(
        &mut self,
        (up, down): (&Sight, &Sight),
        direction: Direction,
        kind: Kind,
        id: i64,
        by: By,
    ) {
        let Some(spill) = &mut self.0 else { return };
        let is_reverse = i64::from(direction == Direction::Reverse);
        let what = is_reverse << 32 | i64::from(kind as u8) << 33;
        let points = i64::from(up.point) | i64::from(down.point) << 16 | what;
        let raw_ns = down.t_ns.saturating_sub(up.t_ns);
        let frames = [up, down].map(|sight| sight.frame.packed());
        let evidence = code(up, down, by);
        let row: [i64; VALUES] = [points, frames[0], frames[1], up.t_ns, raw_ns, id, evidence];
        spill.write(row);
    }

    pub(super) fn finish(self) -> Result<Option<PathBuf>> {
        self.0.map(Spill::finish).transpose()
    }
}
