//! Packets whose rank is at most a threshold; the threshold falls until those of each interface fit, so that
//! an interface has as many in a file with others as in a file of its own.

use crate::base::hashed::Placing;
use crate::location::Location;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Of packets that repeat without end so many are kept.
const ENOUGH_REPEATS: u8 = 16;
/// All interfaces of a file together have at most so many times as many packets as one: memory is bounded.
const MOST_INTERFACES: usize = 32;

/// One selected packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SampledPacket {
    /// See [`crate::identity::Identity::key`].
    pub key: u64,
    /// See [`crate::identity::Identity::unaddressed_or_key`].
    pub unaddressed: u64,
    /// See [`crate::identity::Unaddressed::content`].
    pub content: u64,
    /// See [`crate::identity::Unaddressed::tuple_and_seq`].
    pub tuple_and_seq: u64,
    /// See [`crate::identity::Identity::pair`].
    pub pair: u64,
    /// See [`crate::identity::Identity::flow`].
    pub flow: u64,
    /// See [`crate::identity::Identity::toward`].
    pub toward: bool,
    /// See [`crate::identity::Identity::directed`].
    pub directed: bool,
    /// See [`crate::identity::copy_tag`].
    pub copy_tag: u32,
    /// Where within the file it was seen.
    pub location: Location,
    /// The file's time.
    pub t_ns: i64,
    /// Bytes of the TCP segment, header included; 0 for anything else.
    pub tcp_bytes: u32,
}

/// The packets of one selection. As long as all of them fit, it has all; else, once it is finished, of each
/// rank at most the first so many in the order of the file, and the highest threshold at which they fit: what
/// it has does not depend on how the file is divided.
#[derive(Serialize, Deserialize)]
pub(super) struct HashSample {
    limit: usize,
    rank: SampleRank,
    pub(super) threshold: u64,
    rows: Vec<SampledPacket>,
    n_of: SelectedCounts,
    /// Some did not fit.
    is_thinned: bool,
    /// By rank, where rows had too many keys: the lowest key that was left out of any interface.
    left_out: HashMap<u64, u64, Placing>,
}

/// What packets are selected by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum SampleRank {
    Key,
    Unaddressed,
    Content,
}

impl SampleRank {
    #[inline]
    fn of(self, row: &SampledPacket) -> u64 {
        match self {
            Self::Key => row.key,
            Self::Unaddressed => row.unaddressed,
            Self::Content => row.content,
        }
    }

    /// What is equal in packets that cannot be told apart.
    #[inline]
    fn repeated(self, row: &SampledPacket) -> u64 {
        match self {
            Self::Key | Self::Unaddressed => row.key,
            Self::Content => row.content,
        }
    }
}

impl HashSample {
    pub(super) fn by(limit: usize, rank: SampleRank) -> Self {
        Self {
            limit,
            rank,
            threshold: u64::MAX,
            rows: Vec::new(),
            n_of: SelectedCounts::default(),
            is_thinned: false,
            left_out: HashMap::default(),
        }
    }

    /// Takes what depends on all packets of an extent.
    pub(super) fn finish(&mut self) {
        if self.is_thinned {
            self.drop_repeats();
        }
    }

    /// Adds those of an extent that comes later; both are finished.
    pub(super) fn join(&mut self, later: Self) {
        self.threshold = self.threshold.min(later.threshold);
        self.is_thinned |= later.is_thinned;
        self.rows.extend(later.rows);
        for (rank, key) in later.left_out {
            lower(&mut self.left_out, rank, key);
        }
        let (rank, threshold) = (self.rank, self.threshold);
        self.rows.retain(|row| rank.of(row) <= threshold);
        self.count();
        if self.is_thinned || self.n_of.any_reaches(2 * self.limit.max(1)) {
            self.thin();
        }
    }

    #[inline]
    pub(super) fn consider(&mut self, rank: u64, row: &SampledPacket) {
        if rank <= self.threshold {
            self.rows.push(*row);
            self.n_of.add(row.location.interface);
            if self
                .n_of
                .reaches(2 * self.limit.max(1), row.location.interface)
            {
                self.thin();
            }
        }
    }

    /// The threshold at which fewer than twice `limit` are left of each interface, below its own unless
    /// that is all there is.
    pub(super) fn threshold_for(&mut self, limit: usize) -> u64 {
        let enough = 2 * limit.max(1);
        if self.n_of.any_reaches(enough) {
            self.drop_repeats();
        }
        let rank = |row: &SampledPacket| (self.rank.of(row), row.location.interface);
        let mut ranks: Vec<_> = self.rows.iter().map(rank).collect();
        let (mut threshold, mut n_of) = (self.threshold, self.n_of.clone());
        let is_thinned = threshold < u64::MAX;
        while threshold > 0
            && (n_of.any_reaches(enough) || is_thinned && threshold == self.threshold)
        {
            threshold /= 2;
            ranks.retain(|(rank, _)| *rank <= threshold);
            n_of = SelectedCounts::of(ranks.iter().map(|(_, interface)| *interface));
        }
        threshold
    }

    /// Of ranks of which some sample left out a key, leaves out that one and those above it, so that all samples have
    /// the same.
    pub(super) fn leave_out_together(samples: &mut [&mut Self]) {
        let mut left_out = HashMap::default();
        for (rank, key) in samples.iter().flat_map(|one| &one.left_out) {
            lower(&mut left_out, *rank, *key);
        }
        for one in samples.iter_mut().filter(|_| !left_out.is_empty()) {
            let rank = one.rank;
            let first_out = |row: &SampledPacket| left_out.get(&rank.of(row));
            one.rows
                .retain(|row| first_out(row).is_none_or(|first| row.key < *first));
        }
    }

    /// What is above one threshold, and at most another.
    pub(super) fn between(&self, low: u64, high: u64) -> Vec<SampledPacket> {
        let rows = self.rows.iter().copied();
        rows.filter(|row| self.rank.of(row) > low && self.rank.of(row) <= high)
            .collect()
    }

    /// Keeps what is at most a threshold, one's own or lower.
    pub(super) fn at_most(mut self, threshold: u64) -> Vec<SampledPacket> {
        let rank = self.rank;
        self.rows.retain(|row| rank.of(row) <= threshold);
        self.rows
    }

    /// Lowers the threshold until the rows fit. Ranks that repeat without end cannot be
    /// thinned by threshold: a few of each are enough to know that they repeat.
    fn thin(&mut self) {
        self.is_thinned = true;
        self.drop_repeats();
        let rank = self.rank;
        while self.n_of.any_reaches(2 * self.limit.max(1)) && self.threshold > 0 {
            self.threshold /= 2;
            let threshold = self.threshold;
            self.rows.retain(|row| rank.of(row) <= threshold);
            self.count();
        }
    }

    fn count(&mut self) {
        self.n_of = SelectedCounts::of(self.rows.iter().map(|row| row.location.interface));
    }

    /// Drops what repeats too often: rows that are equal, and of a rank that many different ones have, as where
    /// many hosts send the same, those with the highest keys. Which ones does not depend on their order.
    fn drop_repeats(&mut self) {
        let (rank, enough) = (self.rank, usize::from(ENOUGH_REPEATS));
        if self.may_reach(enough + 1, |row| rank.repeated(row)) {
            self.keep_first_of_each();
        }
        let most = (self.limit / enough).max(enough);
        if self.may_reach(most + 1, |row| rank.of(row)) {
            self.keep_lowest_of_ranks(most);
        }
        self.count();
    }

    /// Whether a value may be there so often. Most are told to be rare by their low bits alone, whose table
    /// stays in the cache.
    fn may_reach(&self, n: usize, value: impl Fn(&SampledPacket) -> u64) -> bool {
        let mut n_of_bits = vec![0_usize; 1 << 16];
        self.rows.iter().any(|row| {
            let n_of = n_of_bits.get_mut(low_bits(value(row)));
            n_of.is_some_and(|n_of| {
                *n_of += 1;
                *n_of >= n
            })
        })
    }

    fn keep_first_of_each(&mut self) {
        let rank = self.rank;
        let mut n_of: HashMap<(u64, u32), u8, Placing> = HashMap::default();
        self.rows.retain(|row| {
            let n = n_of.entry((rank.repeated(row), row.location.interface));
            let n = n.or_default();
            *n = n.saturating_add(1);
            *n <= ENOUGH_REPEATS
        });
    }

    fn keep_lowest_of_ranks(&mut self, most: usize) {
        let rank = self.rank;
        let mut keys: HashMap<(u64, u32), Vec<u64>, Placing> = HashMap::default();
        for row in &self.rows {
            let of_rank = keys.entry((rank.of(row), row.location.interface));
            of_rank.or_default().push(row.key);
        }
        let first_out = keys.into_iter().filter_map(|(of_rank, mut keys)| {
            keys.sort_unstable();
            keys.dedup();
            Some((of_rank, *keys.get(most)?))
        });
        let first_out: HashMap<(u64, u32), u64, Placing> = first_out.collect();
        self.rows.retain(|row| {
            let first = first_out.get(&(rank.of(row), row.location.interface));
            first.is_none_or(|first| row.key < *first)
        });
        for ((rank, _), first) in first_out {
            lower(&mut self.left_out, rank, first);
        }
    }
}

/// Notes the lowest key that was left out of a rank.
fn lower(left_out: &mut HashMap<u64, u64, Placing>, rank: u64, key: u64) {
    let lowest = left_out.entry(rank).or_insert(key);
    *lowest = key.min(*lowest);
}

fn low_bits(rank: u64) -> usize {
    let [low, next, ..] = rank.to_le_bytes();
    usize::from(u16::from_le_bytes([low, next]))
}

/// How many there are of each interface of a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SelectedCounts {
    n_of: Vec<usize>,
    n: usize,
}

impl SelectedCounts {
    pub(super) fn of(interfaces: impl Iterator<Item = u32>) -> Self {
        let mut counts = Self::default();
        interfaces.for_each(|interface| counts.add(interface));
        counts
    }

    #[inline]
    pub(super) fn add(&mut self, interface: u32) {
        let index = interface as usize;
        if index >= self.n_of.len() {
            self.n_of.resize(index + 1, 0);
        }
        if let Some(n) = self.n_of.get_mut(index) {
            *n += 1;
        }
        self.n += 1;
    }

    /// Whether there are so many of one interface, or too many of all.
    #[inline]
    pub(super) fn reaches(&self, limit: usize, interface: u32) -> bool {
        let n = self.n_of.get(interface as usize).copied().unwrap_or(0);
        n >= limit || self.n >= limit.saturating_mul(MOST_INTERFACES)
    }

    pub(super) fn any_reaches(&self, limit: usize) -> bool {
        (0..self.n_of.len()).any(|index| self.reaches(limit, u32::try_from(index).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::{HashSample, SampleRank, SampledPacket};
    use crate::base::hash::mixed;
    use crate::location::Location;
    use std::collections::HashSet;

    const LIMIT: usize = 512;

    fn row(rank: u64, host: u64) -> SampledPacket {
        SampledPacket {
            key: mixed(rank ^ mixed(host)),
            unaddressed: mixed(rank),
            content: mixed(rank),
            tuple_and_seq: 0,
            pair: host,
            flow: host,
            toward: true,
            directed: true,
            copy_tag: 0,
            location: Location::default(),
            t_ns: 0,
            tcp_bytes: 0,
        }
    }

    /// So many packets that differ in their addresses alone, as pure acknowledgments, of hosts.
    fn sampled(ranks: u64, hosts: std::ops::Range<u64>) -> HashSample {
        let mut sample = HashSample::by(LIMIT, SampleRank::Unaddressed);
        for rank in 0..ranks {
            for row in hosts.clone().map(|host| row(rank, host)) {
                sample.consider(row.unaddressed, &row);
            }
        }
        sample.finish();
        sample
    }

    #[test]
    fn a_point_that_sees_all_hosts_has_what_those_have_that_see_some() {
        let mut every = sampled(200, 0..24);
        let mut some = sampled(200, 0..12);
        let threshold = every.threshold_for(LIMIT).min(some.threshold_for(LIMIT));
        let [every, some] = [every, some].map(|one| one.at_most(threshold));
        let keys: HashSet<_> = every.iter().map(|row| row.key).collect();
        assert!(every.len() > LIMIT / 2);
        assert_eq!(every.len(), 2 * some.len());
        assert!(some.iter().all(|row| keys.contains(&row.key)));
    }

    #[test]
    fn a_rank_of_more_hosts_than_fit_does_not_displace_others() {
        let mut sample = sampled(1, 0..100_000);
        for rank in 1..LIMIT as u64 {
            sample.consider(mixed(rank), &row(rank, 1));
        }
        sample.finish();
        let ranks: HashSet<_> = sample.rows.iter().map(|row| row.unaddressed).collect();
        assert!(ranks.len() > LIMIT / 4);
        assert!(sample.rows.len() < 2 * LIMIT);
    }

    #[test]
    fn what_one_point_leaves_out_of_a_rank_all_do() {
        let keys = |sample: &HashSample| -> HashSet<u64> {
            sample.rows.iter().map(|row| row.key).collect()
        };
        let mut every = sampled(40, 0..3_000);
        let mut some = [sampled(40, 0..500), sampled(40, 500..3_000)];
        every.threshold_for(LIMIT);
        for one in &mut some {
            one.threshold_for(LIMIT);
        }
        let [one, other] = &mut some;
        HashSample::leave_out_together(&mut [&mut every, one, other]);
        let least = every.threshold.min(one.threshold).min(other.threshold);
        for sample in [&mut every, one, other] {
            sample.rows.retain(|row| row.unaddressed <= least);
        }
        let together: HashSet<_> = some.iter().flat_map(keys).collect();
        assert!(keys(&every).len() > LIMIT / 4);
        assert_eq!(keys(&every), together);
    }

    #[test]
    fn it_does_not_depend_on_how_a_file_is_divided() {
        let whole = sampled(300, 0..2_000);
        let mut parts = sampled(150, 0..2_000);
        let mut later = HashSample::by(LIMIT, SampleRank::Unaddressed);
        for rank in 150..300 {
            for row in (0..2_000).map(|host| row(rank, host)) {
                later.consider(row.unaddressed, &row);
            }
        }
        later.finish();
        parts.join(later);
        parts.finish();
        let keys =
            |sample: &HashSample| -> Vec<u64> { sample.rows.iter().map(|row| row.key).collect() };
        assert_eq!(
            (keys(&whole), whole.threshold),
            (keys(&parts), parts.threshold)
        );
    }
}
