//! Load of the machine: processor times from /proc/stat; of processes /proc/PID/stat, /proc/PID/io
//! and /proc/PID/task/TID/schedstat.

use std::fs;
use std::io;
use std::path::Path;

use procfs_core::process::{Io, Schedstat, Stat};
use procfs_core::{ExplicitSystemInfo, FromRead, FromReadSI, KernelStats, Meminfo, VmStat};

use crate::{MachineMemory, ProcessStat, ProcessorTimes, StorageUse};

/// PID of the parent of all kernel threads.
const KTHREADD: u32 = 2;

impl ProcessorTimes {
    /// The times now; `None` if /proc/stat cannot be read.
    pub fn now() -> Option<Self> {
        // The times are in ticks, whose conversion needs none of these values.
        let unused = ExplicitSystemInfo {
            boot_time_secs: 0,
            ticks_per_second: rustix::param::clock_ticks_per_second(),
            page_size: 0,
            is_little_endian: cfg!(target_endian = "little"),
        };
        let stat = KernelStats::from_file("/proc/stat", &unused).ok()?;
        Some(Self {
            user_ns: ticks_ns(stat.total.user + stat.total.nice),
            steal_ns: ticks_ns(stat.total.steal.unwrap_or(0)),
            processors: stat.cpu_time.len().try_into().ok()?,
        })
    }
}

impl MachineMemory {
    /// The memory now; `None` if /proc/meminfo cannot be read.
    pub fn now() -> Option<Self> {
        let memory = Meminfo::from_file("/proc/meminfo").ok()?;
        Some(Self {
            total_bytes: memory.mem_total,
            available_bytes: memory.mem_available,
        })
    }
}

/// Processes that the kernel has killed since boot for lack of memory, in any control group, from
/// /proc/vmstat; `None` before Linux 4.13.
pub fn out_of_memory_kills() -> Option<u64> {
    let VmStat(counters) = VmStat::from_file("/proc/vmstat").ok()?;
    counters.get("oom_kill").copied()?.try_into().ok()
}

impl ProcessStat {
    /// The process with that PID; `None` if there is none.
    pub fn of(pid: u32) -> Option<Self> {
        Self::from_stat(&Stat::from_file(format!("/proc/{pid}/stat")).ok()?)
    }

    fn from_stat(stat: &Stat) -> Option<Self> {
        let of_children = u64::try_from(stat.cutime + stat.cstime).ok()?;
        Some(Self {
            pid: stat.pid.try_into().ok()?,
            parent: stat.ppid.try_into().ok()?,
            group: stat.pgrp.try_into().ok()?,
            state: stat.state,
            start_ticks: stat.starttime,
            used_ns: ticks_ns(stat.utime + stat.stime + of_children),
        })
    }

    /// True for kernel threads.
    pub fn is_kernel(&self) -> bool {
        self.pid == KTHREADD || self.parent == KTHREADD
    }

    /// True if a signal or debugger has stopped it.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

/// Every process visible to this one.
pub fn processes() -> impl Iterator<Item = ProcessStat> {
    numbers_in(Path::new("/proc"))
        .into_iter()
        .filter_map(ProcessStat::of)
}

impl StorageUse {
    /// The I/O of a process.
    ///
    /// # Errors
    /// `PermissionDenied` for processes of other users; `NotFound` if it has ended, or the kernel
    /// does not count.
    pub fn of(pid: u32) -> io::Result<Self> {
        // Opened here, to keep the kind of the error.
        let file = fs::File::open(format!("/proc/{pid}/io"))?;
        let io = Io::from_read(file).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Self {
            read_bytes: io.read_bytes,
            write_bytes: io.write_bytes,
        })
    }
}

/// How long each of the first `threads_max` threads of this process, by TID, was ready to run and
/// waited for a processor, in ns; empty if the kernel does not count it.
pub fn run_delays(threads_max: usize) -> Vec<(u32, u64)> {
    let folder = Path::new("/proc/self/task");
    let threads = numbers_in(folder).into_iter().take(threads_max);
    let delay = |thread: u32| {
        let stat = Schedstat::from_file(folder.join(format!("{thread}/schedstat"))).ok()?;
        Some((thread, stat.run_delay))
    };
    threads.filter_map(delay).collect()
}

/// The children of all threads of this process.
pub fn children() -> Vec<u32> {
    children_below(Path::new("/proc/self/task"))
}

/// The children of all threads of a process.
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
    fn the_machine_has_processors_and_memory() {
        let times = ProcessorTimes::now().expect("/proc/stat");
        assert!(times.processors > 0 && times.user_ns > 0);
        let memory = MachineMemory::now().expect("/proc/meminfo");
        assert!(memory.available_bytes <= Some(memory.total_bytes));
        assert!(memory.total_bytes > 1 << 20);
    }

    #[test]
    fn the_name_of_a_process_may_hold_parentheses_and_blanks() {
        let text = "7 (a) T 9) T 3 7 7 0 -1 0 1 1 1 1 40 2 5 3 20 0 1 0 9 0 0 0 0 0 0 0 0 0 0 0 \
                    0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";
        let stat = Stat::from_read(text.as_bytes()).expect("a line");
        let stat = ProcessStat::from_stat(&stat).expect("a process");
        assert_eq!((stat.pid, stat.parent, stat.group), (7, 3, 7));
        assert!(stat.is_stopped() && !stat.is_kernel());
        assert_eq!((stat.start_ticks, stat.used_ns), (9, ticks_ns(50)));
    }

    #[test]
    fn this_process_is_listed_and_its_storage_is_counted() {
        let own = std::process::id();
        assert!(processes().any(|it| it.pid == own && !it.is_kernel()));
        let counted = StorageUse::of(own);
        let is_known = counted.is_ok_and(|it| it.write_bytes < 1 << 50);
        assert!(is_known || !Path::new("/proc/self/io").exists());
    }

    #[test]
    fn a_child_is_listed_and_a_stopped_one_is_known() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("starts");
        let pid = child.id();
        assert!(children().contains(&pid) || !Path::new("/proc/self/task/1/children").exists());
        let number = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a number");
        rustix::process::kill_process(number, rustix::process::Signal::STOP).expect("stops");
        let began = std::time::Instant::now();
        while !ProcessStat::of(pid).expect("is there").is_stopped() {
            assert!(
                began.elapsed().as_secs() < 10,
                "it is never seen as stopped"
            );
        }
        child.kill().expect("ends");
        child.wait().expect("has ended");
    }
}
