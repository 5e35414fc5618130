//! The core of pcaplat.
//!
//! From the outside in: [`file`] turns a capture file into frames; [`wire`] turns a frame into a
//! [`wire::Packet`], the innermost packet it carries; [`identity`] turns that packet into the number
//! all capture points agree on, [`vantage`] is where within its file it was seen, [`range`] which bytes
//! of its stream it carries, [`says`] what it asks or answers; [`sample`] selects the same few packets everywhere for the survey;
//! [`matching`] joins the frames with equal numbers, as a [`plan`] from the survey says;
//! [`attribute`] takes the clocks' share out of what was measured between clocks, [`blocks`] keep it
//! block by block of time; [`distributions`] are what intervals are made of; [`packets`] is the
//! table of all frames, [`merged`] the file of all frames. [`instant`] does all arithmetic on time
//! stamps, [`cursor`] all indexing into bytes, [`hashed`] keeps what is known by a hash, [`filter`]
//! alone calls foreign code, [`py`] alone knows Python.

pub mod attribute;
pub mod blocks;
pub mod cursor;
pub mod distributions;
mod erf;
pub mod error;
mod fields;
pub mod file;
pub mod filter;
pub mod fragments;
pub mod hashed;
pub mod histogram;
pub mod identity;
pub mod instant;
pub mod matching;
pub mod merged;
mod options;
pub mod packets;
pub mod panics;
pub mod plan;
#[cfg(feature = "python")]
pub mod py;
pub mod range;
pub mod reading;
pub mod sample;
pub mod says;
pub mod stamp;
pub mod translation;
pub mod vantage;
pub mod wire;
