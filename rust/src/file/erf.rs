//! ERF, as Endace's cards write it: records without a file header.
//!
//! Spec: Endace ERF types reference; the record is that of [`crate::base::endace`].

use super::input::Input;
use super::{Findings, Format, Frame, FrameDirection, Interface, NO_LINK, Opened, Records, Sign};
use crate::base::endace::{EndaceContent, EndaceRecord, HEADER_BYTES, METADATA, PADDING};

pub(super) const FORMAT: Format = Format {
    name: "erf",
    spec: "Endace erf types reference",
    variants: &[],
    sign: Sign::Sense(|head| is_chain(None, head)),
    open,
};

/// The link type of a whole record, for kinds that have no other.
const LINK: u16 = 197;
/// As many records have to make sense.
const N_RECORDS: usize = 20;
/// Records that follow damage are looked for in so much of a file.
const LOOK_AHEAD_BYTES: usize = 64 << 10;
/// After so many, one that does not is damage.
const N_PROOF: usize = 3;
/// How far stamps may go back, and jump ahead, from record to record.
const MAX_BACK_NS: i64 = 1_000_000_000;
const MAX_AHEAD_NS: i64 = 366 * 86_400 * 1_000_000_000;
/// 2^-32 s.
const RESOLUTION_NS: f64 = 1e9 / 4_294_967_296.0;

/// Do records follow each other, up to the end of `head`, and a record of `last_ns`? One alone has
/// to end exactly there.
fn is_chain(mut last_ns: Option<i64>, head: &[u8]) -> bool {
    let mut rest = head;
    for n_before in 0..N_RECORDS {
        let Some(header) = rest.first_chunk() else {
            return n_before > 1 || (n_before == 1 && rest.is_empty());
        };
        let record = EndaceRecord::read(header);
        let gone_ns = record.t_ns.saturating_sub(last_ns.unwrap_or(record.t_ns));
        if is_fill(header) {
            return false;
        }
        if !record.is_plausible() || !(-MAX_BACK_NS..=MAX_AHEAD_NS).contains(&gone_ns) {
            return n_before >= N_PROOF;
        }
        last_ns = Some(record.t_ns);
        let Some(next) = rest.get(record.n_bytes..) else {
            return n_before > 0;
        };
        rest = next;
    }
    true
}

fn is_fill(header: &[u8; HEADER_BYTES]) -> bool {
    header.iter().all(|octet| Some(octet) == header.first())
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of every format")]
fn open(_: &mut Input, _: &mut Findings) -> Opened {
    Ok(Box::new(Erf {
        ports: Vec::new(),
        last_ns: None,
    }))
}

struct Erf {
    /// Stamp of the record before.
    last_ns: Option<i64>,
    /// Link type and port of each interface, in the order in which they appeared.
    ports: Vec<(u16, u8)>,
}

impl Erf {
    fn interface(&mut self, link: u16, port: u8, findings: &mut Findings) -> usize {
        if let Some(known) = self.ports.iter().position(|known| *known == (link, port)) {
            return known;
        }
        self.ports.push((link, port));
        findings.interfaces.push(Interface {
            name: Some(format!("port{port}")),
            link,
            resolution_ns: RESOLUTION_NS,
            clock: Some(0),
            ..Interface::default()
        });
        self.ports.len() - 1
    }

    fn count_lost(record: EndaceRecord, interface: usize, findings: &mut Findings) {
        if record.n_lost() > 0
            && let Some(interface) = findings.interfaces.get_mut(interface)
        {
            let n_before = interface.n_dropped.unwrap_or_default();
            interface.n_dropped = Some(n_before.saturating_add(record.n_lost()));
        }
    }
}

impl Erf {
    /// The next record that holds something, whole in the window.
    fn next_record(&mut self, input: &mut Input, findings: &mut Findings) -> Option<EndaceRecord> {
        loop {
            if !input.fill(HEADER_BYTES) {
                findings.ended(input, HEADER_BYTES, "a record header");
                return None;
            }
            let record = EndaceRecord::read(input.window().first_chunk()?);
            if !record.is_plausible() {
                self.pass_damage(record, input, findings)?;
                continue;
            }
            if !input.fill(record.n_bytes) {
                self.pass_lie(record, input, findings)?;
                continue;
            }
            if record.kind != PADDING {
                self.last_ns = Some(record.t_ns);
                return Some(record);
            }
            input.take(record.n_bytes);
        }
    }

    /// Moves from a record that is none to where records go on.
    #[cold]
    fn pass_damage(
        &self,
        record: EndaceRecord,
        input: &mut Input,
        findings: &mut Findings,
    ) -> Option<()> {
        let at_byte = input.at_byte();
        let last_ns = self.last_ns;
        let is_found = input.seek(1, LOOK_AHEAD_BYTES, |window| is_chain(last_ns, window));
        let (kind, n_bytes) = (record.kind, record.n_bytes);
        let what = format!("a record of type {kind} and {n_bytes} bytes is none");
        findings.lost(at_byte, &what, input, is_found);
        is_found.then_some(())
    }

    /// A record that is longer than the file is the last, unless others follow within its bytes.
    #[cold]
    fn pass_lie(
        &self,
        record: EndaceRecord,
        input: &mut Input,
        findings: &mut Findings,
    ) -> Option<()> {
        let at_byte = input.at_byte();
        let is_found = input.seek_here(1, |window| is_chain(self.last_ns, window));
        if is_found {
            let n_bytes = record.n_bytes;
            let what = format!("a record claims {n_bytes} bytes, but others follow earlier");
            findings.lost(at_byte, &what, input, true);
        } else {
            findings.ended(input, record.n_bytes, "a record");
        }
        is_found.then_some(())
    }
}

/// Link type, place and length of the frame in a record; a kind that is not known stays whole.
fn frame_of(record: EndaceRecord, bytes: &[u8]) -> (u16, EndaceContent, usize) {
    let whole = EndaceContent {
        link: None,
        at: 0,
        fcs_bytes: 0,
    };
    let content = record.content(bytes).unwrap_or(whole);
    let n_held = record.n_bytes - content.at;
    let n_captured = n_held.min(record.wire_bytes.into());
    match content.link {
        Some(link) => (link, content, n_captured),
        None if record.kind == METADATA => (NO_LINK, content, n_captured),
        None => (LINK, whole, record.n_bytes),
    }
}

impl Records for Erf {
    fn next_frame<'a>(
        &'a mut self,
        input: &'a mut Input,
        findings: &mut Findings,
    ) -> Option<Frame<'a>> {
        let record = self.next_record(input, findings)?;
        let (link, content, n_captured) = frame_of(record, input.window());
        let interface = self.interface(link, record.interface, findings);
        Self::count_lost(record, interface, findings);
        let captured = content.at..content.at + n_captured;
        Some(Frame {
            number: findings.next_number(),
            t_ns: record.t_ns,
            stamp_ns: None,
            late_ns: 0,
            packet_id: 0,
            has_time: link != NO_LINK,
            interface: u32::try_from(interface).unwrap_or(u32::MAX),
            link,
            wire_bytes: if link == LINK {
                u32::try_from(n_captured).unwrap_or(u32::MAX)
            } else {
                record.wire_bytes.into()
            },
            fcs_bytes: content.fcs_bytes,
            direction: FrameDirection::Unknown,
            bytes: input.take(record.n_bytes).get(captured)?,
        })
    }
}
