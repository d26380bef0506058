//! Names that cannot be guessed: for files that are made where others may write, too.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};

/// Bytes of chance in a name.
const CHANCE_BYTES: usize = 16;

/// 32 hexadecimal digits of the kernel's random numbers.
///
/// # Errors
/// That of reading /dev/urandom.
pub fn random_name() -> io::Result<String> {
    let mut bytes = [0; CHANCE_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut name, byte| {
        // Writing to a string does not fail.
        let _ = write!(name, "{byte:02x}");
        name
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_differ_and_are_hexadecimal() {
        let (one, other) = (random_name().expect("one"), random_name().expect("other"));
        assert_ne!(one, other);
        assert_eq!(one.len(), 2 * CHANCE_BYTES);
        assert!(one.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
