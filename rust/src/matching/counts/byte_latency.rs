//! First and last bytes of packets that were cut or joined on the way: their latencies.

use crate::matching::streams::Cut;

use crate::base::error::Result;
use crate::base::spill::Spill;
use crate::matching::counts::totals::{EndTally, LinkTally};
use crate::matching::streams::PairKind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Link, direction, and whether it is the first byte (0) or the last (1).
type BytePlace = (usize, usize, usize);

/// What a partition times of them. Most runs have none, so that files are made when needed.
pub(crate) struct ByteLatencies {
    directory: PathBuf,
    partition: String,
    tallies: BTreeMap<BytePlace, EndTally>,
    spills: BTreeMap<BytePlace, Result<Spill>>,
}

impl ByteLatencies {
    pub(crate) fn new(directory: &Path, partition: impl std::fmt::Display) -> Self {
        Self {
            directory: directory.to_owned(),
            partition: partition.to_string(),
            tallies: BTreeMap::new(),
            spills: BTreeMap::new(),
        }
    }

    /// Counts a pair on a link and direction, between points of one clock or not.
    pub(crate) fn count(&mut self, (link, side): (usize, usize), cut: &Cut<'_>, is_exact: bool) {
        let end = match cut.kind {
            PairKind::FirstByte => 0,
            PairKind::LastByte => 1,
            PairKind::Packet | PairKind::Overlap => return,
        };
        let raw_ns = cut.down.t_ns.saturating_sub(cut.up.t_ns);
        let place = (link, side, end);
        let tally = self.tallies.entry(place).or_default();
        tally.n += 1;
        tally.n_duplicated += cut.n_copies;
        if is_exact {
            return tally.histogram.add(raw_ns);
        }
        let spill = self.spills.entry(place).or_insert_with(|| {
            let name = format!("raw-{link}-{side}-{end}-{}", self.partition);
            Spill::create(&self.directory, &name)
        });
        if let Ok(spill) = spill {
            // bytes are of no kind of packets
            spill.write([cut.up.t_ns, raw_ns, 0]);
        }
    }

    /// Adds all of it to the links.
    pub(crate) fn finish(self, links: &mut [[LinkTally; 2]]) -> Result<()> {
        let mut tallies = self.tallies;
        for (place, spill) in self.spills {
            let path = spill?.finish()?;
            tallies.entry(place).or_default().spills.push(path);
        }
        for ((link, side, end), tally) in tallies {
            let both = links.get_mut(link).and_then(|both| both.get_mut(side));
            if let Some(total) = both.and_then(|link| link.ends.get_mut(end)) {
                total.merge(tally);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::observation::Observation;
    use crate::matching::testing::observation;

    fn cut<'a>(up: &'a Observation, down: &'a Observation, kind: PairKind) -> Cut<'a> {
        Cut {
            up,
            down,
            kind,
            n_bytes: 1,
            n_copies: 0,
        }
    }

    #[test]
    fn ends_are_counted_apart_and_spilled_between_clocks() {
        let folder = std::env::temp_dir().join(format!("ends-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut ends = ByteLatencies::new(&folder, 3);
        let (up, down) = (observation(1, 0, 100), observation(2, 1, 400));
        for (kind, is_exact) in [
            (PairKind::FirstByte, true),
            (PairKind::FirstByte, true),
            (PairKind::LastByte, false),
            (PairKind::Overlap, true),
            (PairKind::Packet, true),
        ] {
            ends.count((1, 0), &cut(&up, &down, kind), is_exact);
        }
        let mut links: Vec<[LinkTally; 2]> = (0..2).map(|_| Default::default()).collect();
        ends.finish(&mut links).unwrap();
        let [first, last] = &links[1][0].ends;
        assert_eq!((first.n, first.histogram.sum_ns), (2, 600));
        assert_eq!((last.n, last.histogram.n), (1, 0));
        let spilled = std::fs::read(&last.spills[0]).unwrap();
        assert_eq!(spilled, [100_i64, 300, 0].map(i64::to_le_bytes).concat());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_is_gone_is_told() {
        let mut ends = ByteLatencies::new(Path::new("/nowhere/at/all"), 0);
        let one = observation(1, 0, 0);
        ends.count((0, 0), &cut(&one, &one, PairKind::FirstByte), false);
        assert!(ends.finish(&mut []).is_err());
    }
}
