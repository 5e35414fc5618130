//! The core of pcaplat: capture files in; packets, matches and latencies out.
//!
//! The way of the data. Nothing runs back: a later line never hands anything to an earlier one.
//!
//! ```text
//! capture file ──file──▶ Frame ──wire──▶ Packet ──stamp──▶ its time     one read, bytes borrowed
//!
//! Packet ──location──▶ where within its file it was seen
//! Packet ──identity──▶ Identity: key, flow, bytes of its stream, what it asks or answers
//!
//! pass 1   reading ──survey──▶ Sample: the same few packets everywhere, facts about every file
//!          (stages/survey and align, in Python, make a Plan of them)
//! pass 2   reading, plan ──matching──▶ Matched: counts, histograms, blocks, spilled pairs
//!          (stages/align makes clocks of it)
//!          Matched, clocks ──attribute──▶ latencies, round trips
//!          reading, Matched ──export──▶ the packets table, one merged file
//! ```
//!
//! The rooms, each of which uses only those above it:
//!
//! - [`base`]: errors, times, hashes, histograms; knows of no packet
//! - [`file`](mod@file): one file a capture format, libpcap, and live capture into files
//! - [`wire`]: one file a protocol
//! - [`stamp`]: one file a timestamp within frames; [`location`]: which of a file's points saw a
//!   frame; [`identity`]: what a packet is recognised by
//! - [`plan`]: what the survey found, as the matcher needs it
//! - [`reading`]: one frame to one identified packet
//! - [`survey`]: pass 1, the same few packets everywhere, and facts of every file
//! - [`matching`]: pass 2, frames that carry the same packet are joined
//! - [`traffic`]: rates, connections and their messages, counted as all frames are read again
//! - [`attribute`]: latencies of what was spilled; [`export`]: all frames again
//! - `py`: the border; nothing else knows Python
//!
//! A folder's idea is the first line of its `mod.rs`.

pub mod base;

pub mod file;

pub mod wire;

pub mod identity;
pub mod location;
pub mod stamp;

pub mod plan;

pub mod reading;

pub mod survey;

pub mod matching;

pub mod traffic;

pub mod attribute;
pub mod export;

#[cfg(feature = "python")]
pub mod py;
