//! Blocks in the making: what the reader of a sequence of files sees, sorted by partition.

use crate::base::error::Result;
use crate::base::piecewise::PiecewiseCursor;
use crate::file::Frame;
use crate::identity::{Identity, Prefixes, copy_tag};
use crate::location::{PointTree, part_of};
use crate::matching::evidence::Evidence;
use crate::matching::observation::{FrameId, Observation};
use crate::matching::outcome::reasons::Reason;
use crate::matching::outcome::{Counts, Outbox, Outcome, Status};
use crate::matching::streams::Alias;
use crate::matching::streams::fragment_bytes::{Datagrams, Placed};
use crate::plan::{Direction, Plan};
use crate::reading::ReadOutcome;
use crate::wire::Packet;
use serde::{Deserialize, Serialize};

/// Frames of one block.
const BLOCK_FRAMES: u64 = 1024;

/// Which block it is: the numbers of its frames say it, so that whoever begins in the middle of a file
/// makes the same blocks. What is decided when follows from them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockNumber {
    file: usize,
    index: u64,
}

impl BlockNumber {
    #[inline]
    fn of(file: usize, frame: u64) -> Self {
        let index = frame.saturating_sub(1) / BLOCK_FRAMES;
        Self { file, index }
    }
}

/// Observations of the frames of one block in one partition.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct ObservationBlock {
    number: BlockNumber,
    pub(crate) observations: Vec<Observation>,
    pub(crate) aliases: Vec<Alias>,
    /// The earliest stamp of all frames of the block: files are read as far as that. A stamp that is far too
    /// late, as after a clock was set, must not make all that follow it late.
    pub(crate) least_ns: Option<i64>,
}

impl ObservationBlock {
    /// Adds the next part of the same block; gives back what is of another one.
    pub(crate) fn join(&mut self, part: Self) -> Option<Self> {
        if part.number != self.number {
            return Some(part);
        }
        self.observations.extend(part.observations);
        self.aliases.extend(part.aliases);
        self.least_ns = self.least_ns.into_iter().chain(part.least_ns).min();
        None
    }
}

/// Where blocks go: who takes those of which partition, by its index.
pub(crate) struct BlockTakers<'a> {
    /// How many there are.
    pub(crate) n: usize,
    /// Takes a block.
    pub(crate) take: Box<dyn FnMut(usize, ObservationBlock) -> Result<()> + 'a>,
    /// They match elsewhere, and say themselves what became of the frames they take.
    pub(crate) are_apart: bool,
}

pub(crate) struct Stage<'a> {
    file: usize,
    plan: &'a Plan,
    to: BlockTakers<'a>,
    outbox: Option<Outbox>,
    blocks: Vec<(Vec<Observation>, Vec<Alias>)>,
    datagrams: Datagrams<'a>,
    /// By point: what its clock is ahead, were packets to go forward.
    centres: Vec<PiecewiseCursor<'a>>,
    /// How the file is divided, and the points that its parts are.
    tree: Option<&'a PointTree>,
    points: &'a [Option<u16>],
    /// Of the block in the making.
    number: BlockNumber,
    is_empty: bool,
    least_ns: Option<i64>,
    counts: Counts,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        to: BlockTakers<'a>,
        outbox: Option<Outbox>,
        prefixes: Prefixes,
    ) -> Self {
        Self {
            file: 0,
            plan,
            blocks: (0..to.n).map(|_| Default::default()).collect(),
            to,
            outbox,
            datagrams: Datagrams::new(plan, prefixes),
            centres: plan.centres_of(Direction::Forward),
            tree: None,
            points: &[],
            number: BlockNumber::default(),
            is_empty: true,
            least_ns: None,
            counts: Counts::of_points(plan.n_points()),
        }
    }

    /// From here on, frames are of this file.
    pub(crate) fn begin(&mut self, file: usize) {
        self.tree = self.plan.trees.get(file).and_then(Option::as_ref);
        self.points = self.plan.point_of.get(file).map_or(&[], Vec::as_slice);
        let n_parts = self.tree.map_or(0, |_| self.points.len());
        let parts = vec![[0; 2]; n_parts];
        self.counts.parts.push((file, parts));
        self.file = file;
    }

    /// Takes the next frame, which is a packet.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    pub(crate) fn take_packet(
        &mut self,
        frame: &Frame<'_>,
        packet: &Packet,
        identity: &Identity,
    ) -> Result<()> {
        match self.begin_frame(frame, packet, true)? {
            Some(point) => self.place(frame, point, identity, packet),
            None => self.leave(frame, None, Status::Unmatched, Some(Reason::NoTime)),
        }
        Ok(())
    }

    /// Counts the next frame, and says which point saw it.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    fn begin_frame(
        &mut self,
        frame: &Frame<'_>,
        packet: &Packet,
        is_decoded: bool,
    ) -> Result<Option<u16>> {
        let number = BlockNumber::of(self.file, frame.number);
        if number != self.number {
            self.send()?;
            self.number = number;
        }
        self.is_empty = false;
        let part = part_of(self.tree, frame, packet);
        let of_file = self.counts.parts.last_mut();
        let of_part = of_file.and_then(|(_, parts)| parts.get_mut(part as usize));
        if let Some([n_frames, n_undecoded]) = of_part {
            *n_frames += 1;
            *n_undecoded += u64::from(!is_decoded);
        }
        Ok(self.points.get(part as usize).copied().flatten())
    }

    /// Takes the next frame, whatever became of it.
    #[inline(never)]
    pub(crate) fn take(
        &mut self,
        frame: &Frame<'_>,
        packet: &Packet,
        seen: &ReadOutcome,
    ) -> Result<()> {
        let is_decoded = !matches!(seen, ReadOutcome::Undecoded);
        let point = self.begin_frame(frame, packet, is_decoded)?;
        match (seen, point) {
            (ReadOutcome::Packet(identity), Some(point)) => {
                self.place(frame, point, identity, packet);
            }
            (ReadOutcome::Packet(_), None) | (ReadOutcome::Untimed, _) => {
                self.leave(frame, point, Status::Unmatched, Some(Reason::NoTime));
            }
            (ReadOutcome::Undecoded, _) => {
                let reason = Some(Reason::undecoded(packet.stop));
                self.leave(frame, point, Status::Undecoded, reason);
            }
            (ReadOutcome::Part, _) => {
                let reason = Some(Reason::PartOfPacket);
                self.leave(frame, point, Status::Coalesced, reason);
            }
            (ReadOutcome::Excluded | ReadOutcome::Unsampled, _) => {
                self.leave(frame, point, Status::Excluded, None);
            }
        }
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    fn place(&mut self, frame: &Frame<'_>, point: u16, identity: &Identity, packet: &Packet) {
        let t_ns = frame.time_ns();
        let centre = self.centres.get_mut(usize::from(point));
        let aligned_ns = t_ns.saturating_sub(centre.map_or(0, |centre| centre.at(t_ns)));
        let least_ns = self.least_ns.unwrap_or(aligned_ns);
        self.least_ns = Some(least_ns.min(aligned_ns));
        let (from, to) = self.plan.range;
        if !(from..=to).contains(&aligned_ns) {
            return self.leave(frame, Some(point), Status::Excluded, None);
        }
        let placed = self.datagrams.place(packet, frame.bytes, identity);
        let told = (identity.unaddressed.tuple_hash, identity.message.kind);
        let observation = Observation {
            key: identity.key,
            flow: identity.flow,
            pair: identity.pair,
            aligned_ns,
            t_ns,
            frame: FrameId::new(self.file, frame.number),
            copy_tag: copy_tag(packet, frame.bytes),
            packet_id: frame.packet_id,
            point,
            toward: identity.toward,
            directed: identity.directed,
            range: placed.range,
            evidence: Evidence::of(self.plan, packet, told, placed.range),
            message: identity.message,
        };
        self.hand_over(&observation, &placed);
        if self.to.are_apart {
            self.put(frame, None);
        }
    }

    /// Puts an observation into the block of its partition.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    fn hand_over(&mut self, observation: &Observation, placed: &Placed) {
        // the high bits choose: the low ones are the partition's own hash table's
        let n = self.blocks.len().max(1) as u64;
        let index = usize::try_from((placed.choice >> 32) % n).unwrap_or(0);
        if let Some((observations, aliases)) = self.blocks.get_mut(index) {
            // most datagrams have one name
            if let Some(name) = placed.alias {
                aliases.push(Alias::new(self.plan, *observation, name));
            }
            // a push would move it field by field
            observations.extend_from_slice(std::slice::from_ref(observation));
        }
    }

    #[cold]
    fn leave(
        &mut self,
        frame: &Frame<'_>,
        point: Option<u16>,
        status: Status,
        reason: Option<Reason>,
    ) {
        if let Some((point, reason)) = point.zip(reason) {
            self.counts.reasons.add(point, reason);
        }
        match point {
            Some(point) => self.counts.add(point, status),
            None => self.counts.add_elsewhere(status),
        }
        self.put(frame, Some(status));
    }

    /// Says what became of a frame that goes to no partition; of one that is matched elsewhere, nothing.
    fn put(&mut self, frame: &Frame<'_>, status: Option<Status>) {
        if let Some(outbox) = &mut self.outbox {
            let frame = FrameId::new(self.file, frame.number);
            outbox.push(Outcome {
                frame,
                status,
                trajectory: None,
            });
        }
    }

    /// Hands over the block in the making.
    #[cold]
    fn send(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_empty, true) {
            return Ok(());
        }
        if let Some(outbox) = &mut self.outbox {
            outbox.send();
        }
        let (number, least_ns) = (self.number, self.least_ns.take());
        for (index, block) in self.blocks.iter_mut().enumerate() {
            // the next one is about as long
            let empty = (Vec::with_capacity(block.0.len() * 5 / 4), Vec::new());
            let (observations, aliases) = std::mem::replace(block, empty);
            let block = ObservationBlock {
                number,
                observations,
                aliases,
                least_ns,
            };
            (self.to.take)(index, block)?;
        }
        Ok(())
    }

    /// Sends the rest and returns the counts of frames that went to no partition.
    pub(crate) fn finish(mut self) -> Result<Counts> {
        self.send()?;
        Ok(self.counts)
    }
}
