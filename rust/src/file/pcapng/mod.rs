//! pcapng: sections of blocks, each with its length at both ends.
//!
//! Spec: draft-ietf-opsawg-pcapng.
//!
//! ```text
//!  type   total length   body, padded to 4   total length again
//!  4      4              …                   4
//! ```

mod block;
mod builder;
mod interface;
mod name_resolution;
mod packet;
mod retis;
mod section;

use super::input::Input;
use super::{Damage, Findings, Format, Frame, Marks, Opened, Records, Sign};
use block::{Block, Sections};
pub use builder::BlockBuilder;
use interface::Local;
use packet::PacketRecord;
use section::SectionClocks;
pub use section::clock_comment;

pub(super) const FORMAT: Format = Format {
    name: "pcapng",
    spec: "draft-ietf-opsawg-pcapng",
    variants: &[],
    sign: Sign::Magic(|head| head.starts_with(&block::SECTION_HEADER.to_be_bytes())),
    open,
};

/// Only hostile files have more.
const MAX_INTERFACES: usize = 65_536;

fn open(input: &mut Input, _: &mut Findings) -> Opened {
    let order = block::section_order(input).map_err(|text| Damage { at_byte: 0, text })?;
    Ok(Box::new(Pcapng {
        sections: Sections { order },
        first_interface: 0,
        clocks: SectionClocks::default(),
        interfaces: Vec::new(),
        marks: None,
    }))
}

/// The state of the current section.
struct Pcapng {
    sections: Sections,
    /// Index among all interfaces of this section's interface 0.
    first_interface: usize,
    clocks: SectionClocks,
    interfaces: Vec<Local>,
    /// Of the last packet.
    marks: Option<Marks>,
}

impl Records for Pcapng {
    fn next_frame<'a>(
        &'a mut self,
        input: &'a mut Input,
        findings: &mut Findings,
    ) -> Option<Frame<'a>> {
        self.marks = None;
        let (record, n_bytes) = loop {
            let block = self.sections.next_block(input, findings)?;
            let bytes = input.window().get(..block.n_bytes)?;
            match self.read(&block, bytes, findings) {
                Ok(Some(record)) => break (record, block.n_bytes),
                Ok(None) => {
                    input.take(block.n_bytes);
                }
                Err(what) => {
                    input.take(block.n_bytes);
                    findings.lost(block.at_byte, &what, input, true);
                }
            }
        };
        let held = record.at..record.at + record.captured_bytes;
        Some(Frame {
            number: findings.next_number(),
            t_ns: record.t_ns.unwrap_or(0),
            stamp_ns: None,
            late_ns: 0,
            packet_id: self.marks.and_then(|marks| marks.packet_id).unwrap_or(0),
            has_time: record.t_ns.is_some(),
            interface: u32::try_from(self.first_interface + record.interface).unwrap_or(u32::MAX),
            link: record.link,
            wire_bytes: record.wire_bytes,
            fcs_bytes: record.fcs_bytes,
            direction: record.direction,
            bytes: input.take(n_bytes).get(held).unwrap_or_default(),
        })
    }

    fn marks(&self) -> Option<Marks> {
        self.marks
    }

    fn step_bytes(&self) -> Option<u64> {
        Some(4)
    }

    fn seek_record(&self, input: &mut Input) -> bool {
        self.sections.seek(input)
    }
}

impl Pcapng {
    /// What a block adds: a record, or knowledge.
    fn read(
        &mut self,
        block: &Block,
        bytes: &[u8],
        findings: &mut Findings,
    ) -> Result<Option<PacketRecord>, String> {
        let order = self.sections.order;
        let claim = match block.kind {
            block::ENHANCED_PACKET => packet::enhanced(order, bytes)?,
            block::PACKET => packet::obsolete(order, bytes)?,
            block::SIMPLE_PACKET => packet::simple(order, bytes, self.first_snap_bytes())?,
            block::CUSTOM | block::CUSTOM_NO_COPY | block::JOURNAL => {
                return Ok(Some(PacketRecord::NO_PACKET));
            }
            _ => return self.learn(block.kind, bytes, findings).map(|()| None),
        };
        self.packet(&claim, bytes, findings).map(Some)
    }

    fn first_snap_bytes(&self) -> u32 {
        self.interfaces.first().map_or(0, |local| local.snap_bytes)
    }

    /// Blocks that are about packets of other blocks; one of unknown kind says nothing.
    fn learn(&mut self, kind: u32, bytes: &[u8], findings: &mut Findings) -> Result<(), String> {
        match kind {
            block::SECTION_HEADER => {
                self.first_interface = findings.interfaces.len();
                self.clocks = SectionClocks::of(self.sections.order, bytes);
                self.interfaces.clear();
                Ok(())
            }
            block::INTERFACE_DESCRIPTION => self.describe(bytes, findings),
            block::INTERFACE_STATISTICS => self.count(bytes, findings),
            block::NAME_RESOLUTION => {
                name_resolution::learn(self.sections.order, bytes, &mut findings.names);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn describe(&mut self, bytes: &[u8], findings: &mut Findings) -> Result<(), String> {
        if findings.interfaces.len() >= MAX_INTERFACES {
            return Err(format!("more than {MAX_INTERFACES} interfaces"));
        }
        let (order, first) = (self.sections.order, self.first_interface);
        let (local, found) = interface::described(order, bytes, self.clocks, first)?;
        self.interfaces.push(local);
        findings.interfaces.push(found);
        Ok(())
    }

    fn count(&mut self, bytes: &[u8], findings: &mut Findings) -> Result<(), String> {
        let (interface, n_dropped) = interface::statistics(self.sections.order, bytes)?;
        self.local(interface)?.n_dropped_in_all = n_dropped;
        self.tell_drops(interface, findings);
        Ok(())
    }

    fn local(&mut self, interface: usize) -> Result<&mut Local, String> {
        let n_described = self.interfaces.len();
        self.interfaces.get_mut(interface).ok_or_else(|| {
            format!("interface {interface} is used, but the section describes {n_described} so far")
        })
    }

    fn tell_drops(&mut self, interface: usize, findings: &mut Findings) {
        let local = self.interfaces.get(interface);
        let found = findings
            .interfaces
            .get_mut(self.first_interface + interface);
        if let (Some(local), Some(found)) = (local, found) {
            found.n_dropped = local.n_dropped_in_all.max(local.n_dropped_between);
        }
    }

    /// What is left of a packet block's claims when they are held against the block.
    #[inline]
    fn packet(
        &mut self,
        claim: &packet::Claim,
        bytes: &[u8],
        findings: &mut Findings,
    ) -> Result<PacketRecord, String> {
        let options = packet::options(self.sections.order, claim, bytes)?;
        self.marks = options.marks;
        let local = self.local(claim.interface)?;
        let t_ns = claim.ticks.map(|ticks| local.scale.instant_ns(ticks));
        let record = PacketRecord {
            t_ns: t_ns.map(|t_ns| t_ns.unwrap_or_else(|limit_ns| limit_ns)),
            interface: claim.interface,
            link: local.link,
            wire_bytes: claim.wire_bytes,
            fcs_bytes: options.fcs_bytes.unwrap_or(local.fcs_bytes),
            direction: options.direction,
            at: claim.at,
            captured_bytes: claim.captured_bytes,
        };
        if let Some(n_dropped) = claim.n_dropped.or(options.n_dropped) {
            let so_far = local.n_dropped_between.unwrap_or(0);
            local.n_dropped_between = Some(so_far.saturating_add(n_dropped));
            self.tell_drops(claim.interface, findings);
        }
        if let Some(Err(limit_ns)) = t_ns {
            findings.stamp_out_of_range(limit_ns);
        }
        Ok(record)
    }
}
