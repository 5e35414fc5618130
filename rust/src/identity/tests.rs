//! Packets whose inside nobody can read are known by what their tunnel numbers.

use super::{WHOLE, identify};
use crate::base::hash::Seed;
use crate::wire::vectors::{frame, read};

fn key(text: &str) -> u64 {
    identify(&read(text), &frame(text), &WHOLE, Seed::PUBLIC, false).key
}

fn in_gre(payload: &str) -> String {
    format!(
        "02000000000d02000000000c0800 4500{:04x} 12344000 402f0000 c0000201c0000202 {payload}",
        20 + frame(payload).len()
    )
}

#[test]
fn a_sequence_number_of_gre_tells_what_is_not_looked_into() {
    let opaque = |number: &str| key(&in_gre(&format!("10007777{number} deadbeef")));
    assert_ne!(opaque("00000007"), opaque("00000008"));
    let packet = |number: &str| key(&in_gre(&format!("10000800{number} IU")));
    assert_eq!(packet("00000007"), packet("00000008"));
}

#[test]
fn a_sequence_number_of_erspan_is_no_part_of_what_was_mirrored() {
    let mirrored = |number: &str| key(&in_gre(&format!("100088be{number}1064bc0500012345 EU")));
    assert_eq!(mirrored("00000007"), mirrored("00000008"));
}

#[test]
fn index_and_sequence_of_esp_are_the_identity() {
    const ZEROS: &str = "00000000000000000000000000000000 00000000";
    for outer in [
        "02000000000d02000000000c080045000034123440004032a460c0000201c0000202",
        "02000000000d02000000000c08004500003c123440004011a479c0000201c0000202 \
         1194119400280000",
    ] {
        let text = format!("{outer} 0000abcd00000009 {ZEROS}{ZEROS}");
        assert_eq!(key(&text), key(&text.replace("0000000d02", "0000000e02")));
        for other in ["0000abcd0000000a", "0000abce00000009"] {
            assert_ne!(key(&text), key(&text.replace("0000abcd00000009", other)));
        }
    }
}

#[test]
fn receiver_and_counter_of_wireguard_are_the_identity() {
    let text = "02000000000d02000000000c08004500004c123440004011a469c0000201c0000202 \
                c350ca6c00380000 04000000 efbeadde 2a00000000000000 \
                0000000000000000000000000000000000000000000000000000000000000000";
    assert_eq!(key(text), key(&text.replace("1234400040", "123440003f")));
    assert_ne!(key(text), key(&text.replace("2a00", "2b00")));
    assert_ne!(key(text), key(&text.replace("efbe", "eebe")));
}
