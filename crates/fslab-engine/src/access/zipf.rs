//! Zipf-distributed ranks without a table, by rejection-inversion (Hörmann and Derflinger,
//! "Rejection-inversion to generate variates from monotone discrete distributions", 1996).

use fslab_stats::Random;

/// Draws ranks 1..=n with a probability proportional to 1/rank^theta.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    count: f64,
    theta: f64,
    integral_low: f64,
    integral_high: f64,
    sure: f64,
}

impl Zipf {
    /// Ranks up to `count`, which is not 0, with the exponent `theta`, which is above 0.
    pub(crate) fn new(count: u64, theta: f64) -> Self {
        let mut zipf = Self {
            count: count as f64,
            theta,
            integral_low: 0.0,
            integral_high: 0.0,
            sure: 0.0,
        };
        zipf.integral_low = zipf.integral(1.5) - 1.0;
        zipf.integral_high = zipf.integral(zipf.count + 0.5);
        zipf.sure = 2.0 - zipf.integral_inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// The next rank, from 1.
    pub(crate) fn next(&self, random: &mut Random) -> u64 {
        loop {
            let span = self.integral_low - self.integral_high;
            let height = self.integral_high + random.unit() * span;
            let x = self.integral_inverse(height);
            let rank = x.round().clamp(1.0, self.count);
            if rank - x <= self.sure || height >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// An antiderivative of the density that is continuous at theta = 1: (x^(1 - theta) - 1) / (1 -
    /// theta), which is ln x in the limit.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let scaled = (1.0 - self.theta) * log;
        log * if scaled.abs() < 1e-8 {
            1.0 + scaled / 2.0
        } else {
            scaled.exp_m1() / scaled
        }
    }

    fn integral_inverse(&self, y: f64) -> f64 {
        let scaled = ((1.0 - self.theta) * y).max(-1.0);
        let ratio = if scaled.abs() < 1e-8 {
            1.0 - scaled / 2.0
        } else {
            scaled.ln_1p() / scaled
        };
        (ratio * y).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_follow_the_law() {
        for theta in [0.5, 0.99, 1.0, 1.2] {
            let zipf = Zipf::new(1_000, theta);
            let mut random = Random::new(3, 0);
            let mut counts = vec![0_u32; 1_001];
            let draws = 200_000;
            for _ in 0..draws {
                counts[usize::try_from(zipf.next(&mut random)).expect("small")] += 1;
            }
            let sum: f64 = (1..=1_000).map(|k| f64::from(k).powf(-theta)).sum();
            for rank in [1_u32, 2, 10] {
                let expected = f64::from(draws) * f64::from(rank).powf(-theta) / sum;
                let found = f64::from(counts[rank as usize]);
                let spread = 5.0 * expected.sqrt();
                assert!(
                    (found - expected).abs() < spread,
                    "{theta} {rank}: {found} {expected}"
                );
            }
            assert_eq!(counts[0], 0);
        }
    }

    #[test]
    fn a_single_rank_is_always_drawn() {
        let mut random = Random::new(3, 0);
        assert_eq!(Zipf::new(1, 0.99).next(&mut random), 1);
    }
}
