//! Packets that took longer than the window: what the window left over is joined over the whole
//! capture, and what is still not found is lost, or was seen too close to the end to say so.
//!
//! A partition leaves trajectories that end early or begin late ([`leftovers`]), sorted by packet ID
//! in runs on disk, and logs the IDs of all others ([`decided`]). When all partitions are done,
//! [`join`] pairs the leftovers whose ID occurs once at each point of the whole capture, or of one of
//! its occasions ([`occasions`]), where a slow packet explains them far better than two packets do
//! ([`odds`]). What is left then is lost if the waiting time of its segment ([`waiting`]) had passed
//! before the captures ended.

pub(crate) mod alone;
pub(crate) mod clock_steps;
pub(crate) mod decided;
pub(crate) mod equal_packets;
pub(crate) mod join;
pub(crate) mod leftover;
pub(crate) mod leftovers;
pub(crate) mod occasions;
pub(crate) mod odds;
pub(crate) mod order;
pub(crate) mod outcomes;
pub(crate) mod shortest;
pub(crate) mod sorted_runs;
pub(crate) mod verdict;
pub(crate) mod waiting;

pub use crate::matching::late::join::LatePairs;
pub(crate) use crate::matching::late::join::{Folder, settle};
pub(crate) use crate::matching::late::leftover::Leftover;
pub(crate) use crate::matching::late::leftovers::Leftovers;
pub(crate) use crate::matching::late::waiting::{LateEdge, WaitingTimes, delay_ns};
