//! Words that a study may pass to the compiler and to make without permission.
//!
//! None of them names a file, defines a text or starts a program, and none skips timed work, as
//! `-n` and `-t` of make do.

/// Flags of the compiler.
const FLAGS: [&str; 25] = [
    "-O",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-Og",
    "-Os",
    "-Ofast",
    "-g",
    "-g0",
    "-g1",
    "-g2",
    "-g3",
    "-pipe",
    "-march=native",
    "-mtune=native",
    "-w",
    "-Wall",
    "-Wextra",
    "-std=c99",
    "-std=c11",
    "-std=c17",
    "-std=gnu99",
    "-std=gnu11",
    "-std=gnu17",
];
/// Arguments of make, besides `-jN`.
const MAKE_WORDS: [&str; 14] = [
    "-k",
    "--keep-going",
    "-s",
    "--silent",
    "--quiet",
    "-r",
    "--no-builtin-rules",
    "-O",
    "--output-sync",
    "-w",
    "--print-directory",
    "--no-print-directory",
    "V=0",
    "V=1",
];

/// True if all words of `flags`, separated by blanks only, are known.
pub(super) fn are_known_flags(flags: &str) -> bool {
    let mut words = flags.split(' ').filter(|word| !word.is_empty());
    words.all(|word| FLAGS.contains(&word))
}

/// True if `word` is a known argument of make, with at most `jobs_max` parallel jobs.
pub(super) fn is_known_to_make(word: &str, jobs_max: u32) -> bool {
    let jobs = word.strip_prefix("-j").filter(|number| {
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        is_number
            && number
                .parse()
                .is_ok_and(|jobs| (1..=jobs_max).contains(&jobs))
    });
    jobs.is_some() || MAKE_WORDS.contains(&word)
}
