//! Looks for stamps while a file is still being written: nothing is read twice, so what stands before
//! the evidence keeps the file's time.

use super::found::FileStamps;
use super::key::Key;
use super::search::{N_LOOKED_AT, StampCandidates, slot};
use crate::file::Frame;
use crate::wire::{Decoder, Packet};

/// So many frames before the first decision, then twice as many before each further one.
const LEAST_FRAMES: u64 = 8;

/// What the first frames of a file have shown so far.
#[derive(Default)]
pub struct LiveSearch {
    seen: Vec<StampCandidates>,
    n_frames: u64,
    packet: Packet,
}

impl LiveSearch {
    /// Takes the next frame into account; the stamps, once there is evidence.
    pub fn look(&mut self, decoder: &Decoder, frame: &Frame<'_>) -> Option<FileStamps> {
        if self.n_frames >= N_LOOKED_AT {
            return None;
        }
        self.n_frames += 1;
        decoder.decode_frame(frame, &mut self.packet);
        let of_interface = slot(&mut self.seen, frame.interface as usize)?;
        of_interface.count(frame, &self.packet);
        if Key::of(frame, &self.packet).is_none() {
            of_interface.read(frame, &self.packet, |_| true);
        }
        let is_due = self.n_frames >= LEAST_FRAMES && self.n_frames.is_power_of_two();
        let found = || FileStamps {
            interfaces: self.seen.iter().map(|one| one.best(None)).collect(),
            last_bit_bps: None,
            hop: None,
        };
        is_due.then(found).filter(|found| !found.is_empty())
    }
}
