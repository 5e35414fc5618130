//! A point that is a capture of another program, as it comes through a pipe.

use super::PointWork;
use super::point_file::{InterfaceCounts, InterfaceText, PointFile};
use super::state::CaptureSpan;
use crate::base::error::{Error, Result};
use crate::file::libpcap::is_readable;
use crate::file::{Capture, Interface, NO_LINK};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(100);
const WRITE_EVERY: Duration = Duration::from_millis(200);
const STANDARD_INPUT: &str = "-";

/// What comes through a pipe, until all points end.
pub(super) struct PipedRead {
    pipe: File,
    path: PathBuf,
    span: Arc<CaptureSpan>,
}

impl Read for PipedRead {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if self.span.is_over() {
                return Ok(0);
            }
            if !is_readable(self.pipe.as_raw_fd(), PATIENCE)? {
                continue;
            }
            match self.pipe.read(out) {
                Err(problem) if problem.kind() == ErrorKind::WouldBlock => {}
                outcome => return outcome,
            }
        }
    }
}

/// Opens a pipe, which nobody need have written to yet.
pub(super) fn open(path: &Path, span: Arc<CaptureSpan>) -> Result<PipedRead> {
    let pipe = if path == Path::new(STANDARD_INPUT) {
        std::io::stdin()
            .as_fd()
            .try_clone_to_owned()
            .map(File::from)
    } else {
        let mut options = OpenOptions::new();
        let options = options.read(true).custom_flags(libc::O_NONBLOCK);
        options.open(path)
    };
    let path = PathBuf::from(path);
    match pipe {
        Ok(pipe) => Ok(PipedRead { pipe, path, span }),
        Err(source) => Err(Error::Io { path, source }),
    }
}

/// Copies a capture's frames into the point's file until it ends, or all points do.
pub(super) fn copy(pipe: PipedRead, work: &PointWork) -> Result<()> {
    let path = pipe.path.clone();
    let opened = Capture::from_live_read(Box::new(pipe), &path);
    let mut capture = match opened {
        // nothing came before the end
        Err(_) if work.span.is_over() => return Ok(()),
        opened => opened?,
    };
    let files = Arc::clone(&work.state.files);
    let mut file = PointFile::create(&work.point.file, work.options.ring, files)?;
    let outcome = copy_frames(&mut capture, &mut file, work);
    let mut n_dropped = 0;
    for (id, interface) in capture.interfaces().iter().enumerate() {
        let dropped = interface.n_dropped.unwrap_or(0);
        n_dropped += dropped;
        let counts = InterfaceCounts {
            dropped,
            ..InterfaceCounts::default()
        };
        file.counted(id, counts);
    }
    work.state.stream_dropped(n_dropped);
    file.finish()?;
    outcome?;
    // cut where all points end is no damage
    match capture.damage().first() {
        Some(damage) if !work.span.is_over() => Err(Error::Capture {
            path,
            at_byte: damage.at_byte,
            text: damage.text.clone(),
        }),
        _ => Ok(()),
    }
}

fn copy_frames(capture: &mut Capture, file: &mut PointFile, work: &PointWork) -> Result<()> {
    let mut n_described = 0;
    let mut written = Instant::now();
    loop {
        let Some(frame) = capture.next_frame() else {
            return Ok(());
        };
        if frame.link == NO_LINK {
            continue;
        }
        let id = frame.interface as usize;
        let (t_ns, wire_bytes) = (frame.t_ns, frame.wire_bytes);
        let bytes = frame.bytes.to_vec();
        for interface in capture.interfaces().iter().skip(n_described) {
            file.describe(described(interface, &work.point.source_text));
            n_described += 1;
        }
        let n_packets = work.state.n_packets.load(Ordering::Relaxed);
        if !work.span.wants(n_packets, i64::MAX) {
            work.span.stop();
            return Ok(());
        }
        file.packet(id, t_ns, wire_bytes, &bytes)?;
        work.state.count(wire_bytes);
        if written.elapsed() >= WRITE_EVERY {
            written = Instant::now();
            file.flush()?;
        }
    }
}

fn described(interface: &Interface, source: &str) -> InterfaceText {
    InterfaceText {
        link: interface.link,
        snap_bytes: interface.snap_bytes,
        clock: interface.clock,
        name: interface.name.clone().unwrap_or_default(),
        description: format!("{source}, {} ns", interface.resolution_ns),
        filter: String::new(),
    }
}
