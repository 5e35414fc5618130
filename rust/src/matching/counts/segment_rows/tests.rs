use super::*;
use crate::matching::testing::observation;

const ALONE: Arrived = Arrived {
    is_reordered: false,
    variation_ns: None,
};

const ROWS: Keep = Keep {
    rows: true,
    crossings: false,
};

fn crossing(up_ns: i64) -> SegmentRow {
    let (up, down) = (observation(1, 2, up_ns), observation(1, 5, up_ns + 70));
    SegmentRow::new(&up, &down, Direction::Reverse, 3)
}

#[test]
fn a_row_says_where_when_and_how_it_arrived() {
    let late = Arrived {
        is_reordered: true,
        variation_ns: None,
    };
    let next = Arrived {
        is_reordered: false,
        variation_ns: Some(40),
    };
    let [points, .., up_ns, raw_ns, told, variation_ns] = crossing(900).row(late);
    assert_eq!(points, 2 | 5 << 16 | 1 << 32);
    assert_eq!(
        (up_ns, raw_ns, told, variation_ns),
        (900, 70, 3 << 1 | 1, -1)
    );
    assert_eq!(crossing(900).row(next)[5..], [3 << 1, 40]);
}

#[test]
fn those_that_wait_on_keep_their_own_numbers() {
    let mut waiting = Waiting::default();
    let mut numbers: Vec<u32> = (0..5).map(|at| waiting.add(crossing(at))).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    waiting.arrive(2, ALONE);
    waiting.arrive(0, ALONE);
    let mut left = vec![numbers.remove(4), numbers.remove(2)];
    waiting.keep(left.iter_mut());
    assert_eq!(left, [1, 2]);
    for number in left {
        waiting.arrive(number, ALONE);
    }
    let sent: Vec<i64> = waiting.arrived.iter().map(|row| row[3]).collect();
    assert_eq!(sent, [1, 4, 2]);
}

#[test]
fn ends_come_back_from_their_file() {
    let folder = std::env::temp_dir().join(format!("crossings-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let end = |number: u64| End {
        is_guessed: number % 3 == 1,
        way: DirectedPair {
            pair: u64::MAX - number,
            toward: number % 2 == 1,
        },
        flow: number,
        from: (number.is_multiple_of(2)).then_some(7),
        point: 3,
        direction: Direction::on(
            u16::try_from(number % 4).unwrap(),
            !number.is_multiple_of(3),
        ),
        had_entered: number.is_multiple_of(5),
        was_cut: number.is_multiple_of(10),
        is_untold: number.is_multiple_of(7),
        unmirrored: (number.is_multiple_of(4)).then_some(0),
        branch: (number.is_multiple_of(3)).then(|| u16::try_from(number).unwrap()),
        moment: u32::try_from(number).unwrap(),
        waited_for: u128::from(number) << 60 | 1,
    };
    let seen = [observation(1, 0, -500), observation(1, 3, 800)];
    let left = |number: u64| Leftover {
        told_by: ToldBy::of(i64::from(number.is_multiple_of(6))),
        ..Leftover::of(&seen, Direction::Forward, None, false).unwrap()
    };
    let mut crossings = SegmentRows::new(&folder, 0, ROWS).unwrap();
    (0..100).for_each(|number| crossings.end(&end(number), &left(number)));
    let files = crossings.finish().unwrap();
    let mut read = Vec::new();
    Ended::read(&files.ended[0], &mut |one| read.push(*one)).unwrap();
    let written = (0..100).map(|number| Ended::new(&end(number), &left(number)));
    assert!(read.into_iter().eq(written));
    assert!(Ended::read(&folder.join("nowhere"), &mut |_| ()).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn nothing_is_written_where_nothing_is_kept() {
    let mut crossings = SegmentRows::new(Path::new("/nowhere/at/all"), 0, Keep::default()).unwrap();
    crossings.take(&mut Waiting::default());
    let files = crossings.finish().unwrap();
    assert!(files.crossed.is_empty() && files.ended.is_empty() && files.lost.is_none());
    assert!(SegmentRows::new(Path::new("/nowhere/at/all"), 0, ROWS).is_err());
}
