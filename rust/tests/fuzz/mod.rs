//! The corpus of the fuzz targets, replayed; and that it holds a seed of everything there is.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[expect(unreachable_pub, reason = "they are those of a crate of its own, too")]
#[path = "../../fuzz/src/lib.rs"]
mod targets;

mod kinds;

use std::collections::BTreeSet;
use std::fs::{read, read_dir};
use std::path::{Path, PathBuf};

use pcaplat_core::file::{CODECS, Capture, FORMATS};
use pcaplat_core::stamp::STAMPS;
use pcaplat_core::wire::LAYERS;

const MAX_CORPUS_BYTES: usize = 300_000;

fn seeds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let entries = read_dir(folder.join(target)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut seeds: Vec<_> = paths
        .map(|path| (path.clone(), read(&path).unwrap()))
        .collect();
    seeds.sort();
    seeds
}

#[test]
fn the_laws_hold_for_every_seed() {
    for (name, target) in targets::TARGETS {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name}");
        for (path, bytes) in seeds {
            let held = std::panic::catch_unwind(|| target(&bytes));
            assert!(held.is_ok(), "{}", path.display());
        }
    }
}

#[test]
fn the_corpus_is_small() {
    let of = |name| {
        seeds(name)
            .iter()
            .map(|(_, bytes)| bytes.len())
            .sum::<usize>()
    };
    let n_bytes: usize = targets::TARGETS.iter().map(|(name, _)| of(name)).sum();
    assert!(n_bytes < MAX_CORPUS_BYTES, "{n_bytes}");
}

#[test]
fn every_layer_has_a_seed() {
    let mut seen = BTreeSet::new();
    for (_, bytes) in seeds("wire") {
        seen.extend(targets::layers(&bytes).split('/').map(str::to_owned));
    }
    let missing = LAYERS.iter().filter(|layer| !seen.contains(layer.name));
    let missing: Vec<_> = missing.map(|layer| layer.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_stamp_has_a_seed() {
    let found: BTreeSet<_> = seeds("stamp")
        .iter()
        .filter_map(|(_, bytes)| targets::stamps(bytes))
        .collect();
    assert_eq!(found, STAMPS.iter().map(|(name, _)| *name).collect());
}

#[test]
fn every_format_and_codec_has_a_seed() {
    let mut formats = BTreeSet::new();
    let mut codecs = BTreeSet::new();
    let mut variants = BTreeSet::new();
    for (path, bytes) in seeds("reader") {
        let capture = Capture::open(&path).ok();
        variants.extend(capture.as_ref().map(Capture::variant));
        formats.extend(capture.map(|capture| capture.format()));
        let codec = CODECS.iter().find(|codec| codec.knows(&bytes));
        codecs.extend(codec.map(|codec| codec.name));
    }
    assert_eq!(formats, FORMATS.iter().map(|format| format.name).collect());
    let known = FORMATS.iter().flat_map(|format| format.variants);
    let missing: Vec<_> = known
        .filter(|variant| !variants.contains(**variant))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(codecs, CODECS.iter().map(|codec| codec.name).collect());
}

#[test]
fn some_seed_has_every_outcome() {
    let counts = seeds("matcher")
        .into_iter()
        .map(|(_, bytes)| targets::outcomes(&bytes));
    let total = counts.fold([0; 7], |total: [u64; 7], counts| {
        std::array::from_fn(|status| total[status] + counts[status])
    });
    // matched, duplicate, unmatched, undecoded; no seed asks for a part of the frames
    for status in [0, 2, 4, 5] {
        assert!(total[status] > 0, "{total:?}");
    }
}
