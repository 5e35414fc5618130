//! The columns of the packets table in the making.

use super::details::Details;
use super::{Origin, schema};
use crate::base::error::{Error, Result};
use crate::file::{Frame, Marks};
use crate::matching::STATUSES;
use crate::wire::Packet;
use arrow_array::builder::{Int32Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Columns {
    pub(super) n_rows: usize,
    point: StringBuilder,
    file: StringBuilder,
    frame: Int64Builder,
    t: Int64Builder,
    stamp: Int64Builder,
    aligned: Int64Builder,
    trajectory: Int64Builder,
    status: StringBuilder,
    layers: StringBuilder,
    src: StringBuilder,
    dst: StringBuilder,
    src_port: Int32Builder,
    dst_port: Int32Builder,
    protocol: Int32Builder,
    tunnel: Int64Builder,
    wire: Int64Builder,
    captured: Int64Builder,
    details: Option<Details>,
}

impl Columns {
    pub(super) fn new(has_details: bool) -> Self {
        Self {
            details: has_details.then(Details::default),
            ..Self::default()
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
        let point = origin.points.get(part).map_or("", String::as_str);
        let aligned_ns = origin.aligned_ns(part, frame);
        let captured_bytes = i64::try_from(frame.bytes.len()).unwrap_or(i64::MAX);
        self.n_rows += 1;
        self.point.append_value(point);
        self.file.append_value(&origin.name);
        self.frame
            .append_value(i64::try_from(frame.number).unwrap_or(i64::MAX));
        self.t.append_value(frame.t_ns);
        self.stamp.append_option(frame.stamp_ns);
        self.aligned.append_option(aligned_ns);
        self.wire.append_value(i64::from(frame.wire_bytes));
        self.captured.append_value(captured_bytes);
    }

    /// What became of it.
    pub(super) fn put_outcome(&mut self, status: u8, trajectory: i64) {
        let status = STATUSES.get(usize::from(status)).unwrap_or(&"unmatched");
        self.status.append_value(status);
        self.trajectory
            .append_option((trajectory >= 0).then_some(trajectory));
    }

    /// What it carries.
    pub(super) fn put_packet(&mut self, packet: &Packet, layers: &str) {
        self.layers.append_value(layers);
        let is_known = packet.stop.is_none() && packet.ip_version != 0;
        self.src
            .append_option(is_known.then(|| address(packet.ip_version, packet.src)));
        self.dst
            .append_option(is_known.then(|| address(packet.ip_version, packet.dst)));
        let port = |port: i32| (is_known && port >= 0).then_some(port);
        self.src_port.append_option(port(packet.src_port));
        self.dst_port.append_option(port(packet.dst_port));
        self.protocol
            .append_option(port(i32::from(packet.protocol)));
        self.tunnel
            .append_option((packet.tunnel_id >= 0).then_some(packet.tunnel_id));
    }

    /// The batch.
    pub(super) fn finish(mut self) -> Result<RecordBatch> {
        let has_details = self.details.is_some();
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.point.finish()),
            Arc::new(self.file.finish()),
            Arc::new(self.frame.finish()),
            Arc::new(self.t.finish()),
            Arc::new(self.stamp.finish()),
            Arc::new(self.aligned.finish()),
            Arc::new(self.trajectory.finish()),
            Arc::new(self.status.finish()),
            Arc::new(self.layers.finish()),
            Arc::new(self.src.finish()),
            Arc::new(self.dst.finish()),
            Arc::new(self.src_port.finish()),
            Arc::new(self.dst_port.finish()),
            Arc::new(self.protocol.finish()),
            Arc::new(self.tunnel.finish()),
            Arc::new(self.wire.finish()),
            Arc::new(self.captured.finish()),
        ];
        columns.extend(self.details.map(Details::finish).unwrap_or_default());
        RecordBatch::try_new(schema(has_details), columns)
            .map_err(|error| Error::Argument(format!("packets table: {error}")))
    }
}

fn address(ip_version: u8, bits: u128) -> String {
    if ip_version == 4 {
        Ipv4Addr::from_bits(u32::try_from(bits & u128::from(u32::MAX)).unwrap_or(0)).to_string()
    } else {
        Ipv6Addr::from_bits(bits).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::FrameDirection;

    #[test]
    fn addresses_are_written_as_their_standards_say() {
        assert_eq!(address(4, 0x0a00_0001), "10.0.0.1");
        assert_eq!(address(6, 0x2001_0db8 << 96 | 1), "2001:db8::1");
    }

    #[test]
    fn what_is_not_known_is_null() {
        let mut columns = Columns::default();
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
        columns.put_packet(&Packet::new(), "");
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
