//! Link types that are not read, and what to do about them.

use super::{LAYERS, Parent};
use crate::file::NO_LINK;

/// Numbers from and to, what they are, and what to do.
struct Unread {
    links: (u16, u16),
    what: &'static str,
    remedy: &'static str,
}

const CAPTURE_ON_ETHERNET: &str = "capture on an Ethernet or virtual interface";
const CAPTURE_BEHIND_RADIO: &str =
    "capture behind the access point, or on the station without monitor mode";
const NOT_IP: &str = "it carries no packets of a network path";
const NAME_THE_LAYER: &str = "declare its layer, as in --decode link=147:ethernet";

static UNREAD: [Unread; 24] = [
    unread((6, 6), "token ring", CAPTURE_ON_ETHERNET),
    unread((7, 7), "ARCNET", CAPTURE_ON_ETHERNET),
    unread((10, 10), "FDDI", CAPTURE_ON_ETHERNET),
    unread((105, 105), "IEEE 802.11", CAPTURE_BEHIND_RADIO),
    unread(
        (119, 119),
        "IEEE 802.11 with Prism header",
        CAPTURE_BEHIND_RADIO,
    ),
    unread(
        (127, 127),
        "IEEE 802.11 with radiotap header",
        CAPTURE_BEHIND_RADIO,
    ),
    unread((129, 129), "ARCNET of Linux", CAPTURE_ON_ETHERNET),
    unread(
        (130, 137),
        "Juniper's of undocumented cookies",
        CAPTURE_ON_ETHERNET,
    ),
    unread((143, 143), "DOCSIS", CAPTURE_ON_ETHERNET),
    unread((147, 148), "private", NAME_THE_LAYER),
    unread((150, 162), "private", NAME_THE_LAYER),
    unread(
        (163, 163),
        "IEEE 802.11 with AVS header",
        CAPTURE_BEHIND_RADIO,
    ),
    unread(
        (164, 164),
        "Juniper's of undocumented cookies",
        CAPTURE_ON_ETHERNET,
    ),
    unread((165, 165), "BACnet MS/TP", NOT_IP),
    unread((186, 186), "USB", NOT_IP),
    unread((187, 187), "Bluetooth", NOT_IP),
    unread((189, 189), "USB", NOT_IP),
    unread((195, 195), "IEEE 802.15.4", CAPTURE_BEHIND_RADIO),
    unread((201, 201), "Bluetooth", NOT_IP),
    unread((220, 220), "USB", NOT_IP),
    unread((226, 226), "Solaris IPNET", CAPTURE_ON_ETHERNET),
    unread((227, 227), "SocketCAN", NOT_IP),
    unread((230, 230), "IEEE 802.15.4", CAPTURE_BEHIND_RADIO),
    unread((249, 249), "USB", NOT_IP),
];

const fn unread(links: (u16, u16), what: &'static str, remedy: &'static str) -> Unread {
    Unread {
        links,
        what,
        remedy,
    }
}

/// Why frames of a link type are not decoded, and what to do; none for those that are, or that are no packets.
#[must_use]
pub fn why_unread(link: u16) -> Option<String> {
    let parent = Parent::Link(link);
    if link == NO_LINK || LAYERS.iter().any(|layer| layer.parents.contains(&parent)) {
        return None;
    }
    let mut known = UNREAD.iter();
    let known = known.find(|unread| (unread.links.0..=unread.links.1).contains(&link));
    Some(match known {
        Some(Unread { what, remedy, .. }) => {
            format!("link type {link} ({what}) is not read; {remedy}")
        }
        None => format!("link type {link} is not read; {CAPTURE_ON_ETHERNET}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_needs_no_reason() {
        for link in [0, 1, 9, 50, 101, 113, 178, 197, 276, NO_LINK] {
            assert_eq!(why_unread(link), None);
        }
    }

    #[test]
    fn radio_and_strangers_get_a_reason_and_a_remedy() {
        for (link, words) in [
            (
                127,
                "802.11 with radiotap header) is not read; capture behind",
            ),
            (148, "--decode link=147:ethernet"),
            (227, "SocketCAN"),
            (299, "link type 299 is not read"),
        ] {
            let text = why_unread(link).unwrap();
            assert!(text.contains(words), "{text}");
        }
    }

    #[test]
    fn no_reason_is_given_for_what_is_read() {
        for unread in &UNREAD {
            for link in unread.links.0..=unread.links.1 {
                assert!(why_unread(link).is_some(), "{link}");
            }
        }
    }
}
