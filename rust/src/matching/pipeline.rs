//! Who hands what to whom: decoding threads, one for each sequence of files that follow each other in
//! time, to partitions, one a core.
//!
//! Every decoder sends each block to every partition, empty or not, with the time up to which it has
//! read; a partition always takes from the sequence that is least far, of equals from the first.
//! Channels hold few blocks, so a fast sequence waits for a slow one.
//!
//! No deadlock: suppose that partition p waits for sequence A, A for room at q, q for sequence B, B for
//! room at p. A sends to p and q in turn and is stuck at q, so p has more of A than q has; likewise q
//! has more of B than p. A sequence's time never falls, so by (time, file): A at q ≤ A at p < B at p ≤ B at
//! q < A at q. Longer cycles close the same way. The collector of outcomes waits for nobody.

use crate::base::error::{Error, Result};
use crate::base::panics;
use crate::matching::counts::Keep;
use crate::matching::counts::causality::Earliest;
use crate::matching::counts::totals::Totals;
use crate::matching::decoys::{DecoyCounts, Decoys};
use crate::matching::dispatch::{AT_THE_END_NS, ObservationBlock, Stage};
use crate::matching::late::{Folder, LatePairs, Leftovers, settle};
use crate::matching::loss::Losses;
use crate::matching::loss::allocate::allocate;
use crate::matching::loss::loss_rows::write_lost;
use crate::matching::loss::lost_packets::list_lost;
use crate::matching::outcome;
use crate::matching::outcome::reasons::ByReason;
use crate::matching::outcome::{Counts, Outbox};
use crate::matching::partition::{Partition, PartitionResult, gap_ns};
use crate::matching::resolve::Resolver;
use crate::plan::Plan;
use crate::reading::{Progress, Reading, read_frames};
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

impl Options<'_> {
    fn n_partitions(&self) -> usize {
        match self.n_partitions {
            0 => std::thread::available_parallelism().map_or(2, usize::from),
            n => n,
        }
    }
}

/// What a run counted.
#[derive(Debug)]
pub struct Matched {
    /// Of packets.
    pub totals: Totals,
    /// Frames per point and status.
    pub counts: Vec<[u64; 7]>,
    /// Frames of divided files that no point saw, by status.
    pub elsewhere: Vec<u64>,
    /// Per file, if it is divided: frames by part, and how many of them were not decoded.
    pub parts: Vec<(usize, Vec<[u64; 2]>)>,
    /// Per point: frames by reason, see [`crate::matching::outcome::reasons::REASONS`].
    pub reasons: Vec<ByReason>,
    /// Packets that arrive before they left.
    pub earliest: Earliest,
    /// What decoys say of false pairs.
    pub decoys: DecoyCounts,
    /// Frames of packets that each point saw once, all within the time of one packet.
    pub n_plain: u64,
    /// What was joined over the whole capture.
    pub late: LatePairs,
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
    let (senders, receivers) = channels(plan.sequences.len(), options.n_partitions());
    std::thread::scope(|scope| {
        let rows = options.keep.rows.then(|| {
            let (outbox, outcomes) = Outbox::new();
            let collect = move || outcome::collect(options.directory, files.len(), &outcomes);
            (outbox, scope.spawn(collect))
        });
        let (outbox, collector) = rows.unzip();
        let mut threads = Vec::new();
        for (sequence, to) in plan.sequences.iter().zip(senders) {
            let outbox = outbox.clone();
            let decode = move || {
                let stage = Stage::new(plan, &to, outbox, reading.prefixes);
                let counts = decode_all(files, sequence, reading, stage, progress);
                counts.map(|counts| harvest(plan, options.directory, counts))
            };
            threads.push(scope.spawn(decode));
        }
        for (index, from) in receivers.into_iter().enumerate() {
            let outbox = outbox.clone();
            let run = move || match_partition(plan, options, index, &from, outbox);
            threads.push(scope.spawn(run));
        }
        drop(outbox);
        let threads = threads.into_iter();
        let harvests = threads.map(|thread| joined(thread.join())).collect();
        let collected = collector.map_or(Ok(()), |thread| joined(thread.join()));
        merge_results(plan, (options, files.len()), harvests, collected)
    })
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

fn harvest(plan: &Arc<Plan>, directory: &Path, counts: Counts) -> PartitionResult {
    PartitionResult {
        totals: Totals::of_links(plan.links.len()),
        losses: Losses::default(),
        counts,
        earliest: Earliest::default(),
        decoys: Decoys::new(plan),
        n_plain: 0,
        leftovers: Leftovers::none(directory),
    }
}

fn joined<T>(joined: std::thread::Result<Result<T>>) -> Result<T> {
    joined.unwrap_or_else(|_| Err(panics::message()))
}

/// Adds results to one; of errors the one that made the others stop.
fn all_of(
    mut all: PartitionResult,
    harvests: Vec<Result<PartitionResult>>,
    collected: Result<()>,
) -> Result<PartitionResult> {
    let mut failures = Vec::from_iter(collected.err());
    for harvest in harvests {
        match harvest {
            Ok(one) => all.merge(one),
            Err(error) => failures.push(error),
        }
    }
    failures.sort_by_key(|error| matches!(error, Error::Interrupted));
    failures.into_iter().next().map_or(Ok(all), Err)
}

/// What all threads found, as one.
fn merge_results(
    plan: &Arc<Plan>,
    (options, n_captures): (&Options<'_>, usize),
    harvests: Vec<Result<PartitionResult>>,
    collected: Result<()>,
) -> Result<Matched> {
    let none = harvest(plan, options.directory, Counts::of_points(plan.n_points()));
    let mut all = all_of(none, harvests, collected)?;
    let folder = Folder {
        directory: options.directory,
        keep: options.keep,
        n_captures,
    };
    let late = settle(plan, folder, &mut all)?;
    let n_pairs = all.totals.n_pairs();
    let allocated = allocate(plan, &all.losses, &n_pairs);
    let (files, booked) = (&mut all.totals.crossings, (n_pairs.as_slice(), &allocated));
    if options.keep.crossings {
        write_lost(plan, &all.losses, booked, options.directory, files)?;
    }
    if options.keep.rows {
        list_lost(plan, &all.losses, booked, options.directory, files)?;
    }
    all.totals.add_losses(allocated);
    let mut resolver = Resolver::new(Arc::clone(plan), gap_ns(plan));
    Ok(Matched {
        totals: all.totals,
        counts: all.counts.of_point,
        elsewhere: all.counts.elsewhere.to_vec(),
        parts: all.counts.parts,
        reasons: all.counts.reasons.finish(&all.losses.crossed),
        earliest: all.earliest,
        decoys: all.decoys.settle(&mut resolver),
        n_plain: all.n_plain,
        late,
    })
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
            decode((*file, path), reading, &mut stage, progress)?;
        }
    }
    stage.finish()
}

fn decode(
    (file, path): (usize, &Path),
    reading: &Reading,
    stage: &mut Stage<'_>,
    progress: &Progress,
) -> Result<()> {
    stage.begin(file);
    let (mut packet, mut history) = (Packet::new(), reading.history(file));
    let read = read_frames(path, progress, |frame| {
        let (mut seen, whole) = reading.see(frame, &mut history, &mut packet);
        reading.translate(file, frame, &mut seen);
        stage.take(&whole, &packet, &seen)
    });
    read.map(drop).inspect_err(|_| progress.cancel())
}

fn match_partition(
    plan: &Arc<Plan>,
    options: &Options<'_>,
    index: usize,
    from: &[Receiver<ObservationBlock>],
    outbox: Option<Outbox>,
) -> Result<PartitionResult> {
    let mut partition = Partition::new(plan, options.directory, index, outbox, options.keep)?;
    let mut until_ns = vec![i64::MIN; from.len()];
    let end = || ObservationBlock {
        observations: Vec::new(),
        aliases: Vec::new(),
        until_ns: AT_THE_END_NS,
    };
    while let Some((sequence, until)) = until_ns
        .iter_mut()
        .enumerate()
        .min_by_key(|(_, until)| **until)
        && *until != AT_THE_END_NS
    {
        let block = from.get(sequence).and_then(|from| from.recv().ok());
        let block = block.unwrap_or_else(end);
        *until = block.until_ns;
        partition.insert(&block.observations, block.aliases);
        partition.sweep(until_ns.iter().copied().min().unwrap_or(AT_THE_END_NS));
    }
    partition.finish()
}
