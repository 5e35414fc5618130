//! Tails and quantiles of Student's t, the beta and the gamma distribution, which intervals are made
//! of. Tails are CDFLIB's (ACM algorithms 708 and 654), right to eleven digits and more for
//! parameters to 10^8 and deep into the tails; its search for quantiles stops at 10^-8, so that of
//! the beta distribution is searched for here. What is not defined is NaN.

pub mod autocorrelation;
pub mod chance;

use cdflib::special::{beta_log, cumnor, dinvnr, try_beta_inc, try_gamma_inc_inv};

/// Newton's steps double the digits; some more where the first one leads far out.
const MOST_STEPS: usize = 100;

/// Where a chance is right to this, the next step makes it right to its square.
const NEAR: f64 = 1e-7;

/// ln(x / (1 − x)) of an x that floating point barely tells from 0.
const MOST_LOGIT: f64 = 700.0;

/// The chance that a variable of the beta distribution is at most `x`.
#[must_use]
pub fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    if !are_shapes(a, b) || x.is_nan() {
        return f64::NAN;
    }
    let x = x.clamp(0.0, 1.0);
    beta_tails(a, b, x, 1.0 - x).0
}

/// What a variable of the beta distribution is at most, with this chance.
#[must_use]
pub fn beta_quantile(a: f64, b: f64, chance: f64) -> f64 {
    if !are_shapes(a, b) || !is_chance(chance) {
        return f64::NAN;
    }
    logistic(beta_logit(a, b, chance))
}

/// What a variable of the gamma distribution of scale 1 is at most, with this chance.
#[must_use]
pub fn gamma_quantile(shape: f64, chance: f64) -> f64 {
    if !are_shapes(shape, shape) || !is_chance(chance) {
        return f64::NAN;
    }
    if chance >= 1.0 {
        return f64::INFINITY;
    }
    let found = try_gamma_inc_inv(shape, -1.0, chance, 1.0 - chance);
    found.map_or(f64::NAN, |(x, _)| x)
}

/// The chance that a variable of Student's t distribution is at most `t`; normal for infinite `df`.
#[must_use]
pub fn student_cdf(df: f64, t: f64) -> f64 {
    if df.is_nan() || df <= 0.0 || t.is_nan() {
        return f64::NAN;
    }
    if df.is_infinite() {
        // of what is infinite it says NaN
        return cumnor(t.clamp(-1e9, 1e9)).0;
    }
    let square = t * t;
    let (within, without) = (1.0 / (1.0 + square / df), 1.0 / (1.0 + df / square));
    // DLMF 8.17.1 and Abramowitz and Stegun 26.7.1
    let beyond = beta_tails(df / 2.0, 0.5, within, without).0 / 2.0;
    if t <= 0.0 { beyond } else { 1.0 - beyond }
}

/// What a variable of Student's t distribution is at most, with this chance.
#[must_use]
pub fn student_quantile(df: f64, chance: f64) -> f64 {
    if df.is_nan() || df <= 0.0 || !is_chance(chance) {
        return f64::NAN;
    }
    let tail = chance.min(1.0 - chance);
    let size = if tail == 0.0 {
        f64::INFINITY
    } else if df.is_infinite() {
        -dinvnr(tail, 1.0 - tail)
    } else if tail < 0.25 {
        df.sqrt() * (-beta_logit(df / 2.0, 0.5, 2.0 * tail) / 2.0).exp()
    } else {
        // near the middle the chance to lie within tells more
        df.sqrt() * (beta_logit(0.5, df / 2.0, 1.0 - 2.0 * tail) / 2.0).exp()
    };
    if chance < 0.5 { -size } else { size }
}

fn are_shapes(a: f64, b: f64) -> bool {
    a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite()
}

fn is_chance(chance: f64) -> bool {
    (0.0..=1.0).contains(&chance)
}

/// The chances to be below `x` and above it; `y` is 1 − `x`.
fn beta_tails(a: f64, b: f64, x: f64, y: f64) -> (f64, f64) {
    try_beta_inc(a, b, x, y).unwrap_or((f64::NAN, f64::NAN))
}

/// The quantile as ln(x / (1 − x)), which keeps its digits near 0 and near 1.
///
/// The density of that logarithm is log-concave for all `a` and `b`, and so are both tails
/// (Bagnoli and Bergstrom 2005): each step of Newton's method on the logarithm of the smaller tail
/// comes nearer once it is beyond the quantile, where its first step leads it from anywhere.
fn beta_logit(a: f64, b: f64, chance: f64) -> f64 {
    let is_low = chance <= 0.5;
    let outwards = if is_low { -1.0 } else { 1.0 };
    let sought = if is_low { chance } else { 1.0 - chance };
    let tail_at = |logit: f64| {
        let small = logistic(-logit.abs());
        let (x, y) = if logit < 0.0 {
            (small, 1.0 - small)
        } else {
            (1.0 - small, small)
        };
        let (low, high) = beta_tails(a, b, x, y);
        if is_low { low } else { high }
    };
    if sought < f64::MIN_POSITIVE || tail_at(outwards * MOST_LOGIT) > sought {
        return outwards * f64::INFINITY;
    }
    let ln_beta = beta_log(a, b);
    let mut at = (a / b).ln();
    let mut before = at;
    for _ in 0..MOST_STEPS {
        let tail = tail_at(at);
        let density = (a * ln_logistic(at) + b * ln_logistic(-at) - ln_beta).exp();
        if tail < f64::MIN_POSITIVE || density < f64::MIN_POSITIVE {
            // too far out to be told from 0
            at = f64::midpoint(at, before);
            continue;
        }
        let off = (tail / sought).ln();
        before = at;
        at += outwards * off * tail / density;
        if off.abs() < NEAR {
            return at;
        }
    }
    f64::NAN
}

fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

fn ln_logistic(logit: f64) -> f64 {
    logit.min(0.0) - (-logit.abs()).exp().ln_1p()
}
