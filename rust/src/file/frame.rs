//! What reading a capture file gives: frames, what is known of their interfaces, and damage.

/// One record of a capture file, borrowed from the reader's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Number within the file, from 1, as Wireshark counts.
    pub number: u64,
    /// The file's own time, ns since 1970; 0 where the record has none (`has_time`).
    pub t_ns: i64,
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
    pub direction: Direction,
    /// The captured bytes.
    pub bytes: &'a [u8],
}

/// Which way a frame passed the interface that saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The file does not say.
    #[default]
    Unknown,
    /// The interface received it.
    In,
    /// The interface sent it.
    Out,
}

/// The link type of a record that is no packet.
pub const NO_LINK: u16 = u16::MAX;

/// What the file says of one of its interfaces; classic pcap has exactly one.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// `if_name`, where given.
    pub name: Option<String>,
    /// Link type.
    pub link: u16,
    /// Declared resolution of the stamps, ns (0.001 for ps).
    pub resolution_ns: f64,
    /// Declared snap length, 0 if unlimited.
    pub snap_bytes: u32,
    /// Packets the capturing system says it dropped (ISB `ifdrop` + `osdrop`, EPB drop counts).
    pub n_dropped: Option<u64>,
}

/// Damage that ended, or interrupted, the reading of a file.
#[derive(Clone, Debug)]
pub struct Damage {
    /// Where, in the decompressed file.
    pub at_byte: u64,
    /// What was wrong.
    pub text: String,
}
