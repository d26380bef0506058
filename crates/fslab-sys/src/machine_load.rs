//! Who uses the machine: the processors' time as /proc/stat has it, and each process as
//! /proc/PID/stat, /proc/PID/io and /proc/PID/task/TID/schedstat have it.

use std::fs;
use std::io;
use std::path::Path;

/// The parent of every thread of the kernel.
const KTHREADD: u32 = 2;

/// What all processors together have spent since the machine came up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTimes {
    /// In programs, niced ones included.
    pub user_ns: u64,
    /// What the hypervisor gave to others while a processor here was ready to run.
    pub steal_ns: u64,
    /// How many there are.
    pub processors: u32,
}

impl ProcessorTimes {
    /// Now; `None` where /proc/stat is not to be had.
    #[must_use]
    pub fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let fields = lines.next()?.strip_prefix("cpu ")?;
        let fields: Vec<u64> = fields
            .split_whitespace()
            .map_while(|field| field.parse().ok())
            .collect();
        let ns = |at: usize| fields.get(at).copied().map(ticks_ns);
        Some(Self {
            user_ns: ns(0)? + ns(1)?,
            steal_ns: ns(7).unwrap_or(0),
            processors: lines
                .take_while(|line| line.starts_with("cpu"))
                .count()
                .try_into()
                .ok()?,
        })
    }
}

/// One process as the kernel lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEntry {
    /// Its number.
    pub pid: u32,
    /// That of its parent.
    pub parent: u32,
    /// Processor time of it, and of its children that have ended and were waited for.
    pub used_ns: u64,
    /// Whether a signal or a debugger has stopped it.
    pub is_stopped: bool,
}

impl ProcessEntry {
    /// Whether it is a thread of the kernel.
    #[must_use]
    pub fn is_kernel(&self) -> bool {
        self.pid == KTHREADD || self.parent == KTHREADD
    }

    /// The process of that number; `None` where there is none.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Self::parse(pid, &text)
    }

    /// The name, in parentheses, may hold anything.
    fn parse(pid: u32, text: &str) -> Option<Self> {
        let (_, behind) = text.rsplit_once(')')?;
        let fields: Vec<&str> = behind.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
        // proc(5): utime, stime, cutime, cstime are fields 14 to 17; the state is field 3.
        let used = ticks(11)? + ticks(12)? + ticks(13)? + ticks(14)?;
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            used_ns: ticks_ns(used),
            is_stopped: matches!(*fields.first()?, "T" | "t"),
        })
    }
}

/// Every process that this one may see.
#[must_use]
pub fn processes() -> Vec<ProcessEntry> {
    numbers_in(Path::new("/proc"))
        .into_iter()
        .filter_map(ProcessEntry::of)
        .collect()
}

/// What a process had storage read and write, and so did its children that have ended and were
/// waited for. A write counts when the page is made dirty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageUse {
    /// Bytes read from storage.
    pub read_bytes: u64,
    /// Bytes that go to storage.
    pub write_bytes: u64,
}

impl StorageUse {
    /// That of a process.
    ///
    /// # Errors
    /// `PermissionDenied` for the processes of others; `NotFound` where it has ended, or the kernel
    /// does not count.
    pub fn of(pid: u32) -> io::Result<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/io"))?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|value| value.trim().parse().ok())
        };
        let found = field("read_bytes:").zip(field("write_bytes:"));
        let (read_bytes, write_bytes) = found.ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self {
            read_bytes,
            write_bytes,
        })
    }
}

/// How long each thread of this process was ready to run and waited for a processor, of the first
/// `threads_max` of them, by their numbers; empty where the kernel does not count it.
#[must_use]
pub fn run_delays(threads_max: usize) -> Vec<(u32, u64)> {
    let folder = Path::new("/proc/self/task");
    let threads = numbers_in(folder).into_iter().take(threads_max);
    let delay = |thread: u32| {
        let text = fs::read_to_string(folder.join(format!("{thread}/schedstat"))).ok()?;
        Some((thread, text.split_whitespace().nth(1)?.parse().ok()?))
    };
    threads.filter_map(delay).collect()
}

/// The children of every thread of this process.
#[must_use]
pub fn children() -> Vec<u32> {
    children_below(Path::new("/proc/self/task"))
}

/// The children of every thread of a process.
#[must_use]
pub fn children_of(pid: u32) -> Vec<u32> {
    children_below(Path::new(&format!("/proc/{pid}/task")))
}

fn children_below(folder: &Path) -> Vec<u32> {
    let of_thread = |thread: u32| fs::read_to_string(folder.join(format!("{thread}/children")));
    let texts = numbers_in(folder)
        .into_iter()
        .filter_map(|it| of_thread(it).ok());
    texts
        .flat_map(|text| {
            let numbers = text.split_whitespace().filter_map(|it| it.parse().ok());
            numbers.collect::<Vec<u32>>()
        })
        .collect()
}

fn numbers_in(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn ticks_ns(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000_000 / rustix::param::clock_ticks_per_second().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_all_processors_is_read_by_its_places() {
        let text = "cpu  10 5 3 100 4 0 1 20 0 0\ncpu0 5 5 3 50 4 0 1 20 0 0\n\
                    cpu1 5 0 0 50 0 0 0 0 0 0\nintr 5\n";
        let times = ProcessorTimes::parse(text).expect("a line");
        assert_eq!(times.processors, 2);
        assert_eq!(times.user_ns, ticks_ns(15));
        assert_eq!(times.steal_ns, ticks_ns(20));
        assert_eq!(ProcessorTimes::parse("intr 5\n"), None);
    }

    #[test]
    fn the_name_of_a_process_may_hold_parentheses_and_blanks() {
        let text = "7 (a) T 9) T 3 7 7 0 -1 0 1 1 1 1 40 2 5 3 20 0 1 0 9 0 0";
        let entry = ProcessEntry::parse(7, text).expect("a process");
        assert_eq!((entry.pid, entry.parent, entry.is_stopped), (7, 3, true));
        assert_eq!(entry.used_ns, ticks_ns(50));
    }

    #[test]
    fn this_process_is_listed_and_its_storage_is_counted() {
        let own = std::process::id();
        assert!(
            processes()
                .iter()
                .any(|it| it.pid == own && !it.is_kernel())
        );
        let counted = StorageUse::of(own);
        let is_known = counted.is_ok_and(|it| it.write_bytes < 1 << 50);
        assert!(is_known || !Path::new("/proc/self/io").exists());
    }

    #[test]
    fn a_child_is_a_child_and_a_stopped_one_is_known() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("starts");
        let pid = child.id();
        assert!(children().contains(&pid) || !Path::new("/proc/self/task/1/children").exists());
        let number = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a number");
        rustix::process::kill_process(number, rustix::process::Signal::STOP).expect("stops");
        let began = std::time::Instant::now();
        while !ProcessEntry::of(pid).expect("is there").is_stopped {
            assert!(
                began.elapsed().as_secs() < 10,
                "it is never seen as stopped"
            );
        }
        child.kill().expect("ends");
        child.wait().expect("has ended");
    }
}
