//! The columns of the packets table in the making.

use super::Origin;
use super::address_texts::AddressTexts;
use super::condition::{address, number};
use super::details::Details;
use crate::base::error::{Error, Result};
use crate::file::{Frame, Marks};
use crate::matching::STATUSES;
use crate::wire::Packet;
use arrow_array::builder::{ArrayBuilder, Int32Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema;
use std::sync::Arc;

/// A column in the making, if anybody wants it.
#[derive(Default)]
pub(super) struct Wanted<B>(Option<B>);

impl<B: ArrayBuilder + Default> Wanted<B> {
    /// A column that a schema may have.
    pub(super) fn of(schema: &Schema, name: &str) -> Self {
        Self(schema.column_with_name(name).map(|_| B::default()))
    }

    /// Puts down what stands in it; to find that out costs nothing where nobody wants it.
    pub(super) fn put(&mut self, put: impl FnOnce(&mut B)) {
        if let Some(builder) = &mut self.0 {
            put(builder);
        }
    }

    /// The column.
    pub(super) fn array(mut self) -> Option<ArrayRef> {
        self.0.as_mut().map(ArrayBuilder::finish)
    }
}

pub(super) struct Columns {
    pub(super) n_rows: usize,
    schema: Arc<Schema>,
    point: Wanted<StringBuilder>,
    file: Wanted<StringBuilder>,
    frame: Wanted<Int64Builder>,
    t: Wanted<Int64Builder>,
    stamp: Wanted<Int64Builder>,
    aligned: Wanted<Int64Builder>,
    trajectory: Wanted<Int64Builder>,
    status: Wanted<StringBuilder>,
    layers: Wanted<StringBuilder>,
    src: Wanted<StringBuilder>,
    dst: Wanted<StringBuilder>,
    src_port: Wanted<Int32Builder>,
    dst_port: Wanted<Int32Builder>,
    protocol: Wanted<Int32Builder>,
    tunnel: Wanted<Int64Builder>,
    wire: Wanted<Int64Builder>,
    captured: Wanted<Int64Builder>,
    details: Option<Details>,
}

impl Columns {
    /// Those that a schema has, a part of [`super::schema`].
    pub(super) fn new(schema: &Arc<Schema>) -> Self {
        Self {
            n_rows: 0,
            schema: Arc::clone(schema),
            point: Wanted::of(schema, "point"),
            file: Wanted::of(schema, "file"),
            frame: Wanted::of(schema, "frame"),
            t: Wanted::of(schema, "t_ns"),
            stamp: Wanted::of(schema, "stamp_ns"),
            aligned: Wanted::of(schema, "aligned_ns"),
            trajectory: Wanted::of(schema, "trajectory_id"),
            status: Wanted::of(schema, "status"),
            layers: Wanted::of(schema, "layers"),
            src: Wanted::of(schema, "src"),
            dst: Wanted::of(schema, "dst"),
            src_port: Wanted::of(schema, "src_port"),
            dst_port: Wanted::of(schema, "dst_port"),
            protocol: Wanted::of(schema, "protocol"),
            tunnel: Wanted::of(schema, "tunnel_id"),
            wire: Wanted::of(schema, "wire_bytes"),
            captured: Wanted::of(schema, "captured_bytes"),
            details: Details::of(schema),
        }
    }

    /// What stands in the further columns, if they are wanted; `put_marks` has to follow.
    pub(super) fn put_details(&mut self, frame: &Frame<'_>, packet: &Packet) {
        if let Some(details) = &mut self.details {
            details.put(frame, packet);
        }
    }

    /// What the file says of how the frame of the last row was dealt with.
    pub(super) fn put_marks(&mut self, marks: Option<Marks>) {
        if let Some(details) = &mut self.details {
            details.put_marks(marks);
        }
    }

    /// What the file says of a frame.
    pub(super) fn put_frame(&mut self, origin: &Origin, part: u32, frame: &Frame<'_>) {
        let last = origin.points.len().saturating_sub(1);
        let part = last.min(part as usize);
        let long = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        self.n_rows += 1;
        self.point
            .put(|to| to.append_value(origin.points.get(part).map_or("", String::as_str)));
        self.file.put(|to| to.append_value(&origin.name));
        self.frame
            .put(|to| to.append_value(i64::try_from(frame.number).unwrap_or(i64::MAX)));
        self.t.put(|to| to.append_value(frame.t_ns));
        self.stamp.put(|to| to.append_option(frame.stamp_ns));
        self.aligned
            .put(|to| to.append_option(origin.aligned_ns(part, frame)));
        self.wire
            .put(|to| to.append_value(i64::from(frame.wire_bytes)));
        self.captured
            .put(|to| to.append_value(long(frame.bytes.len())));
    }

    /// What became of it.
    pub(super) fn put_outcome(&mut self, status: u8, trajectory: i64) {
        let status = STATUSES.get(usize::from(status)).unwrap_or(&"unmatched");
        self.status.put(|to| to.append_value(status));
        self.trajectory
            .put(|to| to.append_option((trajectory >= 0).then_some(trajectory)));
    }

    /// What it carries.
    pub(super) fn put_packet(
        &mut self,
        frame: &Frame<'_>,
        packet: &Packet,
        layers: &str,
        texts: &mut AddressTexts,
    ) {
        self.layers.put(|to| to.append_value(layers));
        let mut put = |column: &mut Wanted<StringBuilder>, name| {
            let found = address(name, packet);
            column.put(|to| to.append_option(found.map(|address| texts.of(address))));
        };
        put(&mut self.src, "src");
        put(&mut self.dst, "dst");
        let int = |name| number(name, frame, packet).and_then(|n| i32::try_from(n).ok());
        self.src_port.put(|to| to.append_option(int("src_port")));
        self.dst_port.put(|to| to.append_option(int("dst_port")));
        self.protocol.put(|to| to.append_option(int("protocol")));
        self.tunnel
            .put(|to| to.append_option(number("tunnel_id", frame, packet)));
    }

    /// The batch.
    pub(super) fn finish(self) -> Result<RecordBatch> {
        let columns = [
            self.point.array(),
            self.file.array(),
            self.frame.array(),
            self.t.array(),
            self.stamp.array(),
            self.aligned.array(),
            self.trajectory.array(),
            self.status.array(),
            self.layers.array(),
            self.src.array(),
            self.dst.array(),
            self.src_port.array(),
            self.dst_port.array(),
            self.protocol.array(),
            self.tunnel.array(),
            self.wire.array(),
            self.captured.array(),
        ];
        let details = self.details.map(Details::finish).unwrap_or_default();
        let columns = columns.into_iter().flatten().chain(details).collect();
        RecordBatch::try_new(self.schema, columns)
            .map_err(|error| Error::Argument(format!("packets table: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::FrameDirection;

    #[test]
    fn addresses_are_written_as_their_standards_say() {
        let text = |ip_version, src| {
            let packet = Packet {
                ip_version,
                src,
                ..Packet::new()
            };
            address("src", &packet).unwrap().to_string()
        };
        assert_eq!(text(4, 0x0a00_0001), "10.0.0.1");
        assert_eq!(text(6, 0x2001_0db8 << 96 | 1), "2001:db8::1");
    }

    #[test]
    fn what_is_not_known_is_null() {
        let mut columns = Columns::new(&super::super::schema(false));
        let origin = Origin {
            path: "x".into(),
            name: "x".into(),
            points: vec![],
            clocks: vec![],
            tree: None,
        };
        let frame = Frame {
            number: 1,
            t_ns: 0,
            stamp_ns: None,
            late_ns: 0,
            packet_id: 0,
            has_time: false,
            interface: 9,
            link: 1,
            wire_bytes: 60,
            fcs_bytes: 0,
            direction: FrameDirection::Unknown,
            bytes: &[],
        };
        columns.put_frame(&origin, 9, &frame);
        columns.put_outcome(200, -1);
        columns.put_packet(&frame, &Packet::new(), "", &mut AddressTexts::default());
        let batch = columns.finish().unwrap();
        let is_null = |name: &str| batch.column_by_name(name).unwrap().is_null(0);
        for name in [
            "stamp_ns",
            "aligned_ns",
            "trajectory_id",
            "src",
            "src_port",
            "protocol",
            "tunnel_id",
        ] {
            assert!(is_null(name), "{name}");
        }
    }
}
