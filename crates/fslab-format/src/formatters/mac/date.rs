//! The Macintosh's clock.

/// 1970-01-01 on a clock that began at 1904-01-01.
const UNIX_EPOCH_MAC_S: u64 = 2_082_844_800;

/// `unix_s` in seconds since 1904; times after 2040-02-06, the last one, become that day.
///
/// On a Macintosh HFS and the creation date of an HFS+ volume are in local time. Volumes must not
/// depend on the place where they were made, so this is UTC, as in Linux.
pub(in crate::formatters) fn mac_seconds(unix_s: u64) -> u32 {
    u32::try_from(unix_s.saturating_add(UNIX_EPOCH_MAC_S)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_begins_in_1904_and_ends_in_2040() {
        // 66 years, 17 of them leap years.
        assert_eq!(mac_seconds(0), (66 * 365 + 17) * 86_400);
        assert_eq!(mac_seconds(2_212_122_495), u32::MAX);
        assert_eq!(mac_seconds(u64::MAX), u32::MAX);
    }
}
