//! How alike the values of a series are to those before them.

/// Sums that are added up side by side, as the processor does it.
const LANES: usize = 8;

/// The autocorrelation at lag 1, and the integrated autocorrelation time, at least 1, by Geyer's
/// initial positive sequence (C. J. Geyer, Practical Markov Chain Monte Carlo, 1992). Both are NaN of
/// values that are all the same.
#[must_use]
pub fn autocorrelation(values: &[f64]) -> (f64, f64) {
    let n = size(values.len());
    let mean = values.iter().sum::<f64>() / n;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let everything = product(&centred, &centred);
    let at_lag = |lag: usize| {
        let (before, after) = (centred.get(..values.len() - lag), centred.get(lag..));
        product(before.unwrap_or(&[]), after.unwrap_or(&[])) / everything
    };
    let (mut time, mut n_summed) = (1.0, 1.0);
    let firsts = (1..values.len())
        .step_by(2)
        .filter(|lag| lag + 1 < values.len());
    for pair in firsts.map(|lag| at_lag(lag) + at_lag(lag + 1)) {
        if pair <= 0.0 {
            break;
        }
        time += 2.0 * pair;
        n_summed += 4.0;
    }
    // the values' own mean hides some likeness (U. Wolff, Monte Carlo errors with less errors, 2004)
    (at_lag(1.min(values.len())), time * (1.0 + n_summed / n))
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    let ((ones, one_rest), (others, other_rest)) =
        (one.as_chunks::<LANES>(), other.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (one, other) in ones.iter().zip(others) {
        let terms = one.iter().zip(other).map(|(a, b)| a * b);
        sums.iter_mut()
            .zip(terms)
            .for_each(|(sum, term)| *sum += term);
    }
    let rest = one_rest.iter().zip(other_rest).map(|(a, b)| a * b);
    sums.iter().sum::<f64>() + rest.sum::<f64>()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of blocks are small")]
fn size(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_alternates_has_no_time_of_its_own() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        let (first, time) = autocorrelation(&values);
        assert!((first + 0.99).abs() < 1e-12, "{first}");
        assert!((time - 1.01).abs() < 1e-12, "{time}");
    }

    #[test]
    fn blocks_of_equal_values_have_their_length_as_time() {
        // by hand: of runs of length 4 the lags 1, 2, 3 keep 3/4, 2/4 and 1/4, the rest is chance
        let mut state = 1_u32;
        let mut values = Vec::new();
        for _ in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            values.extend([f64::from(state >> 8); 4]);
        }
        let (first, time) = autocorrelation(&values);
        assert!((first - 0.75).abs() < 0.01, "{first}");
        assert!((time - 4.0).abs() < 0.2, "{time}");
    }

    #[test]
    fn few_values_have_a_time_all_the_same() {
        assert!(autocorrelation(&[]).0.is_nan());
        assert!(autocorrelation(&[1.0]).0.is_nan());
        assert!((autocorrelation(&[1.0, 2.0]).1 - 1.5).abs() < 1e-12);
    }
}
