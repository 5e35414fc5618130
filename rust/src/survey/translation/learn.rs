//! Learning: all sequences of files side by side, packets of equal content gathered within a window.

use super::gathered::Gathered;
use super::join::join;
use super::session::Session;
use super::sessions::{LeftOut, Sessions};
use super::witness::{Witness, addresses_of, has_time_stamp};
use crate::base::error::{Error, Result};
use crate::base::piecewise::PiecewiseLinear;
use crate::file::Frame;
use crate::identity::Identity;
use crate::location::{PointTree, part_of};
use crate::reading::translations::{PlaceOf, Translations};
use crate::reading::{Asked, Progress, ReadOutcome, Reading, read_frames};
use crate::wire::Packet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::ScopedJoinHandle;

/// Frames of a block, and blocks that wait.
const BLOCK_FRAMES: usize = 1024;
const WAITING_BLOCKS: usize = 4;

/// What is known beforehand.
#[derive(Clone, Debug)]
pub struct Beforehand {
    /// Which point a file's interface, or part, is.
    pub place_of: PlaceOf,
    /// How files are divided.
    pub trees: Vec<Option<PointTree>>,
    /// Per point: its usual difference to a common time.
    pub centres: Vec<PiecewiseLinear>,
    /// How far two observations of a packet may be apart, after that.
    pub window_ns: i64,
    /// Files that follow each other in time.
    pub sequences: Vec<Vec<usize>>,
    /// Pairs of flows that are kept, some 500 bytes each.
    pub most_sessions: usize,
}

impl Beforehand {
    fn place(&self, file: usize, frame: &Frame<'_>, packet: &Packet) -> Option<u16> {
        let tree = self.trees.get(file).and_then(Option::as_ref);
        let part = part_of(tree, frame, packet);
        *self.place_of.get(file)?.get(part as usize)?
    }

    fn aligned_ns(&self, place: u16, t_ns: i64) -> i64 {
        let centre = self.centres.get(usize::from(place));
        t_ns.saturating_sub(centre.map_or(0, |centre| centre.at(t_ns)))
    }
}

/// What was learned.
#[derive(Debug)]
pub struct LearnedTranslations {
    /// To be applied.
    pub translations: Translations,
    /// To be shown.
    pub sessions: Vec<Session>,
    /// Of more flows than are kept.
    pub left_out: Option<LeftOut>,
    /// Packets that seem to have passed a translator, and of which it does not show which flow they are of elsewhere.
    pub n_not_followed: u64,
}

struct WitnessBlock {
    witnesses: Vec<Witness>,
    until_ns: i64,
}

/// Reads all files and learns which flows are translated into which.
///
/// # Errors
/// A file cannot be read, or the user interrupted.
pub fn learn(
    files: &[PathBuf],
    reading: &Reading,
    beforehand: &Beforehand,
    progress: &Progress,
) -> Result<LearnedTranslations> {
    let sessions = read_all(files, reading, beforehand, progress)?;
    let left_out = sessions.left_out();
    let keeps_ip_id = sessions.renumbered.flows();
    let accepted = sessions.accepted();
    let n_not_followed = sessions.n_not_followed(&accepted);
    let unsure = accepted.iter().flat_map(Session::unsure);
    let unexplained = sessions.renumbered.unexplained(unsure);
    let (legs, sessions) = join(accepted, &unexplained);
    Ok(LearnedTranslations {
        translations: Translations::new(
            legs,
            keeps_ip_id,
            beforehand.place_of.clone(),
            beforehand.centres.clone(),
        ),
        sessions,
        left_out,
        n_not_followed,
    })
}

/// Reads all files side by side, and gathers what they have in common.
fn read_all(
    files: &[PathBuf],
    reading: &Reading,
    beforehand: &Beforehand,
    progress: &Progress,
) -> Result<Sessions> {
    std::thread::scope(|scope| {
        let mut receivers = Vec::new();
        let mut threads = Vec::new();
        for sequence in &beforehand.sequences {
            let (to, from) = sync_channel(WAITING_BLOCKS);
            receivers.push(from);
            let reader = WitnessReader::new(beforehand, to);
            threads.push(scope.spawn(move || reader.read_all(files, sequence, reading, progress)));
        }
        let sessions = gather(&receivers, beforehand);
        drop(receivers);
        failure_of(threads).map_or(Ok(sessions), Err)
    })
}

/// The first one that is not just what another one led to.
fn failure_of(threads: Vec<ScopedJoinHandle<'_, Result<()>>>) -> Option<Error> {
    let died = || Err(Error::Argument("a reading thread died".into()));
    let read = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|_| died());
    let mut failures: Vec<Error> = threads
        .into_iter()
        .filter_map(|thread| read(thread).err())
        .collect();
    failures.sort_by_key(|error| matches!(error, Error::Interrupted));
    failures.into_iter().next()
}

/// The reader of a sequence of files.
struct WitnessReader<'a> {
    file: usize,
    beforehand: &'a Beforehand,
    to: SyncSender<WitnessBlock>,
    block: Vec<Witness>,
    n_frames: usize,
    least_ns: i64,
    until_ns: i64,
}

impl<'a> WitnessReader<'a> {
    fn new(beforehand: &'a Beforehand, to: SyncSender<WitnessBlock>) -> Self {
        Self {
            file: 0,
            beforehand,
            to,
            block: Vec::new(),
            n_frames: 0,
            least_ns: i64::MAX,
            until_ns: i64::MIN,
        }
    }

    fn read_all(
        mut self,
        files: &[PathBuf],
        sequence: &[usize],
        reading: &Reading,
        progress: &Progress,
    ) -> Result<()> {
        let paths = sequence
            .iter()
            .filter_map(|file| Some((*file, files.get(*file)?)));
        let read = paths.map(|(file, path)| self.read(file, path, reading, progress));
        let read: Result<()> = read.collect();
        let sent = read.and_then(|()| self.send(true));
        sent.inspect_err(|_| progress.cancel())
    }

    fn read(
        &mut self,
        file: usize,
        path: &Path,
        reading: &Reading,
        progress: &Progress,
    ) -> Result<()> {
        self.file = file;
        let (mut packet, mut history) = (Packet::new(), reading.history(file));
        read_frames(path, progress, |frame| {
            let (seen, whole) = reading.see(Asked::Packet, frame, &mut history, &mut packet);
            if let ReadOutcome::Packet(identity) = seen {
                self.take(&whole, &packet, &identity);
            }
            self.n_frames += 1;
            if self.n_frames < BLOCK_FRAMES {
                return Ok(());
            }
            self.send(false)
        })
        .map(drop)
    }

    fn take(&mut self, frame: &Frame<'_>, packet: &Packet, identity: &Identity) {
        let Some(place) = self.beforehand.place(self.file, frame, packet) else {
            return;
        };
        let t_ns = frame.time_ns();
        let aligned_ns = self.beforehand.aligned_ns(place, t_ns);
        self.least_ns = self.least_ns.min(aligned_ns);
        if !identity.directed || !identity.unaddressed.kind.keeps_content() {
            return;
        }
        let transport = packet.transport(frame.bytes);
        self.block.push(Witness {
            unaddressed: identity.unaddressed,
            flow: identity.flow,
            pair: identity.pair,
            addresses: addresses_of(packet, &identity.unaddressed, transport),
            place,
            source: (self.file, frame.interface),
            aligned_ns,
            t_ns,
            opens: identity.opens,
            has_time_stamp: has_time_stamp(transport),
        });
    }

    fn send(&mut self, is_end: bool) -> Result<()> {
        if self.least_ns < i64::MAX {
            self.until_ns = self.until_ns.max(self.least_ns);
        }
        (self.n_frames, self.least_ns) = (0, i64::MAX);
        let block = WitnessBlock {
            witnesses: std::mem::take(&mut self.block),
            until_ns: if is_end { i64::MAX } else { self.until_ns },
        };
        self.to.send(block).map_err(|_| Error::Interrupted)
    }
}

/// Of the files that are not at their end.
fn least_far(until_ns: &mut [i64]) -> Option<(usize, &mut i64)> {
    let files = until_ns.iter_mut().enumerate();
    files
        .filter(|(_, until)| **until != i64::MAX)
        .min_by_key(|(_, until)| **until)
}

fn gather(from: &[Receiver<WitnessBlock>], beforehand: &Beforehand) -> Sessions {
    let window_ns = beforehand.window_ns;
    let mut sessions = Sessions::of_at_most(beforehand.most_sessions);
    let mut gathered = Gathered::default();
    let mut until_ns = vec![i64::MIN; from.len()];
    // always from the file that is least far: the others wait, so little is held
    while let Some((file, until)) = least_far(&mut until_ns) {
        let block = from.get(file).and_then(|from| from.recv().ok());
        *until = block.as_ref().map_or(i64::MAX, |block| block.until_ns);
        for witness in block.into_iter().flat_map(|block| block.witnesses) {
            gathered.insert(witness);
        }
        let least_ns = until_ns.iter().copied().min().unwrap_or(i64::MAX);
        gathered.sweep(least_ns, window_ns, &mut sessions);
    }
    gathered.sweep(i64::MAX, window_ns, &mut sessions);
    sessions
}
