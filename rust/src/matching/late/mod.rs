//! Packets that took longer than the window: what the window left over is joined over the whole
//! capture, and what is still not found is lost, or was seen too close to the end to say so.
//!
//! A partition leaves trajectories that end early or begin late ([`leftovers`]), sorted by packet ID
//! in runs on disk, and logs the IDs of all others ([`decided`]). When all partitions are done,
//! [`join`] pairs the leftovers whose ID occurs once at each point of the whole capture, where a slow
//! packet explains them far better than two packets do ([`odds`]). What is left then is lost if the
//! waiting time of its segment ([`waiting`]) had passed before the captures ended.

mod decided;
mod join;
mod leftover;
mod leftovers;
mod odds;
mod order;
mod outcomes;
mod sorted_runs;
mod verdict;
mod waiting;

pub use join::LatePairs;
pub(super) use join::{Folder, settle};
pub(super) use leftover::Leftover;
pub(super) use leftovers::Leftovers;
pub(super) use waiting::{LateEdge, WaitingTimes, delay_ns};
