//! The end of a group's leader, to be polled.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Readable once the process has ended.
#[derive(Debug)]
pub(crate) struct LeaderEnd(OwnedFd);

impl LeaderEnd {
    /// That of `leader`, which is not reaped yet.
    pub(crate) fn of(leader: Pid) -> io::Result<Self> {
        Ok(Self(pidfd_open(leader, PidfdFlags::empty())?))
    }
}

impl AsFd for LeaderEnd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
