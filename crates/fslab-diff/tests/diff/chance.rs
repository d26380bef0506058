//! Seeded chance, so that each test has one outcome.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((mixed >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Box and Muller, Annals of Mathematical Statistics 29, 1958.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// `count` rates about `centre` with a relative spread of `sigma`.
    pub(crate) fn rates(&mut self, count: usize, centre: f64, sigma: f64) -> Vec<f64> {
        let each = (0..count).map(|_| centre * (sigma * self.normal()).exp());
        each.collect()
    }

    /// As [`Chance::rates`], but each third value comes from a slower mode.
    pub(crate) fn rates_of_two_modes(&mut self, count: usize, centre: f64) -> Vec<f64> {
        let mut rate = |_| {
            let mode = if self.uniform() < 0.3 { 0.7 } else { 1.0 };
            centre * mode * (0.02 * self.normal()).exp()
        };
        (0..count).map(&mut rate).collect()
    }
}
