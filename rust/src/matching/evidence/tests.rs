//! What rows say of pairs, and what is known of a packet that may not be matched.

use super::*;
use crate::matching::resolve::assign::Cluster;
use crate::matching::resolve::density::Density;
use crate::matching::resolve::join_pieces::join_leftovers;
use crate::matching::resolve::piece::Piece;
use crate::matching::testing::{observation, path};
use crate::plan::Direction;
use crate::reading::fragments::made::{LINK_BYTES, ipv4, tunnelled};
use crate::wire::Decoder;

fn known(leg: u32, doubt: f32, traits: u8) -> Observation {
    let evidence = Evidence {
        by: By::Posterior,
        doubt,
        leg,
        traits,
        ..Evidence::default()
    };
    Observation {
        evidence,
        ..observation(1, 0, 0)
    }
}

/// How, whether translated and short, and the bits of the doubt.
fn parts(code: i64) -> (i64, i64, i64) {
    (code & 0xff, code >> 8 & 3, code >> 32)
}

#[test]
fn a_row_has_the_doubt_of_its_lower_end_and_what_either_lacks() {
    let told = |up: &Observation, down: &Observation, by| parts(code(up, down, by));
    let (up, down) = (known(7, 0.25, 0), known(7, 0.5, 0));
    let doubt = i64::from(0.5_f32.to_bits());
    assert_eq!(told(&up, &down, By::Posterior), (2, 0, doubt));
    assert_eq!(told(&up, &down, By::Bytes), (3, 0, 0));
    assert_eq!(told(&up, &known(8, 0.0, 0), By::Unique), (0, 1, 0));
    let short = known(7, 0.0, Evidence::SHORT);
    assert_eq!(told(&up, &short, By::UsualTime), (1, 2, 0));
    assert_eq!(told(&short, &up, By::UsualTime), (1, 2, 0));
    let opaque = known(7, 0.0, Evidence::OPAQUE);
    assert_eq!(told(&opaque, &opaque, By::UsualTime), (1, 0, 0));
}

#[test]
fn the_doubt_is_what_the_probability_leaves() {
    let mut one = Evidence::default();
    one.likely(0.75);
    assert_eq!(one.by, By::Posterior);
    assert_eq!(one.doubt.to_bits(), 0.25_f32.to_bits());
}

#[test]
fn a_packet_says_why_it_may_not_be_matched() {
    let link = &tunnelled(4, 0)[..LINK_BYTES];
    let decoder = Decoder::new(&[]).unwrap();
    let read = |protocol: u8| {
        let header = ipv4(60, protocol, [10, 0, 0, 1, 10, 0, 0, 2]);
        let bytes = [link, &header, &[9; 40]].concat();
        let mut packet = Packet::new();
        decoder.decode(1, &bytes, 74, 0, &mut packet);
        packet
    };
    let of = |packet: &Packet, is_short, range| {
        let mut plan = path(2);
        plan.is_short = vec![is_short; 9];
        Evidence::of(&plan, packet, (5, MessageKind::None), range).traits()
    };
    let (udp, esp) = (read(17), read(50));
    assert_eq!(of(&udp, false, StreamBytes::NONE), 0);
    assert_eq!(of(&udp, true, StreamBytes::NONE), Evidence::SHORT);
    assert_eq!(of(&esp, false, StreamBytes::NONE), Evidence::OPAQUE);
    let mut fragment = udp;
    fragment.fragment = 1;
    assert_eq!(of(&fragment, false, StreamBytes::NONE), Evidence::FRAGMENT);
    assert_eq!(of(&fragment, false, StreamBytes::of_datagram(9, 0, 8)), 0);
}

#[test]
fn equal_packets_say_that_they_were_told_apart() {
    let crowd = Density {
        gap_ns: 1_000,
        rate: 1e-3,
    };
    let mut observations = vec![
        observation(1, 0, 0),
        observation(1, 0, 700),
        observation(1, 1, 3),
        observation(1, 1, 703),
    ];
    let (plan, mut pieces) = (path(2), Vec::new());
    Cluster::new(&plan, Direction::Forward, crowd, &mut observations).assign(&mut pieces);
    let by = |piece: &Piece| {
        piece
            .observations
            .iter()
            .map(|one| one.evidence.by)
            .collect()
    };
    let told: Vec<Vec<By>> = pieces.iter().map(by).collect();
    assert_eq!(told, vec![vec![By::Unique, By::Posterior]; 2]);
}

#[test]
fn a_packet_that_was_slow_says_so_too() {
    let alone = |point, at_ns| Piece::new(vec![observation(1, point, at_ns)]);
    let pieces = vec![alone(0, 0), alone(1, 9_000)];
    let found = join_leftovers(&path(2), Direction::Forward, 1e-9, pieces);
    let told: Vec<By> = found[0]
        .observations
        .iter()
        .map(|one| one.evidence.by)
        .collect();
    assert_eq!(told, [By::Unique, By::Posterior]);
}
