//! The loop that removes everything below a directory, depth first.

use std::ffi::CStr;

use fslab_model::AGED_DIRECTORY;

use super::names_loop::NamesLoop;
use super::target::NamesTarget;
use crate::EngineError;
use crate::recording::{Clock, Slot};

/// Kept in the base, as mkfs makes it.
const MADE_BY_MKFS: &CStr = c"lost+found";

/// True for entries of the base that are kept: made by mkfs, or by the trial before its phases.
fn is_kept(name: &CStr) -> bool {
    name == MADE_BY_MKFS || name.to_bytes() == AGED_DIRECTORY.as_bytes()
}

/// Entries of the directories being emptied, and the path of the deepest.
struct Descent {
    /// Per entry: a byte that is 1 for a directory, the name, and a zero byte.
    entries: Vec<u8>,
    path: Vec<u8>,
}

impl<T: NamesTarget, C: Clock> NamesLoop<'_, '_, T, C> {
    /// Removes everything below the base.
    pub(super) fn everything(&mut self) -> Result<(), EngineError> {
        let mut descent = Descent {
            entries: std::mem::take(&mut self.worker.entries),
            path: Vec::with_capacity(4096),
        };
        self.everything_in(&mut descent)
    }

    fn everything_in(&mut self, descent: &mut Descent) -> Result<(), EngineError> {
        let (begin, depth) = (descent.entries.len(), descent.path.len());
        self.list_into(descent)?;
        let mut at = begin;
        while at < descent.entries.len() {
            self.check_stop()?;
            let is_directory = descent.entries[at] != 0;
            let name = CStr::from_bytes_until_nul(&descent.entries[at + 1..])
                .expect("a zero stands behind each name");
            at += 1 + name.to_bytes_with_nul().len();
            if depth == 0 && is_kept(name) {
                continue;
            }
            if depth > 0 {
                descent.path.push(b'/');
            }
            descent.path.extend_from_slice(name.to_bytes());
            if is_directory {
                self.everything_in(descent)?;
            }
            self.remove(descent, is_directory)?;
            descent.path.truncate(depth);
        }
        descent.entries.truncate(begin);
        Ok(())
    }

    fn list_into(&mut self, descent: &mut Descent) -> Result<(), EngineError> {
        let base = descent.path.is_empty();
        let name = if base {
            c"."
        } else {
            terminated(&mut descent.path)
        };
        let start_ns = self.clock.now_ns();
        let done = self.target.entries(name, &mut descent.entries);
        self.end_ns = self.clock.now_ns();
        done.map_err(|e| self.worker.failure("list", name, e))?;
        if !base {
            descent.path.pop();
        }
        let slot = self.worker.slots.list;
        self.worker.recorder.auxiliary(slot, start_ns, self.end_ns);
        Ok(())
    }

    fn remove(&mut self, descent: &mut Descent, is_directory: bool) -> Result<(), EngineError> {
        let slots = self.worker.slots;
        let name = terminated(&mut descent.path);
        let start_ns = self.clock.now_ns();
        let (done, step, slot): (_, _, Slot) = if is_directory {
            (self.target.remove_directory(name), "rmdir", slots.rmdir)
        } else {
            (self.target.unlink(name), "unlink", slots.unlink)
        };
        self.end_ns = self.clock.now_ns();
        done.map_err(|e| self.worker.failure(step, name, e))?;
        self.worker
            .recorder
            .operation(slot, start_ns, self.end_ns, 0);
        descent.path.pop();
        Ok(())
    }
}

/// `path` with a terminating zero byte, for system calls.
fn terminated(path: &mut Vec<u8>) -> &CStr {
    path.push(0);
    CStr::from_bytes_with_nul(path).expect("names in a listing hold no zero byte")
}
