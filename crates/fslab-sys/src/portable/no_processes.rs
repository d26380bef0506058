//! The table of processes, which is not read.

use std::io;

use crate::{ProcessStat, ProcessorTimes, StorageUse};

/// None: the table of processes is not read.
pub fn processes() -> impl Iterator<Item = ProcessStat> {
    std::iter::empty()
}

impl ProcessStat {
    /// `None`: the table of processes is not read.
    pub fn of(_pid: u32) -> Option<Self> {
        None
    }

    /// False.
    pub fn is_kernel(&self) -> bool {
        false
    }

    /// False.
    pub fn is_stopped(&self) -> bool {
        false
    }
}

impl ProcessorTimes {
    /// `None`: they are not read.
    pub fn now() -> Option<Self> {
        None
    }
}

impl StorageUse {
    /// Refused.
    pub fn of(_pid: u32) -> io::Result<Self> {
        Err(crate::lacking::lacks("/proc/PID/io"))
    }
}
