//! The frames of one capture point, aligned and in order.

use std::path::PathBuf;

use super::MergePoint;
use super::sorter::{Sorter, Waiting};
use crate::error::Result;
use crate::file::{Capture, Frame, NO_LINK};
use crate::instant;

/// What a point without any frame or interface is taken for: Ethernet.
const DEFAULT_LINK: u16 = 1;

/// A capture point being read.
pub(super) struct Source<'a> {
    point: &'a MergePoint,
    later_files: std::slice::Iter<'a, PathBuf>,
    capture: Option<Capture>,
    sorter: Sorter,
    last_ns: i64,
    first_link: Option<u16>,
}

impl<'a> Source<'a> {
    pub(super) fn open(point: &'a MergePoint) -> Result<Self> {
        let mut source = Self {
            point,
            later_files: point.files.iter(),
            capture: None,
            sorter: Sorter::default(),
            last_ns: 0,
            first_link: None,
        };
        source.fill()?;
        Ok(source)
    }

    pub(super) fn name(&self) -> &'a str {
        &self.point.name
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
    pub(super) fn next_frame(&mut self) -> Result<Option<Waiting>> {
        let frame = self.sorter.pop();
        self.fill()?;
        Ok(frame)
    }

    /// Reads on until the sorter is full or there is nothing left.
    fn fill(&mut self) -> Result<()> {
        while !self.sorter.is_full() {
            let Some(capture) = &mut self.capture else {
                let Some(path) = self.later_files.next() else {
                    break;
                };
                self.capture = Some(Capture::open(path)?);
                continue;
            };
            let Some(frame) = capture.next_frame() else {
                self.end_file();
                continue;
            };
            if frame.link == NO_LINK || self.point.interface.is_some_and(|id| id != frame.interface)
            {
                continue;
            }
            self.last_ns = aligned_ns(&self.point.clock, &frame).unwrap_or(self.last_ns);
            self.first_link.get_or_insert(frame.link);
            self.sorter.push(self.last_ns, &frame);
        }
        Ok(())
    }

    /// An empty file still knows its link type.
    fn end_file(&mut self) {
        let interfaces = self.capture.as_ref().map_or(&[][..], Capture::interfaces);
        let wanted = interfaces.get(self.point.interface.unwrap_or(0) as usize);
        self.first_link = self.first_link.or(wanted.map(|found| found.link));
        self.capture = None;
    }
}

/// pcapng has no negative times unless an offset says so, which few readers heed.
fn aligned_ns(clock: &[(i64, i64)], frame: &Frame<'_>) -> Option<i64> {
    let offset_ns = instant::offset_ns(clock, frame.t_ns);
    frame
        .has_time
        .then(|| frame.t_ns.saturating_sub(offset_ns).max(0))
}
