//! Base: what every room stands on, and what knows of no packet.
//!
//! [`cursor`] does all indexing into bytes, [`instant`] all arithmetic on timestamps; [`hash`] makes
//! one number of many, [`hashed`] keeps what is known by such a number, `crc` is that of frames. [`histogram`], [`blocks`] and
//! [`latencies`] count latencies, [`distinct`] finds the values that they lie at, [`distributions`] are what intervals are made of,
//! [`piecewise`] is an offset over time. [`error`] is what makes an input unusable, [`panics`] what is a bug of ours.

pub mod blocks;
pub(crate) mod crc;
pub mod cursor;
pub mod distinct;
pub mod distributions;
pub(crate) mod endace;
pub mod error;
pub mod hash;
pub mod hashed;
pub mod histogram;
pub mod instant;
pub mod panics;
pub mod piecewise;
pub(crate) mod spill;
pub(crate) mod tlv;
