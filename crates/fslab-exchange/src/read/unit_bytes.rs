//! Sizes with binary units: a whole number, and one of five units from bytes to TiB.

/// `digits` in `unit`, which is one of `units`, each 1024 times the one before; `None` for rounded
/// numbers, and for more bytes than a store holds.
pub(super) fn unit_bytes(digits: &str, unit: &str, units: [&str; 5]) -> Option<u64> {
    let power = units.iter().position(|known| *known == unit)?;
    let bytes = digits.parse::<u64>().ok()?.checked_mul(1 << (10 * power))?;
    i64::try_from(bytes).is_ok().then_some(bytes)
}
