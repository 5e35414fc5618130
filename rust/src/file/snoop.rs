//! snoop, as Solaris writes it.
//!
//! Spec: RFC 1761.
//!
//! ```text
//!  "snoop\0\0\0"  version  datalink      length  captured  record  drops  seconds  microseconds
//!  8              4        4             4       4         4       4      4        4
//! ```

use super::input::Input;
use super::order::Order;
use super::{Damage, Findings, Format, Frame, FrameDirection, Interface, Opened, Records, Sign};
use crate::base::instant;

pub(super) const FORMAT: Format = Format {
    name: "snoop",
    spec: "RFC 1761 (snoop version 2)",
    variants: &[],
    sign: Sign::Magic(|head| head.starts_with(MAGIC)),
    open,
};

const MAGIC: &[u8] = b"snoop\0\0\0";
const HEADER_BYTES: usize = 16;
const RECORD_HEADER_BYTES: usize = 24;
const VERSION: u32 = 2;
const MICROSECOND_NS: u32 = 1000;
const US_PER_S: u32 = 1_000_000;
/// A longer record is none: packets end at 64 KiB, even with all that segmentation offload joins.
const MAX_RECORD_BYTES: u32 = 1 << 20;
/// Datalinks of RFC 1761 §4 and their link types: IEEE 802.3, token ring, Ethernet, FDDI.
/// Records that follow damage are looked for in steps of so many bytes: RFC 1761 §2 pads them.
const STEP_BYTES: usize = 4;
const LOOK_AHEAD_BYTES: usize = 2 << 20;
/// How far stamps may lie apart from record to record.
const MAX_GAP_S: u32 = 86_400;
static LINKS: [(u32, u16); 4] = [(0, 1), (2, 6), (4, 1), (8, 10)];

fn open(input: &mut Input, findings: &mut Findings) -> Opened {
    let refused = |text| Damage { at_byte: 0, text };
    if !input.fill(HEADER_BYTES) {
        let had = input.window().len();
        return Err(refused(format!(
            "cut in the file header: {HEADER_BYTES} bytes needed, {had} there"
        )));
    }
    let head = input.take(HEADER_BYTES);
    let version = Order::Big.u32_at(head, 8).unwrap_or_default();
    let datalink = Order::Big.u32_at(head, 12).unwrap_or_default();
    if version != VERSION {
        return Err(refused(format!("snoop version {version}; only 2 is known")));
    }
    let Some((_, link)) = LINKS.iter().find(|(known, _)| *known == datalink) else {
        return Err(refused(format!(
            "snoop datalink {datalink}; Ethernet, token ring and FDDI are known"
        )));
    };
    findings.interfaces.push(Interface {
        name: None,
        link: *link,
        resolution_ns: f64::from(MICROSECOND_NS),
        clock: Some(0),
        ..Interface::default()
    });
    Ok(Box::new(Snoop {
        link: *link,
        last_seconds: None,
    }))
}

struct Snoop {
    link: u16,
    /// Of the record before.
    last_seconds: Option<u32>,
}

/// A record header.
struct SnoopRecord {
    wire: u32,
    captured: u32,
    n_bytes: u32,
    n_dropped: u32,
    seconds: u32,
    microseconds: u32,
}

impl SnoopRecord {
    /// Whether it is a record, about the time of the one before.
    fn is_likely(&self, near_s: Option<u32>) -> bool {
        let since_s = self.seconds.abs_diff(near_s.unwrap_or(self.seconds));
        self.is_possible()
            && (1..=self.wire).contains(&self.captured)
            && self.microseconds < US_PER_S
            && since_s < MAX_GAP_S
    }

    fn read(raw: &[u8]) -> Option<Self> {
        let field = |number: usize| Order::Big.u32_at(raw, number * 4);
        Some(Self {
            wire: field(0)?,
            captured: field(1)?,
            n_bytes: field(2)?,
            n_dropped: field(3)?,
            seconds: field(4)?,
            microseconds: field(5)?,
        })
    }

    fn is_possible(&self) -> bool {
        let held = self.n_bytes.checked_sub(24);
        self.n_bytes <= MAX_RECORD_BYTES && held.is_some_and(|held| self.captured <= held)
    }
}

/// Do two records, or the last one, stand at the start of `window`?
fn goes_on(last_seconds: Option<u32>, window: &[u8]) -> bool {
    let mut near_s = last_seconds;
    let mut rest = window;
    for n_before in 0..2 {
        let is_end = n_before == 1 && rest.is_empty();
        let Some(record) = SnoopRecord::read(rest) else {
            return is_end;
        };
        if !record.is_likely(near_s) {
            return false;
        }
        near_s = Some(record.seconds);
        rest = rest.get(record.n_bytes as usize..).unwrap_or_default();
    }
    true
}

impl Snoop {
    /// The next record that is whole in the window.
    fn next_record(&mut self, input: &mut Input, findings: &mut Findings) -> Option<SnoopRecord> {
        loop {
            if !input.fill(RECORD_HEADER_BYTES) {
                findings.ended(input, RECORD_HEADER_BYTES, "a record header");
                return None;
            }
            let record = SnoopRecord::read(input.window())?;
            if !record.is_possible() {
                self.pass_damage(&record, input, findings)?;
            } else if input.fill(record.n_bytes as usize) {
                self.last_seconds = Some(record.seconds);
                return Some(record);
            } else {
                self.pass_lie(&record, input, findings)?;
            }
        }
    }

    /// Moves from a record that is none to where records go on.
    #[cold]
    fn pass_damage(
        &self,
        record: &SnoopRecord,
        input: &mut Input,
        findings: &mut Findings,
    ) -> Option<()> {
        let at_byte = input.at_byte();
        let (captured, n_bytes) = (record.captured, record.n_bytes);
        let last_seconds = self.last_seconds;
        let is_found = input.seek(STEP_BYTES, LOOK_AHEAD_BYTES, |window| {
            goes_on(last_seconds, window)
        });
        let what = format!("a record of {n_bytes} bytes claims {captured} captured ones");
        findings.lost(at_byte, &what, input, is_found);
        is_found.then_some(())
    }

    /// A record that is longer than the file is the last, unless others follow within its bytes.
    #[cold]
    fn pass_lie(
        &self,
        record: &SnoopRecord,
        input: &mut Input,
        findings: &mut Findings,
    ) -> Option<()> {
        let at_byte = input.at_byte();
        let n_bytes = record.n_bytes as usize;
        let is_found = input.seek_here(STEP_BYTES, |window| goes_on(self.last_seconds, window));
        if is_found {
            let what = format!("a record claims {n_bytes} bytes, but others follow earlier");
            findings.lost(at_byte, &what, input, true);
        } else {
            findings.ended(input, n_bytes, "a record");
        }
        is_found.then_some(())
    }
}

impl Records for Snoop {
    fn next_frame<'a>(
        &'a mut self,
        input: &'a mut Input,
        findings: &mut Findings,
    ) -> Option<Frame<'a>> {
        let record = self.next_record(input, findings)?;
        if record.n_dropped > 0
            && let Some(interface) = findings.interfaces.first_mut()
        {
            interface.n_dropped = Some(record.n_dropped.into());
        }
        let captured = RECORD_HEADER_BYTES..RECORD_HEADER_BYTES + record.captured as usize;
        Some(Frame {
            number: findings.next_number(),
            t_ns: instant::from_seconds_and_fraction_ns(
                record.seconds,
                record.microseconds.min(US_PER_S - 1),
                MICROSECOND_NS,
            ),
            stamp_ns: None,
            late_ns: 0,
            packet_id: 0,
            has_time: true,
            interface: 0,
            link: self.link,
            wire_bytes: record.wire,
            fcs_bytes: 0,
            direction: FrameDirection::Unknown,
            bytes: input.take(record.n_bytes as usize).get(captured)?,
        })
    }
}
