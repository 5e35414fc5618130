//! What `pktmon etl2txt --hex` writes on Windows, or `pktmon start --log-mode real-time` prints: each packet at
//! each component, with its bytes. A component's edge is an interface.
//!
//! Spec: learn.microsoft.com, "pktmon etl2txt", which shows no output; the lines are as users showed them.
//!
//! ```text
//! 23:02:26.539704700 PktGroupId 562949953421500, PktNumber 1, Appearance 1, Direction Tx , Type Ethernet , \
//!         Component 78, Edge 1, Filter 1, OriginalSize 66, LoggedSize 66
//!         40-EC-99-B9-17-25 > F0-B4-D2-5A-D3-E2, ethertype IPv4 (0x0800), length 66: …
//!         0x0000:  f0b4 d25a d3e2 40ec 99b9 1725 0800 4500
//! ```
//! Without `--timestamp-only` there is a date before the time. Words are in the language of Windows, but for
//! `PktGroupId` and `OriginalSize`. A packet that was dropped at a component is not one that passed it.

use super::components::{Components, TOO_MANY};
use super::findings::Findings;
use super::input::Input;
use super::text_lines::{UnreadPackets, dumped_octets, next_line, text_of};
use super::time_of_day::{DayClock, date_ns, time_of_day_ns};
use super::{Format, Frame, FrameDirection, NO_LINK, Opened, Records, Sign};

pub(super) const FORMAT: Format = Format {
    name: "pktmon text",
    spec: "learn.microsoft.com, pktmon etl2txt (pktmon text)",
    variants: &[],
    sign: Sign::Sense(|head| text_of(head).contains(GROUP)),
    open: |_, _| Ok::<Box<dyn Records>, _>(Box::new(PktmonText::new())) as Opened,
};

const GROUP: &str = "PktGroupId ";
const SIZE: &str = "OriginalSize ";
const DROP: &str = "Drop";
/// 100 ns are counted, nine digits printed.
const STEP_NS: f64 = 100.0;
/// How frames begin, by what stands last in the field before the component.
const LINKS: [(&str, u16); 3] = [("Ethernet", 1), ("IP", 101), ("WiFi", 105)];
/// A longer line is cut: only hostile files have one.
const MAX_LINE_BYTES: u64 = 1 << 12;
const MAX_PACKET_BYTES: usize = 1 << 18;
const UNREADABLE: &str = "their first lines are damaged";
const NO_BYTES: &str = "the text holds no bytes of these packets; convert it with `pktmon etl2txt --hex`, or with etl2pcapng";

/// Reads the text.
struct PktmonText {
    /// The first line of the next packet, already read.
    pending: Option<String>,
    components: Components,
    clock: DayClock,
    packet: LoggedPacket,
    n_packets: u64,
    without_bytes: UnreadPackets,
    damaged: UnreadPackets,
    beyond: UnreadPackets,
}

/// One packet at one component.
#[derive(Default)]
struct LoggedPacket {
    t_ns: i64,
    group: u64,
    component: String,
    link: u16,
    wire_bytes: u32,
    bytes: Vec<u8>,
}

impl Records for PktmonText {
    fn next_frame<'a>(
        &'a mut self,
        input: &'a mut Input,
        findings: &mut Findings,
    ) -> Option<Frame<'a>> {
        let interface = loop {
            self.read_packet(input, findings)?;
            let (name, link) = (&self.packet.component, self.packet.link);
            if self.packet.bytes.is_empty() {
                self.without_bytes.note(input);
                continue;
            }
            match self.components.interface(name, link, findings) {
                Some(interface) => break interface,
                None => self.beyond.note(input),
            }
        };
        self.n_packets += 1;
        Some(Frame {
            number: findings.next_number(),
            t_ns: self.packet.t_ns,
            stamp_ns: None,
            late_ns: 0,
            packet_id: self.packet.group,
            has_time: true,
            interface,
            link: self.packet.link,
            wire_bytes: self.packet.wire_bytes,
            fcs_bytes: 0,
            direction: FrameDirection::Unknown,
            bytes: &self.packet.bytes,
        })
    }
}

impl PktmonText {
    fn new() -> Self {
        Self {
            pending: None,
            components: Components::new(STEP_NS),
            clock: DayClock::default(),
            packet: LoggedPacket::default(),
            n_packets: 0,
            without_bytes: UnreadPackets::default(),
            damaged: UnreadPackets::default(),
            beyond: UnreadPackets::default(),
        }
    }

    /// Reads the lines of the next packet that passed a component.
    fn read_packet(&mut self, input: &mut Input, findings: &mut Findings) -> Option<()> {
        loop {
            let pending = self.pending.take();
            let Some(line) = pending.or_else(|| next_line(input, MAX_LINE_BYTES, findings)) else {
                self.report(findings);
                return None;
            };
            if let Some(packet) = self.begin(&line) {
                self.packet = packet;
                self.read_octets(input, findings);
                return Some(());
            }
            if passed(&line).is_some() {
                self.damaged.note(input);
            }
        }
    }

    fn report(&mut self, findings: &mut Findings) {
        self.without_bytes.report(NO_BYTES, findings);
        self.damaged.report(UNREADABLE, findings);
        self.beyond.report(TOO_MANY, findings);
    }

    /// What a packet's first line says.
    fn begin(&mut self, line: &str) -> Option<LoggedPacket> {
        let (before, rest) = passed(line)?;
        let fields: Vec<&str> = rest.split([',', '，']).map(str::trim).collect();
        let at = fields.iter().position(|field| link_of(field).is_some())?;
        let component = number_in(fields.get(at + 1)?)?;
        let edge = fields.get(at + 2).copied().and_then(number_in);
        let size = fields.iter().find_map(|field| field.strip_prefix(SIZE));
        Some(LoggedPacket {
            t_ns: self.instant_ns(before)?,
            group: number_in(fields.first()?)?,
            component: match edge {
                Some(edge) => format!("component{component}-edge{edge}"),
                None => format!("component{component}"),
            },
            link: link_of(fields.get(at)?).unwrap_or(NO_LINK),
            wire_bytes: size.and_then(|size| size.trim().parse().ok()).unwrap_or(0),
            bytes: Vec::new(),
        })
    }

    /// The time before a packet's group, with its date where there is one.
    fn instant_ns(&mut self, before: &str) -> Option<i64> {
        let words: Vec<&str> = before.split_whitespace().collect();
        let at = words
            .iter()
            .position(|word| time_of_day_ns(word).is_some())?;
        let time = words.get(at)?;
        let word_before = at.checked_sub(1).and_then(|at| words.get(at));
        let date = word_before.and_then(|word| date_ns(word.rsplit("::").next()?));
        match date {
            Some(date_ns) => date_ns.checked_add(time_of_day_ns(time)?),
            None => self.clock.instant_ns(time),
        }
    }

    fn read_octets(&mut self, input: &mut Input, findings: &mut Findings) {
        while let Some(line) = next_line(input, MAX_LINE_BYTES, findings) {
            if line.contains(GROUP) {
                self.pending = Some(line);
                break;
            }
            let octets = dumped_octets(&line).unwrap_or_default();
            let room = MAX_PACKET_BYTES.saturating_sub(self.packet.bytes.len());
            self.packet.bytes.extend(octets.into_iter().take(room));
        }
        let n_bytes = u32::try_from(self.packet.bytes.len()).unwrap_or(u32::MAX);
        self.packet.wire_bytes = self.packet.wire_bytes.max(n_bytes);
    }
}

/// What is before and behind the group of a packet that passed a component.
fn passed(line: &str) -> Option<(&str, &str)> {
    let parts = line.split_once(GROUP)?;
    (!parts.0.contains(DROP)).then_some(parts)
}

/// How frames of a kind begin, if a field names one.
fn link_of(field: &str) -> Option<u16> {
    let kind = field.rsplit(' ').next()?;
    let link = LINKS.iter().find(|(name, _)| kind == *name);
    link.map(|(_, link)| *link)
}

/// The first number of a field: `Component 78`, `Edge 1(Miniport Nbl-Tx)`.
fn number_in(field: &str) -> Option<u64> {
    let rest = field.get(field.find(|digit: char| digit.is_ascii_digit())?..)?;
    let end = rest.find(|digit: char| !digit.is_ascii_digit());
    rest.get(..end.unwrap_or(rest.len()))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::Capture;
    use std::path::Path;

    const TEXT: &str = "\
[00]1264.1240::2026-08-18 16:45:38.294058500 [Microsoft-Windows-PktMon] Filter 2, Name TUN\r
[00]1264.1240::2026-08-18 00:00:01.000000200 [Microsoft-Windows-PktMon] PktGroupId 86, PktNumber 1, \
Apparence 0, Direction Rx , Type Ethernet , Composant 15, Edge 1, Filtre 1, OriginalSize 60, LoggedSize 3 \r
\t02-00-00-00-00-01 > 02-00-00-00-00-02, ethertype IPv4 (0x0800), length 60\r
\t0x0000:  4500 ab\r
[00]1264.1240::2026-08-18 00:00:01.000000300 [Microsoft-Windows-PktMon] Drop: PktGroupId 86, PktNumber 1, \
Appearance 0, Direction Rx , Type Ethernet , Component 16, Edge 1, OriginalSize 60, LoggedSize 3 \r
\t0x0000:  4500 ab\r
00:00:02.5 PktGroupId 87，PktNumber 1，出现 0，方向 Tx ，类型 IP ，组件 77，边缘 2，筛选器 1，OriginalSize 2，LoggedSize 2
\t0x0000:  4500
";

    type Seen = (i64, u64, u16, u32, Vec<u8>);

    fn read(text: &[u8]) -> (Vec<Seen>, Vec<String>, usize) {
        let source = Box::new(std::io::Cursor::new(text.to_vec()));
        let mut capture = Capture::from_read(source, Path::new("log")).unwrap();
        assert_eq!(capture.format(), "pktmon text");
        let mut found = Vec::new();
        while let Some(frame) = capture.next_frame() {
            let bytes = frame.bytes.to_vec();
            found.push((
                frame.t_ns,
                frame.packet_id,
                frame.link,
                frame.wire_bytes,
                bytes,
            ));
        }
        let names = capture.interfaces().iter();
        let names = names.filter_map(|one| one.name.clone()).collect();
        (found, names, capture.damage().len())
    }

    #[test]
    fn every_component_logs_the_packet() {
        let (found, names, n_damages) = read(TEXT.as_bytes());
        let day_ns = 20_683 * 86_400 * 1_000_000_000;
        assert_eq!(
            found,
            [
                (day_ns + 1_000_000_200, 86, 1, 60, vec![0x45, 0, 0xab]),
                (2_500_000_000, 87, 101, 2, vec![0x45, 0]),
            ]
        );
        assert_eq!(names, ["component15-edge1", "component77-edge2"]);
        assert_eq!(n_damages, 0);
    }

    #[test]
    fn packets_that_cannot_be_read_are_counted() {
        let number = "18446744073709551616";
        for (whole, damaged) in [
            ("Id 87", "Id x"),
            ("77", "x"),
            ("00:00:02.5", "24:00:02.5"),
            ("87", number),
        ] {
            let again = TEXT.replace(whole, damaged);
            let (found, _, n_damages) = read(format!("{again}{TEXT}").as_bytes());
            assert_eq!((found.len(), n_damages), (3, 1), "{damaged}");
        }
        let line = TEXT.lines().nth(6).unwrap();
        let many = (0..600).map(|n| line.replace("77", &n.to_string()) + "\n\t0x0000:  4500\n");
        let (found, names, n_damages) = read(many.collect::<String>().as_bytes());
        assert_eq!((found.len(), names.len(), n_damages), (512, 512, 1));
    }

    #[test]
    fn utf_16_is_read_and_a_text_without_bytes_is_told() {
        let ascii: String = TEXT.chars().filter(char::is_ascii).collect();
        let wide: Vec<u8> = ascii.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&wide).0.len(), 1);
        let (found, _, n_damages) = read(TEXT.replace("0x0000:", "").as_bytes());
        assert_eq!((found.len(), n_damages), (0, 1));
    }
}
