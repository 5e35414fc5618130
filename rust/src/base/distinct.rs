//! Values of which many are equal.

use crate::base::hashed::HashedMap;

/// The distinct ones of some values, ascending, and which of them each is.
#[must_use]
pub fn distinct(values: impl Iterator<Item = f64>) -> (Vec<f64>, Vec<u32>) {
    let mut place_of: HashedMap<u32> = HashedMap::default();
    let mut seen: Vec<(f64, u32)> = Vec::new();
    let mut which = Vec::with_capacity(values.size_hint().0);
    for value in values {
        // the two zeros are equal
        let place = *place_of.entry((value + 0.0).to_bits()).or_insert_with(|| {
            let place = u32::try_from(seen.len()).unwrap_or(u32::MAX);
            seen.push((value, place));
            place
        });
        which.push(place);
    }
    seen.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut rank = vec![0; seen.len()];
    for (at, (_, place)) in (0..).zip(&seen) {
        if let Some(rank) = rank.get_mut(*place as usize) {
            *rank = at;
        }
    }
    for place in &mut which {
        *place = rank.get(*place as usize).copied().unwrap_or(0);
    }
    (seen.into_iter().map(|(value, _)| value).collect(), which)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_found_again() {
        let values: Vec<f64> = (0..5000_i32)
            .map(|i| f64::from(i * 7919 % 97 - 40) / 2.0)
            .collect();
        let (ascending, which) = distinct(values.iter().copied());
        assert!(ascending.len() == 97 && ascending.is_sorted_by(|one, next| one < next));
        let again = which.iter().map(|at| ascending[*at as usize]);
        assert!(again.eq(values.iter().copied()));
    }

    #[test]
    fn zeros_are_equal() {
        assert_eq!(
            distinct([0.0, -1.0, -0.0].into_iter()),
            (vec![-1.0, 0.0], vec![1, 0, 1])
        );
        assert_eq!(distinct(std::iter::empty()), (vec![], vec![]));
    }
}
