//! Events of Retis, as `retis collect -o` writes them and `retis print --format json` prints them: one a line;
//! `retis sort` writes those of one packet as an array.
//!
//! Spec: retis.readthedocs.io, "Events": core, packet, skb tracking and dev sections.
//!
//! ```text
//! {"common":{"timestamp":…},"startup":{"clock_monotonic_offset":{"sec":…,"nsec":…},…}}
//! {"common":{"timestamp":…},"kernel":{"symbol":"tcp_v4_rcv","probe_type":"kprobe"},
//!  "skb-tracking":{"orig_head":…,"timestamp":…,…},"dev":{"name":"eth0",…},
//!  "packet":{"len":98,"capture_len":98,"data":"base64"}}
//! ```
//! A probe, on a device where the event has one, is an interface. Times are since the host started; its first
//! event says when that was.

use super::components::{Components, TOO_MANY};
use super::findings::Findings;
use super::input::Input;
use super::json::{Json, octets_of_base64};
use super::text_lines::{UnreadPackets, next_line, text_of};
use super::{Format, Frame, FrameDirection, Opened, Records, Sign};
use crate::base::hash::fold;
use std::collections::VecDeque;

pub(super) const FORMAT: Format = Format {
    name: "retis events",
    spec: "retis.readthedocs.io, retis events",
    variants: &[],
    sign: Sign::Sense(|head| {
        let head = text_of(head);
        let head = head.trim_start();
        let is_array = |head: &str| head.starts_with('{') || head.starts_with("[{");
        is_array(head)
            && SECTIONS
                .iter()
                .all(|one| one.iter().any(|name| head.contains(name)))
    }),
    open: |_, _| Ok::<Box<dyn Records>, _>(Box::new(RetisEvents::new())) as Opened,
};

/// Of each list, an event has one.
const SECTIONS: [&[&str]; 2] = [
    &["\"common\":{"],
    &["\"startup\":{", "\"kernel\":{", "\"userspace\":{"],
];
const PACKET: &str = "\"packet\":";
const ETHERNET: u16 = 1;
const NANOSECOND_NS: f64 = 1.0;
/// A longer line is cut: only hostile files have one.
const MAX_LINE_BYTES: u64 = 1 << 20;
const NO_PACKETS: &str =
    "no event of the file holds a packet; collect with Retis' skb collector, which adds them";
const UNREADABLE: &str = "their events are damaged";

/// Reads lines of events.
struct RetisEvents {
    probes: Components,
    /// Of the last line, what was not given yet.
    events: VecDeque<Event>,
    /// The event that was given last.
    event: Event,
    /// When the host started, ns since 1970.
    start_ns: i64,
    n_events: u64,
    n_packets: u64,
    damaged: UnreadPackets,
    beyond: UnreadPackets,
}

/// A packet at a probe.
#[derive(Default)]
struct Event {
    t_ns: i64,
    probe: String,
    packet_id: u64,
    wire_bytes: u32,
    bytes: Vec<u8>,
}

impl Records for RetisEvents {
    fn next_frame<'a>(
        &'a mut self,
        input: &'a mut Input,
        findings: &mut Findings,
    ) -> Option<Frame<'a>> {
        let interface = loop {
            self.event = self.next_event(input, findings)?;
            let interface = self.probes.interface(&self.event.probe, ETHERNET, findings);
            if let Some(interface) = interface {
                break interface;
            }
            self.beyond.note(input);
        };
        self.n_packets += 1;
        Some(Frame {
            number: findings.next_number(),
            t_ns: self.event.t_ns,
            stamp_ns: None,
            late_ns: 0,
            packet_id: self.event.packet_id,
            has_time: true,
            interface,
            link: ETHERNET,
            wire_bytes: self.event.wire_bytes,
            fcs_bytes: 0,
            direction: FrameDirection::Unknown,
            bytes: &self.event.bytes,
        })
    }
}

impl RetisEvents {
    fn new() -> Self {
        Self {
            probes: Components::new(NANOSECOND_NS),
            events: VecDeque::new(),
            event: Event::default(),
            start_ns: 0,
            n_events: 0,
            n_packets: 0,
            damaged: UnreadPackets::default(),
            beyond: UnreadPackets::default(),
        }
    }

    fn next_event(&mut self, input: &mut Input, findings: &mut Findings) -> Option<Event> {
        while self.events.is_empty() {
            let Some(line) = next_line(input, MAX_LINE_BYTES, findings) else {
                self.report(findings);
                return None;
            };
            if !self.take_line(line.trim()) {
                self.damaged.note(input);
            }
        }
        self.events.pop_front()
    }

    /// Whether all of a line's packets can be given.
    fn take_line(&mut self, line: &str) -> bool {
        let events = Json::new(line);
        let is_event = line.starts_with(['{', '[']) || line.contains(PACKET);
        let mut is_read = events.is_whole() || !is_event;
        for event in events.elements() {
            is_read &= self.take(event);
        }
        is_read
    }

    fn take(&mut self, event: Json<'_>) -> bool {
        if let Some(start_ns) = event.member("startup").and_then(start_ns) {
            self.start_ns = start_ns;
            return true;
        }
        self.n_events += u64::from(event.member("common").is_some());
        let packet = packet_of(event, self.start_ns);
        let is_read = packet.is_some() || event.member("packet").is_none();
        self.events.extend(packet);
        is_read
    }

    fn report(&mut self, findings: &mut Findings) {
        if self.n_events > 0 && self.n_packets == 0 {
            findings.damaged(0, NO_PACKETS.to_owned());
        }
        self.damaged.report(UNREADABLE, findings);
        self.beyond.report(TOO_MANY, findings);
    }
}

/// When the host started, by the event that a collection starts with.
fn start_ns(startup: Json<'_>) -> Option<i64> {
    let offset = startup.member("clock_monotonic_offset")?;
    let part = |name| i64::try_from(offset.member(name)?.number()?).ok();
    part("sec")?
        .checked_mul(1_000_000_000)?
        .checked_add(part("nsec")?)
}

/// The packet that an event is about, if it holds one.
fn packet_of(event: Json<'_>, start_ns: i64) -> Option<Event> {
    let packet = event.member("packet")?;
    let bytes = octets_of_base64(packet.member("data")?.text()?)?;
    let since_start_ns = event.member("common")?.member("timestamp")?.number()?;
    let n_bytes = u32::try_from(bytes.len()).ok()?;
    let wire_bytes = packet.member("len").and_then(Json::number);
    let wire_bytes = wire_bytes.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    Some(Event {
        t_ns: i64::try_from(since_start_ns).ok()?.checked_add(start_ns)?,
        probe: probe_of(event)?,
        packet_id: packet_id(event).unwrap_or(0),
        wire_bytes: wire_bytes.max(n_bytes),
        bytes,
    })
}

/// The probe that an event is of, as `retis pcap` names it, and its device.
fn probe_of(event: Json<'_>) -> Option<String> {
    let text = |section: Json<'_>, name| section.member(name)?.text().map(str::to_owned);
    let probe = match event.member("kernel") {
        Some(kernel) => {
            let kind = text(kernel, "probe_type").unwrap_or_else(|| "kernel".to_owned());
            format!("{kind}/{}", text(kernel, "symbol")?)
        }
        None => format!("userspace/{}", text(event.member("userspace")?, "symbol")?),
    };
    let device = event.member("dev").and_then(|dev| text(dev, "name"));
    Some(match device.filter(|name| !name.is_empty()) {
        Some(device) => format!("{probe}@{device}"),
        None => probe,
    })
}

/// The number of the socket buffer that an event is about: where it was allocated, and when.
pub(super) fn packet_id(event: Json<'_>) -> Option<u64> {
    let tracking = event.member("skb-tracking")?;
    let number = |name| tracking.member(name)?.number();
    Some(fold(number("orig_head")?, number("timestamp")?))
}

#[cfg(test)]
mod tests {
    use super::super::Capture;
    use super::*;
    use std::path::Path;

    const STARTUP: &str = r#"{"common":{"timestamp":9},"startup":{"retis_version":"v1.6.0","clock_monotonic_offset":{"sec":1700000000,"nsec":5}}}"#;
    const EVENT: &str = r#"{"common":{"timestamp":1000,"smp_id":6},"kernel":{"symbol":"net:net_dev_start_xmit","probe_type":"raw_tracepoint"},"skb-tracking":{"orig_head":77,"timestamp":1000,"skb":5},"dev":{"name":"eth0","ifindex":2},"packet":{"len":98,"capture_len":3,"data":"TWFu"}}"#;

    type Seen = (i64, u64, u32, Vec<u8>);

    fn read(text: &str) -> (Vec<Seen>, Vec<String>, usize) {
        let source = Box::new(std::io::Cursor::new(text.to_owned().into_bytes()));
        let mut capture = Capture::from_read(source, Path::new("events")).unwrap();
        assert_eq!(capture.format(), "retis events");
        let mut found = Vec::new();
        while let Some(frame) = capture.next_frame() {
            found.push((
                frame.t_ns,
                frame.packet_id,
                frame.wire_bytes,
                frame.bytes.to_vec(),
            ));
        }
        let names = capture.interfaces().iter();
        let names = names.filter_map(|one| one.name.clone()).collect();
        (found, names, capture.damage().len())
    }

    #[test]
    fn an_event_is_a_packet_at_a_probe() {
        let (found, names, n_damages) = read(&format!("{STARTUP}\n{EVENT}\n"));
        let id = fold(77, 1000);
        let t_ns = 1_700_000_000_000_000_000 + 5 + 1000;
        assert_eq!(found, [(t_ns, id, 98, b"Man".to_vec())]);
        assert_eq!(names, ["raw_tracepoint/net:net_dev_start_xmit@eth0"]);
        assert_eq!(n_damages, 0);
    }

    #[test]
    fn sorted_events_are_arrays_and_others_hold_no_packet() {
        let without = EVENT.replace("packet", "skb");
        let other = EVENT
            .replace("\"dev\"", "\"ct\"")
            .replace("\"timestamp\":1000,\"smp", "\"timestamp\":2000,\"smp");
        let (found, names, n_damages) = read(&format!(
            "{STARTUP}\n[{EVENT},{without},{other}]\n{EVENT}\nno event\n"
        ));
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].1, found[1].1);
        assert_eq!(names.len(), 2);
        assert_eq!(n_damages, 0);
        let (found, _, n_damages) = read(&format!("{STARTUP}\n{without}\n"));
        assert_eq!((found.len(), n_damages), (0, 1));
    }

    #[test]
    fn packets_that_cannot_be_read_are_counted() {
        let cut = &EVENT[..EVENT.len() - 9];
        let no_octets = EVENT.replace("TWFu", "TW!u");
        let no_time = EVENT.replace("\"timestamp\":1000", "\"timestamp\":-1");
        let too_late = EVENT.replace("\"timestamp\":1000", "\"timestamp\":9223372036854775807");
        for damaged in [cut, &cut[9..], &no_octets, &no_time, &too_late] {
            let text = format!("{STARTUP}\n{EVENT}\n{damaged}\n[{EVENT},{damaged}]\n{EVENT}\n");
            let (found, _, n_damages) = read(&text);
            assert_eq!((found.len(), n_damages), (3, 1), "{damaged}");
        }
        let long = " ".repeat(1 << 20);
        let (found, _, n_damages) = read(&format!("{STARTUP}\n{long}{EVENT}\n{EVENT}{long}\n"));
        assert_eq!((found.len(), n_damages), (2, 0));
    }

    #[test]
    fn probes_beyond_the_most_are_counted() {
        let events = (0..600).map(|n| EVENT.replace("eth0", &format!("veth{n}")) + "\n");
        let (found, names, n_damages) = read(&format!("{STARTUP}\n{}", events.collect::<String>()));
        assert_eq!((found.len(), names.len(), n_damages), (512, 512, 1));
    }
}
