//! What reading a capture file gives: frames, what is known of their interfaces, and damage.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;

/// One record of a capture file, borrowed from the reader's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Number within the file, from 1, as Wireshark counts.
    pub number: u64,
    /// The file's own time, ns since 1970; 0 where the record has none (`has_time`).
    pub t_ns: i64,
    /// The time inside the frame, which then holds instead (see `stamp`).
    pub stamp_ns: Option<i64>,
    /// How long after its first bit the frame was stamped, where that is known.
    pub late_ns: i64,
    /// The same number: the same packet, at whichever interface of the file (see [`Marks::packet_id`]); 0 if
    /// the file does not say.
    pub packet_id: u64,
    /// False for records without a stamp (pcapng simple packet blocks, blocks that are no packets).
    pub has_time: bool,
    /// Index into [`Capture::interfaces`].
    pub interface: u32,
    /// Link type (`LINKTYPE_…`); `NO_LINK` for a record that Wireshark lists but that is no packet.
    pub link: u16,
    /// Length on the wire.
    pub wire_bytes: u32,
    /// Octets of frame check sequence at the end of the wire frame (0 if none or not known).
    pub fcs_bytes: u8,
    /// Which way the frame went, as the file says it.
    pub direction: FrameDirection,
    /// The captured bytes.
    pub bytes: &'a [u8],
}

impl Frame<'_> {
    /// Length on the wire, but for the check sequence.
    #[must_use]
    pub fn unchecked_bytes(&self) -> u32 {
        self.wire_bytes.saturating_sub(self.fcs_bytes.into())
    }

    /// When the frame was seen: by the stamp inside it, else by the file; at its first bit, where it
    /// is known that it was stamped later.
    #[must_use]
    #[inline]
    pub fn time_ns(&self) -> i64 {
        self.stamped_ns().saturating_sub(self.late_ns)
    }

    /// What the clock showed: the stamp inside the frame, else the file's.
    #[must_use]
    #[inline]
    pub fn stamped_ns(&self) -> i64 {
        self.stamp_ns.unwrap_or(self.t_ns)
    }
}

/// Which way a frame passed the interface that saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameDirection {
    /// The file does not say.
    #[default]
    Unknown,
    /// The interface received it.
    In,
    /// The interface sent it.
    Out,
}

/// What a file says of how the system that captured a frame dealt with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The same number: the same packet, seen at several interfaces (pcapng `epb_packetid`).
    pub packet_id: Option<u64>,
    /// Its layer-4 checksum.
    pub checksum: Checksum,
    /// Whether the network card was to cut it into segments, where the file tells.
    pub is_offloaded: Option<bool>,
    /// What was decided about it.
    pub verdict: Option<PacketVerdict>,
}

/// What is known of a layer-4 checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksum {
    /// Nothing.
    #[default]
    Unknown,
    /// It was still to be computed: the bytes hold a part of it.
    NotReady,
    /// It was found to be right.
    Valid,
}

/// Who decided about a packet, and what (pcapng `epb_verdict`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketVerdict {
    /// 0 hardware, 1 eBPF at TC, 2 eBPF at XDP.
    pub by: u8,
    /// As they number it; hardware's verdicts have no common form.
    pub value: Option<u64>,
}

impl fmt::Display for PacketVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.by {
            0 => f.write_str("hardware")?,
            1 => f.write_str("tc")?,
            2 => f.write_str("xdp")?,
            other => write!(f, "{other}")?,
        }
        self.value.map_or(Ok(()), |value| write!(f, ":{value}"))
    }
}

/// The link type of a record that is no packet.
pub const NO_LINK: u16 = u16::MAX;

/// What the file says of one of its interfaces; classic pcap has exactly one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Interface {
    /// `if_name`, where given.
    pub name: Option<String>,
    /// Link type.
    pub link: u16,
    /// Declared resolution of the stamps, ns (0.001 for ps).
    pub resolution_ns: f64,
    /// Declared snap length, 0 if unlimited.
    pub snap_bytes: u32,
    /// Interfaces of one number were stamped by one clock; `None` where the file does not tell, because it was
    /// put together from several captures.
    pub clock: Option<u32>,
    /// A merge wrote it: its times are on one clock already.
    pub is_aligned: bool,
    /// Packets the capturing system says it dropped (ISB `ifdrop` + `osdrop`, EPB drop counts).
    pub n_dropped: Option<u64>,
}

/// Damage that ended, or interrupted, the reading of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Damage {
    /// Where, in the decompressed file.
    pub at_byte: u64,
    /// What was wrong.
    pub text: String,
}

/// What a capture file calls an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostName {
    /// The address.
    pub address: IpAddr,
    /// Its name.
    pub name: String,
}
