//! Export: all frames of the captures again, as a table or as one file.
//!
//! Both read the files once more: [`packets`] makes a row of each frame, with what the matching found
//! of it where there was one; [`merged`] writes all points' frames in one order of time. [`frames`] gives
//! some of them alone.

pub mod digest;
pub mod frames;
pub mod merged;
pub mod packets;
