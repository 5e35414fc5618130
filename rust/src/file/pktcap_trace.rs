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
//! There is no date. A packet printed without its path was seen at the point that its first line names.

use super::components::{Components, TOO_MANY};
use super::findings::Findings;
use super::input::Input;
use super::text_lines::{UnreadPackets, dumped_octets, next_line, text_of};
use super::time_of_day::DayClock;
use super::{Format, Frame, FrameDirection, Opened, Records, Sign};

pub(super) const FORMAT: Format = Format {
    name: "pktcap-uw trace",
    spec: "docs.vmware.com, pktcap-uw trace of packets",
    variants: &[],
    sign: Sign::Sense(|head| text_of(head).contains(CAPTURED)),
    open: |_, _| Ok::<Box<dyn Records>, _>(Box::new(PktcapTrace::new())) as Opened,
};

const CAPTURED: &str = "] Captured at ";
const ETHERNET: u16 = 1;
const MICROSECOND_NS: f64 = 1e3;
/// A longer line is cut: only hostile files have one.
const MAX_LINE_BYTES: u64 = 1 << 12;
/// A packet has no more bytes or steps.
const MAX_PACKET_BYTES: usize = 1 << 18;
const MAX_STEPS: usize = 256;
const UNREADABLE: &str = "their first lines are damaged";

/// Reads the console's text.
struct PktcapTrace {
    /// The first line of the next packet, already read.
    pending: Option<String>,
    components: Components,
    packet: TracedPacket,
    n_given: usize,
    n_packets: u64,
    clock: DayClock,
    damaged: UnreadPackets,
    beyond: UnreadPackets,
}

/// One packet, and its way.
#[derive(Default)]
struct TracedPacket {
    /// When, and the component as an interface.
    steps: Vec<(i64, u32)>,
    /// There were more than can be given.
    has_more_steps: bool,
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
    fn new() -> Self {
        Self {
            pending: None,
            components: Components::new(MICROSECOND_NS),
            packet: TracedPacket::default(),
            n_given: 0,
            n_packets: 0,
            clock: DayClock::default(),
            damaged: UnreadPackets::default(),
            beyond: UnreadPackets::default(),
        }
    }

    /// When and where the next packet was captured; `None` at the end.
    fn first_line(&mut self, input: &mut Input, findings: &mut Findings) -> Option<(i64, String)> {
        loop {
            let pending = self.pending.take();
            let Some(line) = pending.or_else(|| next_line(input, MAX_LINE_BYTES, findings)) else {
                self.damaged.report(UNREADABLE, findings);
                self.beyond.report(TOO_MANY, findings);
                return None;
            };
            match self.begin(&line) {
                Some(begun) => return Some(begun),
                None if is_first(&line) => self.damaged.note(input),
                None => {}
            }
        }
    }

    /// Reads the lines of the next packet.
    fn read_packet(&mut self, input: &mut Input, findings: &mut Findings) -> Option<()> {
        self.packet = TracedPacket::default();
        (self.n_given, self.n_packets) = (0, self.n_packets + 1);
        let (at_ns, point) = self.first_line(input, findings)?;
        while let Some(line) = next_line(input, MAX_LINE_BYTES, findings) {
            if is_first(&line) {
                self.pending = Some(line);
                break;
            }
            self.read_line(line.trim(), findings);
        }
        if self.packet.steps.is_empty() {
            self.step(at_ns, &point, findings);
        }
        if self.packet.has_more_steps {
            self.beyond.note(input);
        }
        let n_bytes = u32::try_from(self.packet.bytes.len()).unwrap_or(u32::MAX);
        self.packet.wire_bytes = self.packet.wire_bytes.max(n_bytes);
        Some(())
    }

    /// What a packet's first line says: when and where it was captured.
    fn begin(&mut self, line: &str) -> Option<(i64, String)> {
        let (time, rest) = line.trim().split_once('[')?;
        let (_, rest) = rest.split_once(CAPTURED)?;
        let at_ns = self.clock.instant_ns(time)?;
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
            if let (Some(t_ns), Some(name)) = (self.clock.instant_ns(time), name) {
                self.step(t_ns, name, findings);
            }
        } else if let Some(octets) = dumped_octets(line) {
            let room = MAX_PACKET_BYTES.saturating_sub(self.packet.bytes.len());
            self.packet.bytes.extend(octets.into_iter().take(room));
        }
    }

    /// A component that a packet passes several times is another each time.
    fn step(&mut self, t_ns: i64, name: &str, findings: &mut Findings) {
        let n_before = self.packet.steps.iter();
        let n_before = n_before
            .filter(|(_, at)| base_name(self.components.name(*at)) == name)
            .count();
        let name = match n_before {
            0 => name.to_owned(),
            n => format!("{name}#{}", n + 1),
        };
        if self.packet.steps.len() < MAX_STEPS
            && let Some(interface) = self.components.interface(&name, ETHERNET, findings)
        {
            self.packet.steps.push((t_ns, interface));
        } else {
            self.packet.has_more_steps = true;
        }
    }
}

fn base_name(name: Option<&str>) -> &str {
    name.and_then(|name| name.split('#').next())
        .unwrap_or_default()
}

fn is_first(line: &str) -> bool {
    line.contains(CAPTURED)
}

#[cfg(test)]
mod tests {
    use super::super::Capture;
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
    fn packets_that_cannot_be_read_are_counted() {
        let read = |text: String| {
            let source = Box::new(std::io::Cursor::new(text.into_bytes()));
            let mut capture = Capture::from_read(source, Path::new("trace")).unwrap();
            let mut n_frames = 0;
            while capture.next_frame().is_some() {
                n_frames += 1;
            }
            (n_frames, capture.damage().len())
        };
        for damaged in ["x3:59:59.999999", "24:59:59.999999"] {
            assert_eq!(read(TRACE.replace("23:59:59.999999", damaged)), (4, 1));
        }
        let step = |n| format!("          +- [12:58:49.759980] | component{n} |\n");
        let way = |from: usize, to: usize| (from..to).map(step).collect::<String>();
        let (first, rest) = TRACE.split_once("          +- ").unwrap();
        let packet = |way: String| format!("{first}{way}          +- {rest}");
        assert_eq!(read(packet(way(0, 250))), (255, 0));
        assert_eq!(read(packet(way(0, 300))), (258, 1));
        let many = (0..3).map(|n| packet(way(200 * n, 200 * n + 200)));
        assert_eq!(read(many.collect()).1, 1);
    }

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
}
