//! Which frames of a file are written: those that a run matched nowhere, or that were lost, each with
//! the segment it was lost on; or all, each with what was found of it.

use super::findings::{RunFiles, RunReader};
use crate::base::error::Result;
use crate::matching::Status;
use crate::matching::loss::lost_packets::{LostPacket, ToldBy, read_lost};
use crate::matching::outcome::Outcomes;
use std::path::PathBuf;
use std::sync::Arc;

/// Which frames of a file are meant, by what a run found; the number is the file's index there.
#[derive(Clone, Debug)]
pub enum FrameSelection {
    /// Those that it matched nowhere: where its outcomes are.
    Unmatched(PathBuf, usize),
    /// Those that were lost: its list of them, and the names of the points.
    Lost(PathBuf, Arc<[String]>, usize),
    /// All of them, each with what was found of it; the names of the points.
    All(RunFiles, Arc<[String]>),
}

/// Frames of a file, selected one after the other.
pub(super) enum SelectedFrames {
    Unmatched(Outcomes),
    Lost(LostFrames),
    All(RunReader, Arc<[String]>),
}

impl SelectedFrames {
    pub(super) fn open(selection: &FrameSelection) -> Result<Self> {
        Ok(match selection {
            FrameSelection::Unmatched(folder, file) => {
                Self::Unmatched(Outcomes::open(folder, *file)?)
            }
            FrameSelection::Lost(list, names, file) => Self::Lost(LostFrames {
                list: Box::new(read_lost(list)?),
                names: Arc::clone(names),
                file: *file,
                next: None,
            }),
            FrameSelection::All(run, names) => Self::All(RunReader::open(run)?, Arc::clone(names)),
        })
    }

    /// What is to be said of the next frame, whose number this is; `None`: it is not selected.
    pub(super) fn take(&mut self, number: u64) -> Result<Option<String>> {
        match self {
            Self::Unmatched(outcomes) => {
                let told = outcomes.next_outcome();
                let is_unmatched = told.is_some_and(|(one, _)| one == Status::Unmatched as u8);
                Ok(is_unmatched.then(String::new))
            }
            Self::Lost(lost) => lost.take(number),
            Self::All(run, names) => {
                let found = run.next_frame();
                Ok(Some(
                    found.map_or_else(String::new, |found| found.comment(names)),
                ))
            }
        }
    }
}

/// The lost frames of a file.
pub(super) struct LostFrames {
    list: Box<dyn Iterator<Item = Result<LostPacket>>>,
    names: Arc<[String]>,
    file: usize,
    /// What was read of the list beyond the frames that were asked for.
    next: Option<LostPacket>,
}

impl LostFrames {
    fn take(&mut self, number: u64) -> Result<Option<String>> {
        let asked = (self.file, i64::try_from(number).unwrap_or(i64::MAX));
        let mut comment: Option<String> = None;
        loop {
            let next = match self.next.take() {
                None => self.list.next().transpose()?,
                held => held,
            };
            let Some(lost) = next else {
                return Ok(comment);
            };
            let at = (lost.frame.file(), lost.frame.number());
            if at > asked {
                self.next = Some(lost);
                return Ok(comment);
            }
            if at == asked {
                let told = self.told(&lost);
                let comment = comment.get_or_insert_default();
                let joint = if comment.is_empty() { "lost" } else { "; or" };
                comment.extend([joint, " ", &told]);
            }
        }
    }

    /// The segment that a packet was lost on, by the names of its ends, and how sure that is.
    fn told(&self, lost: &LostPacket) -> String {
        let (up, down, is_reverse) = lost.segment;
        let name = |point: u16| {
            self.names
                .get(usize::from(point))
                .map_or("", String::as_str)
        };
        let direction = if is_reverse { "reverse" } else { "forward" };
        let (up, down) = (name(up), name(down));
        let mut text = format!("between {up} and {down}, {direction}");
        if lost.weight < 1.0 {
            text = format!("{text}, weight {:.3}", lost.weight);
        }
        if lost.told_by == ToldBy::EqualPackets {
            text += ", this packet or one that is equal to it";
        }
        text
    }
}
