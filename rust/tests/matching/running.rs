//! Runs of the matcher, and everything that they say.

use pcaplat_core::matching::Keep;
use pcaplat_core::matching::Matched;
use pcaplat_core::matching::Options;
use pcaplat_core::matching::counts::totals::Totals;
use pcaplat_core::matching::match_files;
use pcaplat_core::plan::Plan;
use pcaplat_core::reading::{Progress, Reading};
use pcaplat_core::wire::Decoder;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::simulation::plan;

/// A folder of its own for each test, gone with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("matching-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A plan by which no file follows another.
pub(crate) fn each_by_itself(plan: Plan, n_files: usize) -> Plan {
    let sequences = (0..n_files).map(|file| vec![file]).collect();
    Plan { sequences, ..plan }
}

/// Runs the matcher; a run that hangs fails.
pub(crate) fn run(folder: &Path, files: &[PathBuf], plan: Plan, n_partitions: usize) -> Matched {
    let (files, directory) = (files.to_vec(), folder.to_path_buf());
    let plan = each_by_itself(plan, files.len());
    let (done, wait) = channel();
    std::thread::spawn(move || {
        let options = Options {
            directory: &directory,
            keep: Keep {
                rows: true,
                crossings: true,
            },
            n_partitions,
        };
        let reading = Reading::everything(Decoder::new(&[]).unwrap());
        let matched = match_files(
            &files,
            &reading,
            &Arc::new(plan),
            &options,
            &Progress::default(),
        );
        done.send(matched).is_ok()
    });
    wait.recv_timeout(Duration::from_secs(120))
        .expect("hangs")
        .unwrap()
}

/// All rows of spilled files, in an order that does not depend on who wrote them.
fn rows<const BYTES: usize>(paths: &[PathBuf]) -> Vec<[u8; BYTES]> {
    let mut all: Vec<[u8; BYTES]> = Vec::new();
    for path in paths {
        let bytes = std::fs::read(path).unwrap();
        assert_eq!(bytes.len() % BYTES, 0);
        all.extend(
            bytes
                .chunks(BYTES)
                .map(|row| <[u8; BYTES]>::try_from(row).unwrap()),
        );
    }
    all.sort_unstable();
    all
}

/// Everything a run says, comparable.
#[derive(PartialEq)]
pub(crate) struct Said {
    pub(crate) counts: Vec<[u64; 7]>,
    pub(crate) links: String,
    pub(crate) least: String,
    latencies: Vec<Vec<(f64, u64)>>,
    spills: Vec<Vec<[u8; 24]>>,
    rows: Vec<[u8; 56]>,
    outcomes: Vec<Vec<u8>>,
}

pub(crate) fn said(folder: &Folder, files: &[PathBuf], n_partitions: usize) -> Said {
    let matched = run(&folder.0, files, plan(), n_partitions);
    said_by(matched, &folder.0, files.len())
}

/// What was matched of so many files into a folder.
pub(crate) fn said_by(matched: Matched, folder: &Path, n_files: usize) -> Said {
    let Matched { totals, counts, .. } = matched;
    let Totals {
        links,
        least,
        spills,
        rows: row_files,
        ..
    } = totals;
    let outcome = |file| std::fs::read(folder.join(format!("outcomes-{file}"))).unwrap();
    let numbers = links.iter().flatten().map(|link| {
        let all = link.blocks.histogram();
        let ends = (all.sum_ns, all.min_ns, all.max_ns);
        (
            link.n,
            link.n_lost,
            link.n_duplicated,
            link.n_reordered,
            ends,
        )
    });
    Said {
        counts,
        links: format!("{:?}", numbers.collect::<Vec<_>>()),
        latencies: links
            .iter()
            .flatten()
            .map(|link| link.blocks.histogram().values())
            .collect(),
        least: format!("{least:?}"),
        spills: spills.iter().flatten().map(|paths| rows(paths)).collect(),
        rows: rows(&row_files),
        outcomes: (0..n_files).map(outcome).collect(),
    }
}
