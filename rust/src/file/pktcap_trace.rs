//! What `pktcap-uw --trace` prints on a host of `ESXi`: of each packet the components that handled it, when each
//! did, and its bytes. Every component is an interface; the same packet has the same number at all of them.
//!
//! Spec: none was published; docs.vmware.com "Trace packets with pktcap-uw", and consoles as users showed them.
//!
//! ```text
//! 12:58:49.760069[1] Captured at PktFree point, TSO not enabled, …, capture length 24 of 74.
//!         PATH:
//!           +- [12:58:49.759976] |            VnicTx |
//!           +- [12:58:49.759980] |         PortInput |
//!         Segment[0] ---- 24 bytes:
//!         0x0000:  0050 5694 …
//! ```
//! There is no date: times are of 1970, a day later where they go back by half of one. A packet printed
//! without its path was seen at the point that its first line names.

use super::findings::Findings;
use super::input::Input;
use super::{Format, Frame, FrameDirection, Interface, Opened, Records, Sign};
use std::io::BufRead;

pub(super) const FORMAT: Format = Format {
    name: "pktcap-uw trace",
    spec: "docs.vmware.com, pktcap-uw trace of packets",
    variants: &[],
    sign: Sign::Sense(|head| {
        head.windows(CAPTURED.len())
            .any(|part| part == CAPTURED.as_bytes())
    }),
    open: |_, _| Ok::<Box<dyn Records>, _>(Box::<PktcapTrace>::default()) as Opened,
};

const CAPTURED: &str = "] Captured at ";
const ETHERNET: u16 = 1;
const MICROSECOND_NS: f64 = 1e3;
const DAY_NS: i64 = 86_400 * 1_000_000_000;
/// A longer line is cut: only hostile files have one.
const MAX_LINE_BYTES: u64 = 1 << 12;
/// A packet has no more bytes, components or steps.
const MAX_PACKET_BYTES: usize = 1 << 18;
const MAX_STEPS: usize = 256;
const MAX_COMPONENTS: usize = 512;

/// Reads the console's text.
#[derive(Default)]
struct PktcapTrace {
    /// The first line of the next packet, already read.
    pending: Option<String>,
    components: Vec<String>,
    packet: TracedPacket,
    n_given: usize,
    n_packets: u64,
    day_ns: i64,
    last_ns: i64,
}

/// One packet, and its way.
#[derive(Default)]
struct TracedPacket {
    /// When, and the component as an interface.
    steps: Vec<(i64, u32)>,
    wire_bytes: u32,
    bytes: Vec<u8>,
}

impl Records for PktcapTrace {
    fn next_frame<'a>(
        &'a mut self,
        input: &'a mut Input,
        findings: &mut Findings,
    ) -> Option<Frame<'a>> {
        while self.n_given == self.packet.steps.len() {
            self.read_packet(input, findings)?;
        }
        let (t_ns, interface) = *self.packet.steps.get(self.n_given)?;
        self.n_given += 1;
        Some(Frame {
            number: findings.next_number(),
            t_ns,
            stamp_ns: None,
            late_ns: 0,
            packet_id: self.n_packets,
            has_time: true,
            interface,
            link: ETHERNET,
            wire_bytes: self.packet.wire_bytes,
            fcs_bytes: 0,
            direction: FrameDirection::Unknown,
            bytes: &self.packet.bytes,
        })
    }
}

impl PktcapTrace {
    fn first_line(&mut self, input: &mut Input) -> Option<String> {
        loop {
            match self.pending.take() {
                Some(line) => return Some(line),
                None => self.pending = Some(next_line(input)?).filter(|line| is_first(line)),
            }
        }
    }

    /// Reads the lines of the next packet.
    fn read_packet(&mut self, input: &mut Input, findings: &mut Findings) -> Option<()> {
        let first = self.first_line(input)?;
        self.packet = TracedPacket::default();
        (self.n_given, self.n_packets) = (0, self.n_packets + 1);
        let (at_ns, point) = self.begin(&first)?;
        while let Some(line) = next_line(input) {
            if is_first(&line) {
                self.pending = Some(line);
                break;
            }
            self.read_line(line.trim(), findings);
        }
        if self.packet.steps.is_empty() {
            self.step(at_ns, &point, findings);
        }
        let n_bytes = u32::try_from(self.packet.bytes.len()).unwrap_or(u32::MAX);
        self.packet.wire_bytes = self.packet.wire_bytes.max(n_bytes);
        Some(())
    }

    /// What a packet's first line says: when and where it was captured.
    fn begin(&mut self, line: &str) -> Option<(i64, String)> {
        let (time, rest) = line.trim().split_once('[')?;
        let (_, rest) = rest.split_once(CAPTURED)?;
        let at_ns = self.instant_ns(time)?;
        let (_, length) = rest.rsplit_once("length ").unwrap_or_default();
        let length = length.rsplit(' ').next().unwrap_or_default();
        self.packet.wire_bytes = length.trim_end_matches('.').parse().unwrap_or(0);
        let point = rest.split(" point").next().unwrap_or_default();
        Some((at_ns, point.to_owned()))
    }

    fn read_line(&mut self, line: &str, findings: &mut Findings) {
        if let Some(step) = line.strip_prefix("+- [") {
            let (time, rest) = step.split_once(']').unwrap_or((step, ""));
            let mut names = rest.split('|').map(str::trim);
            let name = names.rfind(|name| !name.is_empty());
            if let (Some(t_ns), Some(name)) = (self.instant_ns(time), name) {
                self.step(t_ns, name, findings);
            }
        } else if let Some((_, digits)) = line
            .strip_prefix("0x")
            .and_then(|line| line.split_once(':'))
        {
            self.take_octets(digits);
        }
    }

    /// A component that a packet passes several times is another each time.
    fn step(&mut self, t_ns: i64, name: &str, findings: &mut Findings) {
        let n_before = self.packet.steps.iter();
        let n_before = n_before
            .filter(|(_, at)| base_name(self.components.get(*at as usize)) == name)
            .count();
        let name = match n_before {
            0 => name.to_owned(),
            n => format!("{name}#{}", n + 1),
        };
        if self.packet.steps.len() < MAX_STEPS
            && let Some(interface) = self.interface(name, findings)
        {
            self.packet.steps.push((t_ns, interface));
        }
    }

    /// The interface that a component is.
    fn interface(&mut self, name: String, findings: &mut Findings) -> Option<u32> {
        let known = self.components.iter().position(|known| *known == name);
        let index = known.unwrap_or(self.components.len());
        if known.is_none() && index < MAX_COMPONENTS {
            findings.interfaces.push(Interface {
                name: Some(name.clone()),
                link: ETHERNET,
                resolution_ns: MICROSECOND_NS,
                clock: Some(0),
                ..Interface::default()
            });
            self.components.push(name);
        }
        let index = u32::try_from(index).ok();
        index.filter(|index| (*index as usize) < self.components.len())
    }

    fn take_octets(&mut self, digits: &str) {
        let digits: Vec<u8> = digits
            .chars()
            .filter_map(|digit| u8::try_from(digit.to_digit(16)?).ok())
            .collect();
        let room = MAX_PACKET_BYTES.saturating_sub(self.packet.bytes.len());
        let octets = digits.chunks_exact(2).take(room);
        self.packet
            .bytes
            .extend(octets.filter_map(|pair| match pair {
                [high, low] => Some(high << 4 | low),
                _ => None,
            }));
    }

    /// An instant of the day, and of the day that it is by the order of the lines.
    fn instant_ns(&mut self, text: &str) -> Option<i64> {
        let t_ns = time_of_day_ns(text)?;
        if t_ns + self.day_ns + DAY_NS / 2 < self.last_ns {
            self.day_ns += DAY_NS;
        }
        let is_of_the_day_before =
            self.day_ns > 0 && t_ns + self.day_ns - DAY_NS / 2 > self.last_ns;
        let back_ns = if is_of_the_day_before { DAY_NS } else { 0 };
        let t_ns = t_ns + self.day_ns - back_ns;
        self.last_ns = self.last_ns.max(t_ns);
        Some(t_ns)
    }
}

fn base_name(name: Option<&String>) -> &str {
    name.and_then(|name| name.split('#').next())
        .unwrap_or_default()
}

fn is_first(line: &str) -> bool {
    line.contains(CAPTURED)
}

/// The next line; of one that is no text, what of it is.
fn next_line(input: &mut Input) -> Option<String> {
    let mut line = Vec::new();
    let n_bytes = input
        .take_at_most(MAX_LINE_BYTES)
        .read_until(b'\n', &mut line);
    (n_bytes.ok()? > 0).then(|| String::from_utf8_lossy(&line).into_owned())
}

/// `12:58:49.760069`.
fn time_of_day_ns(text: &str) -> Option<i64> {
    let (whole, fraction) = text.trim().split_once('.')?;
    let seconds = whole.split(':').try_fold(0_i64, |sum, part| {
        let part: i64 = part.parse().ok().filter(|part| (0..60).contains(part))?;
        Some(sum * 60 + part)
    })?;
    let digits = fraction.get(..9).unwrap_or(fraction);
    let scale = 10_i64.checked_pow(9_u32.checked_sub(u32::try_from(digits.len()).ok()?)?)?;
    let fraction: i64 = digits.parse().ok().filter(|fraction| *fraction >= 0)?;
    (seconds < 86_400).then_some(seconds * 1_000_000_000 + fraction * scale)
}

#[cfg(test)]
mod tests {
    use super::super::Capture;
    use super::*;
    use std::path::Path;

    const TRACE: &str = "\
12:58:49.760069[1] Captured at PktFree point, TSO not enabled, capture length 4 of 74.
        PATH:
          +- [12:58:49.759976] |            VnicTx |
          +- [12:58:49.759980] | 50331650 | IOChain |
          +- [12:58:49.759990] | 50331650 | IOChain |
        Segment[0] ---- 4 bytes:
        0x0000:  0050 56ab
23:59:59.999999[2] Captured at UplinkRcvKernel point, Checksum verified, length 2.
        Segment[0] ---- 2 bytes:
        0x0000:  0102
00:00:00.000001[3] Captured at UplinkRcvKernel point, length 2.
        0x0000:  0304
";

    #[test]
    fn every_component_sees_the_packet() {
        let read = Box::new(TRACE.as_bytes());
        let mut capture = Capture::from_read(read, Path::new("trace")).unwrap();
        assert_eq!(capture.format(), "pktcap-uw trace");
        let mut found = Vec::new();
        while let Some(frame) = capture.next_frame() {
            let of_second = frame.t_ns % 1_000_000_000 / 1_000;
            let octets = frame.bytes.to_vec();
            found.push((
                frame.interface,
                frame.packet_id,
                of_second,
                frame.wire_bytes,
                octets,
            ));
        }
        let bytes = vec![0, 0x50, 0x56, 0xab];
        assert_eq!(found[0], (0, 1, 759_976, 74, bytes.clone()));
        assert_eq!(found[2], (2, 1, 759_990, 74, bytes));
        assert_eq!(found[3], (3, 2, 999_999, 2, vec![1, 2]));
        assert_eq!(found.len(), 5);
        let names = capture
            .interfaces()
            .iter()
            .filter_map(|one| one.name.clone());
        let names: Vec<_> = names.collect();
        assert_eq!(names, ["VnicTx", "IOChain", "IOChain#2", "UplinkRcvKernel"]);
    }

    #[test]
    fn midnight_is_passed() {
        let mut trace = PktcapTrace::default();
        let late = trace.instant_ns("23:59:59.999999").unwrap();
        let next = trace.instant_ns("00:00:00.000001").unwrap();
        assert_eq!(next - late, 2_000);
        assert_eq!(trace.instant_ns("23:59:59.999999"), Some(late));
        for text in [
            "",
            "1",
            "25:61:00.1",
            "12:00:00",
            "a:b:c.d",
            "24:00:00.0",
            "1:2.-3",
        ] {
            assert_eq!(trace.instant_ns(text), None, "{text}");
        }
    }
}
