//! The core from outside, as one program: each would take as long to link.

mod file;
mod frames;
mod fuzz;
mod identity_laws;
mod matching;
mod merged;
mod sample;
mod wire_laws;
