//! Evidence: packets with the same content, one flow a point, whose flows differ.

use super::sessions::Sessions;
use super::witness::Witness;
use std::borrow::Borrow;

/// Which pairs are weighed: the earlier packet was seen in this time, the later at most a window after.
/// A pair is weighed once, however many times its packets are at hand.
#[expect(clippy::struct_field_names, reason = "names end with their unit")]
pub(super) struct Due {
    pub(super) from_ns: i64,
    pub(super) until_ns: i64,
    pub(super) window_ns: i64,
}

impl Due {
    fn has(&self, one: &Witness) -> bool {
        self.from_ns <= one.aligned_ns && one.aligned_ns < self.until_ns
    }

    fn is_within(&self, here: &Witness, there: &Witness) -> bool {
        here.aligned_ns.abs_diff(there.aligned_ns) <= self.window_ns.unsigned_abs()
    }

    fn has_both(&self, here: &Witness, there: &Witness) -> bool {
        let earlier = if here.aligned_ns <= there.aligned_ns {
            here
        } else {
            there
        };
        self.is_within(here, there) && self.has(earlier)
    }
}

/// Takes packets of the same content within the window, and notes whose addresses differ: first of
/// those that are equal in everything else, then without the IP identification, then without their
/// sequence numbers, then without both.
pub(super) fn weigh(witnesses: &mut [Witness], due: &Due, sessions: &mut Sessions) {
    note_flows(witnesses, due, sessions);
    if !spans_places(witnesses) {
        return;
    }
    note_alike(witnesses, due, sessions);
    weigh_runs(witnesses, whole, |_, here, there| {
        let is_known = sessions.is_shifted(here.unaddressed.tuple_hash);
        if due.has_both(here, there) && (is_moved(here, there) || is_known) {
            sessions.note(here, there);
        }
        if due.has_both(here, there) && !is_moved(here, there) {
            sessions.renumbered.note(here, there);
        }
    });
    weigh_numbers(witnesses, due, sessions);
    weigh_weaker(witnesses, due, sessions);
}

/// All but the addresses.
fn whole(one: &Witness) -> (u64, u32) {
    (one.unaddressed.numbers, one.unaddressed.ip_id)
}

/// Counts, between two points, equal packets of several flows that have other addresses here and there: which is which
/// does not show.
fn note_alike(witnesses: &mut [Witness], due: &Due, sessions: &mut Sessions) {
    let flow = |one: &Witness| one.unaddressed.tuple_hash;
    witnesses.sort_by_key(|one| (whole(one), one.place, flow(one)));
    for run in witnesses.chunk_by(|one, two| whole(one) == whole(two)) {
        if is_one_a_place(run) || !run.iter().any(|one| due.has(one)) {
            continue;
        }
        let first = run.iter().min_by_key(|one| one.aligned_ns);
        let is_new = first.is_some_and(|one| due.has(one));
        let of_places: Vec<_> = run.chunk_by(|one, two| one.place == two.place).collect();
        for (n, all) in of_places.iter().enumerate() {
            for others in of_places.iter().skip(n + 1) {
                let has = |all: &[Witness], one| all.binary_search_by_key(&flow(one), flow).is_ok();
                let are_moved = !all.iter().all(|one| has(others, one))
                    && !others.iter().all(|one| has(all, one));
                if let ([here, ..], [there, ..], true) = (all, others, are_moved) {
                    if is_new {
                        sessions.note_alike(here, there);
                    }
                    let due = all.iter().filter(|one| due.has(one));
                    sessions.note_alike_flows(due, others);
                }
            }
        }
    }
}

/// Packets of the same flow that have another IP identification there.
fn weigh_numbers(witnesses: &mut [Witness], due: &Due, sessions: &mut Sessions) {
    weigh_runs(witnesses, way_of_flow, |run, here, there| {
        if due.has_both(here, there) && has_new_id(here, there) {
            match saw_both(run, due, here, there) {
                [false, false] => sessions.renumbered.note(here, there),
                seen => sessions.renumbered.note_repeated(here, there, seen),
            }
        }
    });
}

fn weigh_weaker(witnesses: &mut [Witness], due: &Due, sessions: &mut Sessions) {
    for (key, is_evidence) in WEAKER {
        weigh_runs(witnesses, key, |run, here, there| {
            if is_evidence(here, there) && due.has_both(here, there) {
                match saw_both(run, due, here, there) {
                    [false, false] => sessions.note(here, there),
                    seen => sessions.renumbered.note_repeated(here, there, seen),
                }
            }
        });
    }
}

/// Which of two points saw both packets, where their identifications differ: they are two of equal content.
fn saw_both(run: &[&Witness], due: &Due, here: &Witness, there: &Witness) -> [bool; 2] {
    if !has_new_id(here, there) {
        return [false; 2];
    }
    let saw = |at: &Witness, other: &Witness| {
        let is_at = |one: &&&Witness| one.place == at.place && is_copy(one, at);
        let is_other = |one: &&Witness| !has_new_id(one, other) && due.is_within(one, other);
        run.iter().filter(is_at).any(is_other)
    };
    [saw(here, there), saw(there, here)]
}

/// One way of a flow, and what tells its packets apart but for their identification.
fn way_of_flow(one: &Witness) -> (u64, u32) {
    let way = u32::from(one.unaddressed.toward);
    (one.unaddressed.tuple_and_seq(), way)
}

/// What packets have to have in common, and what then shows that they are one.
type Weaker = (fn(&Witness) -> (u64, u32), fn(&Witness, &Witness) -> bool);

/// Each sees what those before it could not tell apart, but for equal ones that they did see.
const WEAKER: [Weaker; 3] = [
    (
        |one| (one.unaddressed.numbers, 0),
        |here, there| has_new_id(here, there) && is_moved(here, there),
    ),
    (|one| (0, one.unaddressed.ip_id), is_shifted),
    (
        |_| (0, 0),
        |here, there| has_new_id(here, there) && is_shifted(here, there),
    ),
];

/// Counts the packets of each flow that can be told from its others.
fn note_flows(witnesses: &mut [Witness], due: &Due, sessions: &mut Sessions) {
    witnesses.sort_by_key(|one| (one.place, one.unaddressed.tuple_hash, one.aligned_ns));
    let flow = |one: &Witness| (one.place, one.unaddressed.tuple_hash);
    for run in witnesses.chunk_by(|one, two| flow(one) == flow(two)) {
        if let ([one, ..], true) = (run, is_one_a_place(run))
            && due.has(one)
        {
            sessions.note_flow(one);
        }
    }
}

fn is_moved(here: &Witness, there: &Witness) -> bool {
    here.unaddressed.tuple_hash != there.unaddressed.tuple_hash
}

fn has_new_id(here: &Witness, there: &Witness) -> bool {
    here.unaddressed.ip_id != there.unaddressed.ip_id
}

fn spans_places<W: Borrow<Witness>>(witnesses: &[W]) -> bool {
    let mut places = witnesses.iter().map(|one| one.borrow().place);
    let first = places.next();
    places.any(|place| Some(place) != first)
}

/// Other numbers, and yet the same segment, where time stamps or the IP identification say so.
fn is_shifted(here: &Witness, there: &Witness) -> bool {
    let same_id = here.unaddressed.ip_id != 0 && here.unaddressed.ip_id == there.unaddressed.ip_id;
    here.unaddressed.numbers != there.unaddressed.numbers
        && (same_id || (here.has_time_stamp && there.has_time_stamp))
}

/// Hands out each two points of each run of equal `key`, with the run, if each point saw one packet of it: of
/// all of the run, or else of those from one sender or to one receiver, of which mostly one is translated, or
/// of those with the same ports. All points: nobody knows yet which are neighbours.
fn weigh_runs(
    witnesses: &mut [Witness],
    key: impl Fn(&Witness) -> (u64, u32),
    mut each: impl FnMut(&[&Witness], &Witness, &Witness),
) {
    witnesses.sort_by_key(|one| (key(one), one.place, one.aligned_ns));
    for run in witnesses.chunk_by(|one, two| key(one) == key(two)) {
        let mut run: Vec<&Witness> = run.iter().collect();
        if is_one_a_place(&run) {
            each_two_places(&run, &mut each);
        } else if spans_places(&run) {
            each_of_one_end(&mut run, &mut each);
            each_of_equal_ports(&mut run, &mut each);
        }
    }
}

/// Of several packets a point, those with one end in common: the sender, else the receiver.
fn each_of_one_end(run: &mut [&Witness], each: &mut impl FnMut(&[&Witness], &Witness, &Witness)) {
    let src = |one: &Witness| one.addresses.src;
    let dst = |one: &Witness| one.addresses.dst;
    run.sort_by_key(|one| (src(one), one.place, one.aligned_ns));
    for part in run.chunk_by(|one, two| src(one) == src(two)) {
        if is_one_a_place(part) {
            each_two_places(part, each);
        }
    }
    run.sort_by_key(|one| (dst(one), one.place, one.aligned_ns));
    for part in run.chunk_by(|one, two| dst(one) == dst(two)) {
        if is_one_a_place(part) {
            each_two_places(
                part,
                &mut |part: &[&Witness], here: &Witness, there: &Witness| {
                    if src(here) != src(there) {
                        each(part, here, there);
                    }
                },
            );
        }
    }
}

/// Where both ends are translated, those whose ports, or identifiers of echoes, are kept.
fn each_of_equal_ports(
    run: &mut [&Witness],
    each: &mut impl FnMut(&[&Witness], &Witness, &Witness),
) {
    let ports = |one: &Witness| (one.addresses.src.1, one.addresses.dst.1);
    run.sort_by_key(|one| (ports(one), one.place, one.aligned_ns));
    for part in run.chunk_by(|one, two| ports(one) == ports(two)) {
        if is_one_a_place(part) {
            each_two_places(
                part,
                &mut |part: &[&Witness], here: &Witness, there: &Witness| {
                    let (one, other) = (&here.addresses, &there.addresses);
                    if one.src != other.src && one.dst != other.dst {
                        each(part, here, there);
                    }
                },
            );
        }
    }
}

fn each_two_places(run: &[&Witness], each: &mut impl FnMut(&[&Witness], &Witness, &Witness)) {
    let firsts = || run.chunk_by(|one, two| one.place == two.place);
    for (n, here) in firsts().enumerate() {
        for there in firsts().skip(n + 1) {
            if let ([here, ..], [there, ..]) = (here, there) {
                each(run, here, there);
            }
        }
    }
}

/// Each point saw one packet, copies left out.
fn is_one_a_place<W: Borrow<Witness>>(run: &[W]) -> bool {
    run.windows(2).all(|two| match two {
        [one, two] => {
            let (one, two) = (one.borrow(), two.borrow());
            one.place != two.place || is_copy(one, two)
        }
        _ => true,
    })
}

fn is_copy(one: &Witness, two: &Witness) -> bool {
    one.unaddressed.tuple_hash == two.unaddressed.tuple_hash
        && one.unaddressed.numbers == two.unaddressed.numbers
}
