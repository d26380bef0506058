//! Which machine, boot and PID namespace a lease was written in.

use serde::{Deserialize, Serialize};

/// The system on which processes are numbered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostIdentity {
    /// /etc/machine-id, or the host's name where there is none.
    machine: Option<String>,
    /// Differs after each start of the kernel.
    boot: Option<String>,
    /// Containers on one kernel number their processes apart.
    pid_namespace: Option<String>,
}

impl HostIdentity {
    pub(crate) fn here() -> Self {
        let line = |path: &str| {
            let text = std::fs::read_to_string(path).ok()?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let namespace = std::fs::read_link("/proc/self/ns/pid").ok();
        Self {
            machine: line("/etc/machine-id").or_else(|| line("/proc/sys/kernel/hostname")),
            boot: line("/proc/sys/kernel/random/boot_id"),
            pid_namespace: namespace.map(|link| link.to_string_lossy().into_owned()),
        }
    }

    /// Whether what was mounted and made there is mounted and made here: the same kernel, or the
    /// same machine before it was started anew.
    pub(crate) fn is_this_machine(&self) -> bool {
        let here = Self::here();
        self.boot == here.boot || self.machine == here.machine
    }

    /// Whether process numbers mean the same there and here.
    pub(crate) fn is_here(&self) -> bool {
        let here = Self::here();
        self.boot == here.boot && self.pid_namespace == here.pid_namespace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_was_started_anew_is_the_same_and_its_processes_are_not() {
        let before = HostIdentity {
            boot: Some("another".into()),
            ..HostIdentity::here()
        };
        assert!(before.is_this_machine() && !before.is_here());
        assert!(HostIdentity::here().is_here());
    }
}
