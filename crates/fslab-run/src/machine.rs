//! Facts about this machine, read from /proc and /etc.

use std::fs::read_to_string;

use fslab_model::MachineFacts;

/// Facts about this machine; unknown ones are `None`.
pub fn machine_facts() -> MachineFacts {
    let kernel = |name: &str| one_line(&format!("/proc/sys/kernel/{name}"));
    let cpuinfo = read_to_string("/proc/cpuinfo").unwrap_or_default();
    MachineFacts {
        host: kernel("hostname"),
        os: read_to_string("/etc/os-release")
            .ok()
            .and_then(|text| pretty_name(&text)),
        kernel: kernel("osrelease")
            .map(|release| format!("{release} {}", kernel("version").unwrap_or_default())),
        cpu: field(&cpuinfo, "model name"),
        cpu_count: std::thread::available_parallelism()
            .ok()
            .and_then(|count| u32::try_from(count.get()).ok()),
        memory_bytes: fslab_sys::MachineMemory::now().map(|it| it.total_bytes),
        architecture: Some(std::env::consts::ARCH.to_owned()),
        hypervisor: hypervisor(&cpuinfo),
    }
}

fn one_line(path: &str) -> Option<String> {
    let text = read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|line| !line.is_empty())
}

fn pretty_name(os_release: &str) -> Option<String> {
    let line = os_release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').to_owned())
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

/// The vendor by the firmware, if the processor reports a hypervisor.
fn hypervisor(cpuinfo: &str) -> Option<String> {
    let flags = field(cpuinfo, "flags").unwrap_or_default();
    flags.split(' ').any(|flag| flag == "hypervisor").then(|| {
        one_line("/sys/class/dmi/id/sys_vendor").unwrap_or_else(|| "of unknown make".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_parsed() {
        assert_eq!(
            pretty_name("ID=x\nPRETTY_NAME=\"A B\"\n").as_deref(),
            Some("A B")
        );
        assert_eq!(
            field("model name\t: Z 80\n", "model name").as_deref(),
            Some("Z 80")
        );
        assert_eq!(hypervisor("flags : fpu vme\n"), None);
    }

    #[test]
    fn this_machine_has_a_kernel_processors_and_memory() {
        let facts = machine_facts();
        assert!(facts.kernel.is_some() && facts.memory_bytes > Some(1 << 20));
        assert!(facts.cpu_count >= Some(1));
    }
}
