//! Interface description blocks and interface statistics blocks.

use super::super::Interface;
use super::super::order::Order;
use super::block::{body_from, options};
use super::section::SectionClocks;
use crate::base::instant::{Resolution, Scale};

const OPT_COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
const IF_TSOFFSET: u16 = 14;

const ISB_IFDROP: u16 = 5;
const ISB_OSDROP: u16 = 7;

/// A longer name is cut: names must not fill the memory.
const MAX_NAME_BYTES: usize = 256;

/// What reading a packet of an interface needs to know.
pub(super) struct Local {
    pub(super) scale: Scale,
    pub(super) link: u16,
    pub(super) snap_bytes: u32,
    pub(super) fcs_bytes: u8,
    /// Of statistics blocks: since the capture began.
    pub(super) n_dropped_in_all: Option<u64>,
    /// Of packet blocks, summed: each since the packet before it.
    pub(super) n_dropped_between: Option<u64>,
}

/// The options that matter here.
struct InterfaceOptions {
    name: Option<String>,
    comment: Option<String>,
    resolution: Resolution,
    offset_s: i64,
    fcs_bytes: u8,
}

impl InterfaceOptions {
    const UNSAID: Self = Self {
        name: None,
        comment: None,
        resolution: Resolution::MICROSECOND,
        offset_s: 0,
        fcs_bytes: 0,
    };

    fn read(order: Order, rest: &[u8]) -> Self {
        let mut found = Self::UNSAID;
        for (code, value) in options(order, rest) {
            match (code, value) {
                (OPT_COMMENT, value) => found.comment = Some(text_of(value)),
                (IF_NAME, value) => found.name = Some(text_of(value)),
                (IF_TSRESOL, [octet, ..]) => found.resolution = Resolution::from_tsresol(*octet),
                (IF_FCSLEN, [length, ..]) => found.fcs_bytes = fcs_bytes_of(*length),
                (IF_TSOFFSET, value) => {
                    found.offset_s = order.u64_at(value, 0).unwrap_or_default().cast_signed();
                }
                _ => {}
            }
        }
        found
    }
}

/// The interface that an interface description block describes, the `first` of its section being
/// numbered so in the file.
pub(super) fn described(
    order: Order,
    bytes: &[u8],
    clocks: SectionClocks,
    first: usize,
) -> Result<(Local, Interface), String> {
    let cut = || {
        format!(
            "an interface description of {} bytes; 20 is the least",
            bytes.len()
        )
    };
    let body = body_from(bytes, 8);
    let link = order.u16_at(body, 0).ok_or_else(cut)?;
    let snap_bytes = order.u32_at(body, 4).ok_or_else(cut)?;
    let told = InterfaceOptions::read(order, body.get(8..).unwrap_or_default());
    let scale = Scale::new(told.resolution, told.offset_s);
    let found = Interface {
        name: told.name,
        link,
        resolution_ns: scale.tick_ns(),
        snap_bytes,
        clock: clocks.of_interface(first, told.comment.as_deref()),
        is_aligned: clocks.is_aligned(told.comment.as_deref()),
        n_dropped: None,
    };
    let local = Local {
        scale,
        link,
        snap_bytes,
        fcs_bytes: told.fcs_bytes,
        n_dropped_in_all: None,
        n_dropped_between: None,
    };
    Ok((local, found))
}

/// The draft says bits, its example says octets; Wireshark takes what is below 8 for octets.
fn fcs_bytes_of(length: u8) -> u8 {
    if length < 8 { length } else { length / 8 }
}

fn text_of(value: &[u8]) -> String {
    let ends = value
        .iter()
        .position(|&octet| octet == 0)
        .unwrap_or(value.len());
    let value = value.get(..ends.min(MAX_NAME_BYTES)).unwrap_or_default();
    String::from_utf8_lossy(value).into_owned()
}

/// Which interface a statistics block is about, and how many packets it says were dropped.
pub(super) fn statistics(order: Order, bytes: &[u8]) -> Result<(usize, Option<u64>), String> {
    let cut = || {
        format!(
            "interface statistics of {} bytes; 24 is the least",
            bytes.len()
        )
    };
    let body = body_from(bytes, 8);
    let interface = order.u32_at(body, 0).ok_or_else(cut)?;
    let n_dropped = options(order, body.get(12..).ok_or_else(cut)?)
        .filter(|(code, _)| matches!(*code, ISB_IFDROP | ISB_OSDROP))
        .filter_map(|(_, value)| order.u64_at(value, 0))
        .reduce(u64::saturating_add);
    Ok((interface as usize, n_dropped))
}
