//! The machine, boot and PID namespace in which a lease was written.

use serde::{Deserialize, Serialize};

/// Identity of the system that assigned a PID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostIdentity {
    /// /etc/machine-id, or the host name if there is none.
    machine: Option<String>,
    /// Changes with every boot.
    boot: Option<String>,
    /// Containers on one kernel have separate PIDs.
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

    /// True if mounts and files made there exist here: the same boot, or the same machine before a
    /// reboot.
    pub(crate) fn is_this_machine(&self) -> bool {
        let here = Self::here();
        self.boot == here.boot || self.machine == here.machine
    }

    /// True if PIDs mean the same processes there and here.
    pub(crate) fn is_here(&self) -> bool {
        let here = Self::here();
        self.boot == here.boot && self.pid_namespace == here.pid_namespace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rebooted_machine_is_the_same_and_its_processes_are_not() {
        let before = HostIdentity {
            boot: Some("another".into()),
            ..HostIdentity::here()
        };
        assert!(before.is_this_machine() && !before.is_here());
        assert!(HostIdentity::here().is_here());
    }
}
