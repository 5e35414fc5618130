//! The packets table: one row per captured frame, as Arrow batches.

use crate::error::{Error, Result};
use crate::file::Capture;
use crate::matching::outcome::Outcomes;
use crate::matching::{STATUSES, Status};
use crate::plan::Centre;
use crate::reading::{Reading, Seen};
use crate::wire::{Packet, layer_path};
use arrow_array::builder::{Int32Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::sync::Arc;

/// What is known of one file besides its bytes.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Where it is.
    pub path: PathBuf,
    /// What it is called in the table.
    pub name: String,
    /// Capture point by interface; the last one holds for interfaces beyond.
    pub points: Vec<String>,
    /// Clock offset against the reference by interface, over raw time; `None` if not known.
    pub clocks: Vec<Option<Centre>>,
}

/// Columns and types of the table (the contract's packets.parquet).
#[must_use]
pub fn schema() -> Arc<Schema> {
    let text = |name| Field::new(name, DataType::Utf8, false);
    let maybe_text = |name| Field::new(name, DataType::Utf8, true);
    let long = |name| Field::new(name, DataType::Int64, false);
    let maybe_long = |name| Field::new(name, DataType::Int64, true);
    let maybe_int = |name| Field::new(name, DataType::Int32, true);
    Arc::new(Schema::new(vec![
        text("point"),
        text("file"),
        long("frame"),
        long("t_ns"),
        maybe_long("stamp_ns"),
        maybe_long("aligned_ns"),
        maybe_long("trajectory_id"),
        text("status"),
        text("layers"),
        maybe_text("src"),
        maybe_text("dst"),
        maybe_int("src_port"),
        maybe_int("dst_port"),
        maybe_int("protocol"),
        maybe_long("tunnel_id"),
        long("wire_bytes"),
        long("captured_bytes"),
    ]))
}

/// The batches of the packets table of some files, one after the other.
pub struct Batches {
    reading: Reading,
    origins: Vec<Origin>,
    /// Where the outcomes of a run are, if there was one.
    outcomes_in: Option<PathBuf>,
    batch_rows: usize,
    file: usize,
    open: Option<(Capture, Option<Outcomes>)>,
    packet: Packet,
    paths: HashMap<Vec<u8>, String>,
    /// What was wrong with the files read so far.
    pub damage: Vec<String>,
}

impl Batches {
    /// Prepares the reading; files are opened when their turn comes.
    #[must_use]
    pub fn new(
        reading: Reading,
        origins: Vec<Origin>,
        outcomes_in: Option<PathBuf>,
        batch_rows: usize,
    ) -> Self {
        let (packet, paths) = (Packet::new(), HashMap::new());
        Self {
            reading,
            origins,
            outcomes_in,
            batch_rows: batch_rows.max(1),
            file: 0,
            open: None,
            packet,
            paths,
            damage: Vec::new(),
        }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let mut columns = Columns::default();
        while columns.n_rows < self.batch_rows {
            let Some(origin) = self.origins.get(self.file) else { break };
            let (mut capture, mut outcomes) = match self.open.take() {
                Some(open) => open,
                None => self.open_file(origin)?,
            };
            let is_over = self.fill(&mut capture, outcomes.as_mut(), &mut columns);
            if is_over {
                self.note_damage(&capture);
                self.file += 1;
            } else {
                self.open = Some((capture, outcomes));
            }
        }
        if columns.n_rows == 0 { Ok(None) } else { columns.finish().map(Some) }
    }

    fn open_file(&self, origin: &Origin) -> Result<(Capture, Option<Outcomes>)> {
        let outcomes = self.outcomes_in.as_ref().map(|from| Outcomes::open(from, self.file));
        Ok((Capture::open(&origin.path)?, outcomes.transpose()?))
    }

    fn note_damage(&mut self, capture: &Capture) {
        let Some(origin) = self.origins.get(self.file) else { return };
        for damage in capture.damage() {
            self.damage.push(format!("{}: byte {}: {}", origin.name, damage.at_byte, damage.text));
        }
    }

    /// Adds rows until the batch is full (false) or the file is at its end (true).
    fn fill(
        &mut self,
        capture: &mut Capture,
        mut outcomes: Option<&mut Outcomes>,
        columns: &mut Columns,
    ) -> bool {
        let Some(origin) = self.origins.get(self.file) else { return true };
        while columns.n_rows < self.batch_rows {
            let Some(frame) = capture.next_frame() else { return true };
            let seen = self.reading.see(&frame, &mut self.packet);
            let alone = match seen {
                Seen::Packet(_) => Status::Unmatched,
                Seen::Undecoded => Status::Undecoded,
                Seen::Excluded => Status::Excluded,
            };
            let outcome = outcomes.as_mut().and_then(|outcomes| outcomes.next_outcome());
            let (status, trajectory) = outcome.unwrap_or((alone as u8, -1));
            if status == Status::Excluded as u8 {
                continue;
            }
            let interface = frame.interface as usize;
            let of = |interface: usize| interface.min(origin.points.len().saturating_sub(1));
            columns.point.append_value(origin.points.get(of(interface)).map_or("", String::as_str));
            columns.file.append_value(&origin.name);
            columns.frame.append_value(i64::try_from(frame.number).unwrap_or(i64::MAX));
            columns.t.append_value(frame.t_ns);
            columns.stamp.append_null();
            let clock = origin.clocks.get(of(interface)).and_then(Option::as_ref);
            let clock = clock.filter(|_| frame.has_time);
            columns.aligned.append_option(clock.map(|clock| frame.t_ns.saturating_sub(clock.at(frame.t_ns))));
            columns.trajectory.append_option((trajectory >= 0).then_some(trajectory));
            columns.status.append_value(STATUSES.get(usize::from(status)).unwrap_or(&"unmatched"));
            columns.wire.append_value(i64::from(frame.wire_bytes));
            columns.captured.append_value(i64::try_from(frame.bytes.len()).unwrap_or(i64::MAX));
            let ids = self.packet.layers.get(..self.packet.n_layers).unwrap_or(&[]);
            if let Some(path) = self.paths.get(ids) {
                columns.layers.append_value(path);
            } else {
                let path = layer_path(&self.packet);
                columns.layers.append_value(&path);
                self.paths.insert(ids.to_vec(), path);
            }
            columns.put_flow(&self.packet);
            columns.n_rows += 1;
        }
        false
    }
}

impl Iterator for Batches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

#[derive(Default)]
struct Columns {
    n_rows: usize,
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
}

impl Columns {
    fn put_flow(&mut self, packet: &Packet) {
        let is_known = packet.stop.is_none() && packet.ip_version != 0;
        self.src.append_option(is_known.then(|| address(packet.ip_version, packet.src)));
        self.dst.append_option(is_known.then(|| address(packet.ip_version, packet.dst)));
        let port = |port: i32| (is_known && port >= 0).then_some(port);
        self.src_port.append_option(port(packet.src_port));
        self.dst_port.append_option(port(packet.dst_port));
        self.protocol.append_option(port(i32::from(packet.protocol)));
        self.tunnel.append_option((packet.tunnel_id >= 0).then_some(packet.tunnel_id));
    }

    fn finish(mut self) -> Result<RecordBatch> {
        let columns: Vec<ArrayRef> = vec![
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
        RecordBatch::try_new(schema(), columns)
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
