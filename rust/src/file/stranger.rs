//! Files that are no captures: what they seem to be, and what to do.

use std::fmt::Write;

/// As much of a file is looked at.
pub(super) const HEAD_BYTES: usize = 512;

/// How a file starts, what it then is, and what to do with it.
struct StrangerKind {
    starts_with: &'static [u8],
    what: &'static str,
    remedy: &'static str,
}

const UNPACK: &str = "unpack it first";
const CONVERT: &str = "convert it with `editcap -F pcapng IN OUT`";
const GIVE_CAPTURE: &str = "give a pcap or pcapng file";
const DOWNLOAD: &str = "it may be a download page that was saved";

static KINDS: &[StrangerKind] = &[
    kind(b"PK\x03\x04", "a ZIP archive", UNPACK),
    kind(b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", UNPACK),
    kind(b"Rar!", "a RAR archive", UNPACK),
    kind(&[0x1f, 0x8b], "gzip inside another compression", UNPACK),
    kind(&[0x02, 0x21, 0x4c, 0x18], "legacy lz4", UNPACK),
    kind(&[0x1f, 0x9d], "compress (.Z)", UNPACK),
    kind(b"RTSS", "a Network Monitor 1 capture", CONVERT),
    kind(b"GMBU", "a Network Monitor 2 capture", CONVERT),
    kind(b"XCP\0", "a NetXRay capture", CONVERT),
    kind(b"TRSNIFF data", "a Sniffer capture", CONVERT),
    kind(b"PAR1", "a Parquet table", GIVE_CAPTURE),
    kind(b"%PDF", "a PDF document", GIVE_CAPTURE),
    kind(b"\x7fELF", "a program", GIVE_CAPTURE),
    kind(b"<!DOCTYPE", "HTML", DOWNLOAD),
    kind(b"<!doctype", "HTML", DOWNLOAD),
    kind(b"<html", "HTML", DOWNLOAD),
    kind(b"<?xml", "XML", GIVE_CAPTURE),
    kind(
        b"version https://git-lfs",
        "a Git LFS pointer",
        "run `git lfs pull`",
    ),
    kind(b"{", "JSON", GIVE_CAPTURE),
    kind(b"[", "JSON", GIVE_CAPTURE),
];

const fn kind(
    starts_with: &'static [u8],
    what: &'static str,
    remedy: &'static str,
) -> StrangerKind {
    StrangerKind {
        starts_with,
        what,
        remedy,
    }
}

/// What a file that starts with `head` is, as far as that tells, and what to do.
pub(super) fn describe(head: &[u8], codec: Option<&str>) -> String {
    let inside = codec.map_or(String::new(), |codec| {
        format!(" inside its {codec} compression")
    });
    if head.is_empty() {
        return format!(
            "empty file{inside}; the capture may have been stopped before it wrote anything"
        );
    }
    let (what, remedy) = guess(head);
    let first = first_bytes(head);
    format!("not a capture: {what}{inside}; it starts with {first}; {remedy}")
}

fn guess(head: &[u8]) -> (&'static str, &'static str) {
    if let Some(kind) = KINDS.iter().find(|kind| head.starts_with(kind.starts_with)) {
        return (kind.what, kind.remedy);
    }
    if head.iter().all(|&octet| octet == 0) {
        return (
            "zeros only",
            "the capture was probably never written out; capture anew",
        );
    }
    if is_text(head) {
        return ("text", GIVE_CAPTURE);
    }
    (
        "of no format that is known here",
        "if Wireshark opens it, convert it with `editcap -F pcapng IN OUT`",
    )
}

fn is_text(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let text = text
        .strip_suffix(char::REPLACEMENT_CHARACTER)
        .unwrap_or(&text);
    !text.contains(|c: char| {
        c == char::REPLACEMENT_CHARACTER || (c.is_control() && !c.is_whitespace())
    })
}

fn first_bytes(head: &[u8]) -> String {
    head.iter().take(8).fold(String::new(), |mut text, octet| {
        let blank = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{blank}{octet:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_it_sees_and_a_remedy() {
        for (head, word) in [
            (&b"PK\x03\x04rest"[..], "ZIP"),
            (b"<!DOCTYPE html>", "HTML"),
            (b"{\"a\": 1}", "JSON"),
            ("zwölf Pakete\n".as_bytes(), "text"),
            (&[0; 40], "zeros"),
            (&[0xde, 0xad, 0xbe, 0xef], "de ad be ef"),
        ] {
            let text = describe(head, None);
            assert!(
                text.contains(word) && text.starts_with("not a capture: "),
                "{text}"
            );
        }
    }

    #[test]
    fn says_that_it_looked_inside_a_compression() {
        assert!(describe(b"hello", Some("gzip")).contains("text inside its gzip compression"));
        assert!(describe(b"", Some("xz")).starts_with("empty file inside"));
        assert!(describe(b"", None).starts_with("empty file"));
    }
}
