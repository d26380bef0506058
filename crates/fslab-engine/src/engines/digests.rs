//! The digests of files: those of what is read, and those of what should be.

use sha2::{Digest as _, Sha512};

use crate::content::{DataPool, FileIdentity};

/// How much of a file is digested at once where what it should hold is made.
const PIECE_BYTES: u64 = 4096;

type Value = [u8; 64];

/// The digest that is being made, and those that are expected.
pub(super) struct Digests {
    hasher: Sha512,
    last: Value,
    /// By the number of the file, in order; empty where nothing is compared.
    expected: Vec<(u64, Value)>,
}

impl Digests {
    /// With `files` and the pool that they were written from, their digests are made here and now,
    /// so that no time is lost with them later.
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

    /// Takes the next piece of a file.
    pub(super) fn update(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
    }

    /// The file is at its end.
    pub(super) fn finish(&mut self) {
        self.last = self.hasher.finalize_reset().into();
    }

    /// Compares the digest of the file that was read last with that of what it should hold.
    ///
    /// # Errors
    /// A fragment that has the beginnings of both.
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
