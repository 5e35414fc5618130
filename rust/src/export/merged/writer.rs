//! Writes pcapng: one section, an interface a point and link type.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::net::IpAddr;

use super::MergePoint;
use super::sorter::WaitingFrame;
use crate::file::{BlockBuilder, HostName, clock_comment};

const NAME_RESOLUTION: u32 = 4;
const OPT_COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const NRB_IPV4: u16 = 1;
const NRB_IPV6: u16 = 2;
const BUFFER_BYTES: usize = 1 << 20;

/// A pcapng file being written.
pub(super) struct Writer<'a> {
    out: BufWriter<File>,
    /// What each interface stands for, in the order of their ids.
    interfaces: Vec<(usize, u16)>,
    blocks: BlockBuilder,
    points: &'a [MergePoint],
}

impl<'a> Writer<'a> {
    pub(super) fn new(file: File, points: &'a [MergePoint]) -> Result<Self> {
        let mut writer = Self {
            out: BufWriter::with_capacity(BUFFER_BYTES, file),
            interfaces: Vec::new(),
            blocks: BlockBuilder::default(),
            points,
        };
        writer.blocks.section();
        writer.hand_over()?;
        Ok(writer)
    }

    /// Announces the interface of a point for frames of one link type.
    pub(super) fn describe(&mut self, point: usize, link: u16) -> Result<()> {
        self.interfaces.push((point, link));
        let about = self.points.get(point);
        let name = about.map_or("", |about| &about.name);
        let description = about.map_or("", |about| &about.description);
        let clock = clock_comment(about.and_then(|about| about.clock_domain), true);
        let options = [
            (OPT_COMMENT, clock.as_bytes()),
            (IF_NAME, name.as_bytes()),
            (IF_DESCRIPTION, description.as_bytes()),
        ];
        self.blocks.interface(link, 0, &options);
        self.hand_over()
    }

    /// Writes a frame of a point.
    pub(super) fn write(&mut self, point: usize, frame: &WaitingFrame) -> Result<()> {
        let id = self.interface(point, frame.link)?;
        let said = (frame.fcs_bytes, frame.comment.as_str());
        self.blocks
            .commented_packet(id, frame.t_ns, frame.wire_bytes, &frame.bytes, said);
        self.hand_over()
    }

    /// Writes what addresses are called, in blocks that no reader takes for damage.
    pub(super) fn resolve(&mut self, names: &BTreeSet<HostName>) -> Result<()> {
        const NAMES_PER_BLOCK: usize = 1024;
        let names: Vec<_> = names.iter().collect();
        for some in names.chunks(NAMES_PER_BLOCK) {
            let records: Vec<_> = some.iter().map(|name| record_of(name)).collect();
            self.blocks.options(NAME_RESOLUTION, &records);
            self.hand_over()?;
        }
        Ok(())
    }

    /// The id of a point's interface, announced if need be.
    fn interface(&mut self, point: usize, link: u16) -> Result<usize> {
        let sought = (point, link);
        let known = self
            .interfaces
            .iter()
            .position(|interface| *interface == sought);
        let id = known.unwrap_or(self.interfaces.len());
        if known.is_none() {
            self.describe(point, link)?;
        }
        Ok(id)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.out.flush()
    }

    fn hand_over(&mut self) -> Result<()> {
        self.out.write_all(self.blocks.bytes())?;
        self.blocks.clear();
        Ok(())
    }
}

/// An address and its name, as a record of a name resolution block.
fn record_of(HostName { address, name }: &HostName) -> (u16, Vec<u8>) {
    let (code, mut value) = match address {
        IpAddr::V4(address) => (NRB_IPV4, address.octets().to_vec()),
        IpAddr::V6(address) => (NRB_IPV6, address.octets().to_vec()),
    };
    value.extend(name.as_bytes());
    value.push(0);
    (code, value)
}
