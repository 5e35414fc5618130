//! More records than memory is to hold, in order: sorted runs in files, merged as they are read.

use crate::base::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::base::spill::Spill;

/// Records that are sorted in memory.
const MOST_IN_MEMORY: usize = 1 << 15;
/// Records of one key that are handed over at once.
const MOST_AT_ONCE: usize = 256;
/// Of those, so many are handed over at least where there are more.
const LEAST_AT_ONCE: usize = MOST_AT_ONCE / 2;

/// Records in order of their first number, then of the others. What others may read is on disk, see
/// [`Self::put_on_disk`].
#[derive(Serialize, Deserialize)]
pub(crate) struct SortedRuns<const N: usize> {
    directory: PathBuf,
    /// What the files' names begin with.
    name: String,
    #[serde(skip)]
    unsorted: Vec<[i64; N]>,
    #[serde(skip)]
    in_memory: Vec<Vec<[i64; N]>>,
    files: Vec<PathBuf>,
    n_records: u64,
    #[serde(skip)]
    failure: Option<Error>,
}

/// Records of one key: all, or those whose second numbers are nearer to each other than to the others'.
pub(crate) struct SameKey<'a, const N: usize> {
    pub(crate) records: &'a [[i64; N]],
    /// The second numbers of the record before these, and after.
    pub(crate) around: [Option<i64>; 2],
}

impl<const N: usize> SortedRuns<N> {
    pub(crate) fn new(directory: &Path, name: String) -> Self {
        Self {
            directory: directory.to_owned(),
            name,
            unsorted: Vec::new(),
            in_memory: Vec::new(),
            files: Vec::new(),
            n_records: 0,
            failure: None,
        }
    }

    pub(crate) fn n_records(&self) -> u64 {
        self.n_records
    }

    pub(crate) fn push(&mut self, record: [i64; N]) {
        self.n_records += 1;
        self.unsorted.push(record);
        if self.unsorted.len() >= MOST_IN_MEMORY {
            let written = self.write();
            // told when they are read: nobody in between could do anything about it
            self.failure = self.failure.take().or(written.err());
        }
    }

    fn write(&mut self) -> Result<()> {
        self.unsorted.sort_unstable();
        let name = format!("{}-{}", self.name, self.files.len());
        let mut to = Spill::create(&self.directory, &name)?;
        for record in self.unsorted.drain(..) {
            to.write(record);
        }
        self.files.push(to.finish()?);
        Ok(())
    }

    /// Writes what is in memory too.
    pub(crate) fn put_on_disk(&mut self) -> Result<()> {
        for run in std::mem::take(&mut self.in_memory) {
            self.unsorted.extend(run);
        }
        if !self.unsorted.is_empty() {
            self.write()?;
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Adds all records of another.
    pub(crate) fn join(&mut self, mut other: Self) {
        other.unsorted.sort_unstable();
        self.in_memory.append(&mut other.in_memory);
        self.in_memory.push(other.unsorted);
        self.files.append(&mut other.files);
        self.n_records += other.n_records;
        self.failure = self.failure.take().or(other.failure);
    }

    /// Hands over all records, those of one key together. Of very many, some at once: they are parted where their
    /// second numbers are farthest apart.
    pub(crate) fn read(
        &mut self,
        take: &mut dyn FnMut(&SameKey<'_, N>) -> Result<()>,
    ) -> Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.unsorted.sort_unstable();
        let mut merged = Merged::new(self)?;
        let mut records: Vec<[i64; N]> = Vec::new();
        let mut before = None;
        while let Some(record) = merged.next()? {
            let is_other = records
                .last()
                .is_some_and(|last| last.first() != record.first());
            if is_other || records.len() >= MOST_AT_ONCE {
                let n = if is_other {
                    records.len()
                } else {
                    n_together(&records)
                };
                let rest = records.split_off(n);
                let after = rest.first().filter(|_| !is_other).map(second);
                take(&SameKey {
                    records: &records,
                    around: [before, after],
                })?;
                before = records.last().filter(|_| !is_other).map(second);
                records = rest;
            }
            records.push(record);
        }
        if records.is_empty() {
            return Ok(());
        }
        take(&SameKey {
            records: &records,
            around: [before, None],
        })
    }

    /// Removes the files.
    pub(crate) fn remove(self) {
        for file in self.files {
            // they lie in a folder that goes with the run
            let _ = std::fs::remove_file(file);
        }
    }
}

fn second<const N: usize>(record: &[i64; N]) -> i64 {
    record.get(1).copied().unwrap_or(0)
}

/// How many of very many records of one key are nearest together.
fn n_together<const N: usize>(records: &[[i64; N]]) -> usize {
    let gap = |at: &usize| match records.get(at.wrapping_sub(1)..=*at) {
        Some([one, next]) => second(next).abs_diff(second(one)),
        _ => 0,
    };
    (LEAST_AT_ONCE..records.len())
        .max_by_key(gap)
        .unwrap_or(records.len())
}

/// One run as it is read.
enum SortedRun<'a, const N: usize> {
    InMemory(std::slice::Iter<'a, [i64; N]>),
    OnDisk(BufReader<File>, &'a Path),
}

impl<const N: usize> SortedRun<'_, N> {
    fn next(&mut self) -> Result<Option<[i64; N]>> {
        match self {
            Self::InMemory(records) => Ok(records.next().copied()),
            Self::OnDisk(from, path) => read_record(from, path),
        }
    }
}

/// The next record of a file, if there is one.
pub(crate) fn read_record<const N: usize>(
    from: &mut impl Read,
    path: &Path,
) -> Result<Option<[i64; N]>> {
    let mut octets = [[0; 8]; N];
    match from.read_exact(octets.as_flattened_mut()) {
        Ok(()) => Ok(Some(octets.map(i64::from_le_bytes))),
        Err(end) if end.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(source) => Err(Error::Io {
            path: path.to_owned(),
            source,
        }),
    }
}

/// All runs, as one.
struct Merged<'a, const N: usize> {
    runs: Vec<SortedRun<'a, N>>,
    heads: BinaryHeap<Reverse<([i64; N], usize)>>,
}

impl<'a, const N: usize> Merged<'a, N> {
    fn new(of: &'a SortedRuns<N>) -> Result<Self> {
        const BUFFER_BYTES: usize = 1 << 15;
        let in_memory = of.in_memory.iter().chain([&of.unsorted]);
        let mut runs: Vec<SortedRun<'a, N>> = in_memory
            .map(|run| SortedRun::InMemory(run.iter()))
            .collect();
        for path in &of.files {
            let file = File::open(path).map_err(|source| Error::Io {
                path: path.clone(),
                source,
            })?;
            runs.push(SortedRun::OnDisk(
                BufReader::with_capacity(BUFFER_BYTES, file),
                path,
            ));
        }
        let mut heads = BinaryHeap::new();
        for (index, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next()?.map(|record| Reverse((record, index))));
        }
        Ok(Self { runs, heads })
    }

    fn next(&mut self) -> Result<Option<[i64; N]>> {
        let Some(Reverse((record, index))) = self.heads.pop() else {
            return Ok(None);
        };
        if let Some(run) = self.runs.get_mut(index) {
            let following = run.next()?;
            self.heads
                .extend(following.map(|one| Reverse((one, index))));
        }
        Ok(Some(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Their keys, how many they are, and what is around them.
    fn groups(runs: &mut SortedRuns<2>) -> Vec<(i64, usize, [Option<i64>; 2])> {
        let mut found = Vec::new();
        let mut take = |same: &SameKey<'_, 2>| {
            found.push((same.records[0][0], same.records.len(), same.around));
            Ok(())
        };
        runs.read(&mut take).unwrap();
        found
    }

    #[test]
    fn records_of_one_key_come_together_whichever_run_they_are_in() {
        let folder = std::env::temp_dir();
        let name = |part: &str| format!("sorted-runs-{part}-{}", std::process::id());
        let n = i64::try_from(MOST_IN_MEMORY).unwrap() * 3;
        let (mut one, mut other) = (
            SortedRuns::new(&folder, name("a")),
            SortedRuns::new(&folder, name("b")),
        );
        for i in 0..n {
            let to = if i % 3 == 0 { &mut one } else { &mut other };
            to.push([i * 7919 % (n / 2), i]);
        }
        one.join(other);
        assert_eq!(one.n_records(), n.unsigned_abs());
        for _ in 0..2 {
            let found = groups(&mut one);
            assert!(found.iter().map(|(key, ..)| *key).eq(0..n / 2));
            assert!(
                found
                    .iter()
                    .all(|(_, len, around)| (*len, *around) == (2, [None; 2]))
            );
        }
        one.remove();
    }

    #[test]
    fn a_key_with_many_records_is_parted_where_they_are_far_apart() {
        let mut runs = SortedRuns::new(&std::env::temp_dir(), "never-written".into());
        let most = i64::try_from(MOST_AT_ONCE).unwrap();
        let far = most * 3 / 4;
        let seconds = (0..=most).map(|i| if i < far { i } else { i + 10 });
        seconds.for_each(|second| runs.push([5, second]));
        runs.push([6, 0]);
        let n = MOST_AT_ONCE * 3 / 4;
        let parts = [
            (5, n, [None, Some(far + 10)]),
            (5, MOST_AT_ONCE + 1 - n, [Some(far - 1), None]),
            (6, 1, [None; 2]),
        ];
        assert_eq!(groups(&mut runs), parts);
    }

    #[test]
    fn a_key_with_many_equal_records_is_parted_all_the_same() {
        let mut runs = SortedRuns::new(&std::env::temp_dir(), "never-written".into());
        (0..5 * MOST_AT_ONCE).for_each(|_| runs.push([5, 1]));
        let lens = groups(&mut runs).into_iter().map(|(_, len, _)| len);
        let lens: Vec<usize> = lens.collect();
        assert_eq!(lens.iter().sum::<usize>(), 5 * MOST_AT_ONCE);
        assert!(lens.iter().all(|len| *len <= MOST_AT_ONCE));
        let mut nothing = SortedRuns::new(&std::env::temp_dir(), "nothing".into());
        assert_eq!(groups(&mut nothing), []);
    }
}
