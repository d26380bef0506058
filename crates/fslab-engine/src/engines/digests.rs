//! Digests of files: computed while reading, and expected ones.

use sha2::{Digest as _, Sha512};

use crate::content::{DataPool, FileIdentity};

/// Bytes digested at once for the expected digest.
const PIECE_BYTES: u64 = 4096;

type Value = [u8; 64];

/// The digest of the current file, and the expected digests.
pub(super) struct Digests {
    hasher: Sha512,
    last: Value,
    /// Sorted by file number; empty if nothing is compared.
    expected: Vec<(u64, Value)>,
}

impl Digests {
    /// Computes the expected digests of `files` from the pool they were written from, before the
    /// measurement.
    pub(super) fn new(
        files: Option<(impl Iterator<Item = (FileIdentity, u64)>, &mut DataPool)>,
    ) -> Self {
        let mut expected: Vec<_> = files.map_or_else(Vec::new, |(files, pool)| {
            files
                .map(|(identity, bytes)| (identity.file, digest(pool, identity, bytes)))
                .collect()
        });
        expected.sort_unstable();
        Self {
            hasher: Sha512::new(),
            last: [0; 64],
            expected,
        }
    }

    /// Adds the next part of a file.
    pub(super) fn update(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
    }

    /// Completes the digest of the file.
    pub(super) fn finish(&mut self) {
        self.last = self.hasher.finalize_reset().into();
    }

    /// Compares the digest of the file read last with the expected one.
    pub(super) fn verify(&self, identity: FileIdentity) -> Result<(), String> {
        let at = self
            .expected
            .binary_search_by_key(&identity.file, |(file, _)| *file);
        let expected = at.map_or([0; 64], |at| self.expected[at].1);
        if expected == self.last {
            return Ok(());
        }
        let start = |value: &Value| {
            let [a, b, c, d, ..] = *value;
            format!("{:08x}", u32::from_be_bytes([a, b, c, d]))
        };
        Err(format!(
            "another SHA-512 than what was written: {}... instead of {}...",
            start(&self.last),
            start(&expected)
        ))
    }
}

fn digest(pool: &mut DataPool, identity: FileIdentity, bytes: u64) -> Value {
    let mut hasher = Sha512::new();
    let mut offset = 0;
    while offset < bytes {
        let length = (bytes - offset).min(PIECE_BYTES);
        hasher.update(pool.slice(identity, offset, length as usize));
        offset += length;
    }
    hasher.finalize().into()
}
