//! A trial in a guest, and the host that keeps its disk: what the guest drops from its memory the
//! host may still have in its own.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use fslab_model::{Failure, FailureKind, forget_request};

/// How often the host's answer is looked for.
const GLANCE: Duration = Duration::from_millis(2);
/// The longest that a host may take to write back what is dirty.
const PATIENCE: Duration = Duration::from_secs(120);

/// Lets the host forget what it keeps of the disk in memory, and waits until it has.
pub(crate) fn let_host_forget(folder: &Path) -> Result<(), Failure> {
    let request = forget_request(folder);
    let cannot = || Failure::new(FailureKind::Device, "cannot let the host forget the disk");
    File::create(&request).map_err(|error| cannot().because(&error))?;
    let asked = Instant::now();
    while request.exists() {
        if asked.elapsed() > PATIENCE {
            return Err(cannot().hint("the host's disk may be too slow, or its memory in use"));
        }
        std::thread::sleep(GLANCE);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_made_and_its_removal_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let request = forget_request(folder.path());
        let host = std::thread::spawn(move || {
            while std::fs::remove_file(&request).is_err() {
                std::thread::sleep(GLANCE);
            }
        });
        let_host_forget(folder.path()).expect("answered");
        host.join().expect("it answered");
    }

    #[test]
    fn without_the_folder_there_is_no_host_to_ask() {
        let failure = let_host_forget(Path::new("/nonexistent")).expect_err("nobody");
        assert_eq!(failure.errno, Some(2));
    }
}
