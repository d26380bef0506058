//! Unpredictable random numbers of the kernel: for names of files in directories where other users
//! may write, and for UUIDs of file systems.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};

/// 16 random bytes. In a guest in virtual time they follow from its seed.
pub fn random_bytes() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// 32 random hexadecimal digits.
pub fn random_name() -> io::Result<String> {
    Ok(random_bytes()?
        .iter()
        .fold(String::new(), |mut name, byte| {
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
        assert_eq!(one.len(), 32);
        assert!(one.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
