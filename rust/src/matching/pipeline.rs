//! Who hands what to whom: decoding threads, one for each sequence of files that follow each other in
//! time, to partitions, one a core.
//!
//! Every decoder sends each block to every partition, empty or not, with the time up to which it has
//! read, and hangs up at its end; a partition always takes from the sequence that is least far, of equals from the first.
//! Channels hold few blocks, so a fast sequence waits for a slow one.
//!
//! No deadlock: suppose that partition p waits for sequence A, A for room at q, q for sequence B, B for
//! room at p. A sends to p and q in turn and is stuck at q, so p has more of A than q has; likewise q
//! has more of B than p. A sequence's time never falls, so by (time, file): A at q ≤ A at p < B at p ≤ B at
//! q < A at q. Longer cycles close the same way. The collector of outcomes waits for nobody.

pub(crate) mod matched;
pub(crate) mod shuffle;
pub(crate) mod slice;

use crate::base::error::{Error, Result};
use crate::base::panics;
use crate::file::{Capture, FileExtent};
use crate::matching::counts::Keep;
use crate::matching::dispatch::{BlockTakers, ObservationBlock, Stage};
use crate::matching::outcome::{Counts, Outbox, OutcomeFiles};
use crate::matching::partition::{Partition, PartitionResult};
use crate::matching::pipeline::matched::{Matched, add_up};
use crate::matching::pipeline::slice::SliceResult;
use crate::plan::Plan;
use crate::reading::{Asked, Progress, Reading, read_on};
use crate::wire::Packet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Blocks that wait in a channel.
const WAITING_BLOCKS: usize = 4;

/// How a run is done.
pub struct Options<'a> {
    /// Where spilled files go.
    pub directory: &'a Path,
    /// What is spilled of single packets.
    pub keep: Keep,
    /// Partitions; 0 for one a core.
    pub n_partitions: usize,
}

impl<'a> Options<'a> {
    /// With what is kept of single packets: every pair, and what breakdowns are made of.
    #[must_use]
    pub fn new(directory: &'a Path, (rows, crossings): (bool, bool), n_partitions: usize) -> Self {
        Self {
            directory,
            keep: Keep { rows, crossings },
            n_partitions,
        }
    }

    fn n_partitions(&self) -> usize {
        match self.n_partitions {
            0 => std::thread::available_parallelism().map_or(2, usize::from),
            n => n,
        }
    }
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
    let all = match_flows(files, reading, plan, options, progress);
    add_up(
        plan,
        options,
        files.len(),
        std::iter::once(all.map(SliceResult)),
    )
}

/// Runs all threads, and adds up what each brings home.
fn match_flows(
    files: &[PathBuf],
    reading: &Reading,
    plan: &Arc<Plan>,
    options: &Options<'_>,
    progress: &Progress,
) -> Result<PartitionResult> {
    let (senders, receivers) = channels(plan.sequences.len(), options.n_partitions());
    let outcomes = OutcomeFiles::of_all(options.directory, files.len());
    let run = |outbox: Option<Outbox>| {
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for (sequence, to) in plan.sequences.iter().zip(senders) {
                let outbox = outbox.clone();
                let decode = move || {
                    let stage = Stage::new(plan, to_partitions(&to), outbox, reading.prefixes);
                    let counts = decode_all(files, sequence, reading, stage, progress)?;
                    Ok(PartitionResult::of_counts(plan, options.directory, counts))
                };
                threads.push(scope.spawn(decode));
            }
            for (index, from) in receivers.into_iter().enumerate() {
                let outbox = outbox.clone();
                let from = from.into_iter().map(|one| one.into_iter().map(Ok));
                let from = from.collect();
                let run = move || match_partition(plan, options, index, from, outbox);
                threads.push(scope.spawn(run));
            }
            drop(outbox);
            let harvests = threads.into_iter().map(|thread| joined(thread.join()));
            let none = PartitionResult::none(plan, options.directory);
            all_of(none, harvests.collect())
        })
    };
    with_outcomes(options, &outcomes, run)
}

/// Does something while a thread writes the outcomes of single frames, if they are kept.
fn with_outcomes<T>(
    options: &Options<'_>,
    outcomes: &OutcomeFiles<'_>,
    run: impl FnOnce(Option<Outbox>) -> Result<T>,
) -> Result<T> {
    if !options.keep.rows {
        return run(None);
    }
    let (outbox, from) = Outbox::new();
    std::thread::scope(|scope| {
        let collector = scope.spawn(move || outcomes.collect(&from));
        let found = run(Some(outbox));
        joined(collector.join()).and(found)
    })
}

/// Adds results to one; of errors the one that made the others stop.
fn all_of(
    mut all: PartitionResult,
    harvests: Vec<Result<PartitionResult>>,
) -> Result<PartitionResult> {
    let mut failures = Vec::new();
    for harvest in harvests {
        match harvest {
            Ok(one) => all.merge(one),
            Err(error) => failures.push(error),
        }
    }
    failures.sort_by_key(|error| matches!(error, Error::Interrupted));
    failures.into_iter().next().map_or(Ok(all), Err)
}

type Senders = Vec<Vec<SyncSender<ObservationBlock>>>;
type Receivers = Vec<Vec<Receiver<ObservationBlock>>>;

/// A channel from each sequence of files to each partition.
fn channels(n_sequences: usize, n_partitions: usize) -> (Senders, Receivers) {
    let mut senders: Senders = (0..n_sequences).map(|_| Vec::new()).collect();
    let mut receivers: Receivers = Vec::new();
    for _ in 0..n_partitions {
        let (to, from): (Vec<_>, Vec<_>) = (0..n_sequences)
            .map(|_| sync_channel(WAITING_BLOCKS))
            .unzip();
        senders
            .iter_mut()
            .zip(to)
            .for_each(|(of_sequence, to)| of_sequence.push(to));
        receivers.push(from);
    }
    (senders, receivers)
}

/// Hands blocks to the threads of this machine's partitions.
fn to_partitions(to: &[SyncSender<ObservationBlock>]) -> BlockTakers<'_> {
    BlockTakers {
        n: to.len(),
        take: Box::new(|partition, block| {
            let sent = to.get(partition).map(|to| to.send(block));
            // a partition hangs up only when it failed, and then says why itself
            sent.transpose().map(drop).map_err(|_| Error::Interrupted)
        }),
        are_apart: false,
    }
}

fn joined<T>(joined: std::thread::Result<Result<T>>) -> Result<T> {
    joined.unwrap_or_else(|_| Err(panics::message()))
}

fn decode_all(
    files: &[PathBuf],
    sequence: &[usize],
    reading: &Reading,
    mut stage: Stage<'_>,
    progress: &Progress,
) -> Result<Counts> {
    for file in sequence {
        if let Some(path) = files.get(*file) {
            decode(
                (*file, path),
                &FileExtent::ALL,
                reading,
                &mut stage,
                progress,
            )?;
        }
    }
    stage.finish()
}

fn decode(
    (file, path): (usize, &Path),
    extent: &FileExtent,
    reading: &Reading,
    stage: &mut Stage<'_>,
    progress: &Progress,
) -> Result<()> {
    stage.begin(file);
    let (mut packet, mut history) = (Packet::new(), reading.history(file));
    let capture = Capture::open_extent(path, extent);
    let mut capture = capture.inspect_err(|_| progress.cancel())?;
    progress.advance(capture.bytes_read());
    let read = read_on(&mut capture, progress, |frame| {
        match reading.see_plain(Asked::Matching, frame, &mut history, &mut packet) {
            Ok(identity) => stage.take_packet(frame, &packet, &identity),
            Err(time) => {
                let (mut seen, whole) =
                    reading.see_other(Asked::Matching, time, frame, &mut history, &mut packet);
                reading.translate(file, frame, &mut seen);
                stage.take(&whole, &packet, &seen)
            }
        }
    });
    read.inspect_err(|_| progress.cancel())
}

/// The time of files that are read to their end; a stamp is never this late.
const AT_THE_END_NS: i64 = i64::MAX;

/// Matches what comes of all sequences of files, each in its order, as far as all are read.
fn match_partition<B: Iterator<Item = Result<ObservationBlock>>>(
    plan: &Arc<Plan>,
    options: &Options<'_>,
    index: usize,
    mut from: Vec<B>,
    outbox: Option<Outbox>,
) -> Result<PartitionResult> {
    let mut partition = Partition::new(plan, options.directory, index, outbox, options.keep)?;
    let mut until_ns = vec![i64::MIN; from.len()];
    while let Some((sequence, until)) = until_ns
        .iter_mut()
        .enumerate()
        .min_by_key(|(_, until)| **until)
        && *until != AT_THE_END_NS
    {
        let block = from.get_mut(sequence).and_then(Iterator::next);
        if let Some(block) = block.transpose()? {
            let least_ns = block.least_ns.filter(|least| *least != AT_THE_END_NS);
            // the time of files that follow each other never falls
            *until = (*until).max(least_ns.unwrap_or(*until));
            partition.insert(&block.observations, block.aliases);
        } else {
            *until = AT_THE_END_NS;
        }
        partition.sweep(until_ns.iter().copied().min().unwrap_or(AT_THE_END_NS));
    }
    partition.finish()
}
