//! The last messages of a guest kernel.

/// What the lines have in common with which a kernel tells of trouble that is its own.
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
/// How many such lines are shown; the console in the record has them all.
const LINES_TOLD: usize = 4;

/// The kernel's own words for what went wrong, without its time stamps, each once; nothing where
/// the kernel had no trouble.
pub(crate) fn last_words(console: &str) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for line in console.lines().map(without_stamp) {
        let is_trouble = TROUBLE.iter().any(|sign| line.contains(sign));
        if is_trouble && told.len() < LINES_TOLD && !told.iter().any(|earlier| earlier == line) {
            told.push(line.to_owned());
        }
    }
    told
}

/// `[    0.120000] words` without the bracket.
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
    fn a_panic_is_told_in_the_kernels_words_and_noise_is_not() {
        let console = "mke2fs done\n[    0.5] EXT4-fs (ubda): mounted\n\
                       [    1.230000] Kernel panic - not syncing: Attempted to kill init!\n\
                       [    1.230000] CPU: 0 PID: 1 Comm: fslab\n\
                       [    1.250000] Kernel panic - not syncing: Attempted to kill init!\n";
        assert_eq!(
            last_words(console),
            ["Kernel panic - not syncing: Attempted to kill init!"]
        );
        assert!(last_words("all is [well]\n").is_empty());
    }

    #[test]
    fn a_hang_and_a_lack_of_memory_are_told_too() {
        let console = "[ 9.0] INFO: task fslab:31 blocked for more than 60 seconds.\n\
                       [ 9.1] Out of memory: Killed process 31 (fslab)\n";
        assert_eq!(last_words(console).len(), 2);
    }
}
