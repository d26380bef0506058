//! Detects that the host's kernel killed a trial's process for lack of memory.

use std::path::Path;

use fslab_model::{Failure, FailureKind};

/// What the host's kernel had killed for lack of memory when a trial began.
pub(crate) struct HostMemory {
    /// `None` if the kernel does not count it.
    kills: Option<u64>,
}

impl HostMemory {
    /// The state now.
    pub(crate) fn now() -> Self {
        Self {
            kills: fslab_sys::out_of_memory_kills(),
        }
    }

    /// True if the kernel has killed a process for lack of memory since then.
    pub(crate) fn ran_out(&self) -> bool {
        let kills = fslab_sys::out_of_memory_kills();
        self.kills
            .is_some_and(|before| kills.is_some_and(|now| now > before))
    }
}

/// The failure of `victim`, killed by the host's kernel `place`; `images` is the directory of the
/// trial's disk.
pub(crate) fn out_of_memory(victim: &str, place: &str, images: Option<&Path>) -> Failure {
    let text = format!("the host ran out of memory, and its kernel killed {victim}{place}");
    let in_memory = images.filter(|it| fslab_sys::is_in_memory(it).unwrap_or(false));
    let hint = match in_memory {
        Some(images) => format!(
            "the images are in memory, in {}: use a directory on a disk with --images, or run \
             fewer trials at a time with --jobs",
            images.display()
        ),
        None => "run fewer trials at a time with --jobs, or end other programs".to_owned(),
    };
    Failure::new(FailureKind::Host, text).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_since_the_start_is_seen_and_one_before_it_is_not() {
        let now = HostMemory::now();
        assert!(now.kills.is_some(), "this kernel counts them");
        let before = HostMemory {
            kills: now.kills.and_then(|kills| kills.checked_sub(1)),
        };
        assert!(before.ran_out() || now.kills == Some(0));
        let later = HostMemory {
            kills: Some(u64::MAX),
        };
        assert!(!later.ran_out());
    }

    #[test]
    fn the_hint_names_the_folder_of_images_in_memory() {
        let hint = |images| {
            let failure = out_of_memory("the guest kernel", " during 'write'", images);
            assert_eq!(
                failure.message,
                "the host ran out of memory, and its kernel killed the guest kernel during 'write'"
            );
            assert_eq!(failure.kind, FailureKind::Host);
            failure.hint.expect("a hint")
        };
        let shared = Path::new("/dev/shm");
        if fslab_sys::is_in_memory(shared).is_ok_and(|it| it) {
            assert!(hint(Some(shared)).contains("in /dev/shm: use a directory on a disk"));
        }
        assert!(!hint(Some(Path::new("/proc"))).contains("--images"));
        assert!(!hint(None).contains("--images"));
    }
}
