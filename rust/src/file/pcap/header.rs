//! The file header of pcap, its magics and versions, and the fields of a record header.

use super::super::Damage;
use super::super::input::Input;
use super::super::order::Order;

/// What a file's first four bytes, as a number in its own byte order, make of it.
struct Magic {
    value: u32,
    fraction_ns: u32,
    /// What the record header may measure, the likeliest first.
    record_header_bytes: &'static [usize],
    file_header_bytes: usize,
}

/// 20 wrote Nokia, 24 (with this magic) Red Hat 6.1; neither changed the magic.
pub(super) const STANDARD: u32 = 0xa1b2_c3d4;
pub(super) const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// Kuznetzov's; `SuSE` 6.3 wrote it with longer record headers.
pub(super) const MODIFIED: u32 = 0xa1b2_cd34;
/// lcap: the total of all record sizes follows the header.
pub(super) const IXIA_HARDWARE: u32 = 0x1c00_01ac;
pub(super) const IXIA_SOFTWARE: u32 = 0x1c00_01ab;

static MAGICS: [Magic; 5] = [
    magic(STANDARD, 1000, &[16, 24, 20], 24),
    magic(NANOSECONDS, 1, &[16], 24),
    magic(MODIFIED, 1000, &[24, 28], 24),
    magic(IXIA_HARDWARE, 1, &[16], 28),
    magic(IXIA_SOFTWARE, 1000, &[16], 28),
];

const fn magic(value: u32, fraction_ns: u32, records: &'static [usize], file: usize) -> Magic {
    Magic {
        value,
        fraction_ns,
        record_header_bytes: records,
        file_header_bytes: file,
    }
}

/// Magics that were given away, but whose formats nobody described.
static RESERVED: [(u32, &str); 3] = [
    (0xa1b2_34cd, "Mesquita's"),
    (0xa12b_3c4d, "Navtel's"),
    (0xa1b2_c3cb, "cbpf-savefile's"),
];

fn orders(head: &[u8]) -> impl Iterator<Item = (Order, u32)> {
    [Order::Little, Order::Big]
        .into_iter()
        .filter_map(|order| Some((order, order.u32_at(head, 0)?)))
}

fn magic_of(head: &[u8]) -> Option<(Order, &'static Magic)> {
    orders(head)
        .find_map(|(order, value)| Some((order, MAGICS.iter().find(|magic| magic.value == value)?)))
}

fn reserved_by(head: &[u8]) -> Option<&'static str> {
    orders(head).find_map(|(_, value)| {
        RESERVED
            .iter()
            .find(|(magic, _)| *magic == value)
            .map(|(_, whose)| *whose)
    })
}

/// Whether `head` starts with a magic of this family.
pub(super) fn matches(head: &[u8]) -> bool {
    magic_of(head).is_some() || reserved_by(head).is_some()
}

/// In which order a record gives its two lengths.
#[derive(Clone, Copy)]
pub(super) enum Lengths {
    CapturedFirst,
    WireFirst,
    /// Version 2.3: some wrote one way, some the other.
    ShorterIsCaptured,
}

/// A file header.
pub(super) struct Header {
    pub(super) order: Order,
    pub(super) magic: u32,
    pub(super) is_aix: bool,
    pub(super) fraction_ns: u32,
    pub(super) lengths: Lengths,
    pub(super) link: u16,
    pub(super) fcs_bytes: u8,
    pub(super) snap_bytes: u32,
    pub(super) n_bytes: usize,
    pub(super) record_header_bytes: &'static [usize],
}

/// Link types that AIX wrote as interface types (RFC 1213 `ifType`), and what they are.
static AIX_LINKS: [(u16, u16); 4] = [(6, 1), (9, 6), (15, 10), (24, 0)];

const FCS_IS_GIVEN: u32 = 1 << 26;
const RESERVED_LINK_BITS: u32 = 0x03ff_0000;

impl Header {
    /// The header at the start of `input`, which it does not move.
    pub(super) fn read(input: &mut Input) -> Result<Self, Damage> {
        let at_byte = input.at_byte();
        let needed = magic_of(input.window()).map_or(4, |(_, magic)| magic.file_header_bytes);
        if input.fill(needed) {
            return Self::parse(input.window()).map_err(|text| Damage { at_byte, text });
        }
        let had = input.window().len();
        let text = format!("cut in the file header: {needed} bytes needed, {had} there");
        Err(Damage { at_byte, text })
    }

    fn parse(head: &[u8]) -> Result<Self, String> {
        let Some((order, magic)) = magic_of(head) else {
            let whose = reserved_by(head).unwrap_or("an unknown");
            return Err(format!(
                "{whose} variant of pcap, which nobody described; convert it with the tool that wrote it"
            ));
        };
        let cut = || "cut in the file header".to_owned();
        let major = order.u16_at(head, 4).ok_or_else(cut)?;
        let minor = order.u16_at(head, 6).ok_or_else(cut)?;
        let snap_bytes = order.u32_at(head, 16).ok_or_else(cut)?;
        let link = order.u32_at(head, 20).ok_or_else(cut)?;
        if link & RESERVED_LINK_BITS != 0 {
            return Err(format!("its link type 0x{link:08x} has reserved bits set"));
        }
        let mut header = Self {
            order,
            magic: magic.value,
            is_aix: false,
            fraction_ns: magic.fraction_ns,
            lengths: lengths_of(major, minor)?,
            link: u16::try_from(link & 0xffff).unwrap_or_default(),
            fcs_bytes: fcs_bytes_of(link),
            snap_bytes: if snap_bytes > i32::MAX.cast_unsigned() {
                0
            } else {
                snap_bytes
            },
            n_bytes: magic.file_header_bytes,
            record_header_bytes: magic.record_header_bytes,
        };
        if magic.value == STANDARD && (major, minor) == (2, 2) {
            header.allow_for_aix();
        }
        Ok(header)
    }

    fn allow_for_aix(&mut self) {
        if let Some((_, link)) = AIX_LINKS.iter().find(|(if_type, _)| *if_type == self.link) {
            self.link = *link;
            self.fraction_ns = 1;
            self.is_aix = true;
        }
    }

    /// How many units of the fraction make a second.
    #[inline]
    pub(super) fn fractions_per_s(&self) -> u32 {
        if self.fraction_ns == 1 {
            1_000_000_000
        } else {
            1_000_000
        }
    }

    /// The record header at the start of `window`.
    #[inline]
    pub(super) fn record(&self, window: &[u8]) -> Option<RecordHeader> {
        let (words, _) = window.first_chunk::<16>()?.as_chunks();
        let [seconds, fraction, first, second] = *words.first_chunk()?;
        let [first, second] = [first, second].map(|word| self.order.u32_of(word));
        let is_swapped = match self.lengths {
            Lengths::CapturedFirst => false,
            Lengths::WireFirst => true,
            Lengths::ShorterIsCaptured => first > second,
        };
        Some(RecordHeader {
            seconds: self.order.u32_of(seconds),
            fraction: self.order.u32_of(fraction),
            captured: if is_swapped { second } else { first },
            wire: if is_swapped { first } else { second },
        })
    }
}

/// 543.0 wrote DG/UX.
fn lengths_of(major: u16, minor: u16) -> Result<Lengths, String> {
    match (major, minor) {
        (2, 0..=2) | (543, 0) => Ok(Lengths::WireFirst),
        (2, 3) => Ok(Lengths::ShorterIsCaptured),
        // Later versions were never made, but files say so, and are like 2.4.
        (2, 4..) => Ok(Lengths::CapturedFirst),
        _ => Err(format!("pcap version {major}.{minor} is not known, 2 is")),
    }
}

/// The length is given in units of 16 bits, and only if the bit says so.
fn fcs_bytes_of(link: u32) -> u8 {
    let given = if link & FCS_IS_GIVEN == 0 {
        0
    } else {
        link >> 28
    };
    u8::try_from(given * 2).unwrap_or_default()
}

/// The fields that every variant's record header starts with.
#[derive(Clone, Copy)]
pub(super) struct RecordHeader {
    pub(super) seconds: u32,
    pub(super) fraction: u32,
    pub(super) captured: u32,
    pub(super) wire: u32,
}

impl RecordHeader {
    /// No bytes at all: where a file was appended, its header's zone and accuracy are read as
    /// the lengths, and both are zero.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.captured == 0 && self.wire == 0
    }
}
