//! Address translation, learned: which flow at one point is which flow at another.
//!
//! [`learn()`] reads all files for packets whose bytes are equal though their addresses differ
//! ([`crate::identity::Unaddressed`]), [`session`] counts them per pair of flows, [`join`]
//! makes one flow of what belongs together; [`renumbered`] tells flows
//! whose IP identifications are rewritten. What comes of it is applied by
//! [`crate::reading::translations`].

mod gathered;
mod join;
mod learn;
mod moved_flow;
mod renumbered;
pub mod session;
pub mod sessions;
mod translators;
mod weigh;
mod witness;

pub use learn::{Beforehand, LearnedTranslations, learn};
