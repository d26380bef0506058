//! Syncs that are weaker than that of the medium: macOS has them.

use std::io;

use crate::{Ability, DataFile};

impl DataFile {
    /// F_BARRIERFSYNC: writes before it reach the medium before those after it.
    ///
    /// # Errors
    /// That of fcntl(2); `Unsupported` elsewhere than on macOS.
    pub fn barrier(&self) -> io::Result<()> {
        self.weak_sync(Ability::Barrier)
    }

    /// fsync(2) of macOS, which leaves data in the drive's cache.
    ///
    /// # Errors
    /// That of fsync(2); `Unsupported` elsewhere than on macOS.
    pub fn sync_to_drive(&self) -> io::Result<()> {
        self.weak_sync(Ability::DriveSync)
    }

    fn weak_sync(&self, strength: Ability) -> io::Result<()> {
        let refused = |reason| io::Error::new(io::ErrorKind::Unsupported, reason);
        strength.demand().map_err(refused)?;
        self.weakly_synced(strength)
    }

    /// Never called: the platform has none.
    #[cfg(not(target_os = "macos"))]
    #[expect(clippy::unused_self, reason = "macOS has it")]
    fn weakly_synced(&self, _strength: Ability) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weak_sync_is_issued_or_refused_by_name() {
        let file = tempfile::tempfile().expect("a file");
        let file = DataFile::from(file);
        for (synced, strength) in [
            (file.barrier(), Ability::Barrier),
            (file.sync_to_drive(), Ability::DriveSync),
        ] {
            match (synced, strength.demand()) {
                (Ok(()), Ok(())) => {}
                (Err(error), Err(reason)) => {
                    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                    assert_eq!(error.to_string(), reason);
                    assert!(reason.starts_with("needs macOS: "), "{reason}");
                }
                (synced, demanded) => panic!("{synced:?}, {demanded:?}"),
            }
        }
    }
}
