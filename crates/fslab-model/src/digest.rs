//! SHA-256 as text.

use sha2::{Digest, Sha256};

/// The SHA-256 of `bytes`: 64 hexadecimal digits.
#[must_use]
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The bytes of a digest as hexadecimal digits, in lower case.
#[must_use]
pub fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_three_letters_is_that_of_the_standard() {
        // FIPS 180-4, example of SHA-256.
        let digest = sha256("abc");
        assert_eq!(digest.len(), 64);
        assert!(digest.starts_with("ba7816bf8f01cfea"), "{digest}");
        assert!(digest.ends_with("f20015ad"), "{digest}");
    }
}
