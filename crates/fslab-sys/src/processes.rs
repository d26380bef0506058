//! Processes, their resources and the machine's as data.

use serde::{Deserialize, Serialize};

use crate::signal_name;

/// A signal that ends a process or group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM: clean up and exit.
    Terminate,
    /// SIGKILL.
    Kill,
}

/// A limit on a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessLimit {
    /// Bytes of its address space: `ulimit -v`.
    AddressSpace,
    /// Bytes of a file that it writes: `ulimit -f`.
    FileSize,
    /// Number of its open files: `ulimit -n`.
    OpenFiles,
}

/// A process of this boot and PID namespace: PID and start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub pid: u32,
    /// Start time in clock ticks since boot; `None` if no process had the PID.
    pub(crate) start_ticks: Option<u64>,
}

/// Time of all processors together since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTimes {
    /// In user mode, including niced programs.
    pub user_ns: u64,
    /// Taken by the hypervisor while a virtual processor was ready to run.
    pub steal_ns: u64,
    /// Number of processors.
    pub processors: u32,
}

/// Memory of the machine in bytes, from /proc/meminfo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineMemory {
    /// All memory managed by the kernel.
    pub total_bytes: u64,
    /// Memory available to programs without swapping; `None` before Linux 3.14.
    pub available_bytes: Option<u64>,
}

/// A process, from /proc/PID/stat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    pub pid: u32,
    /// PID of its parent.
    pub parent: u32,
    pub group: u32,
    /// `R`, `S`, `D`, `Z`, `T` and others: see proc_pid_stat(5).
    pub state: char,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
    /// Processor time of it and of its reaped children.
    pub used_ns: u64,
}

/// Storage I/O of a process and its reaped children. A write is counted when it makes a page dirty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageUse {
    /// Bytes read from storage.
    pub read_bytes: u64,
    /// Bytes to be written to storage.
    pub write_bytes: u64,
}

/// Resources used since the process or thread started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceUse {
    /// Processor time in user mode.
    pub user_ns: u64,
    /// Processor time in the kernel.
    pub system_ns: u64,
    /// Context switches because it blocked.
    pub voluntary_switches: u64,
    /// Context switches because its time slice ended.
    pub involuntary_switches: u64,
}

/// Result of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupEnd {
    /// The leader's exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended the leader.
    pub signal: Option<i32>,
    /// Resources used by all processes of the group, including those that had exited before.
    pub used: ResourceUse,
    /// The end of its output, standard output and standard error interleaved.
    pub output: String,
    /// Bytes of output before that.
    pub output_cut_bytes: u64,
}

/// A message of the kernel log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLine {
    /// Level by syslog(2): 3 is an error, 4 a warning, 6 informational.
    pub level: u32,
    /// The message without its prefix.
    pub text: String,
}

/// The right by which this process confines its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfinedBy {
    /// The process may call chroot(2).
    Privilege,
    /// The process has entered a user namespace, in which it may.
    UserNamespace,
}

impl ResourceUse {
    /// Resources used between `earlier` and `self`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }

    /// The sum of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
        }
    }
}

impl GroupEnd {
    /// The leader's end as text: `status 2` or `SIGKILL`.
    pub fn how(&self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("status {code}"),
            (None, Some(signal)) => signal_name(signal),
            (None, None) => "no status".to_owned(),
        }
    }
}
