//! Matching whole captures: the truth comes out, however the work is cut up and whatever the files.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that panics has failed"
)]

mod divisions;
mod running;
mod simulation;

use pcaplat_core::matching::Keep;
use pcaplat_core::matching::Matched;
use pcaplat_core::matching::Options;
use pcaplat_core::matching::Status;
use pcaplat_core::matching::match_files;
use pcaplat_core::matching::outcome::Outcomes;
use pcaplat_core::reading::{Progress, Reading};
use pcaplat_core::wire::Decoder;
use running::{Folder, each_by_itself, run, said};
use simulation::{Capture, Random, Record, plan, simulate, write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn write_all(folder: &Folder, capture: &Capture) -> Vec<PathBuf> {
    let name = |point: usize| format!("{point}.pcap");
    let files = capture.files.iter().enumerate();
    files
        .map(|(point, records)| write(&folder.0, &name(point), records))
        .collect()
}

#[test]
fn the_truth_comes_out() {
    let folder = Folder::new("truth");
    let capture = simulate(30_000, 1);
    let files = write_all(&folder, &capture);
    let Matched { totals, counts, .. } = run(&folder.0, &files, plan(), 2);
    for segment in 0..2 {
        for side in 0..2 {
            let link = &totals.links[segment][side];
            assert_eq!(link.n, capture.n[segment][side], "{segment} {side}");
            assert_eq!(
                link.n_lost, capture.n_lost[segment][side],
                "{segment} {side}"
            );
        }
    }
    let n_duplicated: u64 = totals.links[..2]
        .iter()
        .flatten()
        .map(|link| link.n_duplicated)
        .sum();
    assert_eq!(n_duplicated, capture.n_duplicated);
    for (of_point, records) in counts.iter().zip(&capture.files) {
        assert_eq!(
            of_point.iter().sum::<u64>(),
            records.len() as u64,
            "{of_point:?}"
        );
        assert_eq!(of_point[Status::Ambiguous as usize], 0);
    }
    for (file, records) in capture.files.iter().enumerate() {
        let mut outcomes = Outcomes::open(&folder.0, file).unwrap();
        let all: Vec<_> = std::iter::from_fn(|| outcomes.next_outcome()).collect();
        assert_eq!(all.len(), records.len(), "one outcome a frame");
        for (status, trajectory) in all {
            let has_trajectory =
                status == Status::Matched as u8 || status == Status::Duplicate as u8;
            assert_eq!(trajectory >= 0, has_trajectory, "{status} {trajectory}");
        }
    }
}

#[test]
fn partitions_change_nothing() {
    let folder = Folder::new("partitions");
    let files = write_all(&folder, &simulate(30_000, 2));
    let one = said(&folder, &files, 1);
    for n_partitions in [2, 5, 8] {
        let many = said(&folder, &files, n_partitions);
        assert_eq!(many.counts, one.counts);
        assert_eq!(many.links, one.links);
        assert_eq!(many.least, one.least);
        assert!(many == one, "{n_partitions} partitions");
    }
}

#[test]
fn a_wild_stamp_costs_its_own_frame_only() {
    let folder = Folder::new("wild");
    let mut capture = simulate(30_000, 3);
    let stranger = |t_ns| (t_ns, capture.files[0][0].1[..20].repeat(2));
    let wild = [4_200_000_000_000_000_000, 0].map(stranger);
    let (mut late, early): (Vec<Record>, _) = (vec![wild[0].clone()], wild[1].clone());
    late.append(&mut capture.files[1]);
    late.insert(9000, early);
    capture.files[1] = late;
    let files = write_all(&folder, &capture);
    let totals = run(&folder.0, &files, plan(), 2).totals;
    for segment in 0..2 {
        for side in 0..2 {
            assert_eq!(totals.links[segment][side].n, capture.n[segment][side]);
        }
    }
}

fn shuffle(random: &mut Random, records: &[Record]) -> Vec<Record> {
    let mut shuffled = records.to_vec();
    for i in (1..shuffled.len()).rev() {
        let other = random.below(i64::try_from(i + 1).unwrap());
        shuffled.swap(i, usize::try_from(other).unwrap());
    }
    shuffled
}

#[test]
fn files_of_any_size_and_order_come_to_an_end() {
    let folder = Folder::new("sizes");
    let mut random = Random(4);
    let capture = simulate(60_000, 4);
    let shuffled = shuffle(&mut random, &capture.files[0]);
    let empty: &[Record] = &[];
    let of = |point: usize| capture.files[point].as_slice();
    let sets: Vec<Vec<&[Record]>> = vec![
        vec![&shuffled, of(1), of(2)],
        vec![of(0), empty, of(2)],
        vec![&of(0)[..1], of(1), of(2)],
        vec![of(0), &of(1)[50_000..], of(2)],
        vec![empty, empty, empty],
        (0..20)
            .map(|i| {
                if i % 4 == 3 {
                    empty
                } else {
                    &of(i % 3)[i * 2000..]
                }
            })
            .collect(),
    ];
    for (number, set) in sets.iter().enumerate() {
        let written = set.iter().enumerate();
        let files: Vec<_> = written
            .map(|(i, records)| write(&folder.0, &format!("{number}-{i}"), records))
            .collect();
        let mut plan = plan();
        plan.point_of = (0..set.len())
            .map(|i| vec![u16::try_from(i % 3).ok()])
            .collect();
        for n_partitions in [1, 8] {
            let matched = run(&folder.0, &files, plan.clone(), n_partitions);
            let n_decided: u64 = matched.counts.iter().flatten().sum();
            assert_eq!(
                n_decided,
                set.iter().map(|records| records.len() as u64).sum::<u64>()
            );
        }
    }
}

#[test]
fn a_missing_file_stops_all_and_is_named() {
    let folder = Folder::new("missing");
    let mut files = write_all(&folder, &simulate(60_000, 5));
    files[1] = folder.0.join("nowhere.pcap");
    let reading = Reading::everything(Decoder::new(&[]).unwrap());
    let options = Options {
        directory: &folder.0,
        keep: Keep {
            rows: true,
            crossings: true,
        },
        n_partitions: 3,
    };
    let told = match_files(
        &files,
        &reading,
        &Arc::new(each_by_itself(plan(), files.len())),
        &options,
        &Progress::default(),
    );
    assert!(told.unwrap_err().to_string().contains("nowhere.pcap"));
    let gone = Options {
        directory: Path::new("/nowhere/at/all"),
        ..options
    };
    files.swap_remove(1);
    let told = match_files(
        &files,
        &reading,
        &Arc::new(each_by_itself(plan(), files.len())),
        &gone,
        &Progress::default(),
    );
    assert!(told.unwrap_err().to_string().contains("/nowhere/at/all"));
}

#[test]
fn an_interruption_is_told() {
    let folder = Folder::new("interruption");
    let files = write_all(&folder, &simulate(60_000, 6));
    let reading = Reading::everything(Decoder::new(&[]).unwrap());
    let options = Options {
        directory: &folder.0,
        keep: Keep::default(),
        n_partitions: 2,
    };
    let progress = Progress::default();
    progress.cancel();
    let told = match_files(
        &files,
        &reading,
        &Arc::new(each_by_itself(plan(), files.len())),
        &options,
        &progress,
    );
    assert_eq!(told.unwrap_err().to_string(), "interrupted");
}
