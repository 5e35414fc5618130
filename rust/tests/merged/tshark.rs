//! A second opinion on what was written; these tests pass over what is not installed or not there.

use std::path::{Path, PathBuf};
use std::process::Command;

use pcaplat_core::file::Capture;

use super::{S, folder, merge, pcap, point};

/// What tshark lists of a file: time and interface name of each frame; none without tshark.
fn listed(path: &Path) -> Option<Vec<(i64, String)>> {
    let fields = [
        "-T",
        "fields",
        "-e",
        "frame.time_epoch",
        "-e",
        "frame.interface_name",
    ];
    let output = Command::new("tshark")
        .arg("-nr")
        .arg(path)
        .args(fields)
        .output()
        .ok()?;
    let complaints = String::from_utf8_lossy(&output.stderr).replace(AS_ROOT, "");
    assert!(
        output.status.success() && complaints.trim().is_empty(),
        "{complaints}"
    );
    let lines = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| {
        let (time, name) = line.split_once('\t').unwrap();
        (time.replace('.', "").parse().unwrap(), name.to_owned())
    };
    Some(lines.lines().map(row).collect())
}

const AS_ROOT: &str = "Running as user \"root\" and group \"root\". This could be dangerous.";

fn captures() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/captures");
    std::env::var_os("PCAPLAT_CAPTURES").map_or(beside, PathBuf::from)
}

#[test]
fn tshark_reads_what_was_written() {
    let folder = folder("tshark");
    let names = ["a", "b"].map(|name| folder.join(name));
    pcap(
        &names[0],
        1,
        &[1_700_000_000 * S + 1, 1_700_000_000 * S + 3],
    );
    pcap(&names[1], 101, &[1_700_000_000 * S + 2]);
    let [a, b] = names;
    let out = folder.join("merged.pcapng");
    merge(&[point("vm é", a), point("switch", b)], &out);
    let Some(frames) = listed(&out) else { return };
    let expected = [(1, "vm é"), (2, "switch"), (3, "vm é")];
    let expected = expected.map(|(ns, name)| (1_700_000_000 * S + ns, name.to_owned()));
    assert_eq!(frames, expected);
}

#[test]
fn a_lab_run_is_merged_in_order() {
    let lab = captures().join("lab/vxlan");
    let stems = [
        "host1-vm",
        "host1-up",
        "sw-a",
        "sw-b",
        "host2-up",
        "host2-vm",
        "switch-any",
    ];
    let mut points = stems.map(|stem| point(stem, lab.join(stem).with_extension("pcap")));
    if !points[0].files[0].path.exists() {
        return;
    }
    points[3].clock = vec![(0, -37 * S)];
    let out = folder("lab").join("merged.pcapng");
    let n_frames: u64 = points
        .iter()
        .map(|point| n_frames_of(&point.files[0].path))
        .sum();
    assert_eq!(merge(&points, &out), n_frames);
    let Some(frames) = listed(&out) else { return };
    assert_eq!(frames.len() as u64, n_frames);
    assert!(frames.is_sorted_by_key(|(t_ns, _)| *t_ns));
    for (stem, point) in stems.iter().zip(&points) {
        let n_listed = frames.iter().filter(|(_, name)| name == stem).count();
        assert_eq!(n_listed as u64, n_frames_of(&point.files[0].path), "{stem}");
    }
}

fn n_frames_of(path: &Path) -> u64 {
    let mut capture = Capture::open(path).unwrap();
    let mut n_frames = 0;
    while capture.next_frame().is_some() {
        n_frames += 1;
    }
    n_frames
}
