//! Attribution: from spilled raw differences and a clock relation to latencies.

use crate::base::blocks::{Blocks, Grid};
use crate::base::error::{Error, Result};
use crate::base::panics;
use crate::base::piecewise::{PiecewiseCursor, PiecewiseLinear};
use crate::matching::exchange::round_trips::KINDS;
use crate::plan::Direction;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

const N_KINDS: usize = KINDS.len();

/// Latency of one pair: the raw difference less what the clocks differ by.
///
/// `clock` is the offset of the far clock against the near one, over near raw time.
#[must_use]
#[inline]
pub fn latency_ns(
    clock: &mut PiecewiseCursor<'_>,
    direction: Direction,
    up_t_ns: i64,
    raw_ns: i64,
) -> i64 {
    if direction.is_reverse() {
        raw_ns.saturating_add(clock.at(up_t_ns.saturating_add(raw_ns)))
    } else {
        raw_ns.saturating_sub(clock.at(up_t_ns))
    }
}

/// What spilled pairs are counted by.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'a> {
    /// Which way the packets went.
    pub direction: Direction,
    /// Offset of the far clock against the near one, over near raw time.
    pub clock: &'a PiecewiseLinear,
    /// Offset of the upstream point against the path's first clock, over its raw time.
    pub centre: &'a PiecewiseLinear,
    /// The blocks of time.
    pub grid: Grid,
}

impl<'a> Counting<'a> {
    /// To look up the clock, and the upstream point's offset.
    fn cursors(&self) -> (PiecewiseCursor<'a>, PiecewiseCursor<'a>) {
        let of = |line| PiecewiseCursor::new(line, self.grid.start_ns);
        (of(self.clock), of(self.centre))
    }
}

/// The latencies of all pairs in the spilled files, which are read side by side.
///
/// # Errors
/// A file cannot be read.
pub fn latencies(paths: &[PathBuf], counting: &Counting<'_>) -> Result<Blocks> {
    let parts: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = paths
            .iter()
            .map(|path| scope.spawn(move || of_file(path, counting)))
            .collect();
        threads
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect()
    });
    let mut counted = Blocks::default();
    for part in parts {
        counted.merge(part.map_err(|_| panics::message())??);
    }
    Ok(counted)
}

fn of_file(path: &Path, counting: &Counting<'_>) -> Result<Blocks> {
    let mut counted = Blocks::default();
    let mut from = Spilled::open(path)?;
    let (mut clock, mut centre) = counting.cursors();
    // time of the upstream observation, the difference, and the kind of traffic
    while let Some([t_ns, raw_ns, kind]) = from.next()? {
        let latency_ns = latency_ns(&mut clock, counting.direction, t_ns, raw_ns);
        let aligned_ns = t_ns.saturating_sub(centre.at(t_ns));
        let kind = u16::try_from(kind).unwrap_or(0);
        counted.add_of_kind(kind, counting.grid.place_of(aligned_ns), latency_ns);
    }
    Ok(counted)
}

/// Files of one partition: times and raw differences forward, the same in reverse, and kinds.
pub type TripFiles = [PathBuf; 3];

/// The two-way contributions of requests and their responses, by kind: forward and reverse latency
/// together. What the clocks differ by cancels, but for what it changes in between.
///
/// # Errors
/// A file cannot be read.
pub fn round_trips(files: &[TripFiles], counting: &Counting<'_>) -> Result<[Blocks; N_KINDS]> {
    let mut counted = <[Blocks; N_KINDS]>::default();
    let (mut clock, mut centre) = counting.cursors();
    for [forward, reverse, kinds] in files {
        let [mut to, mut back, mut kind] = [
            Spilled::open(forward)?,
            Spilled::open(reverse)?,
            Spilled::open(kinds)?,
        ];
        while let (Some([sent, there]), Some([left, again]), Some([kind])) =
            (to.next()?, back.next()?, kind.next()?)
        {
            let there_ns = latency_ns(&mut clock, Direction::Forward, sent, there);
            let back_ns = latency_ns(&mut clock, Direction::Reverse, left, again);
            let aligned_ns = sent.saturating_sub(centre.at(sent));
            let counted = usize::try_from(kind)
                .ok()
                .and_then(|kind| counted.get_mut(kind));
            if let Some(counted) = counted {
                let block = counting.grid.block_of(aligned_ns);
                counted.add(block, there_ns.saturating_add(back_ns));
            }
        }
    }
    for one in &mut counted {
        // puts their bins in order
        let mut settled = Blocks::default();
        settled.merge(std::mem::take(one));
        *one = settled;
    }
    Ok(counted)
}

/// A file of numbers, little-endian, as matching spilled it.
struct Spilled<'a> {
    path: &'a Path,
    from: BufReader<File>,
}

impl<'a> Spilled<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        const BUFFER_BYTES: usize = 1 << 16;
        match File::open(path) {
            Ok(file) => Ok(Self {
                path,
                from: BufReader::with_capacity(BUFFER_BYTES, file),
            }),
            Err(source) => Err(failed(path, source)),
        }
    }

    /// The next numbers; none at the end.
    #[inline]
    fn next<const N: usize>(&mut self) -> Result<Option<[i64; N]>> {
        let (ahead, _) = self.from.buffer().as_chunks();
        if let Some(values) = ahead.first_chunk::<N>().copied() {
            self.from.consume(values.as_flattened().len());
            return Ok(Some(values.map(i64::from_le_bytes)));
        }
        self.next_across()
    }

    /// The same where not all of them are in memory.
    #[cold]
    fn next_across<const N: usize>(&mut self) -> Result<Option<[i64; N]>> {
        let mut values = [[0; 8]; N];
        match self.from.read_exact(values.as_flattened_mut()) {
            Ok(()) => Ok(Some(values.map(i64::from_le_bytes))),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(failed(self.path, error)),
        }
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> PiecewiseLinear {
        PiecewiseLinear::new(&[(0, 500), (1_000_000, 1500)], 1e-3)
    }

    #[test]
    fn a_latency_is_the_difference_less_the_clocks() {
        let line = clock();
        let mut clock = PiecewiseCursor::new(&line, 0);
        let mut latency_ns =
            |direction, t_ns, raw_ns| latency_ns(&mut clock, direction, t_ns, raw_ns);
        // near to far: stamped by the far clock at the end
        assert_eq!(latency_ns(Direction::Forward, 500_000, 1200), 200);
        // far to near: stamped by the near clock at the end, where its time is asked
        assert_eq!(latency_ns(Direction::Reverse, 500_000, 500_000), 501_500);
        assert_eq!(latency_ns(Direction::Forward, i64::MAX, i64::MIN), i64::MIN);
        assert_eq!(latency_ns(Direction::Reverse, i64::MAX, i64::MAX), i64::MAX);
    }

    #[test]
    fn spilled_pairs_become_a_histogram() {
        let path = std::env::temp_dir().join(format!("attribute-{}", std::process::id()));
        let pairs: Vec<u8> = [[0_i64, 700, 1], [500_000, 1300, 2], [1_000_000, 1500, 1]]
            .concat()
            .iter()
            .flat_map(|one| one.to_le_bytes())
            .collect();
        std::fs::write(&path, &pairs).unwrap();
        let twice = [path.clone(), path.clone()];
        let clock = clock();
        let counting = Counting {
            direction: Direction::Forward,
            clock: &clock,
            centre: &PiecewiseLinear::default(),
            grid: Grid {
                start_ns: 0,
                length_ns: 500_000,
            },
        };
        let blocks = latencies(&twice, &counting).unwrap();
        let histogram = blocks.histogram();
        let n: Vec<u64> = blocks.sums().iter().map(|one| one.n).take(4).collect();
        assert_eq!(n, [2, 2, 2, 0]);
        let by_kind = blocks.strata().cells().map(|(kind, cell)| (kind, cell.n));
        assert!(by_kind.eq([(1, 2), (1, 2), (2, 2)]));
        assert_eq!(
            (histogram.n, histogram.min_ns, histogram.max_ns),
            (6, 0, 300)
        );
        assert_eq!(histogram.sum_ns, 2 * (200 + 300));
        std::fs::remove_file(&path).unwrap();
        let told = latencies(&twice, &counting);
        assert!(matches!(told, Err(Error::Io { .. })));
    }

    #[test]
    #[cfg(unix)]
    fn what_cannot_be_read_is_told() {
        let folder = std::env::temp_dir();
        let counting = Counting {
            direction: Direction::Forward,
            clock: &clock(),
            centre: &PiecewiseLinear::default(),
            grid: Grid::default(),
        };
        let told = latencies(std::slice::from_ref(&folder), &counting).map(|_| ());
        assert!(matches!(told, Err(Error::Io { .. })));
        let files = [folder.clone(), folder.clone(), folder];
        let told = round_trips(&[files], &counting).map(|_| ());
        assert!(matches!(told, Err(Error::Io { .. })));
    }
}
