//! Lines of what a program printed, also in UTF-16, as consoles of Windows save it.

use super::findings::Findings;
use super::input::Input;
use std::io::BufRead;

/// The next line, of at most so many bytes; of one that is no text, what of it is.
pub(super) fn next_line(
    input: &mut Input,
    max_bytes: u64,
    findings: &mut Findings,
) -> Option<String> {
    let mut line = Vec::new();
    let read = input.take_at_most(max_bytes).read_until(b'\n', &mut line);
    if let Err(failure) = read {
        findings.failed(input.at_byte(), &failure);
    }
    (!line.is_empty()).then(|| text_of(&line))
}

/// Packets of a text that cannot be given: how many, and where the first is.
#[derive(Default)]
pub(super) struct UnreadPackets {
    n_packets: u64,
    at_byte: u64,
}

impl UnreadPackets {
    /// One more; the window of `input` starts behind it.
    pub(super) fn note(&mut self, input: &Input) {
        if self.n_packets == 0 {
            self.at_byte = input.at_byte();
        }
        self.n_packets += 1;
    }

    /// At the end: says how many there were, and why.
    pub(super) fn report(&mut self, why: &str, findings: &mut Findings) {
        let Self { n_packets, at_byte } = std::mem::take(self);
        if n_packets > 0 {
            findings.is_truncated = true;
            let text = format!(
                "packets left out up to the end, the first before this byte: {n_packets}; {why}"
            );
            findings.damaged(at_byte, text);
        }
    }
}

/// ASCII in UTF-16 is ASCII with zeros between.
pub(super) fn text_of(bytes: &[u8]) -> String {
    let octets: Vec<u8> = bytes.iter().copied().filter(|octet| *octet != 0).collect();
    String::from_utf8_lossy(&octets).into_owned()
}

/// The octets of a line of a hexadecimal dump, such as `0x0010:  4500 0034`; `None` of another line.
pub(super) fn dumped_octets(line: &str) -> Option<Vec<u8>> {
    const MAX_OCTETS: usize = 16;
    let (offset, rest) = line.trim().strip_prefix("0x")?.split_once(':')?;
    u32::from_str_radix(offset, 16).ok()?;
    let is_hex = |group: &&str| group.bytes().all(|digit| digit.is_ascii_hexdigit());
    let groups = rest.split_whitespace().take_while(is_hex);
    let digits: String = groups.collect();
    let octets = digits.as_bytes().chunks_exact(2).filter_map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    Some(octets.take(MAX_OCTETS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_is_read_without_the_text_beside_it() {
        assert_eq!(
            dumped_octets("  0x0000:  4500 00 ab  E..."),
            Some(vec![0x45, 0, 0, 0xab])
        );
        assert_eq!(dumped_octets("0x0010:  "), Some(Vec::new()));
        for other in ["", "4500 0034", "0xyz: 45", "0x0000 45"] {
            assert_eq!(dumped_octets(other), None, "{other}");
        }
    }

    #[test]
    fn lines_of_utf_16_are_ascii() {
        assert_eq!(text_of(b"a\0b\0\r\0"), "ab\r");
    }
}
