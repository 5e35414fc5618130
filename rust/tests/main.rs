//! The core from outside, as one program: each would take as long to link.
#![expect(
    clippy::duplicate_mod,
    reason = "the fuzz targets are a crate of their own, and simulate as these tests do"
)]

mod file;
mod frames;
mod fuzz;
mod identity_laws;
mod matching;
mod merged;
mod sample;
mod wire_laws;
