//! For serde's `skip_serializing_if`: values that are left out.

/// True for a default. Keys added later are left out at their default, so that the hashes of
/// earlier plans stay the same.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
