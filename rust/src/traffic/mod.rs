//! Traffic: frames, bytes and connections of each point and direction, counted while all frames are
//! read in the order of the files.
//!
//! What counts is the time that all points of the path cover, later copies at one point left out. Of
//! what comes before that time only the openings of connections are counted.

mod connections;
mod conversation;
mod headers;
mod lengths;
mod segment;
mod tables;
mod volumes;

use crate::base::error::Result;
use crate::base::piecewise::PiecewiseLinear;
use crate::matching::FrameId;
use crate::matching::Status;
use crate::wire::Packet;
use connections::{ConnectionEnds, Connections};
use conversation::Transmission;
pub use headers::HeaderBytes;
use lengths::FrameLengths;
pub use segment::Segment;
use std::path::PathBuf;
pub use tables::Counted;
use volumes::{AddressHash, Volumes, Weight};

/// Blocks of the time that is counted.
const N_BLOCKS: usize = 256;
/// Forward, reverse, and where that is not known.
const N_WAYS: usize = 3;
const UNKNOWN: u8 = 2;
const TCP: i16 = 6;
const UDP: i16 = 17;

/// What is counted, and where.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct TrafficPlan {
    /// Points of the path, in its order.
    pub names: Vec<String>,
    /// Of each, how far its time is off the path's first clock, usual delay included.
    pub centres: Vec<PiecewiseLinear>,
    /// Segments, by the numbers that matching knows points by.
    pub links: Vec<(u16, u16)>,
    /// Files of matched pairs.
    pub pairs: Vec<PathBuf>,
    /// Where unmatched frames wait until their direction is known.
    pub folder: PathBuf,
    /// First instant that counts, on the path's first clock.
    pub start_ns: i64,
    /// Last instant that counts.
    pub end_ns: i64,
    /// Length of a block.
    pub block_ns: i64,
}

impl TrafficPlan {
    /// The last instant may be the first of a block beyond the last.
    fn block(&self, at_ns: i64) -> usize {
        let block = at_ns
            .saturating_sub(self.start_ns)
            .div_euclid(self.block_ns.max(1));
        usize::try_from(block).unwrap_or(0).min(N_BLOCKS - 1)
    }
}

/// One frame, as it was read.
#[derive(Clone, Copy, Debug)]
pub struct CountedFrame<'a> {
    /// Its number in its file.
    pub number: u64,
    /// Which part of its file it is of.
    pub part: usize,
    /// What the clock showed.
    pub t_ns: i64,
    /// What became of it.
    pub status: u8,
    /// Its length on the line.
    pub wire_bytes: u32,
    /// What its layers say of its lengths.
    pub headers: HeaderBytes,
    /// What it carries.
    pub packet: &'a Packet,
    /// The bytes that the packet was decoded from.
    pub bytes: &'a [u8],
}

/// Counts frame by frame, in the order of the files.
pub struct Traffic {
    counting: TrafficPlan,
    /// By file and part, the place on the path of the point.
    places: Vec<Vec<Option<usize>>>,
    file: usize,
    lengths: FrameLengths,
    volumes: Volumes,
    connections: Vec<Connections>,
    /// Messages of the batch that is being read: place, connection, message.
    messages: Vec<(usize, ConnectionEnds, Transmission)>,
}

impl Traffic {
    /// Notes which way every matched frame goes.
    ///
    /// # Errors
    /// Files of pairs cannot be read, or that of waiting frames cannot be written.
    pub fn new<'a>(
        counting: TrafficPlan,
        points: impl Iterator<Item = &'a Vec<String>>,
    ) -> Result<Self> {
        let place = |name: &String| counting.names.iter().position(|own| own == name);
        let places: Vec<Vec<_>> = points
            .map(|of_file| of_file.iter().map(place).collect())
            .collect();
        let n_points = counting.names.len();
        let connections = |at| Connections::new(&counting.folder, at, n_points);
        Ok(Self {
            lengths: FrameLengths::new(places.len(), &counting.pairs)?,
            volumes: Volumes::new(n_points, &counting.folder)?,
            connections: (0..n_points).map(connections).collect(),
            messages: Vec::new(),
            file: 0,
            counting,
            places,
        })
    }

    /// Frames of this file follow.
    pub fn open(&mut self, file: usize) {
        self.file = file;
    }

    /// Counts a frame.
    pub fn count(&mut self, seen: &CountedFrame<'_>) {
        let frame = FrameId::new(self.file, seen.number);
        let way = self.lengths.note(frame, seen.wire_bytes);
        let Some((place, at_ns)) = self.counted_at(seen) else {
            return;
        };
        let segment = Segment::of(seen.packet, seen.bytes);
        let weight = Weight::of(seen, &segment);
        let is_early = at_ns < self.counting.start_ns;
        if !is_early {
            let block = self.counting.block(at_ns);
            let addresses = AddressHash::of(seen.packet);
            self.volumes.add(place, way, block, weight, addresses);
        }
        if let Some((ends, is_first)) = ConnectionEnds::of(seen.packet) {
            let message =
                Transmission::of(&segment, weight.payload_bytes, at_ns, is_first, is_early);
            self.messages
                .extend(message.map(|message| (place, ends, message)));
        }
    }

    /// Place and time on the path's first clock of a frame that is not left out.
    fn counted_at(&mut self, seen: &CountedFrame<'_>) -> Option<(usize, i64)> {
        let of_file = self.places.get(self.file)?;
        let part = seen.part.min(of_file.len().saturating_sub(1));
        let place = (*of_file.get(part)?)?;
        let offset_ns = self.counting.centres.get(place)?.at(seen.t_ns);
        let at_ns = seen.t_ns.saturating_sub(offset_ns);
        if let Some(connections) = self.connections.get_mut(place) {
            connections.begin(at_ns);
        }
        let is_counted = at_ns <= self.counting.end_ns && seen.status != Status::Duplicate as u8;
        is_counted.then_some((place, at_ns))
    }

    /// Takes the messages of a batch to their connections, in the order of time: stamps of one file
    /// need not ascend. What is over with the first `n_files` files is summed up.
    ///
    /// # Errors
    /// What waits cannot be written, or read again.
    pub fn end_batch(&mut self, n_files: usize) -> Result<()> {
        self.messages.sort_by_key(|(_, _, message)| message.t_ns);
        for (place, ends, message) in self.messages.drain(..) {
            if let Some(connections) = self.connections.get_mut(place) {
                connections.take(ends, message)?;
            }
        }
        let to_come = self.places.get(n_files..).unwrap_or(&[]);
        for (place, connections) in self.connections.iter_mut().enumerate() {
            if !to_come.iter().flatten().any(|point| *point == Some(place)) {
                connections.finish(&self.counting)?;
            }
        }
        Ok(())
    }

    /// What was counted, when all files are read.
    ///
    /// # Errors
    /// What was spilled cannot be read again.
    pub fn finish(mut self) -> Result<Counted> {
        self.end_batch(self.places.len())?;
        let overhead = self.lengths.pairs(&self.counting)?;
        let volumes = self.volumes.finish()?;
        tables::counted(&volumes, &self.connections, &overhead)
    }
}
