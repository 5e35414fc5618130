//! Evidence: packets with the same content, one flow a point, whose flows differ.

use super::sessions::Sessions;
use super::witness::Witness;

/// Takes packets of the same content within the window, and notes whose addresses differ: first of
/// those that are equal in everything else, then without the IP identification, then without their
/// sequence numbers, then without both.
pub(super) fn weigh(witnesses: &mut [Witness], window_ns: i64, sessions: &mut Sessions) {
    if !spans_places(witnesses) {
        return;
    }
    let is_near = |here: &Witness, there: &Witness| {
        here.aligned_ns.abs_diff(there.aligned_ns) <= window_ns.unsigned_abs()
    };
    let is_moved = |here: &Witness, there: &Witness| here.bare.leg != there.bare.leg;
    // what the step before could not tell apart, but for equal ones that it did see
    let has_new_id = |here: &Witness, there: &Witness| here.bare.ip_id != there.bare.ip_id;
    let runs = |one: &Witness| (one.bare.numbers, one.bare.ip_id);
    weigh_runs(witnesses, runs, |here, there| {
        if is_near(here, there) && (is_moved(here, there) || sessions.is_shifted(here.bare.leg)) {
            sessions.note(here, there);
        }
    });
    let mut note = |is_evidence: bool, here: &Witness, there: &Witness| {
        if is_evidence && is_near(here, there) {
            sessions.note(here, there);
        }
    };
    let runs = |one: &Witness| (one.bare.numbers, 0);
    weigh_runs(witnesses, runs, |here, there| {
        note(
            has_new_id(here, there) && is_moved(here, there),
            here,
            there,
        );
    });
    let runs = |one: &Witness| (0, one.bare.ip_id);
    weigh_runs(witnesses, runs, |here, there| {
        note(is_shifted(here, there), here, there);
    });
    let runs = |_: &Witness| (0, 0);
    weigh_runs(witnesses, runs, |here, there| {
        note(
            has_new_id(here, there) && is_shifted(here, there),
            here,
            there,
        );
    });
}

fn spans_places(witnesses: &[Witness]) -> bool {
    let first = witnesses.first().map(|one| one.place);
    witnesses.iter().any(|one| Some(one.place) != first)
}

/// Other numbers, and yet the same segment, where time stamps or the IP identification say so.
fn is_shifted(here: &Witness, there: &Witness) -> bool {
    let same_id = here.bare.ip_id != 0 && here.bare.ip_id == there.bare.ip_id;
    here.bare.numbers != there.bare.numbers
        && (same_id || (here.has_time_stamp && there.has_time_stamp))
}

/// Hands out each two points of each run of equal `key`, if each point saw one packet of it. All of
/// them: nobody knows yet which points are neighbours.
fn weigh_runs(
    witnesses: &mut [Witness],
    key: impl Fn(&Witness) -> (u64, u32),
    mut each: impl FnMut(&Witness, &Witness),
) {
    witnesses.sort_by_key(|one| (key(one), one.place, one.aligned_ns));
    for run in witnesses.chunk_by(|one, two| key(one) == key(two)) {
        let is_one_a_place = run.windows(2).all(|two| match two {
            [one, two] => one.place != two.place || is_copy(one, two),
            _ => true,
        });
        if !is_one_a_place {
            continue;
        }
        let firsts = || run.chunk_by(|one, two| one.place == two.place);
        for (n, here) in firsts().enumerate() {
            for there in firsts().skip(n + 1) {
                if let ([here, ..], [there, ..]) = (here, there) {
                    each(here, there);
                }
            }
        }
    }
}

fn is_copy(one: &Witness, two: &Witness) -> bool {
    one.bare.leg == two.bare.leg && one.bare.numbers == two.bare.numbers
}
