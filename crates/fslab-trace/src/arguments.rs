//! Parses arguments of calls in strace's notation.

use crate::calls::angled_path;

/// The descriptor at the start of an argument.
pub(crate) fn descriptor(argument: &str) -> Option<i32> {
    let end = argument.find('<').unwrap_or(argument.len());
    argument[..end].parse().ok()
}

/// The path that strace appends to a descriptor or to AT_FDCWD.
pub(crate) fn descriptor_path(argument: &str) -> Option<Vec<u8>> {
    angled_path(&argument[argument.find('<')?..])
}

/// A number, decimal or hexadecimal.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.strip_prefix("0x").map_or_else(
        || text.parse().ok(),
        |digits| u64::from_str_radix(digits, 16).ok(),
    )
}

/// The number in `[10]`, or in `[0] => [100]` the value before the call.
pub(crate) fn bracketed(text: &str) -> Option<u64> {
    let (inside, _) = text.strip_prefix('[')?.split_once(']')?;
    number(inside)
}

/// Permission bits in octal; 0 if absent.
pub(crate) fn octal(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches('0'), 8).unwrap_or(0)
}

/// The value after `name` in a structure; empty if absent.
pub(crate) fn member<'a>(structure: &'a str, name: &str) -> &'a str {
    let Some((_, behind)) = structure.split_once(name) else {
        return "";
    };
    behind.split([',', '}']).next().unwrap_or("").trim()
}
