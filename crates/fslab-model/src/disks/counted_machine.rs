//! A simulated computer whose processor takes time, in a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nanoseconds in a second.
const NS_PER_S: u64 = 1_000_000_000;

/// A machine whose processor takes virtual time for each instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountedMachine {
    /// Its name.
    pub name: String,
    /// Instructions in a second: 1,000,000,000 or that divided by a power of two.
    pub instructions_per_s: u64,
}

impl CountedMachine {
    /// The number of times that the rate was halved: an instruction takes 2 to that power ns.
    pub fn shift(&self) -> u32 {
        let ns = NS_PER_S / self.instructions_per_s.clamp(1, NS_PER_S);
        ns.ilog2()
    }
}

/// `pc-2002 (500 million instructions/s)`.
impl std::fmt::Display for CountedMachine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let millions = self.instructions_per_s as f64 / 1e6;
        write!(f, "{} ({millions} million instructions/s)", self.name)
    }
}
