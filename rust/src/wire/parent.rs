//! How layers are reached, and how users write that down.

use super::names::nearest;
use crate::base::error::{Error, Result};
use std::fmt;

/// How a layer is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// A capture file's link type.
    Link(u16),
    /// An `EtherType`, wherever one stands.
    EtherType(u16),
    /// A protocol of GRE that is no `EtherType`.
    GreProtocol(u16),
    /// A protocol of IPv4, or the last next header of IPv6.
    IpProtocol(u8),
    /// A TCP destination port.
    TcpDst(u16),
    /// A UDP destination port.
    UdpDst(u16),
    /// A UDP source port, where the destination port leads nowhere.
    UdpSrc(u16),
    /// A length where an `EtherType` could stand (IEEE 802.3 §3.2.6).
    Length,
    /// Sessions of `L2TPv3` with cookies of so many bytes, which no packet says (RFC 3931 §4.1).
    L2tpCookie(u8),
}

impl fmt::Display for Parent {
    /// As a user would write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(link) => write!(f, "link={link}"),
            Self::EtherType(ether_type) => write!(f, "ethertype=0x{ether_type:04x}"),
            Self::GreProtocol(protocol) => write!(f, "gre.proto=0x{protocol:04x}"),
            Self::IpProtocol(protocol) => write!(f, "ip.proto={protocol}"),
            Self::TcpDst(port) => write!(f, "tcp.port={port}"),
            Self::UdpDst(port) => write!(f, "udp.port={port}"),
            Self::UdpSrc(port) => write!(f, "udp.srcport={port}"),
            Self::Length => f.write_str("an IEEE 802.3 length"),
            Self::L2tpCookie(n_bytes) => write!(f, "l2tp.cookie={n_bytes}"),
        }
    }
}

/// What a user writes before `=`, and the parent it makes of the number behind it.
type ParentKind = (&'static str, fn(u16) -> Option<Parent>);

static KINDS: [ParentKind; 8] = [
    ("udp.port", |port| Some(Parent::UdpDst(port))),
    ("udp.srcport", |port| Some(Parent::UdpSrc(port))),
    ("tcp.port", |port| Some(Parent::TcpDst(port))),
    ("ethertype", |ether_type| {
        Some(Parent::EtherType(ether_type))
    }),
    ("ip.proto", |protocol| {
        u8::try_from(protocol).ok().map(Parent::IpProtocol)
    }),
    ("gre.proto", |protocol| Some(Parent::GreProtocol(protocol))),
    ("link", |link| Some(Parent::Link(link))),
    ("l2tp.cookie", |n_bytes| match n_bytes {
        0 => Some(Parent::L2tpCookie(0)),
        4 => Some(Parent::L2tpCookie(4)),
        8 => Some(Parent::L2tpCookie(8)),
        _ => None,
    }),
];

impl Parent {
    /// The parent that a text such as `udp.port=8472` or `ethertype=0x8988` names.
    ///
    /// # Errors
    /// [`Error::Argument`] if the word before `=` is none of those known (it offers the nearest), or
    /// the number behind it is none, or too great.
    pub fn parse(text: &str) -> Result<Self> {
        let (kind, number) = text.split_once('=').unwrap_or((text, ""));
        let Some((_, parent)) = KINDS.iter().find(|(name, _)| *name == kind) else {
            return Err(unknown(kind));
        };
        number_of(number).and_then(parent).ok_or_else(|| {
            let (numbers, such_as) = match kind {
                "l2tp.cookie" => ("0, 4 or 8 (bytes)", 8),
                "ip.proto" => ("a number up to 255", 17),
                _ => ("a number up to 65535", 17),
            };
            Error::Argument(format!(
                "{kind} is followed by = and {numbers}, as in {kind}={such_as}; {text:?} is not"
            ))
        })
    }
}

/// What `udp.port=8472:vxlan` says: how a layer is reached, and which.
///
/// # Errors
/// [`Error::Argument`] as of [`Parent::parse`], or if no layer is named; whether there is one of that
/// name, the decoder tells.
pub fn parse_decode(text: &str) -> Result<(Parent, &str)> {
    let Some((parent, layer)) = text.split_once(':').filter(|(_, layer)| !layer.is_empty()) else {
        return Err(Error::Argument(format!(
            "--decode: {text:?} names no layer; write it like udp.port=8472:vxlan"
        )));
    };
    Ok((Parent::parse(parent.trim())?, layer.trim()))
}

fn number_of(text: &str) -> Option<u16> {
    match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn unknown(kind: &str) -> Error {
    let names = KINDS.map(|(name, _)| name);
    let nearest = nearest(names.into_iter(), kind);
    let known = names.join(", ");
    Error::Argument(format!(
        "nothing is reached by {kind:?}; did you mean {nearest:?}? There are: {known}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        match Parent::parse(text) {
            Err(Error::Argument(refusal)) => refusal,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn reads_what_users_write() {
        for (text, parent) in [
            ("udp.port=8472", Parent::UdpDst(8472)),
            ("udp.srcport=1701", Parent::UdpSrc(1701)),
            ("tcp.port=7471", Parent::TcpDst(7471)),
            ("ethertype=0x8988", Parent::EtherType(0x8988)),
            ("ip.proto=97", Parent::IpProtocol(97)),
            ("gre.proto=0x88be", Parent::GreProtocol(0x88be)),
            ("link=147", Parent::Link(147)),
            ("l2tp.cookie=8", Parent::L2tpCookie(8)),
        ] {
            assert_eq!(Parent::parse(text).ok(), Some(parent), "{text}");
            assert_eq!(Parent::parse(&parent.to_string()).ok(), Some(parent));
        }
    }

    #[test]
    fn says_which_layer_follows() {
        let (parent, layer) = parse_decode("udp.port=8472:vxlan").unwrap();
        assert_eq!((parent, layer), (Parent::UdpDst(8472), "vxlan"));
        for text in [
            "udp.port=8472",
            "udp.port=8472:",
            ":vxlan",
            "",
            "udp.port=x:vxlan",
        ] {
            assert!(parse_decode(text).is_err(), "{text}");
        }
    }

    #[test]
    fn offers_the_nearest_word() {
        assert!(
            refusal("upd.port=8472").contains("did you mean \"udp.port\"? There are: udp.port, ")
        );
        assert!(refusal("ip.protocol=4").contains("did you mean \"ip.proto\"?"));
    }

    #[test]
    fn refuses_what_is_no_number_in_range() {
        for text in [
            "udp.port",
            "udp.port=",
            "udp.port=65536",
            "udp.port=-1",
            "link=x",
        ] {
            assert!(refusal(text).contains("up to 65535"), "{text}");
        }
        assert!(refusal("ip.proto=256").contains("up to 255"));
        assert!(refusal("l2tp.cookie=6").contains("0, 4 or 8 (bytes), as in l2tp.cookie=8"));
    }
}
