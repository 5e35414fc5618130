//! libpcap, opened by its name when it is needed, and the few calls of the system that live capture takes
//! besides. The only unsafe code of the core.

mod library;
mod live;
mod program;
mod system;

pub use library::open_library;
pub use live::{KernelCounts, LiveHandle, LiveOptions, LivePacket, StampClock};
pub use program::FilterProgram;
pub use system::{enter_namespace, is_readable};
