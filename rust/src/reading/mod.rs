//! Reading: one frame to one identified packet, the same way in every pass.
//!
//! A frame gets its time ([`crate::stamp`]), tunnel packets in fragments are put together
//! ([`fragments`]), [`filter`] leaves out what the user did not ask for, [`tenants`] tells apart flows with
//! the same addresses, and [`translations`] gives a flow the addresses that all points agree on. [`ReadOutcome`] is what became of it.

pub mod filter;
pub mod fragments;
mod inserted;
mod passes;
mod progress;
pub mod tenants;
pub mod translations;

pub use passes::{for_each_file, read_frames, read_on};
pub use progress::Progress;

use crate::base::error::Result;
use crate::base::hash::{Seed, fold};
use crate::file::Frame;
use crate::identity::{Identity, Prefixes, WHOLE, ends_digest, identify, recognise};
use crate::stamp::{self, FileStamps, Stamped, Stamper, Times};
use crate::wire::{Decoder, Packet, Predictions};
use filter::Filter;
use fragments::{Fragments, Reassembly};
use std::path::PathBuf;
use std::sync::Arc;
use tenants::Tenants;
use translations::Translations;

/// How frames are read: shared by all threads of a pass.
pub struct Reading {
    /// The layers.
    pub decoder: Decoder,
    /// Only packets whose innermost packet passes.
    pub filter: Option<Filter>,
    /// Only frames that pass as captured.
    pub filter_outer: Option<Filter>,
    /// Layer-4 bytes that enter identities.
    pub prefixes: Prefixes,
    /// What identities begin with.
    pub seed: Seed,
    /// Keep packets whose identity is 0 modulo this.
    pub one_in: u64,
    /// Whose packets a tunnel has, where tenants have the same addresses; `None` if none have.
    pub tenants: Option<Arc<Tenants>>,
    /// Flows that are known by other addresses elsewhere; `None` if there are none.
    pub translations: Option<Arc<Translations>>,
    /// Whose times frames have.
    pub times: Times,
    /// Every so many bytes of a file the survey closes what is counted from frame to frame, so that what it
    /// finds is the same wherever the file is divided.
    pub extent_bytes: u64,
}

/// Bytes after which a file may be divided.
pub const EXTENT_BYTES: u64 = 64 << 20;

/// What the frames of a file that were read tell of the next one, in a pass over it.
#[derive(Default)]
pub struct History {
    file: usize,
    /// Every packet is taken, and is what it looks like.
    takes_all: bool,
    /// The stamps.
    pub stamper: Stamper,
    /// Parts of tunnel packets.
    pub fragments: Fragments,
    predictions: Predictions,
    /// The frame without what telemetry inserted, where it inserted something.
    sent: Vec<u8>,
}

/// What is asked of a packet's identity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// What [`recognise`] says; a key that is compared needs [`Reading::key_of_ends`] too.
    Packet,
    /// All that the matching needs.
    Matching,
}

/// What a pass makes of one frame.
pub enum ReadOutcome {
    /// A packet with an identity.
    Packet(Identity),
    /// A frame that could not be decoded to its innermost packet.
    Undecoded,
    /// A packet whose time is not known: it lacks the stamp that the others of its interface have.
    Untimed,
    /// A part of a packet that another frame completes, or should have.
    Part,
    /// Not among those the user asked for.
    Excluded,
    /// One of those, but not of the sample.
    Unsampled,
}

impl Reading {
    /// Reads everything: no filter, whole identities.
    #[must_use]
    pub fn everything(decoder: Decoder) -> Self {
        Self {
            decoder,
            filter: None,
            filter_outer: None,
            prefixes: WHOLE,
            seed: Seed::PUBLIC,
            one_in: 1,
            tenants: None,
            translations: None,
            times: Times::default(),
            extent_bytes: EXTENT_BYTES,
        }
    }

    /// Finds the stamps of all files, unless they are known; from then on [`Reading::history`] has
    /// them.
    ///
    /// # Errors
    /// A file cannot be opened, or is no capture.
    pub fn find_stamps(&mut self, files: &[PathBuf], progress: &Progress) -> Result<()> {
        if let Times::Search(sought) = &self.times {
            let found = for_each_file(files, progress, |file, path| {
                let sought = sought.get(file).cloned().unwrap_or_default();
                stamp::find(path, &self.decoder, &sought)
            })?;
            self.times = Times::Known(found);
        }
        Ok(())
    }

    /// What is known of a file's stamps.
    #[must_use]
    pub fn stamps(&self, file: usize) -> Option<&FileStamps> {
        match &self.times {
            Times::Known(files) => files.get(file),
            Times::Search(_) => None,
        }
    }

    /// What is known of the stamps of all files.
    #[must_use]
    pub fn all_stamps(&self) -> Vec<FileStamps> {
        match &self.times {
            Times::Known(files) => files.clone(),
            Times::Search(_) => Vec::new(),
        }
    }

    /// Uses the file's time for an interface after all, unless its stamp was named; true if so.
    pub fn forget_stamps(&mut self, file: usize, interface: usize) -> bool {
        match &mut self.times {
            Times::Known(files) => files
                .get_mut(file)
                .is_some_and(|stamps| stamps.forget(interface)),
            Times::Search(_) => false,
        }
    }

    /// Before a pass over a file.
    #[must_use]
    pub fn history(&self, file: usize) -> History {
        History {
            file,
            takes_all: self.takes_all(),
            stamper: self.stamps(file).map(Stamper::new).unwrap_or_default(),
            ..History::default()
        }
    }

    /// Decodes a frame into `packet`, gives it its time, and identifies it. The frame that comes back
    /// is the one that the packet's positions are in: it is another where a packet was put together
    /// of fragments.
    pub fn see<'a, 'f: 'a>(
        &self,
        how: Asked,
        frame: &mut Frame<'f>,
        history: &'a mut History,
        packet: &mut Packet,
    ) -> (ReadOutcome, Frame<'a>) {
        match self.see_plain(how, frame, history, packet) {
            Ok(identity) => (ReadOutcome::Packet(identity), *frame),
            Err(time) => self.see_other(how, time, frame, history, packet),
        }
    }

    /// The same of a frame that is like most: its headers are like those of one before, it has the file's
    /// time, and it is neither put together nor chosen. Of any other it only tells what its time is, once
    /// it is decoded: [`Self::see_other`] goes on.
    ///
    /// # Errors
    /// It is another.
    #[expect(
        clippy::inline_always,
        reason = "what it gives is long: it is built where it is read"
    )]
    #[inline(always)]
    pub fn see_plain(
        &self,
        how: Asked,
        frame: &mut Frame<'_>,
        history: &mut History,
        packet: &mut Packet,
    ) -> std::result::Result<Identity, Stamped> {
        let is_like_one_before = self
            .decoder
            .decode_next(frame, &mut history.predictions, packet);
        let time = history.stamper.stamp(frame, packet, &self.decoder);
        let is_plain = is_like_one_before
            && time == Stamped::ByFile
            && frame.has_time
            && packet.inserted.is_none()
            && history.takes_all;
        if !is_plain {
            return Err(time);
        }
        Ok(self.identity(how, packet, frame.bytes))
    }

    fn takes_all(&self) -> bool {
        self.one_in <= 1
            && self.filter.is_none()
            && self.filter_outer.is_none()
            && self.tenants.is_none()
            && self.translations.is_none()
    }

    /// Goes on with a frame that is not like most.
    #[inline(never)]
    pub fn see_other<'a, 'f: 'a>(
        &self,
        how: Asked,
        time: Stamped,
        frame: &mut Frame<'f>,
        history: &'a mut History,
        packet: &mut Packet,
    ) -> (ReadOutcome, Frame<'a>) {
        let file = history.file;
        if time == Stamped::Elsewhere {
            return (ReadOutcome::Excluded, *frame);
        }
        if !packet.is_in_parts() {
            if let Some(found) = packet.inserted
                && let Some(sent) = inserted::without(frame, packet, found, &mut history.sent)
            {
                self.decode_sent(&sent, packet);
                return (self.judge((file, how), frame, &sent, packet, time), sent);
            }
            return (self.judge((file, how), frame, frame, packet, time), *frame);
        }
        let decode = |whole: &Frame<'_>, packet: &mut Packet| {
            self.decoder.decode_frame(whole, packet);
        };
        match history.fragments.take(frame, packet, decode) {
            Reassembly::Own => (self.judge((file, how), frame, frame, packet, time), *frame),
            Reassembly::Part => (self.judge_part(frame, packet), *frame),
            Reassembly::Whole => {
                let whole = history.fragments.whole(frame);
                (self.judge((file, how), frame, &whole, packet, time), whole)
            }
        }
    }

    /// Decodes a frame without what telemetry inserted, of which the packet still tells.
    #[cold]
    fn decode_sent(&self, sent: &Frame<'_>, packet: &mut Packet) {
        let telemetry = packet.telemetry;
        self.decoder.decode_frame(sent, packet);
        packet.telemetry = packet.telemetry.or(telemetry);
    }

    fn judge(
        &self,
        (file, how): (usize, Asked),
        frame: &Frame<'_>,
        whole: &Frame<'_>,
        packet: &Packet,
        time: Stamped,
    ) -> ReadOutcome {
        if !self.wants(frame, whole, packet) {
            return ReadOutcome::Excluded;
        }
        if packet.stop.is_some() {
            return ReadOutcome::Undecoded;
        }
        if !frame.has_time {
            return match time {
                Stamped::ByFile => ReadOutcome::Undecoded,
                _ => ReadOutcome::Untimed,
            };
        }
        let mut identity = self.identity(how, packet, whole.bytes);
        self.tell_tenant(file, frame, packet, &mut identity);
        if self.one_in > 1 && !self.is_sampled(packet, whole.bytes) {
            return ReadOutcome::Unsampled;
        }
        ReadOutcome::Packet(identity)
    }

    #[expect(clippy::inline_always, reason = "likewise")]
    #[inline(always)]
    fn identity(&self, how: Asked, packet: &Packet, bytes: &[u8]) -> Identity {
        match how {
            Asked::Packet => recognise(packet, bytes, &self.prefixes, self.seed),
            Asked::Matching => {
                let tells_ends = self.translations.is_none();
                identify(packet, bytes, &self.prefixes, self.seed, tells_ends)
            }
        }
    }

    /// The key of an identity that tells apart flows of one name, see [`ends_digest`].
    #[must_use]
    #[inline]
    pub fn key_of_ends(&self, packet: &Packet, key: u64) -> u64 {
        if self.translations.is_some() || packet.ip_version == 0 {
            return key;
        }
        fold(key, ends_digest(packet, &self.prefixes, self.seed))
    }

    /// Makes a packet one of its tenant's, where several have the same addresses.
    fn tell_tenant(&self, file: usize, frame: &Frame<'_>, packet: &Packet, seen: &mut Identity) {
        if let Some(tenants) = &self.tenants {
            tenants.tell(file, (frame.interface, packet.tunnel_id), seen);
        }
    }

    /// Whether a packet is of the sample, which is the same in every run.
    fn is_sampled(&self, packet: &Packet, bytes: &[u8]) -> bool {
        let identity = recognise(packet, bytes, &self.prefixes, Seed::PUBLIC);
        identity.unaddressed_or_key().is_multiple_of(self.one_in)
    }

    /// Gives a packet the flow that all points agree on.
    #[inline]
    pub fn translate(&self, file: usize, frame: &Frame<'_>, seen: &mut ReadOutcome) {
        if let (Some(translations), ReadOutcome::Packet(identity)) = (&self.translations, seen) {
            translations.apply(file, frame.interface, frame.time_ns(), identity);
        }
    }

    /// Of which packet it is a part is not known yet, nor whether that one is wanted.
    #[cold]
    fn judge_part(&self, frame: &Frame<'_>, packet: &Packet) -> ReadOutcome {
        if self.one_in > 1 || !self.wants(frame, frame, packet) {
            ReadOutcome::Excluded
        } else {
            ReadOutcome::Part
        }
    }

    fn wants(&self, frame: &Frame<'_>, whole: &Frame<'_>, packet: &Packet) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.passes_inner(whole, packet))
            && self
                .filter_outer
                .as_ref()
                .is_none_or(|filter| filter.passes_outer(frame))
    }
}
