//! Makes blocks: little-endian, ns.
//!
//! Spec: draft-ietf-opsawg-pcapng §4.1 to §4.6.

use super::block::{ENHANCED_PACKET, INTERFACE_DESCRIPTION, INTERFACE_STATISTICS, SECTION_HEADER};
use super::section::OWN_NAME;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const UNKNOWN_LENGTH: u64 = u64::MAX;
const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const NANOSECONDS: u8 = 9;
const END_OF_OPTIONS: [u8; 4] = [0; 4];
/// Wireshark takes a longer packet for damage.
const MAX_CAPTURED_BYTES: usize = 262_144;

/// Whole blocks of a pcapng file that wait to be written.
#[derive(Debug, Default)]
pub struct BlockBuilder {
    bytes: Vec<u8>,
    begun_at: usize,
}

impl BlockBuilder {
    /// The blocks so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets the blocks so far, which were written.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Begins a section, whose writer is this program.
    pub fn section(&mut self) {
        self.begin(SECTION_HEADER);
        self.extend(&BYTE_ORDER_MAGIC.to_le_bytes());
        self.extend(&[1, 0, 0, 0]);
        self.extend(&UNKNOWN_LENGTH.to_le_bytes());
        self.option(SHB_USERAPPL, OWN_NAME.as_bytes());
        self.extend(&END_OF_OPTIONS);
        self.end();
    }

    /// Announces an interface with stamps in ns, with options `(code, value)` besides; empty ones are
    /// left out.
    pub fn interface(&mut self, link: u16, snap_bytes: u32, options: &[(u16, &[u8])]) {
        self.begin(INTERFACE_DESCRIPTION);
        self.extend(&link.to_le_bytes());
        self.extend(&[0; 2]);
        self.extend(&snap_bytes.to_le_bytes());
        for (code, value) in options {
            if !value.is_empty() {
                self.option(*code, value);
            }
        }
        self.option(IF_TSRESOL, &[NANOSECONDS]);
        self.extend(&END_OF_OPTIONS);
        self.end();
    }

    /// Adds a packet of an interface; times before 1970 become 1970, where pcapng begins.
    #[inline]
    pub fn packet(&mut self, interface: usize, t_ns: i64, wire_bytes: u32, bytes: &[u8]) {
        self.begin_packet(interface, t_ns, wire_bytes, bytes);
        self.end();
    }

    /// The same of a packet with a frame check sequence, or that something is said of.
    pub fn commented_packet(
        &mut self,
        interface: usize,
        t_ns: i64,
        wire_bytes: u32,
        bytes: &[u8],
        (fcs_bytes, comment): (u8, &str),
    ) {
        self.begin_packet(interface, t_ns, wire_bytes, bytes);
        if fcs_bytes > 0 {
            self.option(EPB_FLAGS, &(u32::from(fcs_bytes) << 5).to_le_bytes());
        }
        if !comment.is_empty() {
            self.option(OPT_COMMENT, comment.as_bytes());
        }
        if fcs_bytes > 0 || !comment.is_empty() {
            self.extend(&END_OF_OPTIONS);
        }
        self.end();
    }

    fn begin_packet(&mut self, interface: usize, t_ns: i64, wire_bytes: u32, bytes: &[u8]) {
        let bytes = bytes.get(..MAX_CAPTURED_BYTES).unwrap_or(bytes);
        let ticks = t_ns.max(0).cast_unsigned();
        self.begin(ENHANCED_PACKET);
        for word in [interface as u64, ticks >> 32, ticks, bytes.len() as u64] {
            let [a, b, c, d, ..] = word.to_le_bytes();
            self.extend(&[a, b, c, d]);
        }
        self.extend(&wire_bytes.to_le_bytes());
        self.extend(bytes);
        self.pad();
    }

    /// Says how many packets an interface saw, by option codes, until an instant.
    pub fn statistics(&mut self, interface: usize, t_ns: i64, options: &[(u16, u64)]) {
        let ticks = t_ns.max(0).cast_unsigned();
        self.begin(INTERFACE_STATISTICS);
        for word in [interface as u64, ticks >> 32, ticks] {
            let [a, b, c, d, ..] = word.to_le_bytes();
            self.extend(&[a, b, c, d]);
        }
        for (code, value) in options {
            self.option(*code, &value.to_le_bytes());
        }
        self.extend(&END_OF_OPTIONS);
        self.end();
    }

    /// Adds a block of a kind with options alone.
    pub fn options(&mut self, kind: u32, options: &[(u16, Vec<u8>)]) {
        self.begin(kind);
        for (code, value) in options {
            self.option(*code, value);
        }
        self.extend(&END_OF_OPTIONS);
        self.end();
    }

    fn begin(&mut self, kind: u32) {
        self.begun_at = self.bytes.len();
        self.extend(&kind.to_le_bytes());
        self.extend(&[0; 4]);
    }

    fn end(&mut self) {
        let n_bytes = self.bytes.len() + 4 - self.begun_at;
        let n_bytes = u32::try_from(n_bytes).unwrap_or(u32::MAX).to_le_bytes();
        let place = self.begun_at + 4..self.begun_at + 8;
        if let Some(length) = self.bytes.get_mut(place) {
            length.copy_from_slice(&n_bytes);
        }
        self.extend(&n_bytes);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
        let n_bytes = u16::try_from(value.len()).unwrap_or(u16::MAX);
        self.extend(&code.to_le_bytes());
        self.extend(&n_bytes.to_le_bytes());
        self.extend(value);
        self.pad();
    }

    #[inline]
    fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn pad(&mut self) {
        // whole blocks are a multiple of four themselves
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}
