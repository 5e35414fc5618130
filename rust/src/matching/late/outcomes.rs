//! What was written of single frames before they were found to be of a late packet, put right.

use crate::matching::outcome::RECORD_BYTES;

use crate::base::error::{Error, Result};
use crate::matching::counts::match_rows::{TRAJECTORY, VALUES};
use crate::matching::late::leftover::Leftover;
use crate::matching::observation::FrameId;
use crate::matching::outcome::{NO_TRAJECTORY, Status, path_in};
use std::collections::{HashMap, HashSet};
use std::fs::{File, rename};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::iter::successors;
use std::path::Path;

/// Parts of one packet, each late behind the one before: more than forks in a row on any path.
const MOST_PARTS: usize = 64;

/// The trajectories that late packets were written as, and are part of.
#[derive(Debug, Default)]
pub(crate) struct Renamed {
    /// First frame of a part, and that of the packet.
    of_part: HashMap<i64, i64>,
    /// The same of parts of one frame, which had no trajectory.
    of_frame: HashMap<FrameId, i64>,
    /// Parts of one frame that may be of one packet with others.
    undecided: HashSet<FrameId>,
}

impl Renamed {
    /// Takes the parts of a late packet, in order.
    pub(crate) fn add(&mut self, parts: &[Leftover]) {
        let Some(first) = parts.first().map(|one| one.first.frame.packed()) else {
            return;
        };
        // what is late behind a fork may name what is late behind the next one
        let is_of_branch = parts.iter().any(|part| part.branch.is_some());
        for part in parts {
            let frame = part.first.frame;
            if part.is_single() {
                self.of_frame.insert(frame, first);
            }
            // copies of a single frame were written as parts of it
            let is_named = !part.is_single() || part.has_copies() || part.is_shared;
            if (is_named || is_of_branch) && frame.packed() != first {
                self.of_part.insert(frame.packed(), first);
            }
        }
    }

    /// Takes a frame that is joined with no other: its copies are of no packet that was matched.
    pub(crate) fn leave_alone(&mut self, part: &Leftover, status: Status) {
        let frame = part.first.frame;
        if status == Status::Ambiguous {
            self.undecided.insert(frame);
        }
        if part.has_copies() {
            self.of_part.insert(frame.packed(), NO_TRAJECTORY);
        }
    }

    /// Puts the outcomes of the frames of all files right.
    pub(crate) fn write_outcomes(&self, directory: &Path, n_files: usize) -> Result<()> {
        if self.of_part.is_empty() && self.of_frame.is_empty() && self.undecided.is_empty() {
            return Ok(());
        }
        (0..n_files).try_for_each(|file| {
            let mut number = 0;
            rewritten(&path_in(directory, file), &mut |octets| {
                number += 1;
                *octets = self.outcome(FrameId::new(file, number), *octets);
            })
        })
    }

    fn outcome(&self, frame: FrameId, octets: [u8; RECORD_BYTES]) -> [u8; RECORD_BYTES] {
        let [status, trajectory @ ..] = octets;
        let (status, trajectory) = match self.of_frame.get(&frame) {
            Some(trajectory) => (Status::Matched as u8, self.name(*trajectory)),
            None if self.undecided.contains(&frame) => (Status::Ambiguous as u8, NO_TRAJECTORY),
            None => (status, self.name(i64::from_le_bytes(trajectory))),
        };
        let mut octets = [status; RECORD_BYTES];
        let [_, rest @ ..] = &mut octets;
        *rest = trajectory.to_le_bytes();
        octets
    }

    /// The name of the packet that a trajectory is part of: of the part before, and of what that is part of.
    fn name(&self, trajectory: i64) -> i64 {
        let before = |part: &i64| self.of_part.get(part).copied();
        let names = successors(Some(trajectory), before).take(MOST_PARTS);
        names.last().unwrap_or(trajectory)
    }

    /// Puts the rows of a file right.
    pub(crate) fn write_rows(&self, path: &Path) -> Result<()> {
        if self.of_part.is_empty() {
            return Ok(());
        }
        rewritten(path, &mut |octets: &mut [u8; 8 * VALUES]| {
            let (values, _) = octets.as_chunks_mut::<8>();
            if let Some(value) = values.get_mut(TRAJECTORY) {
                *value = self.name(i64::from_le_bytes(*value)).to_le_bytes();
            }
        })
    }
}

/// Writes a file anew, record by record.
fn rewritten<const N: usize>(path: &Path, change: &mut dyn FnMut(&mut [u8; N])) -> Result<()> {
    let failed = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    let anew = path.with_extension("anew");
    let mut from = BufReader::with_capacity(1 << 18, File::open(path).map_err(failed)?);
    let mut to = BufWriter::with_capacity(1 << 18, File::create(&anew).map_err(failed)?);
    let mut octets = [0; N];
    loop {
        match from.read_exact(&mut octets) {
            Ok(()) => {
                change(&mut octets);
                to.write_all(&octets).map_err(failed)?;
            }
            Err(end) if end.kind() == ErrorKind::UnexpectedEof => break,
            Err(source) => return Err(failed(source)),
        }
    }
    to.flush().map_err(failed)?;
    rename(&anew, path).map_err(failed)
}
