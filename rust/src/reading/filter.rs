//! Filters in libpcap's language, compiled and run by the system's libpcap.
//!
//! libpcap reads no file here: a program is compiled once for Ethernet frames and run over bytes
//! (`bpf_filter`). The innermost packet is shown to it as an Ethernet frame without VLAN tags.

use crate::base::error::Result;
use crate::file::Frame;
use crate::file::libpcap::FilterProgram;
use crate::wire::Packet;
use std::cell::RefCell;

const LINK_ETHERNET: u16 = 1;

/// A compiled filter.
pub struct Filter(FilterProgram);

impl Filter {
    /// Compiles an expression; `extra_library` is tried when the system has no libpcap.
    ///
    /// # Errors
    /// There is no libpcap, or it does not understand the expression.
    pub fn new(expression: &str, extra_library: Option<&str>) -> Result<Self> {
        Ok(Self(FilterProgram::new(expression, extra_library)?))
    }

    /// Whether the frame passes as it was captured; other link types than Ethernet never do.
    #[must_use]
    pub fn passes_outer(&self, frame: &Frame<'_>) -> bool {
        frame.link == LINK_ETHERNET && self.0.passes(frame.bytes, frame.wire_bytes)
    }

    /// Whether the innermost packet passes.
    #[must_use]
    pub fn passes_inner(&self, frame: &Frame<'_>, packet: &Packet) -> bool {
        thread_local! { static ETHERNET: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) }; }
        let Some(network) = frame
            .bytes
            .get(packet.network_at..packet.end_at.max(packet.network_at))
        else {
            return false;
        };
        let ether_type = match packet.ip_version {
            4 => 0x0800,
            6 => 0x86dd,
            _ => packet.ether_type,
        };
        let at = packet.ethernet_at;
        let macs = at
            .checked_add(12)
            .and_then(|end| frame.bytes.get(at..end))
            .unwrap_or(&[0; 12]);
        ETHERNET.with_borrow_mut(|ethernet| {
            ethernet.clear();
            ethernet.extend_from_slice(macs);
            ethernet.extend_from_slice(&ether_type.to_be_bytes());
            ethernet.extend_from_slice(network);
            let header = packet.transport_at.saturating_sub(packet.network_at);
            let header = u32::try_from(header).unwrap_or(0);
            self.0.passes(
                ethernet,
                14_u32
                    .saturating_add(header)
                    .saturating_add(packet.transport_wire_bytes),
            )
        })
    }
}
