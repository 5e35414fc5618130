//! The way through the layers of one frame.

use super::names::layer;
use super::tables::{NONE, Tables};
use super::{Halt, Next, Packet, Parent, Predictions, ProtocolFit, Stop, StopReason, Walk};
use crate::base::cursor::{Cursor, Short};
use crate::base::error::Result;
use crate::file::Frame;

/// Leads packets through their layers.
pub struct Decoder {
    tables: Tables,
}

/// The layer to go on with, and whether only a port number speaks for it.
#[derive(Clone, Copy)]
struct Step {
    id: u8,
    is_guess: bool,
}

const END: Step = Step::certain(NONE);

impl Step {
    const fn certain(id: u8) -> Self {
        Self {
            id,
            is_guess: false,
        }
    }

    const fn guess(id: u8) -> Self {
        Self { id, is_guess: true }
    }
}

impl Decoder {
    /// Build the tables from the built-in parents and the user's, which come first.
    ///
    /// # Errors
    /// [`crate::base::error::Error::Argument`] if a name in `extra` is no layer; it offers the nearest name.
    pub fn new(extra: &[(Parent, &str)]) -> Result<Self> {
        let tables = Tables::new(extra)?;
        Ok(Self { tables })
    }

    /// As [`Decoder::decode`], of the next frame of a capture, whose headers may be like those of earlier
    /// ones; true if they are: then the packet is whole, in no parts, and decoded to its end.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    pub fn decode_next(
        &self,
        frame: &Frame<'_>,
        predictions: &mut Predictions,
        packet: &mut Packet,
    ) -> bool {
        let bytes = whole(frame.bytes, frame.wire_bytes, frame.fcs_bytes);
        if predictions.apply(&self.tables, frame.link, bytes, packet) {
            return true;
        }
        self.decode_new(frame, bytes, predictions, packet);
        false
    }

    /// Decodes a frame whose headers are not like those of earlier ones.
    #[inline(never)]
    fn decode_new(
        &self,
        frame: &Frame<'_>,
        bytes: Cursor<'_>,
        predictions: &mut Predictions,
        packet: &mut Packet,
    ) {
        self.decode_frame(frame, packet);
        predictions.learn(&self.tables, frame.link, bytes, packet);
    }

    /// As [`Decoder::decode`], of a frame of a capture.
    #[inline]
    pub fn decode_frame(&self, frame: &Frame<'_>, packet: &mut Packet) {
        let Frame {
            link,
            bytes,
            wire_bytes,
            fcs_bytes,
            ..
        } = *frame;
        self.decode(link, bytes, wire_bytes, fcs_bytes, packet);
    }

    /// Fill `packet` with the innermost packet of one frame. Never fails: `packet.stop` says why it
    /// ended early, if it did, and the rest of `packet` then is the last one whose header was whole.
    ///
    /// `bytes` are the captured ones, `wire_bytes` what the frame had on the wire, of which the last
    /// `fcs_bytes` are its check sequence.
    pub fn decode(
        &self,
        link: u16,
        bytes: &[u8],
        wire_bytes: u32,
        fcs_bytes: u8,
        packet: &mut Packet,
    ) {
        let bytes = whole(bytes, wire_bytes, fcs_bytes);
        self.walk(link, bytes, packet, |_| ());
    }

    /// As [`Decoder::decode_frame`]; returns where each layer of `packet` starts, in their order.
    pub fn layer_starts(&self, frame: &Frame<'_>, packet: &mut Packet) -> Vec<usize> {
        let bytes = whole(frame.bytes, frame.wire_bytes, frame.fcs_bytes);
        let mut starts = Vec::new();
        self.walk(frame.link, bytes, packet, |at| starts.push(at));
        // the last one may have been taken back
        starts.truncate(packet.n_layers);
        starts
    }

    #[inline]
    fn walk(&self, link: u16, bytes: Cursor<'_>, packet: &mut Packet, mut at: impl FnMut(usize)) {
        *packet = Packet::EMPTY;
        let mut walk = Walk::new(bytes, link, self.tables.session);
        let mut step = Step::certain(self.tables.links.get(link));
        if step.id == NONE {
            packet.stop = Some(stop(StopReason::Unknown, NONE, walk.bytes, 0));
        }
        while step.id != NONE {
            at(walk.bytes.at());
            step = self.pass(step, &mut walk, packet);
        }
        packet.finish(&walk);
    }

    #[inline]
    fn pass(&self, step: Step, walk: &mut Walk<'_>, packet: &mut Packet) -> Step {
        let Some(slot) = packet.layers.get_mut(packet.n_layers) else {
            packet.stop = Some(stop(StopReason::TooDeep, step.id, walk.bytes, 0));
            return END;
        };
        *slot = step.id;
        packet.n_layers += 1;
        let start = walk.bytes;
        match layer(step.id).map(|layer| (layer.decode)(walk, packet)) {
            Some(Ok(next)) => {
                walk.parent_at = start.at();
                self.follow(next, step, walk, packet)
            }
            Some(Err(halt)) => give_up(halt, step, start, walk.bytes, packet),
            None => END,
        }
    }

    #[inline]
    fn follow(&self, next: Next, from: Step, walk: &Walk<'_>, packet: &mut Packet) -> Step {
        let tables = &self.tables;
        match next {
            Next::EtherType(ether_type) => Step::certain(tables.ether_types.get(ether_type)),
            Next::IpProtocol(protocol) => Step::certain(tables.ip_protocols.get(protocol.into())),
            Next::UdpDst(port) => Step::guess(tables.udp_layer(port, packet.src_port)),
            Next::TcpDst(port) => Step::guess(tables.tcp_layer(port)),
            Next::Link(link) => self.enter_link(link, walk, packet),
            Next::Length => Step::certain(tables.llc),
            Next::Inside(ether_type) => {
                enter(tables.ether_types.get(ether_type), from, walk, packet)
            }
            Next::InsideGre(protocol) => {
                enter(tables.gre_protocols.get(protocol), from, walk, packet)
            }
            Next::Session => enter(tables.session.layer, from, walk, packet),
            Next::Payload => END,
        }
    }

    #[cold]
    fn enter_link(&self, link: u16, walk: &Walk<'_>, packet: &mut Packet) -> Step {
        let id = self.tables.links.get(link);
        if id == NONE {
            packet.stop = Some(stop(StopReason::Unknown, NONE, walk.bytes, 0));
        }
        Step::certain(id)
    }
}

/// At the start of a frame, whose last `fcs_bytes` are no data.
#[inline]
fn whole(bytes: &[u8], wire_bytes: u32, fcs_bytes: u8) -> Cursor<'_> {
    // Records with fewer bytes on the wire than captured exist: expcap, padding (pitfall 24).
    let wire_end = (wire_bytes as usize).max(bytes.len());
    Cursor::new(bytes, wire_end.saturating_sub(fcs_bytes.into()))
}

/// Go into a tunnel, unless what is there does not look like what should be.
#[inline]
fn enter(id: u8, from: Step, walk: &Walk<'_>, packet: &mut Packet) -> Step {
    let is_there = layer(id).is_some_and(|layer| (layer.fit)(walk.bytes) != ProtocolFit::No);
    if is_there {
        return Step::certain(id);
    }
    if from.is_guess {
        packet.drop_layer();
    }
    END
}

/// End at a layer that could not be decoded.
#[cold]
fn give_up(
    halt: Halt,
    step: Step,
    start: Cursor<'_>,
    end: Cursor<'_>,
    packet: &mut Packet,
) -> Step {
    let n_needed = match halt {
        Halt::Short(Short { n_needed }) => n_needed as usize,
        Halt::Malformed | Halt::Unknown | Halt::Declined => 0,
    };
    let is_cut = end.is_cut_within(n_needed);
    let reason = match halt {
        Halt::Declined => None,
        Halt::Short(_) if step.is_guess && !is_cut => None,
        Halt::Short(_) if is_cut => Some(StopReason::SnapLength),
        Halt::Short(_) => Some(StopReason::Truncated),
        Halt::Malformed => Some(StopReason::Malformed),
        Halt::Unknown => Some(StopReason::Unknown),
    };
    match reason {
        Some(reason) => {
            let n_passed = end.at() - start.at();
            packet.stop = Some(Stop {
                had: n_passed + end.left(),
                ..stop(reason, step.id, start, n_passed + n_needed)
            });
        }
        None => packet.drop_layer(),
    }
    END
}

fn stop(reason: StopReason, layer: u8, at: Cursor<'_>, needed: usize) -> Stop {
    Stop {
        reason,
        layer,
        at_byte: at.at(),
        needed,
        had: at.left(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::layer_path;
    use super::super::vectors::{frame, read_with};
    use super::*;

    #[test]
    fn the_user_names_a_port() {
        let bytes = frame(concat!(
            "02000000000d02000000000c080045000050123440004011a465c0000201c0000202",
            "c35039c5003c0000 0800000012345600 EU"
        ));
        let plain = read_with(&[], &bytes);
        assert_eq!(layer_path(&plain), "ethernet/ipv4/udp");
        let named = read_with(&[(Parent::UdpDst(14_789), "vxlan")], &bytes);
        assert_eq!(
            layer_path(&named),
            "ethernet/ipv4/udp/vxlan/ethernet/ipv4/udp"
        );
    }

    #[test]
    fn an_unknown_link_type_stops_with_no_layer() {
        let mut packet = Packet::new();
        let decoder = Decoder::new(&[]).unwrap();
        decoder.decode(crate::file::NO_LINK, &[1, 2, 3], 3, 0, &mut packet);
        assert_eq!(layer_path(&packet), "");
        assert_eq!(
            packet.stop.map(|stop| stop.reason),
            Some(StopReason::Unknown)
        );
        assert_eq!((packet.transport_at, packet.end_at), (0, 3));
    }
}
