//! Aligned time order, in bounded memory, and nothing half-written.

use std::path::PathBuf;

use pcaplat_core::base::error::Error;
use pcaplat_core::export::merged::{MergeFile, MergePoint, write_merged};

use super::{S, decoder, folder, merge, pcap, point, read, whole};

#[test]
fn frames_are_in_aligned_order_and_interfaces_named() {
    let folder = folder("aligned");
    let (near, far) = (folder.join("near.pcap"), folder.join("far.pcap"));
    pcap(&near, 1, &[10 * S, 12 * S, 11 * S, 13 * S]);
    pcap(&far, 1, &[47 * S + 1, 49 * S + 3, 50 * S + 4]);
    let mut far = point("far end", far);
    far.clock = vec![(47 * S, 37 * S), (49 * S, 37 * S + 2)];
    let out = folder.join("merged.pcapng");
    assert_eq!(merge(&[point("near", near), far], &out), 7);
    let (frames, interfaces) = read(&out);
    let expected = [
        (10 * S, 0),
        (10 * S + 1, 1),
        (11 * S, 0),
        (12 * S, 0),
        (12 * S + 1, 1),
        (13 * S, 0),
        (13 * S + 2, 1),
    ];
    assert_eq!(frames, expected);
    let names: Vec<_> = interfaces
        .iter()
        .map(|found| found.name.as_deref())
        .collect();
    assert_eq!(names, [Some("near"), Some("far end")]);
    assert!(
        interfaces
            .iter()
            .all(|found| found.resolution_ns.to_bits() == 1_f64.to_bits())
    );
}

#[test]
fn consecutive_files_are_one_point_and_link_types_have_their_interfaces() {
    let folder = folder("links");
    let names = ["a0", "a1", "b"].map(|name| folder.join(name));
    pcap(&names[0], 1, &[S, 2 * S]);
    pcap(&names[1], 101, &[3 * S]);
    pcap(&names[2], 276, &[]);
    let [first, second, empty] = names;
    let rotated = MergePoint {
        files: vec![whole(first), whole(second)],
        ..point("a", PathBuf::new())
    };
    let out = folder.join("merged.pcapng");
    merge(&[rotated, point("b", empty)], &out);
    let (frames, interfaces) = read(&out);
    assert_eq!(frames, [(S, 0), (2 * S, 0), (3 * S, 2)]);
    let found: Vec<_> = interfaces
        .iter()
        .map(|i| (i.name.as_deref().unwrap(), i.link))
        .collect();
    assert_eq!(found, [("a", 1), ("b", 276), ("a", 101)]);
}

#[test]
fn one_interface_of_a_file_is_a_point() {
    let folder = folder("interface");
    let names = ["a", "b", "both"].map(|name| folder.join(name));
    pcap(&names[0], 1, &[S, 3 * S]);
    pcap(&names[1], 1, &[2 * S]);
    let [a, b, both] = names;
    merge(&[point("a", a), point("b", b)], &both);
    let only = MergePoint {
        files: vec![MergeFile {
            part: Some(1),
            ..whole(both)
        }],
        ..point("only b", PathBuf::new())
    };
    let out = folder.join("merged.pcapng");
    assert_eq!(merge(&[only], &out), 1);
    assert_eq!(read(&out).0, [(2 * S, 0)]);
}

#[test]
fn instants_before_1970_become_1970() {
    let folder = folder("negative");
    let file = folder.join("a");
    pcap(&file, 1, &[5, 7 * S]);
    let mut early = point("a", file);
    early.clock = vec![(0, S)];
    let out = folder.join("merged.pcapng");
    merge(&[early], &out);
    assert_eq!(read(&out).0, [(0, 0), (6 * S, 0)]);
}

#[test]
fn disorder_beyond_memory_loses_no_frame() {
    let folder = folder("disorder");
    let file = folder.join("a");
    let mut times_ns: Vec<i64> = (0..70_000).rev().collect();
    pcap(&file, 1, &times_ns);
    let out = folder.join("merged.pcapng");
    assert_eq!(merge(&[point("a", file)], &out), 70_000);
    let mut found: Vec<_> = read(&out).0.into_iter().map(|(t_ns, _)| t_ns).collect();
    assert!(found[4464..].is_sorted(), "what memory reaches is in order");
    found.sort_unstable();
    times_ns.sort_unstable();
    assert_eq!(found, times_ns);
}

#[test]
fn an_interrupted_or_impossible_merge_leaves_nothing() {
    let folder = folder("interrupted");
    let file = folder.join("a");
    pcap(&file, 1, &[1, 2, 3]);
    let out = folder.join("merged.pcapng");
    let good = point("a", file);
    let interrupted = write_merged(std::slice::from_ref(&good), &decoder(), &out, &|| true);
    assert!(matches!(interrupted, Err(Error::Interrupted)));
    let missing = write_merged(
        &[good, point("b", folder.join("b"))],
        &decoder(),
        &out,
        &|| false,
    );
    assert!(matches!(missing, Err(Error::Io { path, .. }) if path == folder.join("b")));
    let left: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, ["a"]);
}
