//! The frames of one capture point, aligned and in order.

use super::selection::SelectedFrames;
use super::sorter::{Sorter, WaitingFrame};
use super::{MergeFile, MergePoint};
use crate::base::error::Result;
use crate::base::instant;
use crate::file::{Capture, Frame, HostName, NO_LINK};
use crate::location::part_of;
use crate::stamp::{Stamped, Stamper};
use crate::wire::{Decoder, Packet};

/// What a point without any frame or interface is taken for: Ethernet.
const DEFAULT_LINK: u16 = 1;

/// A capture point being read.
pub(super) struct PointFrames<'a> {
    point: &'a MergePoint,
    decoder: &'a Decoder,
    later_files: std::slice::Iter<'a, MergeFile>,
    capture: Option<(Capture, &'a MergeFile, Option<SelectedFrames>)>,
    stamper: Stamper,
    packet: Packet,
    sorter: Sorter,
    last_ns: i64,
    first_link: Option<u16>,
    names: Vec<HostName>,
}

impl<'a> PointFrames<'a> {
    pub(super) fn open(point: &'a MergePoint, decoder: &'a Decoder) -> Result<Self> {
        let mut source = Self {
            point,
            decoder,
            later_files: point.files.iter(),
            stamper: Stamper::default(),
            capture: None,
            packet: Packet::new(),
            sorter: Sorter::default(),
            last_ns: 0,
            first_link: None,
            names: Vec::new(),
        };
        source.fill()?;
        Ok(source)
    }

    /// The names of addresses in the files that were read to their end.
    pub(super) fn take_names(&mut self) -> Vec<HostName> {
        std::mem::take(&mut self.names)
    }

    /// The link type that the point has first of all.
    pub(super) fn first_link(&self) -> u16 {
        self.first_link.unwrap_or(DEFAULT_LINK)
    }

    /// When the next frame is.
    pub(super) fn next_ns(&self) -> Option<i64> {
        self.sorter.next_ns()
    }

    /// The next frame.
    pub(super) fn next_frame(&mut self) -> Result<Option<WaitingFrame>> {
        let frame = self.sorter.pop();
        self.fill()?;
        Ok(frame)
    }

    /// Reads on until the sorter is full or there is nothing left.
    fn fill(&mut self) -> Result<()> {
        while !self.sorter.is_full() {
            let Some((capture, file, selected)) = &mut self.capture else {
                let Some(file) = self.later_files.next() else {
                    break;
                };
                self.stamper = Stamper::new(&file.stamps);
                let selected = file.only.as_ref().map(SelectedFrames::open).transpose()?;
                self.capture = Some((Capture::open(&file.path)?, file, selected));
                continue;
            };
            let Some(mut frame) = capture.next_frame() else {
                self.end_file();
                continue;
            };
            let comment = match selected {
                Some(selected) => selected.take(frame.number)?,
                None => Some(String::new()),
            };
            let Some(comment) = comment else { continue };
            if file.tree.is_some() || !self.stamper.is_idle() {
                self.decoder.decode_frame(&frame, &mut self.packet);
            }
            // the stamps of all of them: what they usually differ from the file's time is followed
            let stamped = self
                .stamper
                .stamp(&mut frame, &mut self.packet, self.decoder);
            let is_elsewhere = stamped == Stamped::Elsewhere;
            if is_elsewhere || frame.link == NO_LINK || !is_of(file, &frame, &self.packet) {
                continue;
            }
            self.last_ns = aligned_ns(&self.point.clock, &frame).unwrap_or(self.last_ns);
            self.first_link.get_or_insert(frame.link);
            self.sorter.push(self.last_ns, &frame, comment);
        }
        Ok(())
    }

    /// An empty file still knows its link type.
    fn end_file(&mut self) {
        if let Some((capture, file, _)) = self.capture.take() {
            self.names.extend_from_slice(capture.names());
            let interfaces = capture.interfaces();
            let interface = file.part.filter(|_| file.tree.is_none()).unwrap_or(0);
            let wanted = interfaces.get(interface as usize);
            self.first_link = self.first_link.or(wanted.map(|found| found.link));
        }
    }
}

/// Whether a frame is the point's; it is decoded where that takes more than its interface.
fn is_of(file: &MergeFile, frame: &Frame<'_>, packet: &Packet) -> bool {
    file.part
        .is_none_or(|part| part == part_of(file.tree.as_deref(), frame, packet))
}

/// pcapng has no negative times unless an offset says so, which few readers heed.
fn aligned_ns(clock: &[(i64, i64)], frame: &Frame<'_>) -> Option<i64> {
    let t_ns = frame.time_ns();
    let offset_ns = instant::offset_ns(clock, t_ns);
    frame
        .has_time
        .then(|| t_ns.saturating_sub(offset_ns).max(0))
}
