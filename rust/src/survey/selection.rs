//! The same few packets, and the facts, of one file.

use super::hash_sample::{HashSample, SelectedCounts};
use super::{
    Dialogue, FileFacts, FlowStart, Fragmented, InterfaceFacts, SampledPacket, StampFacts,
};
use crate::base::error::Result;
use crate::base::hashed::Placing;
use crate::file::{Capture, Frame};
use crate::identity::TranslationKind;
use crate::identity::{Identity, Prefixes, TCP, WHOLE, class, copy_tag, cut_bytes};
use crate::location::Location;
use crate::reading::fragments::FragmentCounts;
use crate::reading::{Asked, Progress, ReadOutcome, Reading, read_frames};
use crate::stamp::{FileStamps, FoundStamp, HopStamp, StampCounts, Stamper};
use crate::wire::Packet;
use std::collections::HashMap;
use std::path::Path;

/// Packets selected by content are so much fewer: they only have to say that there is a translation.
const ALIKE_SHARE: usize = 2;

/// So many times as many packets are kept for what neighbours in a flow tell of each other.
const MORE_TIMES: usize = 2;

/// By flow and interface of the file.
pub(super) type SelectedFlows = HashMap<(u64, u32), FlowStart, Placing>;

/// As much is selected of each interface of a file.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    n_packets: usize,
    n_flows: usize,
}

impl Limits {
    /// So few say something of a file.
    const LEAST_PACKETS: usize = 64;

    /// A point's `limit`, given of how many files the point is.
    pub(super) fn of_file(limit: usize, n_parts: usize) -> Self {
        let share = limit / n_parts.max(1);
        Self {
            n_packets: share.max(Self::LEAST_PACKETS.min(limit)),
            n_flows: limit,
        }
    }
}

/// The selection of one file in the making.
pub(super) struct Selection {
    limits: Limits,
    pub(super) flow_threshold: u64,
    is_translated: bool,
    /// More than the sample: up to a higher threshold.
    pub(super) sample: HashSample,
    /// Selected by content alone, which no translator changes.
    pub(super) alike: HashSample,
    pub(super) flows: SelectedFlows,
    n_flows_of: SelectedCounts,
    pub(super) fragmented: Fragmented,
    pub(super) prefixes: Prefixes,
    interfaces: Vec<Option<InterfaceFacts>>,
    pub(super) facts: Option<FileFacts>,
}

/// Reads a file and selects.
pub(super) fn select(
    (file, path): (usize, &Path),
    reading: &Reading,
    limits: Limits,
    progress: &Progress,
) -> Result<Selection> {
    let mut selection = Selection::new(limits, reading.translations.is_some());
    let (mut packet, mut history) = (Packet::new(), reading.history(file));
    let capture = read_frames(path, progress, |frame| {
        let (mut seen, whole) = reading.see_by(Asked::Packet, frame, &mut history, &mut packet);
        reading.translate(file, frame, &mut seen);
        selection.take(frame, &whole, &packet, &seen, reading);
        Ok(())
    })?;
    selection.finish(reading.stamps(file), &history.stamper);
    selection.note_file(&capture, history.fragments.tally());
    Ok(selection)
}

impl Selection {
    fn new(limits: Limits, is_translated: bool) -> Self {
        let rank = if is_translated {
            |row: &SampledPacket| row.key
        } else {
            |row: &SampledPacket| row.unaddressed
        };
        Self {
            limits,
            flow_threshold: u64::MAX,
            is_translated,
            sample: HashSample::by(limits.n_packets * MORE_TIMES, rank),
            alike: HashSample::by(limits.n_packets / ALIKE_SHARE, |row| row.content),
            flows: HashMap::default(),
            n_flows_of: SelectedCounts::default(),
            fragmented: Fragmented::default(),
            prefixes: WHOLE,
            interfaces: Vec::new(),
            facts: None,
        }
    }

    /// The threshold at which its sample is small enough.
    pub(super) fn threshold(&mut self) -> u64 {
        self.sample.threshold_for(self.limits.n_packets)
    }

    #[inline]
    fn count(&mut self, frame: &Frame<'_>, packet: &Packet, seen: &ReadOutcome) {
        let index = frame.interface as usize;
        if index >= self.interfaces.len() {
            self.interfaces.resize(index + 1, None);
        }
        let Some(slot) = self.interfaces.get_mut(index) else {
            return;
        };
        let facts = slot.get_or_insert_with(|| InterfaceFacts::new(frame));
        facts.note_frame(frame, packet, seen);
    }

    #[inline]
    fn take(
        &mut self,
        frame: &Frame<'_>,
        whole: &Frame<'_>,
        packet: &Packet,
        seen: &ReadOutcome,
        reading: &Reading,
    ) {
        self.count(frame, packet, seen);
        // all of them: the prefix decides which ones are of the sample
        if let ReadOutcome::Packet(_) | ReadOutcome::Unsampled = seen {
            self.shorten_prefix(packet);
        }
        if let ReadOutcome::Packet(identity) = seen {
            self.consider(whole, packet, identity, reading);
        }
    }

    fn note_file(&mut self, capture: &Capture, fragments: FragmentCounts) {
        self.facts = Some(FileFacts {
            interfaces: std::mem::take(&mut self.interfaces),
            declared: capture.interfaces().to_vec(),
            format: capture.format(),
            digest_key: capture.digest_key(),
            damage: capture.damage().to_vec(),
            is_truncated: capture.is_truncated(),
            prefixes: self.prefixes,
            fragments,
        });
    }

    /// Takes what is known only at the end of the file.
    fn finish(&mut self, stamps: Option<&FileStamps>, stamper: &Stamper) {
        for facts in self.interfaces.iter_mut().flatten() {
            facts.order.finish();
        }
        for (index, facts) in self.interfaces.iter_mut().enumerate() {
            if let Some((facts, stamps)) = facts.as_mut().zip(stamps) {
                facts.stamps = StampFacts::of_interface(stamps, index, stamper.counts(index));
            }
        }
    }

    #[inline]
    fn shorten_prefix(&mut self, packet: &Packet) {
        if let Some(captured) = cut_bytes(packet)
            && let Some(prefix) = self.prefixes.get_mut(class(packet))
        {
            *prefix = captured.min(*prefix);
        }
    }

    #[inline]
    fn rank(&self, identity: &Identity) -> u64 {
        if self.is_translated {
            identity.key
        } else {
            identity.unaddressed_or_key()
        }
    }

    #[inline]
    fn consider(
        &mut self,
        frame: &Frame<'_>,
        packet: &Packet,
        identity: &Identity,
        reading: &Reading,
    ) {
        let rank = self.rank(identity);
        let content = identity.unaddressed.content;
        let keeps_content = identity.directed && identity.unaddressed.kind.keeps_content();
        let is_alike = keeps_content && content <= self.alike.threshold;
        if is_alike || rank <= self.sample.threshold {
            let row = SampledPacket::of(frame, packet, &reading.of_ends(packet, *identity));
            self.sample.consider(rank, &row);
            if keeps_content {
                self.alike.consider(content, &row);
            }
        }
        self.fragmented.note(packet, identity);
        let slot = self.interfaces.get_mut(frame.interface as usize);
        if let Some(facts) = slot.and_then(Option::as_mut) {
            facts.note_packet(frame, packet, identity);
        }
        // an error opens no flow
        let is_said = identity.directed && identity.unaddressed.kind != TranslationKind::Error;
        if is_said && identity.flow <= self.flow_threshold {
            self.note_flow(frame, packet, identity);
        }
    }

    #[inline]
    fn note_flow(&mut self, frame: &Frame<'_>, packet: &Packet, identity: &Identity) {
        let key = (identity.flow, frame.interface);
        if let Some(flow) = self.flows.get_mut(&key) {
            flow.note(frame, packet, identity);
            return;
        }
        let mut flow = FlowStart::before(frame, identity);
        flow.note(frame, packet, identity);
        self.flows.insert(key, flow);
        self.n_flows_of.add(frame.interface);
        let too_many = self.limits.n_flows.saturating_add(1);
        while self.n_flows_of.reaches(too_many, frame.interface) && self.flow_threshold > 0 {
            self.flow_threshold /= 2;
            let threshold = self.flow_threshold;
            self.flows.retain(|(key, _), _| *key <= threshold);
            self.n_flows_of =
                SelectedCounts::of(self.flows.keys().map(|(_, interface)| *interface));
        }
    }
}

impl FlowStart {
    /// Before its first packet is taken.
    fn before(frame: &Frame<'_>, identity: &Identity) -> Self {
        Self {
            flow: identity.flow,
            pair: identity.pair,
            first_t_ns: i64::MAX,
            first_toward: identity.toward,
            opens: false,
            interface: frame.interface,
            dialogue: Dialogue::default(),
        }
    }

    /// Takes its next packet.
    #[inline]
    fn note(&mut self, frame: &Frame<'_>, packet: &Packet, identity: &Identity) {
        self.dialogue.note(frame, packet, identity.toward);
        // files are not in order of time: a SYN tells wherever it stands, else the earliest does
        let t_ns = frame.time_ns();
        let is_earlier = t_ns < self.first_t_ns;
        if (identity.opens && !self.opens) || (is_earlier && identity.opens == self.opens) {
            self.first_t_ns = t_ns;
            self.first_toward = identity.toward;
            self.opens = identity.opens;
        }
    }
}

impl StampFacts {
    fn of_interface(stamps: &FileStamps, index: usize, counts: StampCounts) -> Option<Self> {
        let found = stamps.of(index).map(|found| Self::of(found, counts));
        found.or_else(|| Some(Self::of_hop(stamps.hop.as_ref()?, counts)))
    }

    fn of_hop(hop: &HopStamp, counts: StampCounts) -> Self {
        Self {
            name: hop.name(),
            resolution_ns: hop.resolution_ns(),
            timescale: "unknown",
            offset_ns: hop.base_ns,
            n_stamped: counts.stamped,
            n_damaged: counts.damaged,
            n_without: counts.without,
            is_used: true,
        }
    }

    fn of(found: &FoundStamp, counts: StampCounts) -> Self {
        Self {
            name: found.name(),
            resolution_ns: found.resolution_ns,
            timescale: found.timescale(),
            offset_ns: found.base_ns,
            n_stamped: counts.stamped,
            n_damaged: counts.damaged,
            n_without: counts.without,
            is_used: true,
        }
    }
}

impl SampledPacket {
    fn of(frame: &Frame<'_>, packet: &Packet, identity: &Identity) -> Self {
        Self {
            key: identity.key,
            unaddressed: identity.unaddressed_or_key(),
            content: identity.unaddressed.content,
            tuple_and_seq: identity.unaddressed.tuple_and_seq(),
            pair: identity.pair,
            flow: identity.flow,
            toward: identity.toward,
            directed: identity.directed,
            copy_tag: copy_tag(packet, frame.bytes),
            location: Location::of(frame, packet),
            t_ns: frame.time_ns(),
            tcp_bytes: if packet.protocol == TCP {
                packet.transport_wire_bytes
            } else {
                0
            },
        }
    }
}
