//! Frames for tests: tunnel packets, and what links with a small MTU make of them.

const HEADER_BYTES: [usize; 2] = [20, 40];
pub(crate) const LINK_BYTES: usize = 14;

/// A UDP packet of so many bytes of payload in VXLAN, in IPv4 or IPv6, in Ethernet.
pub(crate) fn tunnelled(version: u8, n_payload: usize) -> Vec<u8> {
    let inner = inner_frame(n_payload);
    let n_udp = 16 + inner.len();
    let between = [
        &[0xc0, 0, 0x12, 0xb5][..],
        &u16::try_from(n_udp).unwrap().to_be_bytes(),
        &[0, 0, 8, 0, 0, 0, 0, 0x13, 0x89, 0],
    ]
    .concat();
    let outer = match version {
        4 => ipv4(20 + n_udp, 17, [172, 16, 0, 1, 172, 16, 0, 2]),
        _ => ipv6(n_udp, 17),
    };
    let ether_type = if version == 4 { [8, 0] } else { [0x86, 0xdd] };
    let link = [&[2, 0, 0, 0, 0, 4, 2, 0, 0, 0, 0, 3][..], &ether_type].concat();
    [link, outer, between, inner].concat()
}

fn inner_frame(n_payload: usize) -> Vec<u8> {
    [
        &[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0][..],
        &ipv4(28 + n_payload, 17, [10, 0, 0, 1, 10, 0, 0, 2]),
        &[0x9c, 0x40, 0x9c, 0x41],
        &u16::try_from(8 + n_payload).unwrap().to_be_bytes(),
        &[0, 0],
        &(0..n_payload)
            .map(|at| u8::try_from(at * 7 % 251).unwrap())
            .collect::<Vec<_>>(),
    ]
    .concat()
}

pub(crate) fn ipv4(n_total: usize, protocol: u8, ends: [u8; 8]) -> Vec<u8> {
    let length = u16::try_from(n_total).unwrap().to_be_bytes();
    let fixed = [
        0x45, 0, length[0], length[1], 0x12, 0x34, 0, 0, 64, protocol, 0, 0,
    ];
    [&fixed[..], &ends].concat()
}

pub(crate) fn ipv6(n_payload: usize, next: u8) -> Vec<u8> {
    let length = u16::try_from(n_payload).unwrap().to_be_bytes();
    let mut header = vec![0x60, 0, 0, 0, length[0], length[1], next, 64];
    header.extend([0xfd; 15].iter().chain(&[1]).chain(&[0xfd; 15]).chain(&[2]));
    header
}

/// The frames that a link lets through of which packets have at most so many bytes behind the header.
pub(crate) fn cut(whole: &[u8], n_body: usize, id: u8) -> Vec<Vec<u8>> {
    let version = whole[LINK_BYTES] >> 4;
    let body_at = LINK_BYTES + HEADER_BYTES[usize::from(version == 6)];
    let chunks: Vec<&[u8]> = whole[body_at..].chunks(n_body).collect();
    let part = |(index, body): (usize, &&[u8])| {
        let has_more = index + 1 < chunks.len();
        let offset = u16::try_from(index * n_body).unwrap();
        let header = match version {
            4 => part_of_ipv4(whole, body.len(), offset, has_more, id),
            _ => part_of_ipv6(whole, body.len(), offset, has_more, id),
        };
        [&whole[..LINK_BYTES], &header, body].concat()
    };
    chunks.iter().enumerate().map(part).collect()
}

fn part_of_ipv4(whole: &[u8], n_body: usize, offset: u16, has_more: bool, id: u8) -> Vec<u8> {
    let ends = whole[26..34].try_into().unwrap();
    let mut header = ipv4(20 + n_body, whole[LINK_BYTES + 9], ends);
    let field = (offset / 8) | (u16::from(has_more) << 13);
    header[5] = id;
    header[6..8].copy_from_slice(&field.to_be_bytes());
    header
}

fn part_of_ipv6(whole: &[u8], n_body: usize, offset: u16, has_more: bool, id: u8) -> Vec<u8> {
    let field = (offset | u16::from(has_more)).to_be_bytes();
    let fragment = [whole[LINK_BYTES + 6], 0, field[0], field[1], 0, 0, 0, id];
    [ipv6(8 + n_body, 44), fragment.to_vec()].concat()
}
