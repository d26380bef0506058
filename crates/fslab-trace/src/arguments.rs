//! Arguments of calls, as strace writes them.

use crate::calls::angled_path;

/// The descriptor at the beginning of an argument.
pub(crate) fn descriptor(argument: &str) -> Option<i32> {
    let end = argument.find('<').unwrap_or(argument.len());
    argument[..end].parse().ok()
}

/// The path that strace writes behind a descriptor, or behind AT_FDCWD.
pub(crate) fn angled(argument: &str) -> Option<Vec<u8>> {
    angled_path(&argument[argument.find('<')?..])
}

/// A number, decimal or hexadecimal.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.strip_prefix("0x").map_or_else(
        || text.parse().ok(),
        |digits| u64::from_str_radix(digits, 16).ok(),
    )
}

/// The number in `[10]` or `[0] => [100]`: what went in.
pub(crate) fn bracketed(text: &str) -> Option<u64> {
    let (inside, _) = text.strip_prefix('[')?.split_once(']')?;
    number(inside)
}

/// Permissions as strace writes them; 0 where they are left out.
pub(crate) fn octal(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches('0'), 8).unwrap_or(0)
}

/// What stands behind `name` in a structure.
pub(crate) fn member<'a>(structure: &'a str, name: &str) -> &'a str {
    let Some((_, behind)) = structure.split_once(name) else {
        return "";
    };
    behind.split([',', '}']).next().unwrap_or("").trim()
}
