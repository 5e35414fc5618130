//! The two addresses of a packet as one number, from which a number of each can be had again.

use crate::base::hash::fold;

/// Odd, so that a product has an inverse (P. Evensen, "xxmx", 2018).
const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
const INVERSE: u64 = inverse(FACTOR);

/// The pair of two hosts, the one with the smaller address first.
#[inline]
pub(crate) fn pair_of(near: u32, far: u32) -> u64 {
    mixed(u64::from(near) << 32 | u64::from(far), FACTOR)
}

/// Sender and receiver; `toward`: the sender has the smaller address.
#[expect(clippy::cast_possible_truncation, reason = "the halves of 64 bits")]
pub(crate) fn hosts_of(pair: u64, toward: bool) -> [u32; 2] {
    let both = mixed(pair, INVERSE);
    let [near, far] = [(both >> 32) as u32, both as u32];
    if toward { [near, far] } else { [far, near] }
}

/// The same pair of another tenant.
#[expect(clippy::cast_possible_truncation, reason = "half of it is enough")]
pub(super) fn of_tenant(pair: u64, tenant: u64) -> u64 {
    let own = |host: u32| fold(u64::from(host), tenant) as u32;
    let [near, far] = hosts_of(pair, true).map(own);
    pair_of(near, far)
}

/// Each step is its own inverse, or that with the inverse factor.
#[inline]
fn mixed(number: u64, factor: u64) -> u64 {
    let folded = |number: u64| number ^ number >> 32;
    folded(folded(folded(number).wrapping_mul(factor)).wrapping_mul(factor))
}

/// Each round doubles how many of the low bits are right (Newton).
const fn inverse(odd: u64) -> u64 {
    let mut found = odd;
    let mut round = 0;
    while round < 5 {
        found = found.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(found)));
        round += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_tells_its_hosts() {
        for [near, far] in [[0, 0], [1, 2], [7, u32::MAX], [0x0a00_0001, 0xc633_6407]] {
            let pair = pair_of(near, far);
            assert_eq!(hosts_of(pair, true), [near, far]);
            assert_eq!(hosts_of(pair, false), [far, near]);
        }
        assert_eq!(FACTOR.wrapping_mul(INVERSE), 1);
    }

    #[test]
    fn tenants_are_apart_and_the_order_of_hosts_stays() {
        let pair = pair_of(1, 2);
        let [one, other] = [1, 2].map(|tenant| of_tenant(pair, tenant));
        assert!(pair != one && one != other);
        let [near, far] = hosts_of(one, true);
        assert_eq!(hosts_of(of_tenant(pair_of(2, 1), 1), true), [far, near]);
    }
}
