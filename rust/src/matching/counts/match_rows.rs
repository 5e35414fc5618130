//! The rows of `matches`, spilled.

use crate::matching::evidence::By;

use crate::base::error::Result;
use crate::base::spill::{Spill, numbers};
use crate::matching::evidence::code;
use crate::matching::observation::{FrameId, Observation};
use crate::matching::streams::{Cut, PairKind};
use crate::plan::Direction;
use std::path::{Path, PathBuf};

/// Values of one row.
pub(crate) const VALUES: usize = 7;
/// The place of the trajectory among them.
pub(crate) const TRAJECTORY: usize = 5;

/// The pairs of a partition, if they are kept.
pub(crate) struct Rows(Option<Spill>);

impl Rows {
    pub(crate) fn new(
        directory: &Path,
        partition: impl std::fmt::Display,
        are_kept: bool,
    ) -> Result<Self> {
        let spill = are_kept.then(|| Spill::create(directory, &format!("rows-{partition}")));
        Ok(Self(spill.transpose()?))
    }

    #[inline]
    pub(crate) fn are_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Keeps two observations of one packet, with its trajectory.
    pub(crate) fn keep(
        &mut self,
        up: &Observation,
        down: &Observation,
        direction: Direction,
        first: &Observation,
    ) {
        let id = first.frame.packed();
        self.write(
            (up, down),
            direction,
            PairKind::Packet,
            id,
            down.evidence.by,
        );
    }

    /// Keeps two packets that carry the same bytes. They have no trajectory: what stands for it is
    /// negative, and puts them in the order of the upstream frames.
    pub(crate) fn keep_cut(&mut self, cut: &Cut<'_>, direction: Direction) {
        let order = i64::MIN.saturating_add(cut.up.frame.packed());
        let ends = (cut.up, cut.down);
        self.write(ends, direction, cut.kind, order, By::Bytes);
    }

    fn write(
        &mut self,
        (up, down): (&Observation, &Observation),
        direction: Direction,
        kind: PairKind,
        id: i64,
        by: By,
    ) {
        let Some(spill) = &mut self.0 else { return };
        let is_reverse = i64::from(direction.is_reverse());
        let what = is_reverse << 32 | i64::from(kind as u8) << 33;
        let points = i64::from(up.point) | i64::from(down.point) << 16 | what;
        let raw_ns = down.t_ns.saturating_sub(up.t_ns);
        let frames = [up, down].map(|observation| observation.frame.packed());
        let evidence = code(up, down, by);
        let row: [i64; VALUES] = [points, frames[0], frames[1], up.t_ns, raw_ns, id, evidence];
        spill.write(row);
    }

    pub(crate) fn finish(self) -> Result<Option<PathBuf>> {
        self.0.map(Spill::finish).transpose()
    }
}

/// Two frames that carry the same packet, or bytes of it, as they were spilled.
pub(crate) struct MatchedPair {
    pub(crate) up: FrameId,
    pub(crate) down: FrameId,
    pub(crate) up_point: u16,
    pub(crate) down_point: u16,
    pub(crate) is_reverse: bool,
    /// Each carries the whole packet.
    pub(crate) is_whole: bool,
}

/// Reads the pairs of one file.
///
/// # Errors
/// It cannot be read.
pub(crate) fn pairs(path: &Path) -> Result<impl Iterator<Item = Result<MatchedPair>>> {
    let rows = numbers::<VALUES>(path)?;
    Ok(rows.map(|row| row.map(pair)))
}

fn pair([points, up, down, ..]: [i64; VALUES]) -> MatchedPair {
    let point = |shift: u32| u16::try_from(points >> shift & 0xffff).unwrap_or(u16::MAX);
    MatchedPair {
        up: FrameId(up),
        down: FrameId(down),
        up_point: point(0),
        down_point: point(16),
        is_reverse: points >> 32 & 1 == 1,
        is_whole: points >> 33 == i64::from(PairKind::Packet as u8),
    }
}
