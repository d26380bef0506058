//! Translates calls that change descriptor tables and processes: open, close, dup, exec, clone,
//! wait.

use crate::arguments::{descriptor, descriptor_path, member, octal};
use crate::call_context::CallContext;
use crate::calls::ReturnValue;
use crate::processes::Sharing;
use crate::{CallOutcome, Operation, TraceEvent};

impl CallContext<'_> {
    pub(crate) fn open(mut self) {
        let call = self.call;
        let (directory, first) = match call.name.as_str() {
            "open" | "creat" => (None, 0),
            _ => (Some(0), 1),
        };
        let Some(path) = self.path(directory, first) else {
            return;
        };
        let (flags, mode) = match call.name.as_str() {
            "creat" => (
                "O_WRONLY|O_CREAT|O_TRUNC".to_owned(),
                octal(call.argument(1)),
            ),
            "openat2" => {
                let how = call.argument(2);
                (
                    member(how, "flags=").to_owned(),
                    octal(member(how, "mode=")),
                )
            }
            _ => (
                call.argument(first + 1).to_owned(),
                octal(call.argument(first + 2)),
            ),
        };
        if flags.contains("O_TMPFILE") {
            return self.count_unseen();
        }
        let mut real = None;
        let handle = if let ReturnValue::Number(descriptor, led_to) = &call.returned {
            // A symbolic link may lead out of the directory.
            let led_to = led_to.as_deref().and_then(|path| self.below(path));
            let Some(led_to) = led_to else {
                return self.count_as("an open that led out of the directory");
            };
            self.translator.done.touched.insert(led_to.clone());
            real = (led_to != path).then_some(led_to);
            let close_on_exec = flags.contains("O_CLOEXEC");
            Some(self.insert(*descriptor, close_on_exec))
        } else {
            None
        };
        if let Some(handle) = handle {
            let name = real.clone().unwrap_or_else(|| path.clone());
            self.translator.paths.insert(handle, name);
        }
        self.add_event(Operation::Open {
            path,
            real,
            flags,
            mode,
            handle,
        });
    }

    pub(crate) fn close(mut self) {
        let descriptor = descriptor(self.call.argument(0));
        let removed = descriptor.and_then(|it| self.thread.files.borrow_mut().remove(&it));
        if let Some(file) = removed {
            self.add_event(Operation::Close {
                handle: file.handle,
            });
        }
    }

    pub(crate) fn close_range(mut self) {
        let ends = [0, 1].map(|index| self.call.argument(index).parse::<u32>().ok());
        let [Some(first), Some(last)] = ends else {
            return;
        };
        let range =
            first.min(i32::MAX as u32).cast_signed()..=last.min(i32::MAX as u32).cast_signed();
        if self.call.argument(2).contains("CLOSE_RANGE_CLOEXEC") {
            let mut files = self.thread.files.borrow_mut();
            files
                .range_mut(range)
                .for_each(|(_, file)| file.close_on_exec = true);
            return;
        }
        let closed: Vec<_> = {
            let mut files = self.thread.files.borrow_mut();
            let descriptors: Vec<_> = files.range(range).map(|(it, _)| *it).collect();
            descriptors
                .iter()
                .filter_map(|it| files.remove(it))
                .collect()
        };
        for file in closed {
            self.add_event(Operation::Close {
                handle: file.handle,
            });
        }
    }

    pub(crate) fn duplicate(mut self) {
        let call = self.call;
        let Some(handle) = self.handle(0) else {
            // A duplicate of another file may replace a descriptor of the directory.
            if let (true, ReturnValue::Number(new, _)) =
                (call.name.starts_with("dup"), &call.returned)
            {
                self.close_replaced(*new);
            }
            return;
        };
        let kind = call.argument(1);
        let mut close_on_exec = call.argument(2).contains("O_CLOEXEC");
        if call.name == "fcntl" {
            match kind {
                "F_DUPFD" => close_on_exec = false,
                "F_DUPFD_CLOEXEC" => close_on_exec = true,
                "F_SETFD" => return self.set_close_on_exec(),
                "F_GETFD" | "F_GETFL" | "F_SETFL" | "F_GETPATH" => return,
                _ => return self.count_as(&format!("fcntl {kind}")),
            }
        }
        let ReturnValue::Number(new, _) = call.returned else {
            return;
        };
        if Some(new) == descriptor(call.argument(0)).map(i64::from) {
            return;
        }
        self.close_replaced(new);
        let to = self.insert(new, close_on_exec);
        let path = self.translator.paths.get(&handle).cloned();
        path.into_iter().for_each(|path| {
            self.translator.paths.insert(to, path);
        });
        self.add_event(Operation::Duplicate { handle, to });
    }

    /// Closes the file that a duplicate replaces: dup2(2).
    fn close_replaced(&mut self, descriptor: i64) {
        let replaced = i32::try_from(descriptor)
            .ok()
            .and_then(|it| self.thread.files.borrow_mut().remove(&it));
        if let Some(file) = replaced {
            let handle = file.handle;
            self.add_success(Operation::Close { handle });
        }
    }

    fn set_close_on_exec(self) {
        let close_on_exec = self.call.argument(2).contains("FD_CLOEXEC");
        let descriptor = descriptor(self.call.argument(0));
        let mut files = self.thread.files.borrow_mut();
        if let Some(file) = descriptor.and_then(|it| files.get_mut(&it)) {
            file.close_on_exec = close_on_exec;
        }
    }

    pub(crate) fn change_directory(self) {
        if !matches!(self.call.returned, ReturnValue::Number(..)) {
            return;
        }
        let argument = self.call.argument(0);
        let new = match self.call.name.as_str() {
            "chdir" => self.absolute(None, argument),
            _ => descriptor_path(argument),
        };
        if let Some(new) = new {
            *self.thread.directory.borrow_mut() = crate::path::plain(&new);
        }
    }

    pub(crate) fn exec(mut self) {
        if !matches!(self.call.returned, ReturnValue::Number(..)) {
            return;
        }
        let closed: Vec<_> = {
            let mut files = self.thread.files.borrow_mut();
            let closed = files.iter().filter(|(_, file)| file.close_on_exec);
            let closed: Vec<_> = closed.map(|(it, file)| (*it, file.handle)).collect();
            closed.iter().for_each(|(it, _)| {
                files.remove(it);
            });
            closed.into_iter().map(|(_, handle)| handle).collect()
        };
        let program = if self.call.name == "execve" {
            self.path(None, 0)
        } else {
            self.path(Some(0), 1)
        };
        if program.is_some() {
            self.count_as("execve of a program in the directory");
        }
        self.add_success(Operation::Exec { closed });
    }

    pub(crate) fn spawn(mut self) {
        let ReturnValue::Number(id, _) = self.call.returned else {
            return;
        };
        let Ok(id) = u32::try_from(id) else {
            return;
        };
        let words = self.call.arguments.join(",");
        let sharing = Sharing {
            files: words.contains("CLONE_FILES"),
            directory: words.contains("CLONE_FS"),
        };
        let thread = self.thread.clone();
        let (child, inherited) = self.translator.threads.spawn(id, &thread, sharing);
        for (old, new) in &inherited {
            if let Some(path) = self.translator.paths.get(old).cloned() {
                self.translator.paths.insert(*new, path);
            }
        }
        self.add_success(Operation::Spawn { child, inherited });
    }

    pub(crate) fn wait(self) {
        let ReturnValue::Number(id, _) = self.call.returned else {
            return;
        };
        let ended = u32::try_from(id)
            .ok()
            .and_then(|id| self.translator.threads.number_of(id));
        if let Some(child) = ended {
            // The event stands for the end of the wait.
            let end_ns = self.call.at_ns + self.call.took_ns;
            self.translator.done.events.push(TraceEvent {
                thread: self.thread.number,
                at_ns: end_ns.saturating_sub(self.translator.start_ns),
                took_ns: 0,
                operation: Operation::Wait { child },
                outcome: CallOutcome::Result(0),
            });
        }
    }
}
