//! How addresses are written: most that come have come before, and are not written anew.

use crate::base::hashed::Placing;
use std::fmt::Write;
use std::hash::BuildHasher;
use std::net::IpAddr;

/// Addresses that are kept: of two that share a place the later one.
const N_KEPT: usize = 1 << 10;

/// Texts of the addresses that came lately.
#[derive(Default)]
pub(super) struct AddressTexts {
    placing: Placing,
    kept: Vec<(Option<IpAddr>, String)>,
}

impl AddressTexts {
    /// The text of an address.
    pub(super) fn of(&mut self, address: IpAddr) -> &str {
        if self.kept.is_empty() {
            self.kept.resize(N_KEPT, (None, String::new()));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "of a hash the lowest bits will do"
        )]
        let place = self.placing.hash_one(address) as usize % N_KEPT;
        let Some((known, text)) = self.kept.get_mut(place) else {
            return "";
        };
        if *known != Some(address) {
            *known = Some(address);
            text.clear();
            // a text takes all that is written to it
            let _ = write!(text, "{address}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    fn addresses_that_share_a_place_keep_their_texts() {
        let mut texts = AddressTexts::default();
        let n = 4 * u32::try_from(N_KEPT).unwrap();
        for bits in (0..n).chain(0..n) {
            let (four, six) = (Ipv4Addr::from(bits), Ipv6Addr::from(u128::from(bits)));
            for address in [IpAddr::from(four), six.into()] {
                assert_eq!(texts.of(address), address.to_string());
                assert_eq!(texts.of(address), address.to_string());
            }
        }
    }
}
