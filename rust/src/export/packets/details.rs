//! Further columns for who looks closer: what the file says of a frame, and header fields.

use super::columns::Wanted;
use crate::file::{Checksum, Frame, FrameDirection, Marks, NO_LINK};
use crate::traffic::Segment;
use crate::wire::{Packet, StopReason, layer_name};
use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Int32Builder, Int64Builder, StringBuilder};
use arrow_schema::{DataType, Field, Schema};

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

pub(super) struct Details {
    interface: Wanted<Int32Builder>,
    link: Wanted<Int32Builder>,
    direction: Wanted<StringBuilder>,
    checksum: Wanted<StringBuilder>,
    offload: Wanted<BooleanBuilder>,
    packet_id: Wanted<Int64Builder>,
    verdict: Wanted<StringBuilder>,
    ip_id: Wanted<Int64Builder>,
    ttl: Wanted<Int32Builder>,
    dscp: Wanted<Int32Builder>,
    seq: Wanted<Int64Builder>,
    ack: Wanted<Int64Builder>,
    flags: Wanted<Int32Builder>,
    payload: Wanted<Int64Builder>,
    stop: Wanted<StringBuilder>,
}

impl Details {
    /// Those that a schema has, if it has any.
    pub(super) fn of(schema: &Schema) -> Option<Self> {
        let is_any = |field: &Field| schema.column_with_name(field.name()).is_some();
        fields().iter().any(is_any).then(|| Self {
            interface: Wanted::of(schema, "interface"),
            link: Wanted::of(schema, "link"),
            direction: Wanted::of(schema, "direction"),
            checksum: Wanted::of(schema, "checksum"),
            offload: Wanted::of(schema, "is_segmented_later"),
            packet_id: Wanted::of(schema, "packet_id"),
            verdict: Wanted::of(schema, "verdict"),
            ip_id: Wanted::of(schema, "ip_id"),
            ttl: Wanted::of(schema, "ttl"),
            dscp: Wanted::of(schema, "dscp"),
            seq: Wanted::of(schema, "tcp_seq"),
            ack: Wanted::of(schema, "tcp_ack"),
            flags: Wanted::of(schema, "tcp_flags"),
            payload: Wanted::of(schema, "payload_bytes"),
            stop: Wanted::of(schema, "undecoded_because"),
        })
    }

    /// What the frame and its innermost packet say.
    pub(super) fn put(&mut self, frame: &Frame<'_>, packet: &Packet) {
        self.interface
            .put(|to| to.append_option(i32::try_from(frame.interface).ok()));
        let link = (frame.link != NO_LINK).then_some(i32::from(frame.link));
        self.link.put(|to| to.append_option(link));
        self.direction
            .put(|to| to.append_option(name_of(frame.direction)));
        let is_ip = packet.stop.is_none() && packet.ip_version != 0;
        let has_id = is_ip && (packet.ip_version == 4 || packet.fragment != 0);
        self.ip_id
            .put(|to| to.append_option(has_id.then_some(i64::from(packet.ip_id))));
        self.ttl
            .put(|to| to.append_option(is_ip.then_some(i32::from(packet.ttl))));
        // the other two bits are ECN (RFC 3168)
        self.dscp
            .put(|to| to.append_option(is_ip.then_some(i32::from(packet.tos >> 2))));
        self.put_tcp(frame.bytes, packet);
        self.stop.put(|to| to.append_option(why_stopped(packet)));
    }

    fn put_tcp(&mut self, bytes: &[u8], packet: &Packet) {
        let segment = Segment::of(packet, bytes);
        self.seq
            .put(|to| to.append_option(segment.seq.map(i64::from)));
        self.ack
            .put(|to| to.append_option(segment.ack.map(i64::from)));
        self.flags
            .put(|to| to.append_option(segment.flags.map(i32::from)));
        self.payload
            .put(|to| to.append_option(segment.payload_bytes.map(i64::from)));
    }

    /// What the file says of the handling of the same frame.
    pub(super) fn put_marks(&mut self, marks: Option<Marks>) {
        let marks = marks.unwrap_or_default();
        self.checksum.put(|to| {
            to.append_option(match marks.checksum {
                Checksum::NotReady => Some("not-ready"),
                Checksum::Valid => Some("valid"),
                Checksum::Unknown => None,
            });
        });
        self.offload.put(|to| to.append_option(marks.is_offloaded));
        self.packet_id
            .put(|to| to.append_option(marks.packet_id.map(u64::cast_signed)));
        self.verdict
            .put(|to| to.append_option(marks.verdict.map(|verdict| verdict.to_string())));
    }

    pub(super) fn finish(self) -> Vec<ArrayRef> {
        [
            self.interface.array(),
            self.link.array(),
            self.direction.array(),
            self.checksum.array(),
            self.offload.array(),
            self.packet_id.array(),
            self.verdict.array(),
            self.ip_id.array(),
            self.ttl.array(),
            self.dscp.array(),
            self.seq.array(),
            self.ack.array(),
            self.flags.array(),
            self.payload.array(),
            self.stop.array(),
        ]
        .into_iter()
        .flatten()
        .collect()
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
