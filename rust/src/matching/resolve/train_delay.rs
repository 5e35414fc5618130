//! Packets that were late together: a queue holds up a whole train of equal packets, and each then
//! lies where the next one would have. Such a train begins with what looks like a loss and ends with
//! what looks like a packet from nowhere; what lies between the two is not certain.

use std::cmp::Reverse;

/// What was made of an open trajectory, of a frame, or of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrainMember {
    pair: Option<usize>,
    up_ns: Option<i64>,
    down_ns: Option<i64>,
}

impl TrainMember {
    pub(crate) fn pair(index: usize, up_ns: i64, down_ns: i64) -> Self {
        let (pair, up_ns, down_ns) = (Some(index), Some(up_ns), Some(down_ns));
        Self {
            pair,
            up_ns,
            down_ns,
        }
    }

    pub(crate) fn lost(up_ns: i64) -> Self {
        let up_ns = Some(up_ns);
        Self {
            pair: None,
            up_ns,
            down_ns: None,
        }
    }

    pub(crate) fn phantom(down_ns: i64) -> Self {
        let down_ns = Some(down_ns);
        Self {
            pair: None,
            up_ns: None,
            down_ns,
        }
    }

    fn at_ns(&self) -> i64 {
        self.down_ns.or(self.up_ns).unwrap_or(0)
    }
}

/// The pairs that lie between a loss and a packet from nowhere, each within reach of the next.
pub(crate) fn shifted(mut seen: Vec<TrainMember>, (early_ns, late_ns): (i64, i64)) -> Vec<usize> {
    let n_pairs = seen.iter().filter(|one| one.pair.is_some()).count();
    let has = |is: fn(&TrainMember) -> bool| seen.iter().any(is);
    if n_pairs == 0 || !has(|one| one.down_ns.is_none()) || !has(|one| one.up_ns.is_none()) {
        return Vec::new();
    }
    seen.sort_unstable_by_key(TrainMember::at_ns);
    let mut found = chains(&seen, &|up_ns, down_ns| {
        down_ns.saturating_sub(up_ns) <= late_ns
    });
    seen.sort_unstable_by_key(|one| Reverse(one.at_ns()));
    found.extend(chains(&seen, &|up_ns, down_ns| {
        down_ns.saturating_sub(up_ns) >= early_ns
    }));
    found.sort_unstable();
    found.dedup();
    found
}

/// The pairs on every way from a loss to a packet from nowhere on which each next frame is `near`.
fn chains(seen: &[TrainMember], is_near: &dyn Fn(i64, i64) -> bool) -> Vec<usize> {
    let (mut found, mut between) = (Vec::new(), Vec::new());
    let mut last_up_ns: Option<i64> = None;
    for one in seen {
        let goes_on = |down_ns| last_up_ns.is_some_and(|up_ns| is_near(up_ns, down_ns));
        match (one.up_ns, one.down_ns) {
            (Some(up_ns), Some(down_ns)) if goes_on(down_ns) => {
                between.extend(one.pair);
                last_up_ns = Some(up_ns);
            }
            (None, Some(down_ns)) if goes_on(down_ns) => found.append(&mut between),
            (Some(up_ns), None) => {
                if !goes_on(up_ns) {
                    between.clear();
                }
                last_up_ns = Some(up_ns);
            }
            _ => {
                between.clear();
                last_up_ns = None;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A train 5 apart that was late by 5: the first seems lost, and one more than all arrive.
    fn train() -> Vec<TrainMember> {
        let pairs = (1..9).map(|i| TrainMember::pair(usize::try_from(i).unwrap(), 5 * i, 5 * i));
        [TrainMember::lost(0), TrainMember::phantom(45)]
            .into_iter()
            .chain(pairs)
            .collect()
    }

    #[test]
    fn a_train_that_may_have_been_late_is_doubtful() {
        assert_eq!(shifted(train(), (0, 6)), [1, 2, 3, 4, 5, 6, 7, 8]);
        let early: Vec<TrainMember> = train()
            .into_iter()
            .map(|one| TrainMember {
                up_ns: one.up_ns.map(|at| -at),
                down_ns: one.down_ns.map(|at| -at),
                ..one
            })
            .collect();
        assert_eq!(shifted(early.clone(), (-6, 0)).len(), 8);
        assert!(shifted(early, (0, 6)).is_empty(), "none is early");
    }

    #[test]
    fn what_cannot_be_that_late_is_certain() {
        assert!(shifted(train(), (0, 4)).is_empty());
        let mut gap = train();
        gap.iter_mut()
            .filter(|one| one.at_ns() > 20)
            .for_each(|one| {
                one.up_ns = one.up_ns.map(|at| at + 50);
                one.down_ns = one.down_ns.map(|at| at + 50);
            });
        assert!(shifted(gap, (0, 6)).is_empty());
    }

    #[test]
    fn a_loss_alone_shifts_nothing() {
        let mut lossy = train();
        lossy.remove(1);
        assert!(shifted(lossy, (0, 6)).is_empty());
        let mut more = train();
        more.remove(0);
        assert!(shifted(more, (0, 6)).is_empty());
    }
}
