//! Which packet a frame is of, by Retis' tracking of socket buffers.
//!
//! Spec: retis.readthedocs.io, "Pcap-ng custom blocks and options", "Skb tracking event". `retis pcap` writes
//! the event that a packet is of as JSON into a custom option.

use crate::file::json::Json;
use crate::file::order::Order;
use crate::file::retis_events;

/// A custom option with text (draft-ietf-opsawg-pcapng §3.5.1).
pub(super) const CUSTOM_TEXT: u16 = 2988;
/// Retis' private enterprise number there.
const RETIS: u32 = 70_000;

/// See [`retis_events::packet_id`].
pub(super) fn packet_id(order: Order, value: &[u8]) -> Option<u64> {
    if order.u32_at(value, 0) != Some(RETIS) {
        return None;
    }
    let event = std::str::from_utf8(value.get(4..)?).ok()?;
    retis_events::packet_id(Json::new(event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_known_by_where_and_when_it_was_allocated() {
        let event = |head: u64, skb: u64| {
            let text = format!(
                "{{\"kernel\":{{\"symbol\":\"tcp_v4_rcv\"}},\"skb-tracking\":{{\"orig_head\":{head},\
                 \"skb\":{skb},\"timestamp\":23868643385999}},\"tracking\":{{\"idx\":0}}}}"
            );
            [&RETIS.to_le_bytes()[..], text.as_bytes()].concat()
        };
        let of = |value: &[u8]| packet_id(Order::Little, value);
        let one = of(&event(18_446_616_568_293_939_200, 1));
        assert!(one.is_some());
        assert_eq!(of(&event(18_446_616_568_293_939_200, 2)), one);
        assert_ne!(of(&event(18_446_616_568_293_939_201, 1)), one);
        let other_writer = [&1_u32.to_le_bytes()[..], &event(5, 1)[4..]].concat();
        assert_eq!(of(&other_writer), None);
        for n in 0..40 {
            let _ = of(&event(5, 1)[..n]);
        }
    }
}
