//! Errors of a guest kernel on its console.

/// Markers of lines with errors of the kernel itself.
const TROUBLE: [&str; 10] = [
    "Kernel panic",
    "BUG:",
    "kernel BUG",
    "Oops",
    "Kernel mode",
    "Out of memory",
    "Killed process",
    "blocked for more than",
    "Segfault with",
    "the guest cannot run its task",
];
/// Most lines shown; the record has the complete console.
const LINES_MAX: usize = 4;

/// The kernel's error messages without time stamps and duplicates.
pub(crate) fn kernel_errors(console: &str) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for line in console.lines().map(without_stamp) {
        let is_trouble = TROUBLE.iter().any(|sign| line.contains(sign));
        if is_trouble && shown.len() < LINES_MAX && !shown.iter().any(|earlier| earlier == line) {
            shown.push(line.to_owned());
        }
    }
    shown
}

/// Removes the time stamp of `[    0.120000] words`.
fn without_stamp(line: &str) -> &str {
    let line = line.trim();
    let stamped = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match stamped {
        Some((stamp, words)) if stamp.trim().parse::<f64>().is_ok() => words.trim(),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_shown_and_other_messages_are_not() {
        let console = "mke2fs done\n[    0.5] EXT4-fs (ubda): mounted\n\
                       [    1.230000] Kernel panic - not syncing: Attempted to kill init!\n\
                       [    1.230000] CPU: 0 PID: 1 Comm: fslab\n\
                       [    1.250000] Kernel panic - not syncing: Attempted to kill init!\n";
        assert_eq!(
            kernel_errors(console),
            ["Kernel panic - not syncing: Attempted to kill init!"]
        );
        assert!(kernel_errors("all is [well]\n").is_empty());
    }

    #[test]
    fn a_hang_and_a_lack_of_memory_are_shown_too() {
        let console = "[ 9.0] INFO: task fslab:31 blocked for more than 60 seconds.\n\
                       [ 9.1] Out of memory: Killed process 31 (fslab)\n";
        assert_eq!(kernel_errors(console).len(), 2);
    }
}
