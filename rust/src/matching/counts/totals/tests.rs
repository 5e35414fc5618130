use super::*;
use crate::matching::observation::FrameId;
use crate::matching::streams::Lost;

fn least(residual_ns: i64, aligned_ns: i64) -> MinDelay {
    MinDelay {
        residual_ns,
        aligned_ns,
        up_ns: 0,
        raw_ns: residual_ns,
        frames: [FrameId::new(0, 1); 2],
        n: 1,
        second_ns: i64::MAX,
    }
}

fn lost(packets: u64) -> LinkLoss {
    LinkLoss {
        lost: Lost {
            packets,
            ends: [1, 2],
            bytes: 700,
        },
        blocks: vec![packets],
        more_variance: 0.0,
    }
}

#[test]
fn merged_counts_are_sums() {
    let key = (0, 1, 0);
    let one = |residual_ns: i64, name: &str| {
        let mut totals = Totals::of_links(2);
        let tally = &mut totals.links[1][0];
        (tally.n, tally.n_duplicated, tally.n_reordered) = (3, 2, 1);
        tally.blocks.add(0, residual_ns);
        totals
            .least
            .insert(key, vec![Some(least(residual_ns, 0)), None]);
        totals.spills[1][0].push(name.into());
        totals
    };
    let mut total = Totals::of_links(2);
    total.merge(one(5, "a"));
    total.merge(one(4, "b"));
    total.add_losses(Allocated {
        links: vec![[lost(0), lost(0)], [lost(0), lost(9)]],
        ..Allocated::default()
    });
    let [forward, reverse] = &total.links[1];
    assert_eq!(
        (forward.n, forward.n_duplicated, forward.n_reordered),
        (6, 4, 2)
    );
    assert_eq!(
        (
            forward.blocks.histogram().n,
            forward.blocks.histogram().sum_ns,
            reverse.n_lost
        ),
        (2, 9, 9)
    );
    let joined = MinDelay {
        n: 2,
        second_ns: 5,
        ..least(4, 0)
    };
    assert_eq!(total.least[&key][0], Some(joined));
    assert_eq!(total.spills[1][0].len(), 2);
}
