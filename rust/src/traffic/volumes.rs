//! Frames and bytes of each point and direction, block by block of time, and the sizes of frames.

use super::{CountedFrame, HeaderBytes, N_BLOCKS, N_WAYS, Segment, TCP, UDP, UNKNOWN};
use crate::base::error::{Error, Result};
use crate::base::hashed::Placing;
use crate::base::spill::Spill;
use crate::base::spill::numbers;
use crate::matching::Status;
use crate::wire::Packet;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

/// Upper ends of the classes of frame sizes with FCS (RMON, RFC 2819).
const SIZES: [u64; 6] = [64, 127, 255, 511, 1023, 1518];
const FCS_BYTES: u64 = 4;

/// How much of a frame is what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weight {
    pub(super) frame_bytes: u32,
    /// Of the outermost IP packet; not known behind layers that have no fixed length.
    pub(super) l3_bytes: Option<i64>,
    /// Of the innermost TCP or UDP.
    pub(super) payload_bytes: Option<u32>,
    is_ethernet: bool,
}

impl Weight {
    pub(super) fn of(seen: &CountedFrame<'_>, segment: &Segment) -> Self {
        let wire = seen.wire_bytes;
        let HeaderBytes {
            is_ethernet,
            carries_ip,
            before_ip,
            before_udp_payload,
        } = seen.headers;
        // of a frame that was decoded, and of which no layer is IP, it is known that it carries none
        let carries_none = !carries_ip && seen.status != Status::Undecoded as u8;
        let is_known = seen.packet.stop.is_none() && seen.packet.ip_version != 0;
        let has_payload = is_known && [TCP, UDP].contains(&seen.packet.protocol);
        let of_datagram = before_udp_payload.map(|n| wire.saturating_sub(n));
        Self {
            frame_bytes: wire,
            l3_bytes: if carries_none {
                Some(0)
            } else {
                before_ip.map(|n| i64::from(wire) - i64::from(n))
            },
            // what is neither TCP nor UDP has no transport payload
            payload_bytes: if has_payload {
                segment.payload_bytes.or(of_datagram)
            } else {
                Some(0)
            },
            is_ethernet,
        }
    }
}

/// The two addresses of a packet, hashed: as many bits as an address of IPv6 has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AddressHash([u64; 2]);

impl AddressHash {
    /// None where a packet has none.
    pub(super) fn of(packet: &Packet) -> Option<Self> {
        let is_known = packet.stop.is_none() && packet.ip_version != 0;
        is_known.then(|| {
            let mut octets = [packet.ip_version; 33];
            let (addresses, _) = octets.split_at_mut(32);
            let (src, dst) = addresses.split_at_mut(16);
            src.copy_from_slice(&packet.src.to_le_bytes());
            dst.copy_from_slice(&packet.dst.to_le_bytes());
            let hash = xxh3_128(&octets).to_le_bytes();
            let half = |at: usize| hash.get(at..).and_then(<[u8]>::first_chunk);
            Self([0, 8].map(|at| half(at).map_or(0, |octets| u64::from_le_bytes(*octets))))
        })
    }
}

/// What one point saw going one way in one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Volume {
    pub(super) n_frames: u64,
    pub(super) frame_bytes: u64,
    pub(super) l3_bytes: i64,
    pub(super) payload_bytes: u64,
    pub(super) of_size: [u64; SIZES.len()],
    pub(super) n_not_ethernet: u64,
    pub(super) n_l3_unknown: u64,
    pub(super) n_payload_unknown: u64,
}

impl Volume {
    fn add(&mut self, weight: Weight) {
        let n_bytes = u64::from(weight.frame_bytes);
        let class = SIZES.iter().position(|size| n_bytes + FCS_BYTES <= *size);
        if let Some(class) = class.and_then(|class| self.of_size.get_mut(class)) {
            *class += 1;
        }
        self.n_frames += 1;
        self.frame_bytes += n_bytes;
        self.l3_bytes += weight.l3_bytes.unwrap_or(0);
        self.payload_bytes += u64::from(weight.payload_bytes.unwrap_or(0));
        self.n_not_ethernet += u64::from(!weight.is_ethernet);
        self.n_l3_unknown += u64::from(weight.l3_bytes.is_none());
        self.n_payload_unknown += u64::from(weight.payload_bytes.is_none());
    }
}

/// What one point saw going one way.
#[derive(Clone, Debug)]
pub(super) struct Total {
    pub(super) blocks: Vec<Volume>,
    /// Frames by their length.
    pub(super) sizes: BTreeMap<u32, u64>,
}

impl Total {
    fn new() -> Self {
        Self {
            blocks: vec![Volume::default(); N_BLOCKS],
            sizes: BTreeMap::new(),
        }
    }

    fn add(&mut self, block: usize, weight: Weight) {
        if let Some(volume) = self.blocks.get_mut(block) {
            volume.add(weight);
            *self.sizes.entry(weight.frame_bytes).or_default() += 1;
        }
    }
}

/// All points and directions. Frames that were not matched wait, on disk, for the direction of
/// others between their addresses.
pub(super) struct Volumes {
    /// By place, then by way.
    totals: Vec<[Total; N_WAYS]>,
    /// Ways of matched packets, a bit each.
    ways: HashMap<AddressHash, u8, Placing>,
    waiting: Spill,
}

impl Volumes {
    pub(super) fn new(n_points: usize, folder: &Path) -> Result<Self> {
        let none = || [Total::new(), Total::new(), Total::new()];
        Ok(Self {
            totals: (0..n_points).map(|_| none()).collect(),
            ways: HashMap::default(),
            waiting: Spill::create(folder, "waiting-frames")?,
        })
    }

    pub(super) fn add(
        &mut self,
        place: usize,
        way: u8,
        block: usize,
        weight: Weight,
        addresses: Option<AddressHash>,
    ) {
        match addresses {
            Some(addresses) if way == UNKNOWN => {
                self.waiting.write(values(place, block, weight, addresses));
            }
            Some(addresses) => {
                *self.ways.entry(addresses).or_default() |= 1 << way;
                put(&mut self.totals, place, way, block, weight);
            }
            None => put(&mut self.totals, place, way, block, weight),
        }
    }

    /// Gives all, by place and way; what waited goes the way of its addresses, if that is one.
    pub(super) fn finish(self) -> Result<Vec<[Total; N_WAYS]>> {
        let Self {
            mut totals,
            ways,
            waiting,
        } = self;
        let path = waiting.finish()?;
        for values in numbers(&path)? {
            let (place, block, weight, addresses) = waited(values?);
            let way = match ways.get(&addresses) {
                Some(1) => 0,
                Some(2) => 1,
                _ => UNKNOWN,
            };
            put(&mut totals, place, way, block, weight);
        }
        std::fs::remove_file(&path).map_err(|source| Error::Io { path, source })?;
        Ok(totals)
    }
}

fn put(totals: &mut [[Total; N_WAYS]], place: usize, way: u8, block: usize, weight: Weight) {
    let of_place = totals.get_mut(place);
    if let Some(total) = of_place.and_then(|ways| ways.get_mut(usize::from(way))) {
        total.add(block, weight);
    }
}

/// Stands for what is not known.
const NONE: i64 = i64::MIN;

/// A frame that waits, as numbers.
fn values(
    place: usize,
    block: usize,
    weight: Weight,
    AddressHash(addresses): AddressHash,
) -> [i64; 6] {
    let at = place * N_BLOCKS + block;
    let payload_bytes = weight.payload_bytes.map_or(NONE, i64::from);
    [
        i64::try_from(at * 2 + usize::from(weight.is_ethernet)).unwrap_or(0),
        i64::from(weight.frame_bytes),
        weight.l3_bytes.unwrap_or(NONE),
        payload_bytes,
        addresses[0].cast_signed(),
        addresses[1].cast_signed(),
    ]
}

/// The same, back.
fn waited(values: [i64; 6]) -> (usize, usize, Weight, AddressHash) {
    let [at, frame_bytes, l3_bytes, payload_bytes, low, high] = values;
    let at = usize::try_from(at).unwrap_or(0);
    let weight = Weight {
        frame_bytes: u32::try_from(frame_bytes).unwrap_or(0),
        l3_bytes: (l3_bytes != NONE).then_some(l3_bytes),
        payload_bytes: u32::try_from(payload_bytes).ok(),
        is_ethernet: at % 2 == 1,
    };
    let (place, block) = (at / 2 / N_BLOCKS, at / 2 % N_BLOCKS);
    let addresses = [low, high].map(i64::cast_unsigned);
    (place, block, weight, AddressHash(addresses))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHT: Weight = Weight {
        frame_bytes: 100,
        l3_bytes: Some(86),
        payload_bytes: None,
        is_ethernet: true,
    };

    #[test]
    fn what_waits_comes_back() {
        let other = Weight {
            l3_bytes: None,
            payload_bytes: Some(0),
            is_ethernet: false,
            ..WEIGHT
        };
        for (place, block, weight) in [(0, 255, WEIGHT), (7, 0, other)] {
            let addresses = AddressHash([u64::MAX, 1]);
            let back = waited(values(place, block, weight, addresses));
            assert_eq!(back, (place, block, weight, addresses));
        }
    }

    #[test]
    fn unmatched_frames_go_the_way_of_their_addresses() {
        let folder = std::env::temp_dir().join(format!("volumes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut volumes = Volumes::new(1, &folder).unwrap();
        let [one_way, both, other] = [1, 2, 3].map(|n| Some(AddressHash([n, n])));
        for addresses in [one_way, both, other, None] {
            volumes.add(0, UNKNOWN, 3, WEIGHT, addresses);
        }
        for (way, addresses) in [(1, one_way), (0, both), (1, both)] {
            volumes.add(0, way, 4, WEIGHT, addresses);
        }
        let totals = volumes.finish().unwrap();
        let n_frames = |way: usize, block: usize| totals[0][way].blocks[block].n_frames;
        assert_eq!([0, 1, 2].map(|way| n_frames(way, 3)), [0, 1, 3]);
        assert_eq!([0, 1, 2].map(|way| n_frames(way, 4)), [1, 2, 0]);
        assert_eq!(totals[0][1].sizes, BTreeMap::from([(100, 3)]));
        std::fs::remove_dir(folder).unwrap();
    }
}
