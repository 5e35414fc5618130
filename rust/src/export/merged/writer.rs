//! Writes pcapng: one section, little-endian, ns.
//!
//! Spec: draft-ietf-opsawg-pcapng §4.1 to §4.3.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::net::IpAddr;

use super::MergePoint;
use super::sorter::WaitingFrame;
use crate::file::HostName;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const NAME_RESOLUTION: u32 = 4;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const UNKNOWN_LENGTH: u64 = u64::MAX;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_TSRESOL: u16 = 9;
const OPT_COMMENT: u16 = 1;
const EPB_FLAGS: u16 = 2;
const NRB_IPV4: u16 = 1;
const NRB_IPV6: u16 = 2;
const END_OF_OPTIONS: [u8; 4] = [0; 4];
const NANOSECONDS: u8 = 9;

/// Wireshark takes a longer one for damage.
const MAX_CAPTURED_BYTES: usize = 262_144;
const BUFFER_BYTES: usize = 1 << 20;

/// A pcapng file being written.
pub(super) struct Writer<'a> {
    out: BufWriter<File>,
    /// What each interface stands for, in the order of their ids.
    interfaces: Vec<(usize, u16)>,
    body: Vec<u8>,
    points: &'a [MergePoint],
}

impl<'a> Writer<'a> {
    pub(super) fn new(file: File, points: &'a [MergePoint]) -> Result<Self> {
        let mut writer = Self {
            out: BufWriter::with_capacity(BUFFER_BYTES, file),
            interfaces: Vec::new(),
            body: Vec::new(),
            points,
        };
        writer.body.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        writer.body.extend([1, 0, 0, 0]);
        writer.body.extend(UNKNOWN_LENGTH.to_le_bytes());
        writer.option(SHB_USERAPPL, b"pcaplat");
        writer.body.extend(END_OF_OPTIONS);
        writer.block(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Announces the interface of a point for frames of one link type.
    pub(super) fn describe(&mut self, point: usize, link: u16) -> Result<()> {
        self.interfaces.push((point, link));
        self.body.extend(link.to_le_bytes());
        self.body.extend([0; 2]);
        self.body.extend([0; 4]);
        if let Some(about) = self.points.get(point) {
            self.option(IF_NAME, about.name.as_bytes());
            if !about.description.is_empty() {
                self.option(IF_DESCRIPTION, about.description.as_bytes());
            }
        }
        self.option(IF_TSRESOL, &[NANOSECONDS]);
        self.body.extend(END_OF_OPTIONS);
        self.block(INTERFACE_DESCRIPTION)
    }

    /// Writes a frame of a point.
    pub(super) fn write(&mut self, point: usize, frame: &WaitingFrame) -> Result<()> {
        let id = self.interface(point, frame.link)?;
        let bytes = frame
            .bytes
            .get(..MAX_CAPTURED_BYTES)
            .unwrap_or(&frame.bytes);
        let ticks = frame.t_ns.max(0).cast_unsigned();
        for word in [id as u64, ticks >> 32, ticks, bytes.len() as u64] {
            self.body.extend(word.to_le_bytes().iter().take(4));
        }
        self.body.extend(frame.wire_bytes.to_le_bytes());
        self.body.extend(bytes);
        self.pad();
        if frame.fcs_bytes > 0 {
            self.option(EPB_FLAGS, &(u32::from(frame.fcs_bytes) << 5).to_le_bytes());
        }
        if !frame.comment.is_empty() {
            self.option(OPT_COMMENT, frame.comment.as_bytes());
        }
        if frame.fcs_bytes > 0 || !frame.comment.is_empty() {
            self.body.extend(END_OF_OPTIONS);
        }
        self.block(ENHANCED_PACKET)
    }

    /// Writes what addresses are called, in blocks that no reader takes for damage.
    pub(super) fn resolve(&mut self, names: &BTreeSet<HostName>) -> Result<()> {
        const NAMES_PER_BLOCK: usize = 1024;
        let names: Vec<_> = names.iter().collect();
        for some in names.chunks(NAMES_PER_BLOCK) {
            for HostName { address, name } in some {
                let (code, mut value) = match address {
                    IpAddr::V4(address) => (NRB_IPV4, address.octets().to_vec()),
                    IpAddr::V6(address) => (NRB_IPV6, address.octets().to_vec()),
                };
                value.extend(name.as_bytes());
                value.push(0);
                self.option(code, &value);
            }
            self.body.extend(END_OF_OPTIONS);
            self.block(NAME_RESOLUTION)?;
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

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
        let n_bytes = u16::try_from(value.len()).unwrap_or(u16::MAX);
        self.body.extend(code.to_le_bytes());
        self.body.extend(n_bytes.to_le_bytes());
        self.body.extend(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    /// Puts the two lengths around the body, and the whole into the file.
    fn block(&mut self, kind: u32) -> Result<()> {
        let n_bytes = u32::try_from(self.body.len() + 12)
            .unwrap_or(u32::MAX)
            .to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&n_bytes)?;
        self.out.write_all(&self.body)?;
        self.out.write_all(&n_bytes)?;
        self.body.clear();
        Ok(())
    }
}
