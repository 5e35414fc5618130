//! The files of one point: pcapng that is whole whenever it is written to, and a ring of them.

use super::state::now_ns;
use crate::base::error::{Error, Result};
use crate::file::{BlockBuilder, clock_comment};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Blocks that wait are written when there are so many bytes of them.
const FULL_BYTES: usize = 1 << 20;
const OPT_COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_FILTER: u16 = 11;
const ISB_STARTTIME: u16 = 2;
const ISB_ENDTIME: u16 = 3;
const ISB_IFDROP: u16 = 5;
const ISB_FILTERACCEPT: u16 = 6;
const ISB_OSDROP: u16 = 7;
const ISB_USRDELIV: u16 = 8;

/// How many files are kept, and how large each may get.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    /// The last ones.
    pub n_files: usize,
    /// Of each.
    pub file_bytes: u64,
}

/// What is said of an interface in each file.
#[derive(Clone, Debug, Default)]
pub(super) struct InterfaceText {
    pub(super) link: u16,
    pub(super) snap_bytes: u32,
    pub(super) clock: Option<u32>,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) filter: String,
}

/// What was counted of an interface since its capture began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InterfaceCounts {
    pub(super) accepted: Option<u64>,
    pub(super) dropped: u64,
    pub(super) dropped_by_interface: u64,
    pub(super) delivered: u64,
}

impl InterfaceCounts {
    fn since(self, earlier: Self) -> Self {
        let accepted = self.accepted.zip(Some(earlier.accepted.unwrap_or(0)));
        Self {
            accepted: accepted.map(|(now, then)| now.saturating_sub(then)),
            dropped: self.dropped.saturating_sub(earlier.dropped),
            dropped_by_interface: self
                .dropped_by_interface
                .saturating_sub(earlier.dropped_by_interface),
            delivered: self.delivered.saturating_sub(earlier.delivered),
        }
    }
}

struct FileInterface {
    text: InterfaceText,
    counts: InterfaceCounts,
    at_begin: InterfaceCounts,
}

/// The files of a point, being written.
pub(super) struct PointFile {
    base: PathBuf,
    ring: Option<Ring>,
    paths: Arc<Mutex<Vec<PathBuf>>>,
    blocks: BlockBuilder,
    interfaces: Vec<FileInterface>,
    path: PathBuf,
    file: File,
    written_bytes: u64,
    begun_ns: i64,
    n_files: usize,
}

impl PointFile {
    pub(super) fn create(
        base: &Path,
        ring: Option<Ring>,
        paths: Arc<Mutex<Vec<PathBuf>>>,
    ) -> Result<Self> {
        let path = file_name(base, ring, 1);
        let mut created = Self {
            file: create(&path)?,
            base: base.into(),
            ring,
            paths,
            blocks: BlockBuilder::default(),
            interfaces: Vec::new(),
            path,
            written_bytes: 0,
            begun_ns: now_ns(),
            n_files: 1,
        };
        created.keep_path();
        created.blocks.section();
        Ok(created)
    }

    /// Announces a further interface, in this file and in those that follow, and gives its number.
    pub(super) fn describe(&mut self, text: InterfaceText) -> usize {
        announce(&mut self.blocks, &text);
        self.interfaces.push(FileInterface {
            text,
            counts: InterfaceCounts::default(),
            at_begin: InterfaceCounts::default(),
        });
        self.interfaces.len() - 1
    }

    #[inline]
    pub(super) fn packet(
        &mut self,
        interface: usize,
        t_ns: i64,
        wire_bytes: u32,
        bytes: &[u8],
    ) -> Result<()> {
        self.blocks.packet(interface, t_ns, wire_bytes, bytes);
        if let Some(known) = self.interfaces.get_mut(interface) {
            known.counts.delivered += 1;
        }
        if self.blocks.bytes().len() >= FULL_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// What the system has counted of an interface until now.
    pub(super) fn counted(&mut self, interface: usize, counts: InterfaceCounts) {
        if let Some(known) = self.interfaces.get_mut(interface) {
            let delivered = known.counts.delivered;
            known.counts = InterfaceCounts {
                delivered,
                ..counts
            };
        }
    }

    /// Writes what waits, and begins another file if this one is full.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.write()?;
        match self.ring {
            Some(ring) if self.written_bytes >= ring.file_bytes => self.turn(ring),
            _ => Ok(()),
        }
    }

    /// Ends the last file with what was counted.
    pub(super) fn finish(mut self) -> Result<()> {
        self.tell_counts();
        self.write()
    }

    fn turn(&mut self, ring: Ring) -> Result<()> {
        self.tell_counts();
        self.write()?;
        self.n_files += 1;
        self.path = file_name(&self.base, self.ring, self.n_files);
        self.file = create(&self.path)?;
        self.written_bytes = 0;
        self.begun_ns = now_ns();
        self.blocks.section();
        for interface in &mut self.interfaces {
            interface.at_begin = interface.counts;
            announce(&mut self.blocks, &interface.text);
        }
        self.keep_path();
        self.forget_oldest(ring)
    }

    fn forget_oldest(&self, ring: Ring) -> Result<()> {
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        while paths.len() > ring.n_files.max(1) {
            let oldest = paths.remove(0);
            std::fs::remove_file(&oldest).map_err(|source| io(&oldest, source))?;
        }
        Ok(())
    }

    fn keep_path(&self) {
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        paths.push(self.path.clone());
    }

    fn tell_counts(&mut self) {
        let end_ns = now_ns();
        for (id, interface) in self.interfaces.iter().enumerate() {
            let counts = interface.counts.since(interface.at_begin);
            let mut options = vec![
                (ISB_STARTTIME, high_word_first(self.begun_ns)),
                (ISB_ENDTIME, high_word_first(end_ns)),
                (ISB_IFDROP, counts.dropped_by_interface),
            ];
            options.extend(counts.accepted.map(|n| (ISB_FILTERACCEPT, n)));
            options.push((ISB_OSDROP, counts.dropped));
            options.push((ISB_USRDELIV, counts.delivered));
            self.blocks.statistics(id, end_ns, &options);
        }
    }

    /// Writes all blocks that wait, or none of them.
    fn write(&mut self) -> Result<()> {
        let outcome = self.file.write_all(self.blocks.bytes());
        if let Err(source) = outcome {
            // of what cannot be written whole nothing stays; that this fails too would not help
            let _ = self.file.set_len(self.written_bytes);
            self.blocks.clear();
            return Err(io(&self.path, source));
        }
        self.written_bytes += self.blocks.bytes().len() as u64;
        self.blocks.clear();
        Ok(())
    }
}

/// `vnic.pcapng`, or in a ring `vnic-00001.pcapng`.
fn file_name(base: &Path, ring: Option<Ring>, n: usize) -> PathBuf {
    let mut name = base.file_name().map_or_else(OsString::new, OsString::from);
    if ring.is_some() {
        name.push(format!("-{n:05}"));
    }
    name.push(".pcapng");
    base.with_file_name(name)
}

fn announce(blocks: &mut BlockBuilder, text: &InterfaceText) {
    // the first byte of a filter says in which language it is: 0, libpcap's
    let filter = match text.filter.as_str() {
        "" => vec![],
        expression => [&[0], expression.as_bytes()].concat(),
    };
    let clock = clock_comment(text.clock, false);
    let options: [(u16, &[u8]); 4] = [
        (OPT_COMMENT, clock.as_bytes()),
        (IF_NAME, text.name.as_bytes()),
        (IF_DESCRIPTION, text.description.as_bytes()),
        (IF_FILTER, &filter),
    ];
    blocks.interface(text.link, text.snap_bytes, &options);
}

/// An instant as pcapng writes it.
fn high_word_first(t_ns: i64) -> u64 {
    t_ns.max(0).cast_unsigned().rotate_left(32)
}

fn create(path: &Path) -> Result<File> {
    File::create(path).map_err(|source| io(path, source))
}

fn io(path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        path: path.into(),
        source,
    }
}
