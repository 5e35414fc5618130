//! What a run found of each frame, read beside the frames, and the comment that tells it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;

use crate::base::error::{Error, Result};
use crate::matching::STATUSES;
use crate::matching::outcome::Outcomes;

/// Where what a run found of the frames of a file is kept.
#[derive(Clone, Debug)]
pub struct RunFiles {
    /// The run's folder, with the outcomes of each file.
    pub folder: PathBuf,
    /// The file's place among all.
    pub file: usize,
    /// Of each frame its latency since another point: [`LATENCY_BYTES`] each.
    pub latencies: PathBuf,
}

/// A latency, ns, and the place of the point it counts from among those that are named, from 1;
/// 0: none. Both little-endian.
pub const LATENCY_BYTES: usize = 12;

/// What was found of one frame.
pub(super) struct FrameFindings {
    status: u8,
    trajectory: i64,
    latency_ns: i64,
    from: u32,
}

impl FrameFindings {
    /// One line of words `name=value`; the name of a point, which may hold blanks, ends it.
    pub(super) fn comment(&self, points: &[String]) -> String {
        let status = STATUSES.get(usize::from(self.status)).unwrap_or(&"");
        let mut text = format!("pcaplat: status={status}");
        // writing to a string cannot fail
        if self.trajectory >= 0 {
            let _ = write!(text, " trajectory_id={}", self.trajectory);
        }
        let from = (self.from as usize).checked_sub(1);
        if let Some(point) = from.and_then(|at| points.get(at)) {
            let _ = write!(text, " latency_ns={} from={point}", self.latency_ns);
        }
        text
    }
}

/// Reads what was found of the frames of one file, in their order.
pub(super) struct RunReader {
    outcomes: Outcomes,
    latencies: BufReader<File>,
}

impl RunReader {
    pub(super) fn open(run: &RunFiles) -> Result<Self> {
        let latencies = File::open(&run.latencies).map_err(|source| Error::Io {
            path: run.latencies.clone(),
            source,
        })?;
        Ok(Self {
            outcomes: Outcomes::open(&run.folder, run.file)?,
            latencies: BufReader::with_capacity(1 << 18, latencies),
        })
    }

    pub(super) fn next_frame(&mut self) -> Option<FrameFindings> {
        let (status, trajectory) = self.outcomes.next_outcome()?;
        let mut bytes = [0; LATENCY_BYTES];
        self.latencies.read_exact(&mut bytes).ok()?;
        let (latency_ns, from) = bytes.split_first_chunk()?;
        Some(FrameFindings {
            status,
            trajectory,
            latency_ns: i64::from_le_bytes(*latency_ns),
            from: u32::from_le_bytes(*from.first_chunk()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_says_what_is_known_and_no_more() {
        let points = ["vm 1", "uplink"].map(str::to_owned);
        let found = |trajectory, from| FrameFindings {
            status: 0,
            trajectory,
            latency_ns: -40,
            from,
        };
        assert_eq!(
            found(7, 1).comment(&points),
            "pcaplat: status=matched trajectory_id=7 latency_ns=-40 from=vm 1"
        );
        assert_eq!(found(-1, 0).comment(&points), "pcaplat: status=matched");
        assert_eq!(found(-1, 3).comment(&points), "pcaplat: status=matched");
    }
}
