//! Refuses files that another user may have changed.

use std::io::ErrorKind;
use std::path::Path;

use fslab_model::{Failure, FailureKind};
use fslab_sys::TrustedFolder;

/// Refuses a kernel or an image that another user may have placed or changed, since its programs
/// are executed.
pub(crate) fn ensure_trusted(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let opened = TrustedFolder::open(folder).and_then(|folder| folder.open_file_to_read(&name));
    match opened {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let text = format!("refusing to run the guest of {}", file.display());
            Err(Failure::new(FailureKind::Permission, text)
                .because(&error)
                .hint(
                    "the file must belong to you or root, have one hard link, and be writable by \
                     no other user; after sudo or su, set HOME or XDG_CACHE_HOME",
                ))
        }
        // Other errors are reported when it is used.
        _ => Ok(()),
    }
}
