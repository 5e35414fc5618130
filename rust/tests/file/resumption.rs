//! After damage, reading goes on where records do, and says how much was lost.

use super::blocks::{file, interface, packet};
use super::{Reading, pcap, read};

fn frames_of(reading: &Reading) -> Vec<i64> {
    reading.rows.iter().map(|row| row.t_ns.unwrap()).collect()
}

/// The frames of `pcap`, without those listed.
fn all_but(n_frames: i64, missing: &[i64]) -> Vec<i64> {
    let there = (0..n_frames).filter(|i| !missing.contains(i));
    there
        .map(|i| (1_700_000_000 + i) * 1_000_000_000 + i)
        .collect()
}

/// Where the record of frame `i` of `pcap` starts.
fn record_at(i: usize) -> usize {
    24 + (0..i).map(|before| 16 + 60 + before % 1400).sum::<usize>()
}

#[test]
fn a_broken_length_costs_its_record() {
    for (captured, word) in [
        (u32::MAX, "4294967295"),
        (262_145, "262145"),
        (200_000, "earlier"),
    ] {
        let mut bytes = pcap(50);
        let at = record_at(20) + 8;
        bytes[at..at + 4].copy_from_slice(&captured.to_le_bytes());
        let reading = read(&bytes).unwrap();
        assert_eq!(frames_of(&reading), all_but(50, &[20]), "{captured}");
        assert!(reading.is_truncated);
        let [damage] = &reading.damage[..] else {
            panic!("{:?}", reading.damage)
        };
        assert_eq!(damage.at_byte, record_at(20) as u64);
        let lost = format!(
            "{} bytes are lost, reading goes on at byte {}",
            record_at(21) - record_at(20),
            record_at(21)
        );
        assert!(damage.text.contains(word), "{}", damage.text);
        assert!(damage.text.ends_with(&lost), "{}", damage.text);
    }
}

#[test]
fn a_gap_costs_what_it_covers() {
    for n_missing in [1, 700, 150_000] {
        let mut bytes = pcap(300);
        let fill = vec![0xee; n_missing];
        bytes.splice(record_at(9) + 7..record_at(12) + 3, fill);
        let reading = read(&bytes).unwrap();
        let mut frames = frames_of(&reading);
        let tail = frames.split_off(frames.len() - 250);
        assert_eq!(frames[..9], all_but(9, &[]));
        let before: Vec<_> = (0..50).collect();
        assert_eq!(tail, all_but(300, &before), "{n_missing}");
        assert!(!reading.damage.is_empty());
    }
}

#[test]
fn damage_up_to_the_end_is_measured() {
    let mut bytes = pcap(5);
    bytes.extend([0xff; 1000]);
    let reading = read(&bytes).unwrap();
    assert_eq!(frames_of(&reading), all_but(5, &[]));
    let text = &reading.damage[0].text;
    assert!(
        text.ends_with("the 1000 bytes from there to the end are lost; what came before is used"),
        "{text}"
    );
}

#[test]
fn a_cut_record_is_no_damage_to_pass() {
    let bytes = pcap(50);
    let reading = read(&bytes[..record_at(40) + 30]).unwrap();
    assert_eq!(frames_of(&reading), all_but(40, &[]));
    assert!(reading.is_truncated);
    assert!(reading.damage[0].text.contains("cut in a record"));
}

#[test]
fn lengths_that_disagree_cost_their_block() {
    for (at, value) in [
        (4, 40),
        (4, 8),
        (4, 0),
        (32, 40),
        (5, 1),
        (6, 1),
        (7, 0x7f),
        (7, 0xff),
    ] {
        let mut liar = packet(0, 1, &[]);
        liar[at] = value;
        let sound = |ticks| packet(0, ticks, &[]);
        let reading = file(&[interface(&[]), sound(1), liar, sound(2), sound(3)]);
        assert_eq!(frames_of(&reading), [1000, 2000, 3000], "{at} {value}");
        let [damage] = &reading.damage[..] else {
            panic!("{at} {value}: {:?}", reading.damage)
        };
        assert_eq!(damage.at_byte, 28 + 20 + 36);
        let lost = "; 36 bytes are lost, reading goes on at byte 120";
        assert!(damage.text.ends_with(lost), "{}", damage.text);
    }
}

#[test]
fn a_section_is_found_again() {
    let mut liar = packet(0, 1, &[]);
    liar[4] = 0;
    let second = [super::blocks::section(), interface(&[]), packet(0, 2, &[])].concat();
    let reading = file(&[interface(&[]), liar, vec![0xaa; 64], second]);
    assert_eq!(frames_of(&reading), [2000]);
    assert_eq!((reading.interfaces.len(), reading.damage.len()), (2, 1));
}

/// Marsaglia's xorshift64.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 33).unwrap()
}

#[test]
fn whatever_is_broken_reading_ends_and_says_where_it_was() {
    let blocks: Vec<_> = (0..200).map(|ticks| packet(0, ticks, &[])).collect();
    let pcapng = [super::blocks::section(), interface(&[]), blocks.concat()].concat();
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for round in 0..3000 {
        let mut bytes = if round % 2 == 0 {
            pcap(100)
        } else {
            pcapng.clone()
        };
        for _ in 0..=random(&mut state) % 40 {
            let at = 48 + random(&mut state) % (bytes.len() - 48);
            bytes[at] = u8::try_from(random(&mut state) & 0xff).unwrap();
        }
        let reading = read(&bytes).unwrap();
        assert!(reading.rows.len() <= bytes.len() / 16, "{round}");
        let places = reading.damage.iter().map(|damage| damage.at_byte);
        assert!(places.clone().all(|at_byte| at_byte <= bytes.len() as u64));
        assert!(places.is_sorted() || reading.damage.iter().any(|damage| damage.at_byte == 0));
    }
}
