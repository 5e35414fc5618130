//! merged.pcapng: every frame of every capture point in aligned time order.
//!
//! Points are merged as they are read; each point is sorted within a bounded number of frames
//! first, since captures from several queues are not in order. Memory does not grow with the files.

mod findings;
mod selection;
mod sorter;
mod source;
mod writer;

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::location::PointTree;
use crate::stamp::FileStamps;
use crate::wire::Decoder;
pub use findings::{LATENCY_BYTES, RunFiles};
pub use selection::FrameSelection;
use source::PointFrames;
use writer::Writer;

/// A capture point, and where its frames and its clock's error are known from.
#[derive(Clone, Debug, Default)]
pub struct MergePoint {
    /// What its interface is called.
    pub name: String,
    /// What is known of it: its files, its resolution, its clock.
    pub description: String,
    /// Points of one number have one clock; `None` where nobody knows.
    pub clock_domain: Option<u32>,
    /// Its capture; several are consecutive files of one.
    pub files: Vec<MergeFile>,
    /// Its clock's offset: knots (raw time, offset to subtract), both ns, in order of time; see
    /// [`crate::base::instant::offset_ns`].
    pub clock: Vec<(i64, i64)>,
}

/// A file, and which of its frames are a point's.
#[derive(Clone, Debug, Default)]
pub struct MergeFile {
    /// Where it is.
    pub path: PathBuf,
    /// Only the frames that this part of it saw, where one file holds several points.
    pub part: Option<u32>,
    /// How the file is divided, if its parts are not just its interfaces.
    pub tree: Option<Arc<PointTree>>,
    /// What is known of the stamps in it.
    pub stamps: FileStamps,
    /// Only these of its frames, or what a comment says of each.
    pub only: Option<FrameSelection>,
}

/// So many frames go by between two questions whether to stop.
const N_FRAMES_PER_QUESTION: u64 = 1 << 14;

/// Writes all frames of `points` to `out`, a pcapng with one interface a point, and returns how
/// many there are. A point of several link types has one interface for each.
///
/// A frame without a time has that of the frame before it; instants before 1970 become 1970, which
/// is where pcapng starts. Records that are no packets are left out. Frames that are out of order
/// further than a point's memory reaches are written where they are found. `out` appears when it
/// is complete.
///
/// # Errors
/// [`Error::Interrupted`] once `cancelled` says so, [`Error::Capture`] or [`Error::Io`] where a
/// file cannot be read or written. Damage in a file ends that file, not the merge.
pub fn write_merged(
    points: &[MergePoint],
    decoder: &Decoder,
    out: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<u64> {
    let part = part_of(out);
    let written = write_part(points, decoder, &part, cancelled);
    let done = written.and_then(|n_frames| {
        std::fs::rename(&part, out).map_err(|source| io(out, source))?;
        Ok(n_frames)
    });
    if done.is_err() {
        // The error that is reported is the first; that this fails too would not help.
        let _ = std::fs::remove_file(&part);
    }
    done
}

/// Beside `out`, so that the last step is a rename.
fn part_of(out: &Path) -> PathBuf {
    let mut name = out.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".part");
    out.with_file_name(name)
}

fn write_part(
    points: &[MergePoint],
    decoder: &Decoder,
    part: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<u64> {
    let failed = |source| io(part, source);
    let mut sources = points
        .iter()
        .map(|point| PointFrames::open(point, decoder))
        .collect::<Result<Vec<_>>>()?;
    let file = File::create(part).map_err(failed)?;
    let mut writer = Writer::new(file, points).map_err(failed)?;
    for (id, source) in sources.iter().enumerate() {
        writer.describe(id, source.first_link()).map_err(failed)?;
    }
    let mut n_frames = 0;
    while let Some((_, id)) = earliest(&sources) {
        if n_frames % N_FRAMES_PER_QUESTION == 0 && cancelled() {
            return Err(Error::Interrupted);
        }
        let Some(source) = sources.get_mut(id) else {
            break;
        };
        if let Some(frame) = source.next_frame()? {
            writer.write(id, &frame).map_err(failed)?;
            n_frames += 1;
        }
    }
    let names = sources.iter_mut().flat_map(PointFrames::take_names);
    writer.resolve(&names.collect()).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(n_frames)
}

/// When the next frame of all is, and whose.
fn earliest(sources: &[PointFrames]) -> Option<(i64, usize)> {
    let times = sources.iter().enumerate();
    times
        .filter_map(|(id, source)| Some((source.next_ns()?, id)))
        .min()
}

fn io(path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        path: path.into(),
        source,
    }
}
