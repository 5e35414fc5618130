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

use super::booking::book;
use super::checks::Earliest;
use super::decoys::Harvested;
use super::late::{Folder, LatePairs, Leftovers, settle};
use super::lost::write_lost;
use super::outcome::{self, Outbox};
use super::partition::{Harvest, Partition};
use super::reasons::ByReason;
use super::stage::{AT_THE_END_NS, SightBlock, Stage};
use super::tally::Keep;
use super::totals::Totals;
use super::{Counts, losses::Losses};
use crate::base::error::{Error, Result};
use crate::base::panics;
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
    /// Per point: frames by reason, see [`super::reasons::REASONS`].
    pub reasons: Vec<ByReason>,
    /// Packets that arrive before they left.
    pub earliest: Earliest,
    /// What decoys say of false pairs.
    pub decoys: Harvested,
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
    let n_cores = std::thread::available_parallelism().map_or(2, usize::from);
    let n_partitions = if options.n_partitions == 0 {
        n_cores
    } else {
        options.n_partitions
    };
    let (senders, receivers) = channels(plan.sequences.len(), n_partitions);
    std::thread::scope(|scope| {
        let (outbox, collector) = if options.keep.rows {
            let (outbox, outcomes) = Outbox::new();
            let collect = move || outcome::collect(options.directory, files.len(), &outcomes);
            (Some(outbox), Some(scope.spawn(collect)))
        } else {
            (None, None)
        };
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
        let harvests: Vec<_> = threads
            .into_iter()
            .map(|thread| came_home(thread.join()))
            .collect();
        let collected = collector.map_or(Ok(()), |thread| came_home(thread.join()));
        together(plan, (options, files.len()), harvests, collected)
    })
}

type Senders = Vec<Vec<SyncSender<SightBlock>>>;
type Receivers = Vec<Vec<Receiver<SightBlock>>>;

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

fn harvest(plan: &Plan, directory: &Path, counts: Counts) -> Harvest {
    Harvest {
        totals: Totals::of_links(plan.links.len()),
        losses: Losses::default(),
        counts,
        earliest: Earliest::default(),
        decoys: Harvested::default(),
        leftovers: Leftovers::none(directory),
    }
}

fn came_home<T>(joined: std::thread::Result<Result<T>>) -> Result<T> {
    joined.unwrap_or_else(|_| Err(panics::message()))
}

/// One of all; of errors the one that made the others stop.
fn together(
    plan: &Arc<Plan>,
    (options, n_captures): (&Options<'_>, usize),
    harvests: Vec<Result<Harvest>>,
    collected: Result<()>,
) -> Result<Matched> {
    let mut all = harvest(plan, options.directory, Counts::of_points(plan.n_points()));
    let mut failures = Vec::from_iter(collected.err());
    for harvest in harvests {
        match harvest {
            Ok(one) => all.merge(one),
            Err(error) => failures.push(error),
        }
    }
    failures.sort_by_key(|error| matches!(error, Error::Interrupted));
    if let Some(first) = failures.into_iter().next() {
        return Err(first);
    }
    let folder = Folder {
        directory: options.directory,
        keep: options.keep,
        n_captures,
    };
    let late = settle(plan, folder, &mut all)?;
    let n_pairs = all.totals.n_pairs();
    let booked = book(plan, &all.losses, &n_pairs);
    if options.keep.crossings {
        let files = &mut all.totals.crossings;
        let booked = (n_pairs.as_slice(), &booked);
        write_lost(plan, &all.losses, booked, options.directory, files)?;
    }
    all.totals.add_losses(booked);
    Ok(Matched {
        totals: all.totals,
        counts: all.counts.of_point,
        elsewhere: all.counts.elsewhere.to_vec(),
        parts: all.counts.parts,
        reasons: all.counts.reasons.finish(&all.losses.crossed),
        earliest: all.earliest,
        decoys: all.decoys,
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
    from: &[Receiver<SightBlock>],
    outbox: Option<Outbox>,
) -> Result<Harvest> {
    let mut partition = Partition::new(plan, options.directory, index, outbox, options.keep)?;
    let mut until_ns = vec![i64::MIN; from.len()];
    let end = || SightBlock {
        sights: Vec::new(),
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
        partition.insert(&block.sights, block.aliases);
        partition.sweep(until_ns.iter().copied().min().unwrap_or(AT_THE_END_NS));
    }
    partition.finish()
}
