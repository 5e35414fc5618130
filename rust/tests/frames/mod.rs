//! Frames that are right, plain and in every tunnel.
#![expect(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that panics has failed"
)]

pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: String = digits.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

pub(crate) const IP4_UDP: &str = "4500001e12344000401114990a0000010a0000029c409c41000ad4a7dead";
pub(crate) const IP4_TCP: &str =
    "4500002a12344000400614980a0000010a0000029c409c411122334455667788501804006f430000dead";
pub(crate) const IP6_UDP: &str = "60000000000a114020010db800000000000000000000000120010db8000000000000000000\
                       0000029c409c41000a8d35dead";
pub(crate) const IP6_FRAGMENT: &str = "6000000000102c4020010db800000000000000000000000120010db800000000000000\
                            00000000021100000900000abc9c409c41000a8d35";
pub(crate) const ARP: &str = "0001080006040001020000000001 0a000001 000000000000 0a000002";

pub(crate) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let macs = hex("020000000002020000000001");
    [&macs[..], &ether_type.to_be_bytes(), payload].concat()
}

pub(crate) fn inner_frames() -> Vec<Vec<u8>> {
    let fragment = IP4_UDP.replace("12344000", "12342003");
    vec![
        ethernet(0x0800, &hex(IP4_UDP)),
        ethernet(0x0800, &hex(IP4_TCP)),
        ethernet(0x0800, &hex(&fragment)),
        ethernet(0x86DD, &hex(IP6_UDP)),
        ethernet(0x86DD, &hex(IP6_FRAGMENT)),
        ethernet(0x0806, &hex(ARP)),
        ethernet(0x88B5, &hex("00010203040506")),
        ethernet(0x8100, &[&hex("00640800")[..], &hex(IP4_TCP)].concat()),
    ]
}

pub(crate) fn ip4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let total = (20 + payload.len() as u16).to_be_bytes();
    let mut header = hex("4500 0000 7777 0000 3f00 0000 c0000201 c0000202");
    header[2..4].copy_from_slice(&total);
    header[9] = protocol;
    ethernet(0x0800, &[&header[..], payload].concat())
}

pub(crate) fn ip6(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let n_payload = (payload.len() as u16).to_be_bytes();
    let mut header = hex("60000000 0000 00 3f 20010db8000100000000000000000001");
    header.extend(hex("20010db8000100000000000000000002"));
    header[4..6].copy_from_slice(&n_payload);
    header[6] = protocol;
    ethernet(0x86DD, &[&header[..], payload].concat())
}

pub(crate) fn udp(dst_port: u16, payload: &[u8]) -> Vec<u8> {
    let mut header = hex("c350 0000 0000 0000");
    header[2..4].copy_from_slice(&dst_port.to_be_bytes());
    header[4..6].copy_from_slice(&(8 + payload.len() as u16).to_be_bytes());
    [&header[..], payload].concat()
}

/// One encapsulation of a whole frame: its name, what it makes of the frame, and its tunnel id.
pub(crate) type Wrapping = (&'static str, fn(&[u8]) -> Vec<u8>, i64);

pub(crate) const WRAPPINGS: &[Wrapping] = &[
    (
        "vxlan",
        |f| ip4(17, &udp(4789, &[&hex("0800000000004200"), f].concat())),
        0x42,
    ),
    (
        "vxlan over ipv6",
        |f| ip6(17, &udp(8472, &[&hex("0800000000004200"), f].concat())),
        0x42,
    ),
    (
        "vxlan-gpe",
        |f| ip4(17, &udp(4790, &[&hex("0c00000300004200"), f].concat())),
        0x42,
    ),
    (
        "geneve",
        |f| {
            ip4(
                17,
                &udp(
                    6081,
                    &[&hex("01006558000042000102"), &hex("8000"), f].concat(),
                ),
            )
        },
        0x42,
    ),
    ("gre", |f| ip4(47, &[&hex("00006558"), f].concat()), -1),
    (
        "gre with all",
        |f| {
            ip4(
                47,
                &[&hex("b0006558 00000000 00000042 00000001"), f].concat(),
            )
        },
        0x42,
    ),
    (
        "nvgre",
        |f| ip4(47, &[&hex("20006558 000042aa"), f].concat()),
        0x42,
    ),
    ("erspan i", |f| ip4(47, &[&hex("000088be"), f].concat()), -1),
    (
        "erspan ii",
        |f| {
            ip4(
                47,
                &[&hex("100088be 00000001 10640042 00000001"), f].concat(),
            )
        },
        0x42,
    ),
    (
        "erspan iii",
        |f| {
            ip4(
                47,
                &[&hex("100022eb 00000001 20640042 01020304 00008000"), f].concat(),
            )
        },
        0x42,
    ),
    (
        "geneve of a load balancer",
        |f| {
            ip4(
                17,
                &udp(
                    6081,
                    &[&hex("0200655800004200 0108010100000000"), f].concat(),
                ),
            )
        },
        0x42,
    ),
    ("nsh in gpe", nsh_in_gpe, 0x42),
    ("stt", |f| ip4(6, &stt(f)), 0x42),
    ("etherip", |f| ip4(97, &[&hex("3000"), f].concat()), -1),
    ("eoipv6", |f| ip6(97, &[&hex("0342"), f].concat()), 0x42),
    ("eoip", |f| ip4(47, &eoip(f)), 0x42),
    ("srv6", |f| ip6(143, f), -1),
    (
        "l2tpv3",
        |f| ip4(115, &[&hex("0000004200000000"), f].concat()),
        0x42,
    ),
    (
        "l2tpv3 over udp",
        |f| {
            ip6(
                17,
                &udp(1701, &[&hex("00030000 00000042 00000000"), f].concat()),
            )
        },
        0x42,
    ),
    (
        "gue with gre",
        |f| ip4(17, &udp(6080, &[&hex("002f0000 00006558"), f].concat())),
        -1,
    ),
    (
        "mpls in udp",
        |f| ip4(17, &udp(6635, &[&hex("03e82740 00000000"), f].concat())),
        -1,
    ),
];

fn nsh_in_gpe(frame: &[u8]) -> Vec<u8> {
    let headers = hex("0c00000400004200 0fc20203000001ff");
    ip4(17, &udp(4790, &[&headers, frame].concat()))
}

fn stt(frame: &[u8]) -> Vec<u8> {
    let mut header = hex("c738 1d2f 0000 0000 abcdef01 5010ffff 00000000");
    header[4..6].copy_from_slice(&(18 + frame.len() as u16).to_be_bytes());
    header.extend(hex("00000000 0000 0000 0000000000000042 0000"));
    [&header[..], frame].concat()
}

fn eoip(frame: &[u8]) -> Vec<u8> {
    let length = (frame.len() as u16).to_be_bytes();
    [&hex("20016400")[..], &length, &hex("4200"), frame].concat()
}

pub(crate) fn good_frames() -> Vec<Vec<u8>> {
    let inner = inner_frames();
    let wrapped = inner
        .iter()
        .flat_map(|frame| WRAPPINGS.iter().map(|(_, wrap, _)| wrap(frame)));
    let mut frames: Vec<Vec<u8>> = wrapped.collect();
    frames.extend(inner);
    frames.push(ip4(4, &hex(IP4_UDP)));
    frames.push(ip6(41, &hex(IP6_UDP)));
    frames.push(ip4(137, &[hex("03e8164003e82740"), hex(IP4_UDP)].concat()));
    frames.push(ip4(
        17,
        &udp(
            2152,
            &[hex("34ff0026112233440000008501000900"), hex(IP4_UDP)].concat(),
        ),
    ));
    let protected = hex("1104000000001111 00000007 aaaaaaaaaaaaaaaaaaaaaaaa");
    frames.push(ip4(51, &[&protected[..], &hex(IP4_UDP)[20..]].concat()));
    frames.push(ip4(50, &hex("0000abcd00000009 000000000000000000000000")));
    let session = hex("1100 0005 0020 0021");
    frames.push(ethernet(0x8864, &[session, hex(IP4_UDP)].concat()));
    let call = hex("3081880b 00220055 00000003 00000002 ff030021");
    frames.push(ip4(47, &[call, hex(IP4_UDP)].concat()));
    let second = hex("4002002a 00050006 ff030021");
    frames.push(ip4(17, &udp(1701, &[second, hex(IP4_UDP)].concat())));
    frames.push(ethernet(
        0x0026,
        &[hex("aaaa030000000800"), hex(IP4_UDP)].concat(),
    ));
    frames
}
