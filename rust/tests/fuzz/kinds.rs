//! Everything that is read has a test with bytes of its specification, and a line in the generated
//! page of formats; its seed is looked for beside.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use pcaplat_core::file::{CODECS, FORMATS};
use pcaplat_core::stamp::STAMPS;
use pcaplat_core::wire::LAYERS;

/// So many hex digits in a row are bytes of a frame.
const LEAST_DIGITS: usize = 8;
/// What stands for those of a whole packet in the tests of layers.
const PACKETS: [&str; 3] = ["IU", "IT", "I6"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn has_bytes(tests: &str) -> bool {
    let is_other = |letter: char| !letter.is_ascii_hexdigit() && letter != ' ';
    tests.contains("#[test]")
        && tests.split('"').any(|literal| {
            let mut runs = literal.split(is_other);
            PACKETS.contains(&literal)
                || runs
                    .any(|run| run.chars().filter(char::is_ascii_hexdigit).count() >= LEAST_DIGITS)
        })
}

/// The tests of a file that has one thing in it, which say its name.
fn is_tested(folder: &str, name: &str) -> bool {
    let source = text(format!("src/{folder}/{}.rs", name.replace('-', "_")));
    let (code, tests) = source.split_once("#[cfg(test)]").unwrap_or((&source, ""));
    code.contains(&format!("\"{name}\"")) && has_bytes(tests)
}

#[test]
fn every_layer_and_stamp_is_tested_with_bytes() {
    let layers = LAYERS.iter().map(|layer| ("wire", layer.name));
    let stamps = STAMPS.iter().map(|(name, _)| ("stamp", *name));
    let untested: Vec<_> = layers
        .chain(stamps)
        .filter(|(folder, name)| !is_tested(folder, name))
        .collect();
    assert!(untested.is_empty(), "{untested:?}");
}

#[test]
fn every_format_and_codec_is_tested_with_bytes() {
    let entries = read_dir(root().join("tests/file")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let rust = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let tests: String = rust.map(text).collect();
    let formats = FORMATS.iter().flat_map(|format| {
        let variants = format.variants.iter().copied();
        variants.chain([format.name])
    });
    let untested: Vec<_> = formats
        .chain(CODECS.iter().map(|codec| codec.name))
        .filter(|name| !tests.contains(&format!("\"{name}\"")))
        .collect();
    assert!(untested.is_empty(), "{untested:?}");
}

#[test]
fn everything_has_a_line_in_the_reference() {
    let page = text("../docs/reference/formats.md");
    let has_line = |line: &String| page.lines().any(|of_page| of_page.starts_with(line));
    let files = FORMATS.iter().flat_map(|format| {
        let row = format!("| {} | {} |", format.name, format.spec);
        let variants = format.variants.iter().map(|name| format!("- {name}"));
        variants.chain([row])
    });
    let codecs = CODECS.iter().map(|codec| format!("- {}", codec.name));
    let layers = LAYERS
        .iter()
        .map(|layer| format!("| `{}` | {} |", layer.name, layer.spec));
    let stamps = STAMPS
        .iter()
        .map(|(name, spec)| format!("| `{name}` | {spec} |"));
    let lines = files.chain(codecs).chain(layers).chain(stamps);
    let missing: Vec<_> = lines.filter(|line| !has_line(line)).collect();
    assert!(missing.is_empty(), "{missing:?}; run `make docs`");
}
