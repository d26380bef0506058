//! Names and seeds for new runs.

use std::hash::{BuildHasher, RandomState};

use fslab_model::RunId;

/// Letters and digits that cannot be confused with each other.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A random seed.
pub fn fresh_seed() -> u64 {
    // Below 2^53, so that every JSON parser reads it exactly.
    RandomState::new().hash_one(fslab_sys::unix_seconds()) >> 11
}

/// A name for a run started at `unix_s`, such as `20261121-143205-k3f9`.
///
/// # Panics
/// Never: every name made here is valid.
pub fn fresh_run_id(unix_s: u64) -> RunId {
    let second = i64::try_from(unix_s).unwrap_or_default();
    let time = jiff::Timestamp::from_second(second).unwrap_or_default();
    let mut random = fresh_seed();
    let mut name = format!("{}-", time.strftime("%Y%m%d-%H%M%S"));
    for _ in 0..4 {
        name.push(char::from(ALPHABET[(random % 32) as usize]));
        random /= 32;
    }
    name.parse()
        .expect("digits, dashes and letters are a run's name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_the_time_in_utc_and_differ() {
        let name = fresh_run_id(1_795_271_525).to_string();
        assert!(name.starts_with("20261121-143205-"), "{name}");
        let names: std::collections::BTreeSet<_> = (0..20).map(|_| fresh_run_id(0)).collect();
        assert!(names.len() > 15);
    }
}
