//! The same few packets, and the facts, of one file.

use super::hash_sample::{HashSample, SampleRank, SelectedCounts};
use super::interface_facts::FrameSort;
use super::{
    Dialogue, FileFacts, FlowStart, Fragmented, InterfaceFacts, SampledPacket, StampFacts,
};
use crate::base::error::{Error, Result};
use crate::base::hashed::Placing;
use crate::file::{Capture, ExtentStart, FileExtent, Frame, RecordPlace};
use crate::identity::TranslationKind;
use crate::identity::{Identity, Prefixes, TCP, WHOLE, class, copy_tag, cut_bytes};
use crate::location::Location;
use crate::reading::{Asked, History, Progress, ReadOutcome, Reading, read_on};
use crate::stamp::{FileStamps, FoundStamp, HopStamp, StampCounts, Stamper};
use crate::wire::Packet;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;

/// Packets selected by content are so much fewer: they only have to say that there is a translation.
const ALIKE_SHARE: usize = 2;

/// So many interfaces of a file are told apart, and of many files fewer, so that they have so many in all: a
/// little is kept of each, and hostile files have tens of thousands. More points are not compared anyway.
const MOST_INTERFACES: u32 = 4096;
const MOST_OF_MANY_FILES: u32 = 16_384;
const LEAST_OF_MANY_FILES: u32 = 64;

/// So many times as many packets are kept for what neighbours in a flow tell of each other.
const MORE_TIMES: usize = 2;

/// By flow and interface of the file.
pub(super) type SelectedFlows = HashMap<(u64, u32), FlowStart, Placing>;

/// As much is selected of each interface of a file.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "all are numbers")]
pub(super) struct Limits {
    n_packets: usize,
    n_flows: usize,
    n_interfaces: u32,
}

impl Limits {
    /// So few say something of a file.
    const LEAST_PACKETS: usize = 64;

    /// A point's `limit`, given of how many files the point is, and how many there are in all.
    pub(super) fn of_file(limit: usize, n_parts: usize, n_files: usize) -> Self {
        let share = limit / n_parts.max(1);
        let n_files = u32::try_from(n_files).unwrap_or(u32::MAX).max(1);
        Self {
            n_packets: share.max(Self::LEAST_PACKETS.min(limit)),
            n_flows: limit,
            n_interfaces: (MOST_OF_MANY_FILES / n_files)
                .clamp(LEAST_OF_MANY_FILES, MOST_INTERFACES),
        }
    }
}

impl Limits {
    #[inline]
    fn check(&self, frame: &Frame<'_>, path: &Path, at_byte: u64) -> Result<()> {
        if frame.interface < self.n_interfaces {
            return Ok(());
        }
        let text = format!(
            "frames of more than {} interfaces, those of all sections counted, while at most 512 capture points \
             are compared; join sections of the same interfaces (mergecap -I any -w FEWER.pcapng FILE)",
            self.n_interfaces
        );
        let path = path.into();
        Err(Error::Capture {
            path,
            at_byte,
            text,
        })
    }
}

/// What reading an extent came to.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct ExtentEnd {
    /// The file ends here.
    pub(super) is_over: bool,
    /// Something is damaged.
    pub(super) is_damaged: bool,
    /// What came before the extent, or comes behind it, could have changed what was found.
    pub(super) needs_whole: bool,
}

/// The selection of one file, or of an extent of it, in the making.
#[derive(Serialize, Deserialize)]
pub(super) struct Selection {
    limits: Limits,
    /// Where reading began and ended.
    pub(super) from: RecordPlace,
    pub(super) to: RecordPlace,
    pub(super) end: ExtentEnd,
    /// Places where reading may begin.
    places: Vec<RecordPlace>,
    is_divisible: bool,
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

/// Reads an extent of a file and selects.
pub(super) fn select(
    (file, path): (usize, &Path),
    extent: &FileExtent,
    reading: &Reading,
    limits: Limits,
    progress: &Progress,
) -> Result<Selection> {
    let mut selection = Selection::new(limits, reading.translations.is_some());
    let (mut packet, mut history) = (Packet::new(), reading.history(file));
    let mut capture = Capture::open_extent(path, extent)?;
    progress.advance(capture.bytes_read());
    let mut is_begun = extent.start != ExtentStart::File;
    (selection.from, selection.to) = (capture.place(), capture.place());
    while !capture.is_over() && capture.place().at_byte < extent.until_byte {
        let at_byte = capture.place().at_byte;
        let mark = (at_byte / reading.extent_bytes + 1).saturating_mul(reading.extent_bytes);
        let until_byte = if is_begun { mark } else { at_byte + 1 };
        capture.pause_at(until_byte.min(extent.until_byte));
        let is_settled = capture.is_settled();
        read_on(&mut capture, progress, |frame| {
            limits.check(frame, path, at_byte)?;
            selection.take_next((file, reading), frame, &mut history, &mut packet);
            Ok(())
        })?;
        if !is_begun {
            capture.note_known();
        }
        if is_begun || capture.place().at_byte >= mark {
            selection.close(&capture, is_settled);
        }
        is_begun = true;
    }
    selection.close(&capture, true);
    selection.finish(reading.stamps(file), &history.stamper);
    selection.note_file(&capture, &history);
    Ok(selection)
}

impl Selection {
    fn new(limits: Limits, is_translated: bool) -> Self {
        let rank = if is_translated {
            SampleRank::Key
        } else {
            SampleRank::Unaddressed
        };
        let begin = RecordPlace {
            at_byte: 0,
            n_before: 0,
        };
        Self {
            limits,
            from: begin,
            to: begin,
            end: ExtentEnd::default(),
            places: Vec::new(),
            is_divisible: true,
            flow_threshold: u64::MAX,
            is_translated,
            sample: HashSample::by(limits.n_packets * MORE_TIMES, rank),
            alike: HashSample::by(limits.n_packets / ALIKE_SHARE, SampleRank::Content),
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

    /// What is known of the interface of a frame.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    fn facts_of(&mut self, frame: &Frame<'_>) -> Option<&mut InterfaceFacts> {
        let index = frame.interface as usize;
        if index >= self.interfaces.len() {
            self.interfaces.resize(index + 1, None);
        }
        let slot = self.interfaces.get_mut(index)?;
        Some(slot.get_or_insert_with(|| InterfaceFacts::new(frame)))
    }

    /// Takes the next frame of a file.
    #[inline]
    fn take_next(
        &mut self,
        (file, reading): (usize, &Reading),
        frame: &mut Frame<'_>,
        history: &mut History,
        packet: &mut Packet,
    ) {
        match reading.see_plain(Asked::Packet, frame, history, packet) {
            Ok(identity) => self.take_packet(frame, packet, &identity, reading),
            Err(time) => {
                let (mut seen, whole) =
                    reading.see_other(Asked::Packet, time, frame, history, packet);
                reading.translate(file, frame, &mut seen);
                self.take(frame, &whole, packet, &seen, reading);
            }
        }
    }

    /// Takes the next frame, which is a packet that needs nothing but itself.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    fn take_packet(
        &mut self,
        frame: &Frame<'_>,
        packet: &Packet,
        identity: &Identity,
        reading: &Reading,
    ) {
        if let Some(facts) = self.facts_of(frame) {
            facts.note_frame(frame, packet, FrameSort::Whole);
        }
        self.shorten_prefix(packet);
        self.consider(frame, packet, identity, reading);
    }

    fn take(
        &mut self,
        frame: &Frame<'_>,
        whole: &Frame<'_>,
        packet: &Packet,
        seen: &ReadOutcome,
        reading: &Reading,
    ) {
        if let Some(facts) = self.facts_of(frame) {
            facts.note_frame(frame, packet, FrameSort::of(seen));
        }
        // all of them: the prefix decides which ones are of the sample
        if let ReadOutcome::Packet(_) | ReadOutcome::Unsampled = seen {
            self.shorten_prefix(packet);
        }
        if let ReadOutcome::Packet(identity) = seen {
            self.consider(whole, packet, identity, reading);
        }
    }

    /// Ends a stretch of the file, which is the same however the file is divided: what follows it starts anew.
    fn close(&mut self, capture: &Capture, was_settled: bool) {
        for facts in self.interfaces.iter_mut().flatten() {
            facts.close();
        }
        for flow in self.flows.values_mut() {
            flow.dialogue.close();
        }
        let begun = std::mem::replace(&mut self.to, capture.place());
        if begun.at_byte > self.from.at_byte && self.to.n_before > begun.n_before {
            self.places.push(begun);
            self.is_divisible &= was_settled;
        }
    }

    fn note_file(&mut self, capture: &Capture, history: &History) {
        let is_free = history.fragments.is_untouched() && history.stamper.is_idle();
        let damaged_from = capture.new_damage().iter().map(|one| one.at_byte).min();
        let is_behind = |last: &RecordPlace| damaged_from.is_none_or(|byte| byte > last.at_byte);
        self.is_divisible &=
            is_free && capture.is_seekable() && self.places.last().is_none_or(is_behind);
        let mut facts = self.interfaces.iter().flatten();
        let needs_whole = !is_free
            || !capture.is_seekable()
            || self.fragmented.is_full()
            || facts.any(InterfaceFacts::needs_what_came_before)
            || self.ends_unsettled(capture);
        self.end = ExtentEnd {
            is_over: capture.is_over(),
            is_damaged: damaged_from.is_some(),
            needs_whole,
        };
        let places = std::mem::take(&mut self.places);
        self.facts = Some(FileFacts {
            places: if self.is_divisible {
                places
            } else {
                Vec::new()
            },
            interfaces: std::mem::take(&mut self.interfaces),
            declared: capture.interfaces().to_vec(),
            format: capture.format().into(),
            digest_key: capture.digest_key(),
            damage: capture.damage().to_vec(),
            is_truncated: capture.is_truncated(),
            prefixes: self.prefixes,
            fragments: history.fragments.tally(),
        });
    }

    /// Whether the end of the extent tells something that others have to know, or its beginning might.
    fn ends_unsettled(&self, capture: &Capture) -> bool {
        if capture.is_over() {
            let mut damage = capture.new_damage().iter();
            return capture.has_new_interfaces()
                || damage.any(|one| one.at_byte <= self.from.at_byte);
        }
        let mut interfaces = capture.interfaces().iter();
        !capture.is_settled() || interfaces.any(|one| one.n_dropped.is_some())
    }

    /// Adds that of the extent that comes next.
    ///
    /// # Errors
    /// It does not begin where this one ends.
    pub(super) fn join(&mut self, later: Self) -> Result<()> {
        if self.to.at_byte != later.from.at_byte {
            let (here, there) = (self.to.at_byte, later.from.at_byte);
            let text = format!("an extent ends at byte {here}, and the next begins at {there}");
            return Err(Error::Bug(text));
        }
        let n_before = self.to.n_before;
        // what was sought has no numbers of its own
        let n_more = n_before.saturating_sub(later.from.n_before);
        let shifted = |place: RecordPlace| RecordPlace {
            n_before: place.n_before + n_more,
            ..place
        };
        self.join_flows(later.flows, later.flow_threshold);
        self.sample.join(later.sample);
        self.alike.join(later.alike);
        self.fragmented.join(&later.fragmented);
        for (prefix, other) in self.prefixes.iter_mut().zip(later.prefixes) {
            *prefix = other.min(*prefix);
        }
        self.is_divisible &= later.is_divisible;
        let is_empty = later.to.n_before == later.from.n_before;
        let boundary = (!is_empty).then_some(self.to);
        self.to = shifted(later.to);
        if let Some((facts, more)) = self.facts.as_mut().zip(later.facts) {
            let between = boundary
                .into_iter()
                .chain(more.places.iter().copied().map(shifted));
            facts.places.extend(between.filter(|_| self.is_divisible));
            facts.join(more, n_more);
        }
        if let Some(facts) = self.facts.as_mut().filter(|_| !self.is_divisible) {
            facts.places.clear();
        }
        Ok(())
    }

    fn join_flows(&mut self, later: SelectedFlows, threshold: u64) {
        self.flow_threshold = self.flow_threshold.min(threshold);
        for (key, flow) in later {
            self.flows
                .entry(key)
                .and_modify(|known| known.join(&flow))
                .or_insert(flow);
        }
        self.keep_flows();
        let most = self.limits.n_flows;
        while self.n_flows_of.any_reaches(most.saturating_add(1)) && self.flow_threshold > 0 {
            self.flow_threshold /= 2;
            self.keep_flows();
        }
    }

    /// Forgets flows above the threshold.
    fn keep_flows(&mut self) {
        let threshold = self.flow_threshold;
        self.flows.retain(|(key, _), _| *key <= threshold);
        self.n_flows_of = SelectedCounts::of(self.flows.keys().map(|(_, interface)| *interface));
    }

    /// Takes what is known only at the end of the file.
    fn finish(&mut self, stamps: Option<&FileStamps>, stamper: &Stamper) {
        self.sample.finish();
        self.alike.finish();
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

    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
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
            let key = reading.key_of_ends(packet, identity.key);
            let row = SampledPacket::of(frame, packet, key, identity);
            self.sample.consider(rank, &row);
            if keeps_content {
                self.alike.consider(content, &row);
            }
        }
        let t_ns = frame.time_ns();
        self.fragmented.note(packet, identity);
        let slot = self.interfaces.get_mut(frame.interface as usize);
        if let Some(facts) = slot.and_then(Option::as_mut) {
            facts.note_packet(frame, t_ns, packet, identity);
        }
        // an error opens no flow
        let is_said = identity.directed && identity.unaddressed.kind != TranslationKind::Error;
        if is_said && identity.flow <= self.flow_threshold {
            self.note_flow(frame, t_ns, packet, identity);
        }
    }

    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    fn note_flow(&mut self, frame: &Frame<'_>, t_ns: i64, packet: &Packet, identity: &Identity) {
        let key = (identity.flow, frame.interface);
        if let Some(flow) = self.flows.get_mut(&key) {
            flow.note(frame.bytes, t_ns, packet, identity);
            return;
        }
        let mut flow = FlowStart::before(frame, identity);
        flow.note(frame.bytes, t_ns, packet, identity);
        self.flows.insert(key, flow);
        self.n_flows_of.add(frame.interface);
        let too_many = self.limits.n_flows.saturating_add(1);
        while self.n_flows_of.reaches(too_many, frame.interface) && self.flow_threshold > 0 {
            self.flow_threshold /= 2;
            self.keep_flows();
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
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    fn note(&mut self, bytes: &[u8], t_ns: i64, packet: &Packet, identity: &Identity) {
        self.dialogue.note(bytes, t_ns, packet, identity.toward);
        self.note_first(t_ns, identity.toward, identity.opens);
    }

    /// Files are not in order of time: a SYN tells wherever it stands, else the earliest does.
    #[inline]
    fn note_first(&mut self, t_ns: i64, toward: bool, opens: bool) {
        let is_earlier = t_ns < self.first_t_ns;
        if (opens && !self.opens) || (is_earlier && opens == self.opens) {
            self.first_t_ns = t_ns;
            self.first_toward = toward;
            self.opens = opens;
        }
    }

    /// Takes what an extent that comes later showed of it.
    fn join(&mut self, later: &Self) {
        self.dialogue.join(&later.dialogue);
        self.note_first(later.first_t_ns, later.first_toward, later.opens);
    }
}

impl FileFacts {
    /// Adds those of the extent that comes next, but for places.
    fn join(&mut self, later: Self, n_before: u64) {
        let n_interfaces = self.interfaces.len().max(later.interfaces.len());
        self.interfaces.resize(n_interfaces, None);
        for (ours, theirs) in self.interfaces.iter_mut().zip(later.interfaces) {
            match (ours.as_mut(), theirs) {
                (Some(facts), Some(more)) => facts.join(more, n_before),
                (None, Some(more)) => *ours = Some(more.behind(n_before)),
                (_, None) => {}
            }
        }
        for (prefix, other) in self.prefixes.iter_mut().zip(later.prefixes) {
            *prefix = other.min(*prefix);
        }
        // what is known at the end of the file
        self.declared = later.declared;
        self.damage = later.damage;
        self.is_truncated = later.is_truncated;
    }
}

impl StampFacts {
    fn of_interface(stamps: &FileStamps, index: usize, counts: StampCounts) -> Option<Self> {
        let found = stamps.of(index).map(|found| Self::of(found, counts));
        found.or_else(|| Some(Self::of_hop(stamps.hop.as_ref()?, counts)))
    }

    fn of_hop(hop: &HopStamp, counts: StampCounts) -> Self {
        Self {
            name: hop.name().into(),
            resolution_ns: hop.resolution_ns(),
            timescale: "unknown".into(),
            offset_ns: hop.base_ns,
            n_stamped: counts.stamped,
            n_damaged: counts.damaged,
            n_without: counts.without,
            is_used: true,
        }
    }

    fn of(found: &FoundStamp, counts: StampCounts) -> Self {
        Self {
            name: found.name().into(),
            resolution_ns: found.resolution_ns,
            timescale: found.timescale().into(),
            offset_ns: found.base_ns,
            n_stamped: counts.stamped,
            n_damaged: counts.damaged,
            n_without: counts.without,
            is_used: true,
        }
    }
}

impl SampledPacket {
    fn of(frame: &Frame<'_>, packet: &Packet, key: u64, identity: &Identity) -> Self {
        Self {
            key,
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
