//! `/etc/ld.so.cache` of a guest: the path of each library.
//!
//! Without it the loader searches directories for the processor first (such as
//! `glibc-hwcaps/x86-64-v3`), which differ between machines, and failed lookups use guest memory,
//! too. With it the loader opens the one listed path. The format is `glibc-ld.so.cache1.1`, of
//! glibc 2.2 and later.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Start of the file.
const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const HEADER_BYTES: usize = 48;
const ENTRY_BYTES: usize = 24;
/// Entry type: a glibc library for x86-64.
const FLAGS: u32 = 0x0303;
/// Byte order of the numbers.
const LITTLE_ENDIAN: u8 = 2;

/// Encodes `libraries`: path by the name that programs request.
pub fn loader_cache(libraries: &BTreeMap<String, String>) -> Vec<u8> {
    let mut sorted: Vec<_> = libraries.iter().collect();
    // The loader does a binary search in descending order.
    sorted.sort_by(|one, other| compare(other.0, one.0));
    let strings_start = HEADER_BYTES + sorted.len() * ENTRY_BYTES;
    let mut strings = Vec::new();
    let mut entries = Vec::new();
    let mut offset_of = |text: &str| {
        let offset = number(strings_start + strings.len());
        strings.extend(text.as_bytes());
        strings.push(0);
        offset.to_le_bytes()
    };
    for (name, path) in sorted {
        entries.extend(FLAGS.to_le_bytes());
        entries.extend(offset_of(name));
        entries.extend(offset_of(path));
        // No minimum kernel version, no processor capabilities.
        entries.extend([0; 12]);
    }
    let mut cache = MAGIC.to_vec();
    cache.extend(number(libraries.len()).to_le_bytes());
    cache.extend(number(strings.len()).to_le_bytes());
    cache.push(LITTLE_ENDIAN);
    cache.resize(HEADER_BYTES, 0);
    cache.extend(entries);
    cache.extend(strings);
    cache
}

fn number(number: usize) -> u32 {
    u32::try_from(number).expect("the names of some libraries")
}

/// Compares names as the loader does: runs of digits by value, and digits after all other
/// characters.
fn compare(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    loop {
        match (one.first(), other.first()) {
            (Some(a), Some(b)) if a.is_ascii_digit() && b.is_ascii_digit() => {
                let (a, rest) = leading_number(one);
                let (b, other_rest) = leading_number(other);
                if a != b {
                    return a.cmp(&b);
                }
                (one, other) = (rest, other_rest);
            }
            (Some(a), _) if a.is_ascii_digit() => return Ordering::Greater,
            (_, Some(b)) if b.is_ascii_digit() => return Ordering::Less,
            (Some(a), Some(b)) if a == b => (one, other) = (&one[1..], &other[1..]),
            (a, b) => return a.cmp(&b),
        }
    }
}

fn leading_number(text: &[u8]) -> (u64, &[u8]) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = text[..digits].iter().fold(0_u64, |number, digit| {
        number
            .wrapping_mul(10)
            .wrapping_add(u64::from(digit - b'0'))
    });
    (number, &text[digits..])
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn names_are_compared_as_the_loader_does() {
        for (one, other) in [
            ("liba.so.1", "libb.so.1"),
            ("liba.so.9", "liba.so.10"),
            ("liba.so", "liba.so.1"),
            ("liba-x.so", "liba1.so"),
        ] {
            assert_eq!(compare(one, other), Ordering::Less, "{one} {other}");
            assert_eq!(compare(other, one), Ordering::Greater, "{one} {other}");
        }
        assert_eq!(compare("liba.so.1", "liba.so.1"), Ordering::Equal);
    }

    #[test]
    fn glibc_reads_what_was_written() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("cache");
        let names = ["libb.so.2", "liba.so.10", "liba.so.9", "libc.so.6"];
        let entries = names.map(|name| (name.to_owned(), format!("/usr/lib/{name}")));
        let cache = loader_cache(&entries.into());
        std::fs::write(&path, &cache).expect("written");
        let listed = Command::new("/sbin/ldconfig")
            .arg("-p")
            .arg("-C")
            .arg(&path)
            .output();
        let Ok(listed) = listed else {
            eprintln!("not read back: ldconfig is missing");
            return;
        };
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.starts_with("4 libs found"), "{listed}");
        let found: Vec<_> = listed
            .lines()
            .filter(|line| line.contains("=>"))
            .map(str::trim)
            .collect();
        let line = |name: &str| format!("{name} (libc6,x86-64) => /usr/lib/{name}");
        assert_eq!(
            found,
            ["libc.so.6", "libb.so.2", "liba.so.10", "liba.so.9"].map(line)
        );
    }
}
