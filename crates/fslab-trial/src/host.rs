//! The host's page cache of a guest's disk: it may contain data that the guest has dropped from its
//! own memory.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use fslab_model::{Failure, FailureKind};

/// Makes the host drop the disk's pages from its page cache; returns when this is done.
pub(crate) fn drop_host_cache(device: &Path) -> Result<(), Failure> {
    OpenOptions::new()
        .write(true)
        .open(device)
        .and_then(|mut device| device.write_all(b"1"))
        .map_err(|error| {
            Failure::new(FailureKind::Device, "cannot let the host forget the disk").because(&error)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_is_written_and_a_missing_one_is_an_error() {
        let folder = tempfile::tempdir().expect("a directory");
        let device = folder.path().join("forget");
        assert_eq!(drop_host_cache(&device).expect_err("none").errno, Some(2));
        std::fs::write(&device, "").expect("made");
        drop_host_cache(&device).expect("written");
        assert_eq!(std::fs::read(&device).expect("read"), b"1");
    }
}
