//! Capture files, one file per format, each recognising its own first bytes.
//!
//! [`Capture`] is the only door. Reading goes through one large buffer that frames borrow from;
//! what is wrong after opening is [`Damage`], a value: everything before it is still read.

pub mod capturing;
mod components;
mod compressed;
mod counted;
mod extent;
mod findings;
mod frame;
mod input;
mod json;
pub mod libpcap;
mod order;
mod stranger;
mod tail;
mod text_lines;
mod time_of_day;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::base::error::{Error, Result};
use compressed::Seeking;
pub use compressed::{CODECS, Codec};
use counted::CountedRead;
pub use digest::{
    BlockWriter, Content, ContentKind, DigestedFrame, file_header, interface_block, last_blocks,
};
pub use extent::{ExtentStart, FileExtent, RecordPlace};
use findings::Findings;
pub use frame::{
    Checksum, Damage, Frame, FrameDirection, HostName, Interface, Marks, NO_LINK, PacketVerdict,
};
use input::Input;
pub use pcapng::{BlockBuilder, clock_comment};
pub use tail::Successor;
use tail::Tail;

macro_rules! formats {
    ($($name:ident),+) => {
        $(mod $name;)+
        /// Every capture-file format.
        pub static FORMATS: &[Format] = &[$($name::FORMAT),+];
    };
}

formats![
    pcap,
    pcapng,
    snoop,
    pktcap_trace,
    pktmon_text,
    retis_events,
    erf,
    digest
];

/// A capture-file format.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// Where it is specified.
    pub spec: &'static str,
    /// What programs made of it, where that can be told.
    pub variants: &'static [&'static str],
    /// How a file of this format is told from others.
    sign: Sign,
    /// Reads the file header.
    open: fn(&mut Input, &mut Findings) -> Opened,
}

/// Whether a file that starts with these bytes is of a format.
enum Sign {
    /// It starts with certain bytes, at most [`MAGIC_BYTES`].
    Magic(fn(&[u8]) -> bool),
    /// Nothing marks it, so more of it has to make sense.
    Sense(fn(&[u8]) -> bool),
}

impl Format {
    fn has_magic(&self, head: &[u8]) -> bool {
        matches!(self.sign, Sign::Magic(matches) if matches(head))
    }

    fn makes_sense(&self, head: &[u8]) -> bool {
        matches!(self.sign, Sign::Sense(matches) if matches(head))
    }
}

/// A format's reader, or what is wrong with the file header.
type Opened = std::result::Result<Box<dyn Records>, Damage>;

/// The first bytes of a file that formats are recognised by.
const MAGIC_BYTES: usize = 8;
/// As much of a file is looked at where no magic tells: more than any record of such a format has.
const SENSE_BYTES: usize = 64 << 10;

/// What a format does after its file header: one record after the other.
trait Records: Send {
    /// The next frame; `None` where the file ends, or damage makes going on impossible.
    fn next_frame<'a>(
        &'a mut self,
        input: &'a mut Input,
        findings: &mut Findings,
    ) -> Option<Frame<'a>>;

    /// What the file says of how the last frame was dealt with.
    fn marks(&self) -> Option<Marks> {
        None
    }

    /// Which of the format's variants it is.
    fn variant(&self) -> &'static str {
        ""
    }

    /// Records begin at multiples of so many bytes, and each can be read without those before it, but for
    /// what stands before the first; `None` where they cannot.
    fn step_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether what came before the next record does not matter to how it is read.
    fn is_settled(&self) -> bool {
        true
    }

    /// Moves to the next place, behind the present one, at which records seem to follow each other; to the
    /// end, and false, if there is none.
    fn seek_record(&self, input: &mut Input) -> bool {
        input.skip(u64::MAX)
    }
}

/// One open capture file.
pub struct Capture {
    input: Input,
    records: Box<dyn Records>,
    findings: Findings,
    format: &'static Format,
    is_over: bool,
    is_compressed: bool,
    /// How it is read from its middle, if it is compressed and can be.
    seeking: Option<Seeking>,
    /// No record is read that begins here or later.
    pause_byte: u64,
    /// Interfaces and damages that were known before reading began at its place.
    n_known: (usize, usize),
    n_bytes_read: Arc<AtomicU64>,
}

impl Capture {
    /// Opens the capture at `path`, compressed or not.
    ///
    /// # Errors
    /// [`Error::Io`] where the system refuses (missing, a directory, no permission),
    /// [`Error::Capture`] where the file is empty or no capture, with what it seems to be.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_by(path, None)
    }

    fn open_by(path: &Path, seeking: Option<Seeking>) -> Result<Self> {
        let file = File::open(path).map_err(|source| Error::Io {
            path: path.into(),
            source,
        })?;
        Self::from_input((Box::new(file), seeking), Input::new, path)
    }

    /// Opens an extent of a capture.
    ///
    /// # Errors
    /// As [`Capture::open`]; or the extent begins in the middle of a file that does not allow it.
    pub fn open_extent(path: &Path, extent: &FileExtent) -> Result<Self> {
        let mut capture = Self::open_by(path, Seeking::of(path))?;
        capture.pause_at(extent.until_byte);
        match extent.start {
            ExtentStart::File => {}
            ExtentStart::Place(place) => capture.move_to(path, place)?,
            ExtentStart::Sought(from_byte) => {
                let step = capture.records.step_bytes().unwrap_or(1);
                let at_byte = from_byte.next_multiple_of(step).saturating_sub(step);
                capture.move_to(
                    path,
                    RecordPlace {
                        at_byte,
                        n_before: 0,
                    },
                )?;
                capture.is_over = !capture.records.seek_record(&mut capture.input);
            }
        }
        Ok(capture)
    }

    /// Goes on at another place of the file; what stands before its first frame is known by then.
    fn move_to(&mut self, path: &Path, place: RecordPlace) -> Result<()> {
        let failed = |source| Error::Io {
            path: path.into(),
            source,
        };
        let first = self.records.next_frame(&mut self.input, &mut self.findings);
        if first.is_none() || !self.is_seekable() {
            let text = format!("{}: nothing can be read from its middle", path.display());
            return Err(Error::Bug(text));
        }
        let from_byte = match &self.seeking {
            Some(seeking) => seeking.file_byte(place.at_byte),
            None => place.at_byte,
        };
        let mut file = File::open(path).map_err(failed)?;
        file.seek(SeekFrom::Start(from_byte)).map_err(failed)?;
        let counted = CountedRead::new(Box::new(file), Arc::clone(&self.n_bytes_read));
        let input = Input::from_byte(Box::new(counted), from_byte);
        self.input = match &self.seeking {
            Some(seeking) => seeking.read(input, place.at_byte).map_err(failed)?,
            None => input,
        };
        self.findings.go_on_behind(place.n_before);
        self.n_known = (self.findings.interfaces.len(), self.findings.damage.len());
        Ok(())
    }

    /// Reads a capture from standard input, a pipe or memory; `path` is how errors name it.
    ///
    /// # Errors
    /// As [`Capture::open`].
    pub fn from_read(input: Box<dyn Read + Send>, path: &Path) -> Result<Self> {
        Self::from_input((input, None), Input::new, path)
    }

    /// The same of a source whose frames are wanted as they come: nothing waits for what is behind them.
    ///
    /// # Errors
    /// As [`Capture::open`].
    pub fn from_live_read(input: Box<dyn Read + Send>, path: &Path) -> Result<Self> {
        Self::from_input((input, None), Input::live, path)
    }

    /// Opens what is still being written at `path`, or `-`: its end is waited for, until `is_over`.
    ///
    /// # Errors
    /// As [`Capture::open`].
    pub fn follow(path: &Path, is_over: Arc<AtomicBool>) -> Result<(Self, Successor)> {
        let (tail, successor) = Tail::open(path, is_over).map_err(|source| Error::Io {
            path: path.into(),
            source,
        })?;
        let capture = Self::from_input((Box::new(tail), None), Input::live, path)?;
        Ok((capture, successor))
    }

    fn from_input(
        (source, seeking): (Box<dyn Read + Send>, Option<Seeking>),
        input: fn(Box<dyn Read + Send>) -> Input,
        path: &Path,
    ) -> Result<Self> {
        let n_bytes_read = Arc::<AtomicU64>::default();
        let counted = CountedRead::new(source, Arc::clone(&n_bytes_read));
        let (mut input, codec) = compressed::undo(input(Box::new(counted)), seeking.as_ref())
            .map_err(|source| Error::Io {
                path: path.into(),
                source,
            })?;
        if !input.fill(MAGIC_BYTES)
            && let Some(failure) = input.take_failure()
        {
            return Err(unreadable(path, failure, codec));
        }
        let mut findings = Findings::default();
        let (format, records) =
            start(&mut input, codec, &mut findings).map_err(|Damage { at_byte, text }| {
                Error::Capture {
                    path: path.into(),
                    at_byte,
                    text,
                }
            })?;
        Ok(Self {
            input,
            records,
            findings,
            format,
            is_over: false,
            is_compressed: codec.is_some(),
            seeking,
            pause_byte: u64::MAX,
            n_known: (0, 0),
            n_bytes_read,
        })
    }

    /// The next frame; `None` at the end, or where damage makes going on impossible, or where a pause was
    /// asked for.
    #[inline]
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self.is_over || self.input.at_byte() >= self.pause_byte {
            return None;
        }
        let frame = self.records.next_frame(&mut self.input, &mut self.findings);
        self.is_over = frame.is_none();
        frame
    }

    /// Makes a pause before the first record that begins at a byte of the decompressed file, or later.
    pub fn pause_at(&mut self, byte: u64) {
        self.pause_byte = byte;
    }

    /// Whether nothing more comes, however far the next pause is.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Where the next record begins.
    #[must_use]
    pub fn place(&self) -> RecordPlace {
        RecordPlace {
            at_byte: self.input.at_byte(),
            n_before: self.findings.n_frames(),
        }
    }

    /// Whether reading may begin at any of its records, once its first frame was read; of a compressed file,
    /// as far as what it says of its members was found to be right.
    #[must_use]
    pub fn is_seekable(&self) -> bool {
        let is_right = match &self.seeking {
            Some(seeking) => seeking.is_right_until(self.input.at_byte()),
            None => !self.is_compressed,
        };
        is_right && self.records.step_bytes().is_some()
    }

    /// How long the file is once it is decompressed, if that can be told without doing so.
    #[must_use]
    pub fn decompressed_bytes(&self) -> Option<u64> {
        self.seeking.as_ref().map(Seeking::n_bytes)
    }

    /// Takes what is known now for what stands before the first frame.
    pub fn note_known(&mut self) {
        self.n_known = (self.findings.interfaces.len(), self.findings.damage.len());
    }

    /// Whether interfaces were found since: who begins behind them does not know of them.
    #[must_use]
    pub fn has_new_interfaces(&self) -> bool {
        self.findings.interfaces.len() != self.n_known.0
    }

    /// What was found to be wrong since.
    #[must_use]
    pub fn new_damage(&self) -> &[Damage] {
        self.damage().get(self.n_known.1..).unwrap_or_default()
    }

    /// Whether what comes next can be read without what came since.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        !self.has_new_interfaces() && self.new_damage().is_empty() && self.records.is_settled()
    }

    /// What the file says of how the last frame was dealt with; nothing where it says nothing.
    #[must_use]
    pub fn marks(&self) -> Option<Marks> {
        self.records.marks()
    }

    /// All interfaces seen so far; an interface of a later section follows those of earlier ones.
    #[must_use]
    pub fn interfaces(&self) -> &[Interface] {
        &self.findings.interfaces
    }

    /// What was wrong so far; of very many, the first.
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.findings.damage
    }

    /// Whether the file was found to end in the middle of something.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.findings.is_truncated
    }

    /// Names of addresses that the file gives so far.
    #[must_use]
    pub fn names(&self) -> &[HostName] {
        &self.findings.names
    }

    /// The check value of the key that a digest was made with; `None` of any other file.
    #[must_use]
    pub fn digest_key(&self) -> Option<u64> {
        self.findings.digest_key
    }

    /// The name of the file's format.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.format.name
    }

    /// Which of the format's variants it is, nothing where it has none; of files one behind the
    /// other, the present one.
    #[must_use]
    pub fn variant(&self) -> &'static str {
        self.records.variant()
    }

    /// How much of the file was read, as it lies on disk: for a progress bar.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.n_bytes_read.load(Ordering::Relaxed)
    }
}

/// The first format that knows the file, and its reader.
fn start(
    input: &mut Input,
    codec: Option<&str>,
    findings: &mut Findings,
) -> std::result::Result<(&'static Format, Box<dyn Records>), Damage> {
    let Some(format) = format_of(input) else {
        return Err(Damage {
            at_byte: 0,
            text: stranger::describe(head_of(input), codec),
        });
    };
    Ok((format, (format.open)(input, findings)?))
}

fn head_of(input: &Input) -> &[u8] {
    let head = input.window();
    head.get(..stranger::HEAD_BYTES).unwrap_or(head)
}

fn format_of(input: &mut Input) -> Option<&'static Format> {
    let mut formats = FORMATS.iter();
    if let Some(known) = formats.find(|format| format.has_magic(input.window())) {
        return Some(known);
    }
    let head = input.ahead(SENSE_BYTES);
    let mut formats = FORMATS.iter();
    formats.find(|format| format.makes_sense(head))
}

/// Why not even the first bytes could be read.
fn unreadable(path: &Path, source: std::io::Error, codec: Option<&str>) -> Error {
    match codec {
        Some(codec) if source.raw_os_error().is_none() => Error::Capture {
            path: path.into(),
            at_byte: 0,
            text: format!("its {codec} compression cannot be undone: {source}; copy the file anew"),
        },
        _ => Error::Io {
            path: path.into(),
            source,
        },
    }
}
