//! What became of each frame, written in the order of the frames so that it can be read beside them.
//!
//! Outcomes come in the order of decisions. A frame's place is held until all before it are decided;
//! the wait is the window's, so memory is bounded by it.

pub mod reasons;
mod sliced;

use crate::matching::observation::FrameId;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::matching::observation::Observation;
use crate::matching::pipeline::Options;
use crate::plan::Plan;
use reasons::Reasons;
pub(crate) use sliced::join_outcomes;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// What became of a frame; the discriminants are those of the spilled outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Seen at another point too.
    Matched = 0,
    /// In pieces, or joined with others.
    Coalesced = 1,
    /// A later copy at the same point.
    Duplicate = 2,
    /// More than one packet it may be.
    Ambiguous = 3,
    /// Seen nowhere else.
    Unmatched = 4,
    /// Not decoded to its innermost packet.
    Undecoded = 5,
    /// Not asked for.
    Excluded = 6,
}

/// Names of the statuses, by discriminant.
pub const STATUSES: [&str; 7] = [
    "matched",
    "coalesced",
    "duplicate",
    "ambiguous",
    "unmatched",
    "undecoded",
    "excluded",
];

/// Frames by status.
pub(crate) type ByStatus = [u64; STATUSES.len()];

/// Frames per point and status.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) of_point: Vec<ByStatus>,
    /// Frames of divided files that no point saw.
    pub(crate) elsewhere: ByStatus,
    /// Per file: frames by part, and how many of them were not decoded.
    pub(crate) parts: Vec<(usize, Vec<[u64; 2]>)>,
    pub(crate) reasons: Reasons,
}

impl Counts {
    pub(crate) fn of_points(n: usize) -> Self {
        Self {
            of_point: vec![[0; STATUSES.len()]; n],
            elsewhere: [0; STATUSES.len()],
            parts: Vec::new(),
            reasons: Reasons::of_points(n),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, point: u16, status: Status) {
        let of_point = self.of_point.get_mut(usize::from(point));
        if let Some(count) = of_point.and_then(|of| of.get_mut(status as usize)) {
            *count += 1;
        }
    }

    /// Counts a frame that was decided, with the reason.
    pub(crate) fn note(&mut self, plan: &Plan, observation: &Observation, status: Status) {
        self.add(observation.point, status);
        self.reasons.note(plan, observation, status);
    }

    pub(crate) fn add_elsewhere(&mut self, status: Status) {
        if let Some(count) = self.elsewhere.get_mut(status as usize) {
            *count += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        let theirs = other.of_point.iter().chain([&other.elsewhere]);
        let ours = self.of_point.iter_mut().chain([&mut self.elsewhere]);
        for (total, n) in ours.flatten().zip(theirs.flatten()) {
            *total += n;
        }
        for (file, parts) in other.parts {
            match self.parts.iter_mut().find(|(known, _)| *known == file) {
                Some((_, known)) => add_parts(known, &parts),
                None => self.parts.push((file, parts)),
            }
        }
        self.reasons.merge(other.reasons);
    }
}

/// Adds the frames of another extent of the same file.
fn add_parts(known: &mut [[u64; 2]], more: &[[u64; 2]]) {
    for (n, n_more) in known.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
        *n += n_more;
    }
}

/// A frame, its status, and its trajectory.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The frame.
    pub frame: FrameId,
    /// What became of it; `None`: who matches it elsewhere says so.
    pub status: Option<Status>,
    /// See `matching`: the id of the trajectory it belongs to.
    pub trajectory: Option<FrameId>,
}

/// Where outcomes go, in batches. Full channels make the senders wait: the collector waits for none.
#[derive(Clone)]
pub(crate) struct Outbox {
    to: SyncSender<Vec<Outcome>>,
    batch: Vec<Outcome>,
}

impl Outbox {
    /// An outbox to clone, and its other end.
    pub(crate) fn new() -> (Self, Receiver<Vec<Outcome>>) {
        const WAITING_BATCHES: usize = 64;
        let (to, from) = sync_channel(WAITING_BATCHES);
        (
            Self {
                to,
                batch: Vec::new(),
            },
            from,
        )
    }

    pub(crate) fn push(&mut self, outcome: Outcome) {
        self.batch.push(outcome);
    }

    /// Leaves frames of a file to others.
    pub(crate) fn pass_over(&mut self, file: usize, numbers: Range<i64>) {
        self.batch.extend(numbers.map(|number| Outcome {
            frame: FrameId::new(file, number.unsigned_abs()),
            status: None,
            trajectory: None,
        }));
    }

    pub(crate) fn send(&mut self) {
        if !self.batch.is_empty() {
            // the collector hangs up only when writing failed, and then says so itself
            let _ = self.to.send(std::mem::take(&mut self.batch));
        }
    }
}

/// What is written of a frame that is of no trajectory.
pub(crate) const NO_TRAJECTORY: i64 = -1;

/// The bytes of one outcome in the file: status, trajectory.
pub const RECORD_BYTES: usize = 9;

/// Outcomes of one file that wait to be written, which is open only while they are: a rotated
/// capture may have more files than may be open at once.
struct Pending {
    first: i64,
    waiting: VecDeque<Slot>,
    written: Vec<u8>,
    path: PathBuf,
    /// Frames that are matched elsewhere are not there, so that the others need their numbers.
    is_numbered: bool,
}

/// A frame on its way into the file.
enum Slot {
    Undecided,
    Elsewhere,
    Decided([u8; RECORD_BYTES]),
}

/// Bytes that are written at once.
const WRITTEN_BYTES: usize = 1 << 18;

/// The path of the outcomes of one file.
#[must_use]
pub fn path_in(directory: &Path, file: usize) -> PathBuf {
    directory.join(format!("outcomes-{file}"))
}

/// Where the outcomes of frames go.
pub(crate) struct OutcomeFiles<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) files: Range<usize>,
    /// Others have outcomes of frames of these files too: each is written with its number.
    pub(crate) is_share: bool,
    /// Frames of them that come before the first one here.
    pub(crate) n_before: u64,
}

impl<'a> OutcomeFiles<'a> {
    /// Of all frames of all files.
    pub(crate) fn of_all(directory: &'a Path, n_files: usize) -> Self {
        Self {
            directory,
            files: 0..n_files,
            is_share: false,
            n_before: 0,
        }
    }

    /// Writes what comes through the channel until all senders are gone.
    ///
    /// # Errors
    /// The files cannot be written.
    pub(crate) fn collect(&self, from: &Receiver<Vec<Outcome>>) -> Result<()> {
        let first = self.files.start;
        let mut files = (self.files.clone())
            .map(|file| Pending::new(path_in(self.directory, file), self))
            .collect::<Result<Vec<_>>>()?;
        while let Ok(batch) = from.recv() {
            for outcome in &batch {
                let place = outcome.frame.file().checked_sub(first);
                if let Some(file) = place.and_then(|place| files.get_mut(place)) {
                    file.put(outcome)?;
                }
            }
        }
        files.iter_mut().try_for_each(Pending::finish)
    }

    /// Which file has the outcomes of which capture's frames, if they are kept.
    pub(crate) fn written(&self, options: &Options<'_>) -> Vec<(usize, PathBuf)> {
        let kept = self.files.clone().filter(|_| options.keep.rows);
        kept.map(|file| (file, path_in(self.directory, file)))
            .collect()
    }
}

impl Pending {
    fn new(path: PathBuf, of: &OutcomeFiles<'_>) -> Result<Self> {
        File::create(&path).map_err(|source| Error::Io {
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            first: of.n_before.saturating_add(1).cast_signed(),
            waiting: VecDeque::new(),
            written: Vec::new(),
            path,
            is_numbered: of.is_share,
        })
    }

    fn put(&mut self, outcome: &Outcome) -> Result<()> {
        let Ok(place) = usize::try_from(outcome.frame.number() - self.first) else {
            return Ok(());
        };
        while self.waiting.len() <= place {
            self.waiting.push_back(Slot::Undecided);
        }
        if let Some(slot) = self.waiting.get_mut(place) {
            *slot = record(outcome).map_or(Slot::Elsewhere, Slot::Decided);
        }
        self.take_decided();
        if self.written.len() < WRITTEN_BYTES {
            return Ok(());
        }
        self.write()
    }

    /// Takes what is decided, up to the first frame that is not.
    fn take_decided(&mut self) {
        while let Some(decided) = self.waiting.pop_front() {
            match decided {
                Slot::Undecided => {
                    self.waiting.push_front(decided);
                    break;
                }
                Slot::Elsewhere => {}
                Slot::Decided(record) if self.is_numbered => {
                    self.written.extend(sliced::numbered(self.first, record));
                }
                Slot::Decided(record) => self.written.extend(record),
            }
            self.first += 1;
        }
    }

    fn write(&mut self) -> Result<()> {
        let opened = File::options().append(true).open(&self.path);
        let done = opened.and_then(|mut file| file.write_all(&self.written));
        self.written.clear();
        done.map_err(|source| Error::Io {
            path: self.path.clone(),
            source,
        })
    }

    fn finish(&mut self) -> Result<()> {
        debug_assert!(
            self.waiting.is_empty(),
            "{}: a frame without an outcome",
            self.path.display()
        );
        self.write()
    }
}

fn record(outcome: &Outcome) -> Option<[u8; RECORD_BYTES]> {
    let mut bytes = [0; RECORD_BYTES];
    let trajectory = outcome.trajectory.map_or(NO_TRAJECTORY, FrameId::packed);
    let [status, rest @ ..] = &mut bytes;
    *status = outcome.status? as u8;
    rest.copy_from_slice(&trajectory.to_le_bytes());
    Some(bytes)
}

/// Reads the outcomes of one file, in the order of its frames.
pub struct Outcomes {
    from: BufReader<File>,
}

impl Outcomes {
    /// Opens what a run wrote.
    ///
    /// # Errors
    /// It is not there.
    pub fn open(directory: &Path, file: usize) -> Result<Self> {
        let path = path_in(directory, file);
        let file = File::open(&path).map_err(|source| Error::Io { path, source })?;
        Ok(Self {
            from: BufReader::with_capacity(1 << 18, file),
        })
    }

    /// Status index and trajectory (-1: none) of the next frame.
    pub fn next_outcome(&mut self) -> Option<(u8, i64)> {
        let mut bytes = [0; RECORD_BYTES];
        self.from.read_exact(&mut bytes).ok()?;
        let [status, trajectory @ ..] = bytes;
        Some((status, i64::from_le_bytes(trajectory)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_in_the_order_of_frames() {
        let folder = std::env::temp_dir().join(format!("outcomes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (mut outbox, outcomes) = Outbox::new();
        let order = [3, 1, 2, 7, 6, 5, 4, 8].map(|number| (number, number % 2));
        for (number, file) in order {
            let frame = FrameId::new(usize::from(file == 1), u64::div_ceil(number, 2));
            let trajectory = (number > 2).then_some(FrameId::new(0, number));
            outbox.push(Outcome {
                frame,
                status: Some(Status::Matched),
                trajectory,
            });
        }
        outbox.send();
        drop(outbox);
        let kept = OutcomeFiles::of_all(&folder, 2);
        kept.collect(&outcomes).unwrap();
        for (file, expected) in [(0, [-1, 4, 6, 8]), (1, [-1, 3, 5, 7])] {
            let mut outcomes = Outcomes::open(&folder, file).unwrap();
            let read: Vec<_> = std::iter::from_fn(|| outcomes.next_outcome()).collect();
            assert_eq!(
                read,
                expected.map(|trajectory| (Status::Matched as u8, trajectory))
            );
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_is_gone_is_told_and_blocks_nobody() {
        let (mut outbox, outcomes) = Outbox::new();
        let nowhere = OutcomeFiles::of_all(Path::new("/nowhere/at/all"), 1);
        assert!(nowhere.collect(&outcomes).is_err());
        drop(outcomes);
        for number in 1..1000 {
            outbox.push(Outcome {
                frame: FrameId::new(0, number),
                status: Some(Status::Matched),
                trajectory: None,
            });
            outbox.send();
        }
    }
}
