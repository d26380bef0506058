//! The end of a process group.

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crate::{ProcessGroup, Signal};

/// Poll interval while a group ends.
const TICK: Duration = Duration::from_millis(10);

impl ProcessGroup {
    /// Requests the group to end, kills it if the leader has not ended within `grace`, and reaps.
    /// Windows has no request: there it is ended at once.
    pub fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        self.signal(Signal::Terminate)?;
        let began = Instant::now();
        while began.elapsed() < grace && !self.has_ended()? {
            std::thread::sleep(TICK);
        }
        self.reap().map(|(status, _)| status)
    }

    /// Abandons a leader that does not end when it is killed: it is not reaped.
    pub fn abandon(mut self) {
        self.is_reaped = true;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.is_reaped {
            let _ = self.reap();
        }
    }
}
