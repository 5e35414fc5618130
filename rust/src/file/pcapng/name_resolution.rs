//! Name resolution blocks: what addresses are called.
//!
//! Spec: draft-ietf-opsawg-pcapng §4.5. A record is laid out as an option is, and 0 ends them too.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::block::{body_from, options};
use crate::file::HostName;
use crate::file::order::Order;

const IPV4: u16 = 1;
const IPV6: u16 = 2;
/// Only hostile files have more.
const MAX_NAMES: usize = 65_536;
/// A name of the DNS has no more (RFC 1035 §2.3.4).
const MAX_NAME_BYTES: usize = 255;

/// Adds the names of one block to those that are known.
pub(super) fn learn(order: Order, block: &[u8], names: &mut Vec<HostName>) {
    for (code, value) in options(order, body_from(block, 8)) {
        let Some((address, text)) = record(code, value) else {
            continue;
        };
        for name in text.split(|&octet| octet == 0) {
            let is_fit = !name.is_empty() && name.len() <= MAX_NAME_BYTES;
            if let (true, Ok(name)) = (is_fit, std::str::from_utf8(name)) {
                let found = HostName {
                    address,
                    name: name.to_owned(),
                };
                if names.len() < MAX_NAMES && names.last() != Some(&found) {
                    names.push(found);
                }
            }
        }
    }
}

fn record(code: u16, value: &[u8]) -> Option<(IpAddr, &[u8])> {
    match code {
        IPV4 => {
            let (octets, text) = value.split_first_chunk::<4>()?;
            Some((Ipv4Addr::from(*octets).into(), text))
        }
        IPV6 => {
            let (octets, text) = value.split_first_chunk::<16>()?;
            Some((Ipv6Addr::from(*octets).into(), text))
        }
        _ => None,
    }
}
