//! The end of a group's leader, to be polled: a thread waits for it and closes a pipe.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Readable once the process has ended.
#[derive(Debug)]
pub(crate) struct LeaderEnd(PipeReader);

impl LeaderEnd {
    /// That of `leader`, a child that is not reaped before it has ended.
    pub(crate) fn of(leader: Pid) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let wait = move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(Errno::INTR) = waitid(WaitId::Pid(leader), options) {}
            drop(writer);
        };
        std::thread::Builder::new().spawn(wait)?;
        Ok(Self(reader))
    }
}

impl AsFd for LeaderEnd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn the_pipe_is_readable_when_the_process_has_ended_and_not_before() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "read line"]).stdin(Stdio::piped());
        let mut child = command.spawn().expect("sh starts");
        let end = LeaderEnd::of(Pid::from_child(&child)).expect("watched");
        let is_readable = |seconds| {
            let limit = Timespec {
                tv_sec: seconds,
                tv_nsec: 0,
            };
            let mut watched = [PollFd::new(&end, PollFlags::IN)];
            poll(&mut watched, Some(&limit)).expect("polled") > 0
        };
        assert!(!is_readable(0));
        drop(child.stdin.take());
        assert!(is_readable(60));
        assert!(child.wait().is_ok(), "it was left to be reaped");
    }
}
