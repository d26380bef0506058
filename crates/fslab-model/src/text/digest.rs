//! SHA-256 as text.

use std::io;

use sha2::{Digest, Sha256};

/// Bytes that are read at once.
const PART_BYTES: usize = 1 << 20;

/// The SHA-256 of `bytes`: 64 hexadecimal digits.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The SHA-256 of everything that `reader` has.
///
/// # Errors
/// Those of `reader`; nothing is known of its bytes then.
pub fn sha256_of(mut reader: impl io::Read) -> io::Result<String> {
    let (mut digest, mut part) = (Sha256::new(), vec![0; PART_BYTES]);
    loop {
        match reader.read(&mut part)? {
            0 => return Ok(hexadecimal(&digest.finalize())),
            count => digest.update(&part[..count]),
        }
    }
}

/// The bytes of a digest as hexadecimal digits, in lower case.
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
        assert_eq!(sha256_of(&b"abc"[..]).expect("reads"), digest);
    }
}
