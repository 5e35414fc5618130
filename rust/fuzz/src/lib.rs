//! What holds for any bytes: each target takes some, and panics where a law is broken.
//!
//! `targets/` gives them to libFuzzer; rust/tests/fuzz replays the corpus in the ordinary tests.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a target that panics has found something"
)]

mod folder;
mod matcher;
mod reader;
#[allow(dead_code, reason = "its plan and packets are used, not its traffic")]
#[allow(clippy::duplicate_mod, reason = "among the tests it is there already")]
#[path = "../../tests/matching/simulation.rs"]
mod simulation;
mod stamp;
mod wire;

pub use matcher::{matcher, outcomes};
pub use reader::reader;
pub use stamp::{stamp, stamps};
pub use wire::{layers, wire};

/// A target by its name.
pub type Target = (&'static str, fn(&[u8]));

/// Every target; `corpus/NAME` holds its seeds.
pub const TARGETS: &[Target] = &[
    ("reader", reader),
    ("wire", wire),
    ("stamp", stamp),
    ("matcher", matcher),
];
