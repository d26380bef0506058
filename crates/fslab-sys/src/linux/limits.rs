//! Limits on this process and those that it starts: getrlimit(2).

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::ProcessLimit;

/// The limit of this process, which its children inherit; `None` without one.
pub fn process_limit(limit: ProcessLimit) -> Option<u64> {
    let resource = match limit {
        ProcessLimit::AddressSpace => Resource::As,
        ProcessLimit::FileSize => Resource::Fsize,
        ProcessLimit::OpenFiles => Resource::Nofile,
    };
    getrlimit(resource).current
}

/// What a machine lacks for a call to end with this error: memory, or room in its tables of open
/// files. `None` for errors that say something of the file that was asked for.
pub fn lack_of_machine(errno: i32) -> Option<&'static str> {
    match Errno::from_raw_os_error(errno) {
        Errno::NOMEM => Some("memory"),
        Errno::MFILE => Some("open files: the limit of this process is reached (ulimit -n)"),
        Errno::NFILE => Some("open files: the limit of the machine is reached (fs.file-max)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_machine_are_told_from_those_of_a_file_system() {
        assert!(lack_of_machine(12).is_some_and(|lack| lack == "memory"));
        assert!(lack_of_machine(24).is_some_and(|lack| lack.contains("ulimit -n")));
        assert!(lack_of_machine(23).is_some());
        for of_a_file in [2, 5, 28, 27] {
            assert_eq!(lack_of_machine(of_a_file), None);
        }
    }

    #[test]
    fn every_process_has_a_limit_of_open_files() {
        assert!(process_limit(ProcessLimit::OpenFiles).is_some_and(|most| most >= 16));
    }
}
