//! What other packets of its flow show of the way of a packet.

pub(crate) mod apart;
pub(crate) mod end_times;
pub(crate) mod times;

use crate::matching::observation::Observation;

/// The flow of a packet, one way.
#[inline]
pub(crate) fn flow_of(observation: &Observation) -> u64 {
    const TOWARD_MASK: u64 = 0x9e37_79b9_7f4a_7c15;
    let way = if observation.toward { TOWARD_MASK } else { 0 };
    observation.flow ^ way
}
