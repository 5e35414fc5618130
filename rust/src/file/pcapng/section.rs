//! Section header blocks: which program wrote a section, and what that says of the clocks in it.
//!
//! Spec: draft-ietf-opsawg-pcapng §4.1. One program on one host stamps all interfaces it captures by one
//! clock. What was put together from several captures has the clock of each, and no option for it: this
//! program's own files state it in a comment of the interface, others do not.

use super::block::{body_from, options};
use crate::file::order::Order;

const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
/// What this program calls itself in the files it writes.
pub(super) const OWN_NAME: &str = "pcaplat";
/// Wireshark's program names itself in its files; older ones wrote a comment.
const MERGING_PROGRAM: &str = "mergecap";
const MERGING_COMMENT: &str = "file created by merging";
const STATED: &str = "clock ";
const ALIGNED: &str = ", aligned";

/// What a section says of the clocks of its interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SectionClocks {
    /// One host captured it.
    #[default]
    One,
    /// Each interface states its own, else it is the host's.
    Stated,
    /// It was put together from several captures.
    Unknown,
}

impl SectionClocks {
    /// Of the section whose header this is.
    pub(super) fn of(order: Order, block: &[u8]) -> Self {
        let mut clocks = Self::One;
        for (code, value) in options(order, body_from(block, 24)) {
            let is = |start: &str| {
                let head = value.get(..start.len());
                head.is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
            };
            match code {
                OPT_COMMENT if is(MERGING_COMMENT) => return Self::Unknown,
                SHB_USERAPPL if is(MERGING_PROGRAM) => return Self::Unknown,
                SHB_USERAPPL if is(OWN_NAME) => clocks = Self::Stated,
                _ => {}
            }
        }
        clocks
    }

    /// The clock of an interface, by its comment; clocks of this section are numbered from `first`.
    pub(super) fn of_interface(self, first: usize, comment: Option<&str>) -> Option<u32> {
        let stated = comment.and_then(|comment| comment.strip_prefix(STATED));
        let stated = stated.map(|text| text.strip_suffix(ALIGNED).unwrap_or(text));
        let number = match (self, stated) {
            (Self::Unknown, _) => None,
            (Self::Stated, Some(number)) => number.parse::<u32>().ok(),
            (Self::One | Self::Stated, _) => Some(0),
        };
        number.map(|number| number.saturating_add(u32::try_from(first).unwrap_or(u32::MAX)))
    }

    /// Whether a merge of this program wrote an interface, by its comment.
    pub(super) fn is_aligned(self, comment: Option<&str>) -> bool {
        self == Self::Stated && comment.is_some_and(|comment| comment.ends_with(ALIGNED))
    }
}

/// The comment by which an interface states its clock, by its number in the section if it is known, and
/// whether a merge put its times on one clock with those of the others.
#[must_use]
pub fn clock_comment(clock: Option<u32>, is_aligned: bool) -> String {
    let number = clock.map_or_else(|| "unknown".to_owned(), |clock| clock.to_string());
    let aligned = if is_aligned { ALIGNED } else { "" };
    format!("{STATED}{number}{aligned}")
}

#[cfg(test)]
mod tests {
    use super::super::BlockBuilder;
    use super::*;

    fn clocks_of(options: &[(u16, Vec<u8>)]) -> SectionClocks {
        let mut builder = BlockBuilder::default();
        builder.options(0, options);
        // a header's fields are 16 bytes longer than a block of options alone
        let body = builder.bytes().get(8..).unwrap_or_default();
        SectionClocks::of(Order::Little, &[&[0; 24], body].concat())
    }

    #[test]
    fn only_what_was_put_together_has_clocks_that_nobody_knows() {
        let by = |code: u16, text: &str| clocks_of(&[(code, text.as_bytes().to_vec())]);
        assert_eq!(by(4, "Dumpcap (Wireshark) 4.0.17"), SectionClocks::One);
        assert_eq!(by(4, "Mergecap (Wireshark) 4.0.17"), SectionClocks::Unknown);
        assert_eq!(by(4, "mergecap"), SectionClocks::Unknown);
        assert_eq!(
            by(1, "File created by merging: \nFile1: a"),
            SectionClocks::Unknown
        );
        assert_eq!(by(1, "a capture"), SectionClocks::One);
        assert_eq!(by(4, OWN_NAME), SectionClocks::Stated);
        assert_eq!(clocks_of(&[]), SectionClocks::One);
    }

    #[test]
    fn a_stated_clock_is_one_of_its_section() {
        let stated = clock_comment(Some(2), true);
        assert!(SectionClocks::Stated.is_aligned(Some(&stated)));
        assert!(!SectionClocks::One.is_aligned(Some(&stated)));
        let of = |clocks: SectionClocks| clocks.of_interface(3, Some(&stated));
        assert_eq!(of(SectionClocks::Stated), Some(5));
        assert_eq!(of(SectionClocks::One), Some(3));
        assert_eq!(of(SectionClocks::Unknown), None);
        let unknown = clock_comment(None, false);
        let comments = [None, Some("of a port"), Some(unknown.as_str())];
        let found = comments.map(|text| SectionClocks::Stated.of_interface(3, text));
        assert_eq!(found, [Some(3), Some(3), None]);
    }
}
