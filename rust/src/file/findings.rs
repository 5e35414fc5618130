//! What reading finds beside frames.

use std::io::ErrorKind;

use super::input::Input;
use super::{Damage, HostName, Interface};

/// What reading has found so far beside frames.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) interfaces: Vec<Interface>,
    pub(super) damage: Vec<Damage>,
    pub(super) is_truncated: bool,
    pub(super) names: Vec<HostName>,
    pub(super) digest_key: Option<u64>,
    n_frames: u64,
}

/// As many damages are kept; a file of nothing else must not fill the memory.
const MAX_DAMAGES: usize = 64;

impl Findings {
    /// The number of the frame that is being read.
    pub(super) fn next_number(&mut self) -> u64 {
        self.n_frames += 1;
        self.n_frames
    }

    /// Frames so far.
    pub(super) fn n_frames(&self) -> u64 {
        self.n_frames
    }

    /// The next frame is behind so many.
    pub(super) fn go_on_behind(&mut self, n_frames: u64) {
        self.n_frames = n_frames;
    }

    pub(super) fn damaged(&mut self, at_byte: u64, text: String) {
        if self.damage.len() < MAX_DAMAGES {
            self.damage.push(Damage { at_byte, text });
        }
    }

    /// Says what was passed over from `at_byte` to where the window now starts, and whether that is
    /// the end.
    #[cold]
    pub(super) fn lost(&mut self, at_byte: u64, what: &str, input: &Input, goes_on: bool) {
        self.is_truncated = true;
        let n_lost = input.at_byte() - at_byte;
        let rest = if goes_on {
            format!(
                "{n_lost} bytes are lost, reading goes on at byte {}",
                input.at_byte()
            )
        } else if !input.window().is_empty() {
            format!(
                "nothing like a record is in the {n_lost} bytes from there, and what is behind \
                 them was not read; what came before is used"
            )
        } else {
            format!("the {n_lost} bytes from there to the end are lost; what came before is used")
        };
        self.damaged(at_byte, format!("{what}; {rest}"));
    }

    #[cold]
    pub(super) fn stamp_out_of_range(&mut self, limit_ns: i64) {
        let number = self.n_frames + 1;
        let text = format!("frame {number}: timestamp out of range; replaced by {limit_ns} ns");
        self.damaged(0, text);
    }

    /// Says that reading ended at `at_byte`, before the end.
    #[cold]
    pub(super) fn failed(&mut self, at_byte: u64, failure: &std::io::Error) {
        self.is_truncated = true;
        self.damaged(at_byte, what_failed(failure));
    }

    /// Says why `input` did not have the `needed_bytes` of `what`: it may just be at its end.
    #[cold]
    pub(super) fn ended(&mut self, input: &mut Input, needed_bytes: usize, what: &str) {
        let had_bytes = input.window().len();
        if let Some(failure) = input.take_failure() {
            self.failed(input.at_byte() + had_bytes as u64, &failure);
        } else if had_bytes > 0 {
            self.is_truncated = true;
            let text = format!(
                "the file is cut in {what}: {needed_bytes} bytes needed, {had_bytes} there; \
                 what came before is used"
            );
            self.damaged(input.at_byte(), text);
        }
    }
}

fn what_failed(failure: &std::io::Error) -> String {
    match failure.kind() {
        ErrorKind::UnexpectedEof => {
            "the compressed file is cut short; what came before is used".to_owned()
        }
        _ => format!("reading failed: {failure}; what came before is used"),
    }
}
