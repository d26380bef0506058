//! Whether a name still leads to the file that was opened by it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether `path` names `file`: another process may have removed or replaced it since.
///
/// # Errors
/// That of lstat(2); a path that is not there is an answer.
pub fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_removed_or_replaced_has_lost_its_name() {
        let path = std::env::temp_dir().join(format!("fslab-named-{}", std::process::id()));
        let file = File::create(&path).expect("a file");
        assert!(is_named(&file, &path).expect("an answer"));
        fs::remove_file(&path).expect("removed");
        assert!(!is_named(&file, &path).expect("an answer"));
        let other = File::create(&path).expect("another file");
        assert!(!is_named(&file, &path).expect("an answer"));
        drop(other);
        fs::remove_file(&path).expect("removed");
    }
}
