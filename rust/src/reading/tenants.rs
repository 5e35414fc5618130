//! Tenants whose hosts have the same addresses: whose packets a place sees in which tunnel.
//!
//! The survey finds them (pcaplat/stages/survey/tenants.py). A tunnel's identifier is evidence of the
//! tenant and no part of the identity: gateways translate it, and hosts see no tunnel.

use crate::base::hash::fold;
use crate::base::hashed::HashedMap;
use crate::identity::Identity;
use serde::{Deserialize, Serialize};

/// Interface of a file, and the tunnel's identifier; -1 for no tunnel.
pub type Inside = (u32, i64);

/// Number of a tenant; 0 for those that share no addresses with others, or are not known.
pub type Tenant = u64;

/// By file and tunnel, the tenant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tenants {
    of_file: Vec<HashedMap<Tenant>>,
    /// Their packets may be equal to the byte, so that content alone does not tell whose one is.
    have_equal_packets: bool,
}

impl Tenants {
    /// Of each file the tunnels whose tenants are known.
    #[must_use]
    pub fn new(of_file: Vec<Vec<(Inside, Tenant)>>, have_equal_packets: bool) -> Self {
        let by_tunnel = |known: Vec<(Inside, Tenant)>| {
            let each = known.into_iter();
            each.map(|(inside, tenant)| (number(inside), tenant))
                .collect()
        };
        Self {
            of_file: of_file.into_iter().map(by_tunnel).collect(),
            have_equal_packets,
        }
    }

    /// Makes a packet one of its tenant's.
    pub(super) fn tell(&self, file: usize, inside: Inside, identity: &mut Identity) {
        let of_file = self.of_file.get(file);
        if let Some(tenant) = of_file.and_then(|known| known.get(&number(inside))) {
            *identity = identity.of_tenant(*tenant, self.have_equal_packets);
        }
    }
}

fn number((interface, tunnel): Inside) -> u64 {
    fold(interface.into(), tunnel.cast_unsigned())
}
