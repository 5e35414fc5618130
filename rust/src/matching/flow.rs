//! Who hands what to whom: decoding threads, one a file, to partitions, one a core.
//!
//! Every decoder sends each block to every partition, empty or not, with the time up to which it has
//! read; a partition always takes from the file that is least far. Channels hold few blocks, so a
//! fast file waits for a slow one. No deadlock: a full channel means that its partition waits for a
//! file that is behind, and of all files that are waited for the one least far is free to send.

use super::outcome::{self, Outcome};
use super::partition::{Matched, Partition};
use super::{FrameId, Sight, Status};
use crate::error::{Error, Result};
use crate::file::Frame;
use crate::plan::{Direction, Plan};
use crate::reading::{Progress, Reading, Seen, read_frames};
use crate::wire::Packet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Frames of one block.
const BLOCK_FRAMES: usize = 4096;
/// Blocks that wait in a channel.
const WAITING_BLOCKS: usize = 4;

/// How a run is done.
pub struct Options<'a> {
    /// Where spilled files go.
    pub directory: &'a Path,
    /// Spill every pair and every frame's outcome too.
    pub keep_rows: bool,
    /// Partitions; 0 for one a core.
    pub n_partitions: usize,
}

struct Block {
    sights: Vec<Sight>,
    until_ns: i64,
}

/// Matches the frames of all files.
///
/// # Errors
/// A file cannot be read, a spilled one not written, or the user interrupted.
pub fn match_files(
    files: &[PathBuf],
    reading: &Reading,
    plan: &Arc<Plan>,
    options: &Options<'_>,
    progress: &Progress,
) -> Result<Matched> {
    let n_cores = std::thread::available_parallelism().map_or(2, usize::from);
    let n_partitions = if options.n_partitions == 0 { n_cores } else { options.n_partitions };
    let mut senders: Vec<Vec<SyncSender<Block>>> = files.iter().map(|_| Vec::new()).collect();
    let mut receivers: Vec<Vec<Receiver<Block>>> = Vec::new();
    for _ in 0..n_partitions {
        let mut of_partition = Vec::new();
        for of_file in &mut senders {
            let (sender, receiver) = sync_channel(WAITING_BLOCKS);
            of_file.push(sender);
            of_partition.push(receiver);
        }
        receivers.push(of_partition);
    }
    std::thread::scope(|scope| {
        let (outcomes, collector) = if options.keep_rows {
            let (sender, receiver) = channel();
            let collect = move || outcome::collect(options.directory, files.len(), &receiver);
            (Some(sender), Some(scope.spawn(collect)))
        } else {
            (None, None)
        };
        let decoders: Vec<_> = senders
            .into_iter()
            .zip(files)
            .enumerate()
            .map(|(file, (to, path))| {
                let outcomes = outcomes.clone();
                scope.spawn(move || decode(file, path, reading, plan, &to, outcomes.as_ref(), progress))
            })
            .collect();
        let partitions: Vec<_> = receivers
            .into_iter()
            .enumerate()
            .map(|(index, from)| {
                let outcomes = outcomes.clone();
                scope.spawn(move || match_partition(plan, options.directory, index, &from, outcomes))
            })
            .collect();
        drop(outcomes);
        let mut matched = Matched { tallies: Vec::new(), counts: vec![[0; 7]; plan.n_points()] };
        let mut failures = Vec::new();
        for decoder in decoders {
            keep(decoder.join(), &mut failures, |counts| add(&mut matched.counts, &counts));
        }
        for partition in partitions {
            keep(partition.join(), &mut failures, |(tally, counts)| {
                add(&mut matched.counts, &counts);
                matched.tallies.push(tally);
            });
        }
        if let Some(collector) = collector {
            keep(collector.join(), &mut failures, |()| ());
        }
        failures.sort_by_key(|error| matches!(error, Error::Interrupted));
        failures.into_iter().next().map_or(Ok(matched), Err)
    })
}

fn keep<T>(joined: std::thread::Result<Result<T>>, failures: &mut Vec<Error>, take: impl FnOnce(T)) {
    match joined {
        Ok(Ok(value)) => take(value),
        Ok(Err(error)) => failures.push(error),
        Err(_) => failures.push(Error::Argument("a matching thread died".into())),
    }
}

fn add(total: &mut [[u64; 7]], counts: &[[u64; 7]]) {
    for (total, counts) in total.iter_mut().flatten().zip(counts.iter().flatten()) {
        *total += counts;
    }
}

fn decode(
    file: usize,
    path: &Path,
    reading: &Reading,
    plan: &Plan,
    to: &[SyncSender<Block>],
    outcomes: Option<&Sender<Vec<Outcome>>>,
    progress: &Progress,
) -> Result<Vec<[u64; 7]>> {
    let mut packet = Packet::new();
    let mut stage = Stage::new(file, plan, to, outcomes);
    let result = read_frames(path, progress, |frame| {
        let seen = reading.see(frame, &mut packet);
        stage.take(frame, seen)
    });
    if result.is_err() {
        progress.cancel();
    }
    result?;
    stage.send(i64::MAX)?;
    Ok(stage.counts)
}

/// One file's blocks in the making.
struct Stage<'a> {
    file: usize,
    plan: &'a Plan,
    to: &'a [SyncSender<Block>],
    outcomes: Option<&'a Sender<Vec<Outcome>>>,
    blocks: Vec<Vec<Sight>>,
    undecided: Vec<Outcome>,
    n_frames: usize,
    until_ns: i64,
    counts: Vec<[u64; 7]>,
}

impl<'a> Stage<'a> {
    fn new(
        file: usize,
        plan: &'a Plan,
        to: &'a [SyncSender<Block>],
        outcomes: Option<&'a Sender<Vec<Outcome>>>,
    ) -> Self {
        Self {
            file,
            plan,
            to,
            outcomes,
            blocks: to.iter().map(|_| Vec::with_capacity(BLOCK_FRAMES)).collect(),
            undecided: Vec::new(),
            n_frames: 0,
            until_ns: i64::MIN,
            counts: vec![[0; 7]; plan.n_points()],
        }
    }

    #[inline]
    fn take(&mut self, frame: &Frame<'_>, seen: Seen) -> Result<()> {
        let of_file = self.plan.point_of.get(self.file);
        let point = of_file.and_then(|of| of.get(frame.interface as usize)).copied().flatten();
        match (seen, point) {
            (Seen::Packet(identity), Some(point)) => self.place(frame, point, &identity),
            (Seen::Packet(_), None) => self.leave(frame, point, Status::Unmatched),
            (Seen::Undecoded, _) => self.leave(frame, point, Status::Undecoded),
            (Seen::Excluded, _) => self.leave(frame, point, Status::Excluded),
        }
        self.n_frames += 1;
        if self.n_frames >= BLOCK_FRAMES {
            return self.send(self.until_ns);
        }
        Ok(())
    }

    fn place(&mut self, frame: &Frame<'_>, point: u16, identity: &crate::identity::Identity) {
        let aligned_ns = self.plan.aligned_ns(Direction::Forward, point, frame.t_ns);
        self.until_ns = self.until_ns.max(aligned_ns);
        let (from, to) = self.plan.range;
        if !(from..=to).contains(&aligned_ns) {
            return self.leave(frame, Some(point), Status::Excluded);
        }
        let sight = Sight {
            key: identity.key,
            flow: identity.flow,
            pair: identity.pair,
            aligned_ns,
            t_ns: frame.t_ns,
            frame: FrameId::new(self.file, frame.number),
            copy_tag: identity.copy_tag,
            point,
            toward: identity.toward,
            directed: identity.directed,
        };
        // The high bits choose: the low ones are the partition's own hash table's.
        let n = self.blocks.len().max(1) as u64;
        let index = usize::try_from((identity.flow >> 32) % n).unwrap_or(0);
        if let Some(block) = self.blocks.get_mut(index) {
            block.push(sight);
        }
    }

    fn leave(&mut self, frame: &Frame<'_>, point: Option<u16>, status: Status) {
        let of_point = point.and_then(|point| self.counts.get_mut(usize::from(point)));
        if let Some(count) = of_point.and_then(|of| of.get_mut(status as usize)) {
            *count += 1;
        }
        if self.outcomes.is_some() {
            let frame = FrameId::new(self.file, frame.number);
            self.undecided.push(Outcome { frame, status, trajectory: None });
        }
    }

    fn send(&mut self, until_ns: i64) -> Result<()> {
        self.n_frames = 0;
        if let Some(outcomes) = self.outcomes
            && !self.undecided.is_empty()
        {
            let _ = outcomes.send(std::mem::take(&mut self.undecided));
        }
        for (block, to) in self.blocks.iter_mut().zip(self.to) {
            let sights = std::mem::replace(block, Vec::with_capacity(BLOCK_FRAMES / 2));
            // A partition hangs up only when it failed, and then says why itself.
            to.send(Block { sights, until_ns }).map_err(|_| Error::Interrupted)?;
        }
        Ok(())
    }
}

fn match_partition(
    plan: &Arc<Plan>,
    directory: &Path,
    index: usize,
    from: &[Receiver<Block>],
    outcomes: Option<Sender<Vec<Outcome>>>,
) -> Result<(super::tally::Tally, Vec<[u64; 7]>)> {
    let mut partition = Partition::new(plan, directory, index, outcomes)?;
    let mut until_ns = vec![i64::MIN; from.len()];
    loop {
        let least = until_ns.iter().enumerate().min_by_key(|(_, until)| **until);
        let Some((file, until)) = least.map(|(file, until)| (file, *until)) else { break };
        if until == i64::MAX {
            break;
        }
        let block = from.get(file).and_then(|from| from.recv().ok());
        let block = block.unwrap_or(Block { sights: Vec::new(), until_ns: i64::MAX });
        partition.insert(&block.sights);
        if let Some(until) = until_ns.get_mut(file) {
            *until = block.until_ns;
        }
        partition.sweep(until_ns.iter().copied().min().unwrap_or(i64::MAX));
    }
    partition.finish()
}
