//! The core of pcaplat.

pub mod attribute;
pub mod base;
pub mod export;
pub mod file;
pub mod identity;
pub mod location;
pub mod matching;
pub mod plan;
#[cfg(feature = "python")]
pub mod py;
pub mod reading;
pub mod stamp;
pub mod survey;
pub mod wire;
