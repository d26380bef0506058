//! Files of the user that a phase reads: their location and their digest.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use fslab_model::Bytes;

/// Size limit of an input file.
const INPUT_BYTES_MAX: Bytes = Bytes::gib(4);
/// Digests by path, length and modification time.
static KNOWN: Mutex<BTreeMap<(PathBuf, u64, SystemTime), String>> = Mutex::new(BTreeMap::new());

/// The location of the file `path` of a plan: in a guest the input named by its digest, else
/// `path`.
pub fn input_or(path: &Path, sha256: &str) -> PathBuf {
    let brought = fslab_model::input_path(sha256).filter(|input| input.is_file());
    brought.unwrap_or_else(|| path.to_owned())
}

/// SHA-256 of a regular file, in hexadecimal. Cached, since planning asks for it once per phase and
/// size.
pub fn sha256_of(path: &Path) -> io::Result<String> {
    let found = path.metadata()?;
    if !found.is_file() || found.len() > INPUT_BYTES_MAX.0 {
        let text = format!("not a regular file of at most {INPUT_BYTES_MAX}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let key = (path.to_owned(), found.len(), found.modified()?);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(digest) = known().get(&key) {
        return Ok(digest.clone());
    }
    let digest = read_digest(path)?;
    known().insert(key, digest.clone());
    Ok(digest)
}

fn read_digest(path: &Path) -> io::Result<String> {
    fslab_model::sha256_of(File::open(path)?.take(INPUT_BYTES_MAX.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_the_content_and_outside_of_a_guest_the_path_is_the_plans() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("x");
        std::fs::write(&path, "abc").expect("written");
        let digest = sha256_of(&path).expect("read");
        assert_eq!(
            digest,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(input_or(&path, &digest), path);
        assert_eq!(input_or(&path, "../../etc/passwd"), path);
    }

    /// `tarball = "/dev/zero"` would be read without end.
    #[test]
    fn only_a_regular_file_has_a_digest() {
        assert!(sha256_of(Path::new("/dev/zero")).is_err());
        assert!(sha256_of(Path::new("/")).is_err());
    }
}
