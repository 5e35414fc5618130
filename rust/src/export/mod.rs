//! Export: all frames of a merge again, as a table or as one file.

pub mod merged;
pub mod packets;
