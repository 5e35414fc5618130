//! pcap, the classic format: a file header, then records with a fixed header each.
//!
//! Spec: draft-ietf-opsawg-pcap; the variants as libpcap's sf-pcap.c and Wireshark's libpcap.c
//! know them.
//!
//! ```text
//!  magic  major.minor  thiszone  sigfigs  snaplen  link     seconds  fraction  captured  length
//!  4      2 2          4         4        4        4        4        4         4         4
//! ```

mod expcap;
mod header;
mod hole;
mod layout;
mod variant;

use super::input::Input;
use super::{Findings, Format, Frame, FrameDirection, Interface, Opened, Records, Sign};
use crate::base::instant;
use header::{Header, RecordHeader};
use hole::{AfterZeros, Hole};

pub(super) const FORMAT: Format = Format {
    name: "pcap",
    spec: "draft-ietf-opsawg-pcap",
    variants: variant::ALL,
    sign: Sign::Magic(header::matches),
    open,
};

/// No record of a sound file is longer: libpcap and Wireshark refuse what is.
const MAX_CAPTURED_BYTES: u32 = 262_144;

fn open(input: &mut Input, findings: &mut Findings) -> Opened {
    let mut reader = Pcap {
        header: Header::read(input)?,
        record_header_bytes: 0,
        interface: 0,
        has_odd_fractions: false,
        has_footers: false,
        last_seconds: None,
        hole: Hole::default(),
    };
    reader.begin(input, findings);
    Ok(Box::new(reader))
}

/// A file header and what follows from it.
struct Pcap {
    header: Header,
    record_header_bytes: usize,
    interface: u32,
    has_odd_fractions: bool,
    /// The records end in the footer of Exact Capture.
    has_footers: bool,
    /// Of the record before.
    last_seconds: Option<u32>,
    hole: Hole,
}

impl Pcap {
    /// Moves past the file header and settles what it leaves open.
    fn begin(&mut self, input: &mut Input, findings: &mut Findings) {
        input.take(self.header.n_bytes);
        let ahead = input.ahead(layout::LOOK_AHEAD_BYTES);
        self.record_header_bytes = layout::record_header_bytes(&self.header, ahead);
        if layout::holds_ns(&self.header, self.record_header_bytes, ahead) {
            self.header.fraction_ns = 1;
            findings.damaged(
                0,
                "its timestamps are nanoseconds, but its header declares microseconds".to_owned(),
            );
        }
        self.has_footers = expcap::ends_records(&self.header, ahead);
        self.describe(findings);
    }

    /// A concatenated file of the same kind is the same interface going on.
    fn describe(&mut self, findings: &mut Findings) {
        let found = Interface {
            name: None,
            link: self.header.link,
            resolution_ns: f64::from(self.header.fraction_ns),
            snap_bytes: self.header.snap_bytes,
            clock: Some(u32::try_from(findings.interfaces.len()).unwrap_or(u32::MAX)),
            is_aligned: false,
            n_dropped: None,
        };
        let is_known = findings.interfaces.last().is_some_and(|last| {
            (last.link, last.resolution_ns.to_bits()) == (found.link, found.resolution_ns.to_bits())
        });
        if !is_known {
            findings.interfaces.push(found);
            self.interface = u32::try_from(findings.interfaces.len() - 1).unwrap_or(u32::MAX);
        }
    }

    /// Whether another file was appended here; if so, goes on in that.
    #[cold]
    fn goes_on_in_another(&mut self, input: &mut Input, findings: &mut Findings) -> bool {
        if !header::matches(input.window()) || findings.interfaces.len() >= MAX_INTERFACES {
            return false;
        }
        if !input.fill(self.header.n_bytes) {
            findings.ended(input, self.header.n_bytes, "the header of an appended file");
            input.skip(u64::MAX);
            return true;
        }
        let Ok(header) = Header::read(input) else {
            return false;
        };
        self.header = header;
        self.begin(input, findings);
        true
    }

    /// Says once that stamps are not as they should be; see [`instant`] for what is made of them.
    #[cold]
    fn tell_odd_fraction(&mut self, input: &Input, findings: &mut Findings, fraction: u32) {
        self.has_odd_fractions = true;
        let found = fraction.cast_signed();
        let text = format!(
            "a timestamp has a fraction of {found}, more than a second; it is carried over"
        );
        findings.damaged(input.at_byte(), text);
    }
}

/// Only files that alternate without end reach it.
const MAX_INTERFACES: usize = 65_536;

impl Pcap {
    /// The next record, and its length with its header, if it is like most: in memory, and nothing is odd
    /// about it or the one before.
    #[inline]
    fn next_plain(&mut self, window: &[u8]) -> Option<(RecordHeader, usize)> {
        let record = self.header.record(window)?;
        let record_bytes = self.record_header_bytes + record.captured as usize;
        let is_plain = (1..=MAX_CAPTURED_BYTES).contains(&record.captured)
            && record_bytes <= window.len()
            && record.fraction < self.header.fractions_per_s()
            && !self.hole.is_begun();
        if !is_plain {
            return None;
        }
        self.last_seconds = Some(record.seconds);
        Some((record, record_bytes))
    }

    /// The next record that is whole in the window, and its length with its header.
    #[cold]
    #[inline(never)]
    fn next_record(
        &mut self,
        input: &mut Input,
        findings: &mut Findings,
    ) -> Option<(RecordHeader, usize)> {
        loop {
            if !input.fill(self.record_header_bytes) {
                findings.ended(input, self.record_header_bytes, "a record header");
                return None;
            }
            let record = self.header.record(input.window())?;
            if record.is_empty() && self.goes_on_in_another(input, findings) {
                continue;
            }
            if record.captured > MAX_CAPTURED_BYTES || self.is_in_hole(record, input, findings) {
                self.pass_damage(record, input, findings)?;
                continue;
            }
            if record.fraction >= self.header.fractions_per_s() && !self.has_odd_fractions {
                self.tell_odd_fraction(input, findings, record.fraction);
            }
            let record_bytes = self.record_header_bytes + record.captured as usize;
            if !input.fill(record_bytes) {
                self.pass_lie(record_bytes, input, findings)?;
                continue;
            }
            if !record.is_empty() {
                self.last_seconds = Some(record.seconds);
            }
            return Some((record, record_bytes));
        }
    }

    /// Whether this is no record because zeros are there, or were right before it.
    fn is_in_hole(
        &mut self,
        record: RecordHeader,
        input: &mut Input,
        findings: &mut Findings,
    ) -> bool {
        match self.hole.place(record) {
            AfterZeros::Record => false,
            AfterZeros::Endless => true,
            AfterZeros::Begun => {
                findings.is_truncated = true;
                let each = self.record_header_bytes;
                let text = format!(
                    "zeros where records should be: space that was kept for some and never written; \
                     each {each} of them are an empty record, as Wireshark lists them"
                );
                let before = each as u64 * u64::from(hole::MIN_RECORDS - 1);
                findings.damaged(input.at_byte().saturating_sub(before), text);
                false
            }
            AfterZeros::Behind => !self.goes_on_here(input),
        }
    }

    #[cold]
    fn goes_on_here(&self, input: &mut Input) -> bool {
        let ahead = input.ahead(layout::LOOK_AHEAD_BYTES);
        layout::goes_on(
            &self.header,
            self.record_header_bytes,
            self.last_seconds,
            ahead,
        )
    }

    /// Moves from a record that is none to where records go on.
    #[cold]
    fn pass_damage(
        &self,
        record: RecordHeader,
        input: &mut Input,
        findings: &mut Findings,
    ) -> Option<()> {
        let at_byte = input.at_byte();
        let (header, n_header) = (&self.header, self.record_header_bytes);
        let goes_on = input.seek(1, layout::LOOK_AHEAD_BYTES, |window| {
            layout::goes_on(header, n_header, self.last_seconds, window)
        });
        findings.lost(at_byte, &what_is_wrong(record), input, goes_on);
        goes_on.then_some(())
    }

    /// A record that is longer than the file is the last, unless others follow within its bytes.
    #[cold]
    fn pass_lie(
        &self,
        record_bytes: usize,
        input: &mut Input,
        findings: &mut Findings,
    ) -> Option<()> {
        let at_byte = input.at_byte();
        let (header, n_header) = (&self.header, self.record_header_bytes);
        let goes_on = input.seek_here(1, |window| {
            layout::goes_on(header, n_header, self.last_seconds, window)
        });
        if goes_on {
            let what = format!("a record claims {record_bytes} bytes, but others follow earlier");
            findings.lost(at_byte, &what, input, true);
        } else {
            findings.ended(input, record_bytes, "a record");
        }
        goes_on.then_some(())
    }
}

/// What stands where a record should be.
fn what_is_wrong(record: RecordHeader) -> String {
    let captured = record.captured;
    if captured > MAX_CAPTURED_BYTES {
        format!("a record claims {captured} captured bytes, {MAX_CAPTURED_BYTES} are possible")
    } else if captured > 0 {
        "behind the zeros is no record".to_owned()
    } else {
        format!(
            "zeros, more than the {} records that are listed",
            hole::MAX_RECORDS
        )
    }
}

impl Records for Pcap {
    fn next_frame<'a>(
        &'a mut self,
        input: &'a mut Input,
        findings: &mut Findings,
    ) -> Option<Frame<'a>> {
        let plain = self.next_plain(input.window());
        let (record, record_bytes) = match plain {
            Some(plain) => plain,
            None => self.next_record(input, findings)?,
        };
        let frame = Frame {
            number: findings.next_number(),
            t_ns: instant::from_seconds_and_fraction_ns(
                record.seconds,
                record.fraction,
                self.header.fraction_ns,
            ),
            stamp_ns: None,
            late_ns: 0,
            packet_id: 0,
            has_time: true,
            interface: self.interface,
            link: self.header.link,
            wire_bytes: record.wire,
            fcs_bytes: self.header.fcs_bytes,
            direction: FrameDirection::Unknown,
            bytes: input.take_behind(self.record_header_bytes, record_bytes)?,
        };
        if self.has_footers {
            return Some(expcap::without_footer(frame, findings));
        }
        Some(frame)
    }

    fn variant(&self) -> &'static str {
        variant::name(&self.header, self.record_header_bytes, self.has_footers)
    }

    fn step_bytes(&self) -> Option<u64> {
        Some(1)
    }

    fn is_settled(&self) -> bool {
        !self.hole.is_begun()
    }

    fn seek_record(&self, input: &mut Input) -> bool {
        let (header, n_header) = (&self.header, self.record_header_bytes);
        input.seek(1, layout::LOOK_AHEAD_BYTES, |window| {
            layout::is_chain(header, n_header, (None, layout::N_RECORDS), window)
        })
    }
}
