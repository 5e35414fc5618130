//! The packets table: one row per captured frame, as Arrow batches.

mod address_texts;
mod columns;
mod condition;
mod details;
mod follow;

use crate::base::error::{Error, Result};
use crate::base::hashed::Placing;
use crate::base::panics::contained;
use crate::base::piecewise::PiecewiseLinear;
use crate::file::{Capture, Damage, Frame};
use crate::location::{PointTree, part_of};
use crate::matching::Status;
use crate::matching::outcome::Outcomes;
use crate::reading::{Asked, History, Progress, ReadOutcome, Reading};
use crate::traffic::{Counted, CountedFrame, HeaderBytes, Traffic, TrafficPlan};
use crate::wire::{Packet, layer_path};
use address_texts::AddressTexts;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use columns::Columns;
pub use condition::Condition;
pub use follow::Follower;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What is known of one file besides its bytes.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Where it is.
    pub path: PathBuf,
    /// What it is called in the table.
    pub name: String,
    /// Capture point by part of the file; the last one holds for parts beyond.
    pub points: Vec<String>,
    /// Clock offset against the reference by part, over raw time; `None` if not known.
    pub clocks: Vec<Option<PiecewiseLinear>>,
    /// How the file is divided, if its parts are not just its interfaces.
    pub tree: Option<PointTree>,
}

impl Origin {
    /// The time of the reference, where there is one.
    fn aligned_ns(&self, part: usize, frame: &Frame<'_>) -> Option<i64> {
        let clock = self.clocks.get(part).and_then(Option::as_ref);
        clock.filter(|_| frame.has_time).map(|clock| {
            let t_ns = frame.time_ns();
            t_ns.saturating_sub(clock.at(t_ns))
        })
    }
}

/// Columns and types of the table (the contract's packets.parquet), and of the further ones.
#[must_use]
pub fn schema(has_details: bool) -> Arc<Schema> {
    let text = |name| Field::new(name, DataType::Utf8, false);
    let maybe_text = |name| Field::new(name, DataType::Utf8, true);
    let long = |name| Field::new(name, DataType::Int64, false);
    let maybe_long = |name| Field::new(name, DataType::Int64, true);
    let maybe_int = |name| Field::new(name, DataType::Int32, true);
    let mut fields = vec![
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
    ];
    if has_details {
        fields.extend(details::fields());
    }
    Arc::new(Schema::new(fields))
}

/// What was wrong with the files read so far, each damage with its file's name; filled while
/// batches are read, and shared with who wants to know afterwards.
pub type Damages = Arc<Mutex<Vec<(String, Damage)>>>;

/// What made reading stop; whoever reads batches is told by Arrow, which keeps only the words.
pub type Failure = Arc<Mutex<Option<Error>>>;

/// The batches of the packets table of some files, one after the other.
pub struct Batches {
    reading: Reading,
    origins: Vec<Origin>,
    /// Where the outcomes of a run are, if there was one.
    outcomes_in: Option<PathBuf>,
    batch_rows: usize,
    schema: Arc<Schema>,
    file: usize,
    open: Option<(Capture, Option<Outcomes>)>,
    /// By file: what can be opened only once, and so is open already.
    pipes: Vec<Option<Capture>>,
    rows: RowMaker,
    damages: Damages,
    /// Where the error goes that made reading stop.
    pub failure: Failure,
    /// Where what was counted goes, when all is read.
    pub counted: Arc<Mutex<Option<Counted>>>,
}

/// Frames after which a batch ends, however few rows it has.
const MOST_SEEN: usize = 1 << 20;

/// What is used again from row to row.
#[derive(Default)]
struct RowMaker {
    packet: Packet,
    layers: HashMap<Vec<u8>, Layers, Placing>,
    addresses: AddressTexts,
    /// Of the file that is being read.
    history: History,
    /// Counts the frames that have rows, if that is asked for.
    traffic: Option<Traffic>,
    /// What a row must fulfil, if anything.
    condition: Option<Condition>,
    /// Frames looked at for the batch.
    n_seen: usize,
}

/// What the layers of a frame say, found out once per combination.
struct Layers {
    path: String,
    headers: HeaderBytes,
}

impl RowMaker {
    /// Whether a batch is to end.
    fn are_enough(&self, columns: &Columns, batch_rows: usize) -> bool {
        columns.n_rows >= batch_rows || self.n_seen >= MOST_SEEN
    }

    /// Adds the row of a frame and is true, if it is to have one; `of_run` is what a matching made
    /// of it.
    fn put(
        &mut self,
        reading: &Reading,
        origin: &Origin,
        frame: &mut Frame<'_>,
        of_run: Option<(u8, i64)>,
        columns: &mut Columns,
    ) -> bool {
        self.n_seen += 1;
        let (seen, whole) = reading.see(Asked::Packet, frame, &mut self.history, &mut self.packet);
        let (status, trajectory) = of_run.unwrap_or((status_alone(&seen) as u8, -1));
        if status == Status::Excluded as u8 {
            return false;
        }
        let condition = self.condition.as_ref();
        if condition.is_some_and(|condition| !condition.admits(frame, &self.packet)) {
            return false;
        }
        let part = part_of(origin.tree.as_ref(), &whole, &self.packet);
        columns.put_frame(origin, part, frame);
        columns.put_outcome(status, trajectory);
        let layers = layers(&mut self.layers, &self.packet);
        columns.put_packet(frame, &self.packet, &layers.path, &mut self.addresses);
        columns.put_details(&whole, &self.packet);
        if let Some(traffic) = &mut self.traffic {
            traffic.count(&CountedFrame {
                number: frame.number,
                part: part as usize,
                t_ns: frame.stamped_ns(),
                status,
                wire_bytes: frame.wire_bytes,
                headers: layers.headers,
                packet: &self.packet,
                bytes: whole.bytes,
            });
        }
        true
    }
}

impl Batches {
    /// Prepares the reading. Every file is opened here, so that what is no capture is refused before
    /// the first batch and not in the middle of a stream.
    ///
    /// # Errors
    /// A file cannot be opened, or is no capture.
    pub fn open(
        mut reading: Reading,
        origins: Vec<Origin>,
        outcomes_in: Option<PathBuf>,
        batch_rows: usize,
        has_details: bool,
    ) -> Result<Self> {
        let pipes = origins.iter().map(|origin| opened_pipe(&origin.path));
        let pipes = pipes.collect::<Result<_>>()?;
        let paths: Vec<PathBuf> = origins.iter().map(|origin| origin.path.clone()).collect();
        reading.find_stamps(&paths, &Progress::default())?;
        Ok(Self {
            pipes,
            reading,
            origins,
            outcomes_in,
            batch_rows: batch_rows.max(1),
            schema: schema(has_details),
            file: 0,
            open: None,
            rows: RowMaker::default(),
            damages: Damages::default(),
            failure: Failure::default(),
            counted: Arc::default(),
        })
    }

    /// Counts the traffic too, while batches are read.
    ///
    /// # Errors
    /// Spilled pairs cannot be read.
    pub fn counting(mut self, counting: TrafficPlan) -> Result<Self> {
        let points = self.origins.iter().map(|origin| &origin.points);
        self.rows.traffic = Some(Traffic::new(counting, points)?);
        Ok(self)
    }

    /// Makes nothing but these columns, of the rows that fulfil a condition.
    ///
    /// # Errors
    /// There is no such column.
    pub fn asked(
        mut self,
        columns: Option<&[String]>,
        condition: Option<Condition>,
    ) -> Result<Self> {
        let places = columns.map(|names| names.iter().map(|name| self.schema.index_of(name)));
        let places = places.map(Iterator::collect::<std::result::Result<BTreeSet<_>, _>>);
        let places = places.transpose();
        let unknown = |error: ArrowError| Error::Argument(format!("packets table: {error}"));
        if let Some(places) = places.map_err(unknown)? {
            let places: Vec<usize> = places.into_iter().collect();
            self.schema = Arc::new(self.schema.project(&places).map_err(unknown)?);
        }
        self.rows.condition = condition;
        Ok(self)
    }

    /// The columns.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    /// Where the damage of the files goes while they are read.
    #[must_use]
    pub fn damages(&self) -> Damages {
        Arc::clone(&self.damages)
    }

    /// Keeps an error for who asks for it, and gives its words.
    #[cold]
    fn fail(&mut self, error: Error) -> ArrowError {
        let text = error.to_string();
        if let Ok(mut failure) = self.failure.lock() {
            *failure = Some(error);
        }
        ArrowError::ExternalError(text.into())
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let mut columns = Columns::new(&self.schema);
        self.rows.n_seen = 0;
        while !self.rows.are_enough(&columns, self.batch_rows) && self.file < self.origins.len() {
            let (mut capture, mut outcomes) = match self.open.take() {
                Some(open) => open,
                None => self.open_file()?,
            };
            let is_over = self.fill(&mut capture, outcomes.as_mut(), &mut columns);
            if is_over {
                self.note_damage(&capture);
                self.file += 1;
            } else {
                self.open = Some((capture, outcomes));
            }
        }
        // a batch may be empty where few rows are asked for: whoever reads may then interrupt
        let has_rows = columns.n_rows > 0 || self.file < self.origins.len();
        if let Some(mut traffic) = self.rows.traffic.take() {
            traffic.end_batch(self.file)?;
            if has_rows {
                self.rows.traffic = Some(traffic);
            } else if let Ok(mut counted) = self.counted.lock() {
                *counted = Some(traffic.finish()?);
            }
        }
        has_rows.then(|| columns.finish()).transpose()
    }

    fn open_file(&mut self) -> Result<(Capture, Option<Outcomes>)> {
        let outcomes = self
            .outcomes_in
            .as_ref()
            .map(|from| Outcomes::open(from, self.file));
        self.rows.history = self.reading.history(self.file);
        if let Some(traffic) = &mut self.rows.traffic {
            traffic.open(self.file);
        }
        let pipe = self.pipes.get_mut(self.file).and_then(Option::take);
        let capture = match (pipe, self.origins.get(self.file)) {
            (None, Some(origin)) => Capture::open(&origin.path),
            (Some(pipe), _) => Ok(pipe),
            (None, None) => Err(Error::Argument("there is no file left".into())),
        };
        Ok((capture?, outcomes.transpose()?))
    }

    fn note_damage(&mut self, capture: &Capture) {
        if let (Some(origin), Ok(mut damages)) = (self.origins.get(self.file), self.damages.lock())
        {
            let found = capture.damage().iter();
            damages.extend(found.map(|damage| (origin.name.clone(), damage.clone())));
        }
    }

    /// Adds rows until the batch is full (false) or the file is at its end (true).
    fn fill(
        &mut self,
        capture: &mut Capture,
        mut outcomes: Option<&mut Outcomes>,
        columns: &mut Columns,
    ) -> bool {
        let Some(origin) = self.origins.get(self.file) else {
            return true;
        };
        while !self.rows.are_enough(columns, self.batch_rows) {
            let Some(mut frame) = capture.next_frame() else {
                return true;
            };
            let of_run = outcomes.as_deref_mut().and_then(Outcomes::next_outcome);
            let rows = &mut self.rows;
            if rows.put(&self.reading, origin, &mut frame, of_run, columns) {
                columns.put_marks(capture.marks());
            }
        }
        false
    }
}

/// Opens a file to see whether it can be read; what is no regular file stays open.
fn opened_pipe(path: &Path) -> Result<Option<Capture>> {
    let capture = Capture::open(path)?;
    Ok((!path.is_file()).then_some(capture))
}

/// What a frame is when nothing was matched.
fn status_alone(seen: &ReadOutcome) -> Status {
    match seen {
        ReadOutcome::Packet(_) | ReadOutcome::Untimed => Status::Unmatched,
        ReadOutcome::Undecoded => Status::Undecoded,
        ReadOutcome::Part => Status::Coalesced,
        ReadOutcome::Excluded | ReadOutcome::Unsampled => Status::Excluded,
    }
}

fn layers<'a>(known: &'a mut HashMap<Vec<u8>, Layers, Placing>, packet: &Packet) -> &'a Layers {
    let ids = packet.layers.get(..packet.n_layers).unwrap_or(&[]);
    if !known.contains_key(ids) {
        let path = layer_path(packet);
        let headers = HeaderBytes::of(packet);
        known.insert(ids.to_vec(), Layers { path, headers });
    }
    &known[ids]
}

impl Iterator for Batches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // a panic must not cross the C interface that the batches go through
        contained(|| self.next_batch())
            .map_err(|error| self.fail(error))
            .transpose()
    }
}
