//! Matching: frames that carry the same packet are joined.
//!
//! Threads decode the files; each sends what it observes to the partitions, by flow ([`dispatch`]). A
//! partition takes blocks in time order into a [`window`] that gathers the observations of one
//! identity, [`resolve`] makes trajectories of them, [`counts`] counts latencies. What the window left
//! over is joined over the whole capture ([`late`]); what is still not found is lost, or was missed by
//! a capture ([`loss`]). Memory is the window's, not the capture's.

pub mod counts;
pub mod decoys;
mod dispatch;
mod evidence;
pub mod exchange;
pub mod late;
pub mod loss;
mod observation;
pub mod outcome;
mod partition;
mod pipeline;
mod resolve;
mod streams;
#[cfg(test)]
mod testing;
mod window;

pub use crate::matching::counts::Keep;
pub use crate::matching::evidence::{IDENTITIES, MATCHED_BY};
pub use crate::matching::loss::lost_packets::TOLD_BY;
pub use crate::matching::observation::{FrameId, Observation};
pub use crate::matching::outcome::{STATUSES, Status};
pub use crate::matching::pipeline::matched::{Matched, add_up};
pub use crate::matching::pipeline::slice::{SliceResult, match_slice, read_capture};
pub use crate::matching::pipeline::{Options, match_files};
pub use crate::matching::streams::PAIR_KINDS;
