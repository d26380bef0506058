//! Facts about the machine that every result names.

use std::fs;

/// A fact's name and value.
pub(crate) type Fact = (String, String);

/// What is known of this machine.
pub(crate) fn facts() -> Vec<Fact> {
    let facts = [
        ("processor", processor()),
        ("processors", Some(processors().to_string())),
        ("memory", memory_kib("MemTotal").map(mebibytes)),
        (
            "memory available",
            memory_kib("MemAvailable").map(mebibytes),
        ),
        ("kernel", line("/proc/sys/kernel/osrelease")),
        (
            "clock source",
            line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ),
        ("load average before", line("/proc/loadavg")),
    ];
    facts
        .into_iter()
        .map(|(name, value)| {
            let value = value.unwrap_or_else(|| "not known".to_owned());
            (name.to_owned(), value)
        })
        .collect()
}

/// A name for the machine that says what it is and not whose: its processor and how many.
pub(crate) fn short_name() -> String {
    let processor = processor().unwrap_or_else(|| "machine".to_owned());
    let words: Vec<_> = processor
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .filter(|word| !["R", "TM", "CPU", "Processor"].contains(word))
        .take(4)
        .map(str::to_lowercase)
        .collect();
    format!("{}-x{}", words.join("-"), processors())
}

/// Memory that can be had, in bytes; `None` where the kernel does not tell.
pub(crate) fn available_bytes() -> Option<u64> {
    memory_kib("MemAvailable").map(|kib| kib << 10)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn memory_kib(key: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.split(':').next() == Some(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn mebibytes(kib: u64) -> String {
    format!("{} MiB", kib >> 10)
}

fn line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_machine_is_fit_for_a_file() {
        let name = short_name();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
        assert!(available_bytes() > Some(1 << 20));
        assert!(facts().iter().any(|(name, _)| name == "kernel"));
    }
}
