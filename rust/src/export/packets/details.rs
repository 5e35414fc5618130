//! Further columns for who looks closer: what the file says of a frame, and header fields.

use crate::file::{Checksum, Frame, FrameDirection, Marks, NO_LINK};
use crate::traffic::Segment;
use crate::wire::{Packet, StopReason, layer_name};
use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Int32Builder, Int64Builder, StringBuilder};
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// The columns' names and types.
pub(super) fn fields() -> Vec<Field> {
    let field = |name, kind| Field::new(name, kind, true);
    vec![
        field("interface", DataType::Int32),
        field("link", DataType::Int32),
        field("direction", DataType::Utf8),
        field("checksum", DataType::Utf8),
        field("is_segmented_later", DataType::Boolean),
        field("packet_id", DataType::Int64),
        field("verdict", DataType::Utf8),
        field("ip_id", DataType::Int64),
        field("ttl", DataType::Int32),
        field("dscp", DataType::Int32),
        field("tcp_seq", DataType::Int64),
        field("tcp_ack", DataType::Int64),
        field("tcp_flags", DataType::Int32),
        field("payload_bytes", DataType::Int64),
        field("undecoded_because", DataType::Utf8),
    ]
}

#[derive(Default)]
pub(super) struct Details {
    interface: Int32Builder,
    link: Int32Builder,
    direction: StringBuilder,
    checksum: StringBuilder,
    offload: BooleanBuilder,
    packet_id: Int64Builder,
    verdict: StringBuilder,
    ip_id: Int64Builder,
    ttl: Int32Builder,
    dscp: Int32Builder,
    seq: Int64Builder,
    ack: Int64Builder,
    flags: Int32Builder,
    payload: Int64Builder,
    stop: StringBuilder,
}

impl Details {
    /// What the frame and its innermost packet say.
    pub(super) fn put(&mut self, frame: &Frame<'_>, packet: &Packet) {
        self.interface
            .append_option(i32::try_from(frame.interface).ok());
        let link = (frame.link != NO_LINK).then_some(i32::from(frame.link));
        self.link.append_option(link);
        self.direction.append_option(name_of(frame.direction));
        let is_ip = packet.stop.is_none() && packet.ip_version != 0;
        let has_id = is_ip && (packet.ip_version == 4 || packet.fragment != 0);
        self.ip_id
            .append_option(has_id.then_some(i64::from(packet.ip_id)));
        self.ttl
            .append_option(is_ip.then_some(i32::from(packet.ttl)));
        // the other two bits are ECN (RFC 3168)
        self.dscp
            .append_option(is_ip.then_some(i32::from(packet.tos >> 2)));
        self.put_tcp(frame.bytes, packet);
        self.stop.append_option(why_stopped(packet));
    }

    fn put_tcp(&mut self, bytes: &[u8], packet: &Packet) {
        let segment = Segment::of(packet, bytes);
        self.seq.append_option(segment.seq.map(i64::from));
        self.ack.append_option(segment.ack.map(i64::from));
        self.flags.append_option(segment.flags.map(i32::from));
        self.payload
            .append_option(segment.payload_bytes.map(i64::from));
    }

    /// What the file says of the handling of the same frame.
    pub(super) fn put_marks(&mut self, marks: Option<Marks>) {
        let marks = marks.unwrap_or_default();
        self.checksum.append_option(match marks.checksum {
            Checksum::NotReady => Some("not-ready"),
            Checksum::Valid => Some("valid"),
            Checksum::Unknown => None,
        });
        self.offload.append_option(marks.is_offloaded);
        self.packet_id
            .append_option(marks.packet_id.map(u64::cast_signed));
        self.verdict
            .append_option(marks.verdict.map(|verdict| verdict.to_string()));
    }

    pub(super) fn finish(mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.interface.finish()),
            Arc::new(self.link.finish()),
            Arc::new(self.direction.finish()),
            Arc::new(self.checksum.finish()),
            Arc::new(self.offload.finish()),
            Arc::new(self.packet_id.finish()),
            Arc::new(self.verdict.finish()),
            Arc::new(self.ip_id.finish()),
            Arc::new(self.ttl.finish()),
            Arc::new(self.dscp.finish()),
            Arc::new(self.seq.finish()),
            Arc::new(self.ack.finish()),
            Arc::new(self.flags.finish()),
            Arc::new(self.payload.finish()),
            Arc::new(self.stop.finish()),
        ]
    }
}

fn name_of(direction: FrameDirection) -> Option<&'static str> {
    match direction {
        FrameDirection::In => Some("in"),
        FrameDirection::Out => Some("out"),
        FrameDirection::Unknown => None,
    }
}

/// Layer, byte, and what was missing.
fn why_stopped(packet: &Packet) -> Option<String> {
    let stop = packet.stop?;
    let (layer, at) = (layer_name(stop.layer), stop.at_byte);
    let (needed, had) = (stop.needed, stop.had);
    Some(match stop.reason {
        StopReason::SnapLength => {
            format!("{layer} at byte {at} needs {needed} bytes; the capture kept {had}")
        }
        StopReason::Truncated => {
            format!("{layer} at byte {at} needs {needed} bytes; the frame has {had}")
        }
        StopReason::Malformed => format!("{layer} at byte {at} has a value that it forbids"),
        StopReason::Unknown if layer.is_empty() => "its link type is not read".to_owned(),
        StopReason::Unknown => format!("{layer} at byte {at} is of a version that is not read"),
        StopReason::TooDeep => format!("too many layers up to byte {at}"),
    })
}
