//! From spilled raw differences and a clock relation to latencies.

use crate::blocks::{Blocks, Grid};
use crate::error::{Error, Result};
use crate::histogram::Histogram;
use crate::panics;
use crate::plan::{Centre, Direction};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes of one spilled raw difference: time of the upstream sight, difference.
const PAIR_BYTES: usize = 16;

/// Latency of one pair: the raw difference less what the clocks differ by.
///
/// `clock` is the offset of the far clock against the near one, over near raw time.
#[must_use]
pub fn latency_ns(clock: &Centre, direction: Direction, up_t_ns: i64, raw_ns: i64) -> i64 {
    match direction {
        Direction::Forward => raw_ns.saturating_sub(clock.at(up_t_ns)),
        Direction::Reverse => raw_ns.saturating_add(clock.at(up_t_ns.saturating_add(raw_ns))),
    }
}

/// What spilled pairs are counted by.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'a> {
    /// Which way the packets went.
    pub direction: Direction,
    /// Offset of the far clock against the near one, over near raw time.
    pub clock: &'a Centre,
    /// Offset of the upstream point against the path's first clock, over its raw time.
    pub centre: &'a Centre,
    /// The blocks of time.
    pub grid: Grid,
}

/// Latencies, and the same block by block.
#[derive(Debug, Default)]
pub struct Counted {
    /// All of them.
    pub histogram: Histogram,
    /// By the time at the upstream point.
    pub blocks: Blocks,
}

/// The latencies of all pairs in the spilled files, which are read side by side.
///
/// # Errors
/// A file cannot be read.
pub fn latencies(paths: &[PathBuf], counting: &Counting<'_>) -> Result<Counted> {
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
    let mut counted = Counted::default();
    for (part, path) in parts.into_iter().zip(paths) {
        let part = part.map_err(|_| panics::told())?;
        let part = part.map_err(|source| Error::Io {
            path: path.clone(),
            source,
        })?;
        counted.histogram.merge(&part.histogram);
        counted.blocks.merge(part.blocks);
    }
    Ok(counted)
}

fn of_file(path: &Path, counting: &Counting<'_>) -> std::io::Result<Counted> {
    let mut counted = Counted::default();
    let mut from = BufReader::with_capacity(1 << 18, File::open(path)?);
    let mut pair = [0; PAIR_BYTES];
    loop {
        match from.read_exact(&mut pair) {
            Ok(()) => {
                let (time, raw) = pair.split_at(PAIR_BYTES / 2);
                let t_ns = number(time);
                let latency_ns = latency_ns(counting.clock, counting.direction, t_ns, number(raw));
                counted.histogram.add(latency_ns);
                let aligned_ns = t_ns.saturating_sub(counting.centre.at(t_ns));
                let block = counting.grid.block_of(aligned_ns);
                counted.blocks.add(block, latency_ns);
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(counted),
            Err(error) => return Err(error),
        }
    }
}

fn number(bytes: &[u8]) -> i64 {
    bytes.try_into().map_or(0, i64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Centre {
        Centre {
            t_ns: vec![0, 1_000_000],
            offset_ns: vec![500, 1500],
            slope: 1e-3,
        }
    }

    #[test]
    fn a_latency_is_the_difference_less_the_clocks() {
        let clock = clock();
        // near to far: stamped by the far clock at the end
        assert_eq!(latency_ns(&clock, Direction::Forward, 500_000, 1200), 200);
        // far to near: stamped by the near clock at the end, where its time is asked
        assert_eq!(
            latency_ns(&clock, Direction::Reverse, 500_000, 500_000),
            501_500
        );
        assert_eq!(
            latency_ns(&clock, Direction::Forward, i64::MAX, i64::MIN),
            i64::MIN
        );
        assert_eq!(
            latency_ns(&clock, Direction::Reverse, i64::MAX, i64::MAX),
            i64::MAX
        );
    }

    #[test]
    fn spilled_pairs_become_a_histogram() {
        let path = std::env::temp_dir().join(format!("attribute-{}", std::process::id()));
        let pairs: Vec<u8> = [[0_i64, 700], [500_000, 1300], [1_000_000, 1500]]
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
            centre: &Centre::default(),
            grid: Grid {
                start_ns: 0,
                length_ns: 500_000,
            },
        };
        let Counted { histogram, blocks } = latencies(&twice, &counting).unwrap();
        let n: Vec<u64> = blocks.sums().iter().map(|one| one.n).take(4).collect();
        assert_eq!(n, [2, 2, 2, 0]);
        assert_eq!(
            (histogram.n, histogram.min_ns, histogram.max_ns),
            (6, 0, 300)
        );
        assert_eq!(histogram.sum_ns, 2 * (200 + 300));
        std::fs::remove_file(&path).unwrap();
        let told = latencies(&twice, &counting);
        assert!(matches!(told, Err(Error::Io { .. })));
    }
}
