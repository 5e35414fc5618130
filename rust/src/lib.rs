//! The core of pcaplat.
//!
//! From the outside in: [`file`] turns a capture file into frames; [`wire`] turns a frame into a
//! [`wire::Packet`], the innermost packet it carries; [`identity`] turns that packet into the number
//! all capture points agree on; [`matching`] joins the frames with equal numbers. [`instant`] does
//! all arithmetic on time stamps, [`cursor`] all indexing into bytes.

pub mod cursor;
pub mod error;
pub mod file;
pub mod instant;
pub mod wire;
