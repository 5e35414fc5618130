//! What slices came to, added up: what is left of all is joined over the whole capture, and what is
//! still not found is lost.

use crate::base::error::Result;
use crate::matching::counts::causality::Earliest;
use crate::matching::counts::totals::Totals;
use crate::matching::decoys::DecoyCounts;
use crate::matching::late::{Folder, LatePairs, settle};
use crate::matching::loss::allocate::allocate;
use crate::matching::loss::loss_rows::write_lost;
use crate::matching::loss::lost_packets::list_lost;
use crate::matching::outcome::join_outcomes;
use crate::matching::outcome::reasons::ByReason;
use crate::matching::partition::{PartitionResult, gap_ns};
use crate::matching::pipeline::Options;
use crate::matching::pipeline::slice::SliceResult;
use crate::matching::resolve::Resolver;
use crate::plan::Plan;
use std::sync::Arc;

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

/// Adds up what all slices of the flows came to.
///
/// # Errors
/// One of them failed, or a spilled file cannot be read or written.
pub fn add_up(
    plan: &Arc<Plan>,
    options: &Options<'_>,
    n_captures: usize,
    slices: impl Iterator<Item = Result<SliceResult>>,
) -> Result<Matched> {
    let mut all = PartitionResult::none(plan, options.directory);
    for slice in slices {
        all.merge(slice?.0);
    }
    join_outcomes(&all.outcomes, options.directory, n_captures)?;
    let folder = Folder {
        directory: options.directory,
        keep: options.keep,
        n_captures,
    };
    let late = settle(plan, folder, &mut all)?;
    book_losses(plan, options, &mut all)?;
    Ok(Matched::of(plan, all, late))
}

impl Matched {
    fn of(plan: &Arc<Plan>, all: PartitionResult, late: LatePairs) -> Self {
        let mut resolver = Resolver::new(Arc::clone(plan), gap_ns(plan));
        Self {
            totals: all.totals,
            counts: all.counts.of_point,
            elsewhere: all.counts.elsewhere.to_vec(),
            parts: all.counts.parts,
            reasons: all.counts.reasons.finish(&all.losses.crossed),
            earliest: all.earliest,
            decoys: all.decoys.settle(plan, &mut resolver),
            n_plain: all.n_plain,
            late,
        }
    }
}

/// Says on which segments packets were lost.
fn book_losses(plan: &Plan, options: &Options<'_>, all: &mut PartitionResult) -> Result<()> {
    all.losses.learn(plan);
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
    Ok(())
}
