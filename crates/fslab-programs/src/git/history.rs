//! The history of the repository as a stream for git-fast-import(1): text files in directories,
//! each commit with changes of some of them. The same seed gives the same commits.

use std::io::Write;

use fslab_engine::{Random, mix};

use super::parameters::GitParameters;

/// Purposes of random numbers: the text of a file, and which files a commit changes.
const TEXT: u64 = 1;
const CHOICE: u64 = 2;
/// Files of a directory.
const FOLDER_FILES: u32 = 40;
/// Lines of a file.
const LINES: (u64, u64) = (20, 200);
/// Time of the first commit, and between two.
const FIRST_S: u64 = 1_700_000_000;
const EACH_S: u64 = 3_600;
/// The branch with all commits.
pub(super) const BRANCH: &str = "main";
/// The branch with half of them.
pub(super) const HALF: &str = "half";

/// The path of a file in the working tree.
pub(super) fn path(file: u32) -> String {
    format!("src/d{:04}/f{file:05}.c", file / FOLDER_FILES)
}

/// The text of a file in its `version`-th state.
pub(super) fn text(seed: u64, file: u32, version: u32) -> String {
    let mut random = Random::new(mix(seed, u64::from(file)), TEXT);
    let lines = random.length(LINES.0, LINES.1);
    let changed = random.length(1, lines);
    let mut text = format!("/* file {file} */\n");
    for line in 0..lines {
        // A change is in one line, as most are; the rest of the file is as before.
        let is_changed = version > 0 && line == changed - 1;
        let first = random.next_u64();
        let word = match is_changed {
            true => mix(first, u64::from(version)),
            false => first,
        };
        text += &format!("static const unsigned long value_{line:03} = 0x{word:016x}ul;\n");
    }
    text
}

/// The files that commit number `commit` changes; all in the first one.
fn changed(parameters: &GitParameters, seed: u64, commit: u32) -> Vec<u32> {
    if commit == 0 {
        return (0..parameters.files).collect();
    }
    let mut random = Random::new(mix(seed, u64::from(commit)), CHOICE);
    let mut files: Vec<u32> = (0..parameters.files).collect();
    random.shuffle(&mut files);
    files.truncate(parameters.changes as usize);
    files.sort_unstable();
    files
}

/// The stream of the complete history.
pub(super) fn stream(parameters: &GitParameters, seed: u64) -> Vec<u8> {
    let mut stream = Vec::new();
    for commit in 0..parameters.commits {
        // Writing to a vector does not fail.
        let _ = write_commit(&mut stream, parameters, seed, commit);
    }
    let half = parameters.commits.div_ceil(2);
    let _ = write!(stream, "reset refs/heads/{HALF}\nfrom :{half}\n\ndone\n");
    stream
}

fn write_commit(
    stream: &mut Vec<u8>,
    parameters: &GitParameters,
    seed: u64,
    commit: u32,
) -> std::io::Result<()> {
    let time = FIRST_S + u64::from(commit) * EACH_S;
    let message = format!("commit {commit}\n");
    write!(
        stream,
        "commit refs/heads/{BRANCH}\nmark :{}\ncommitter fslab <fslab@localhost> {time} +0000\n\
         data {}\n{message}",
        commit + 1,
        message.len()
    )?;
    if commit > 0 {
        writeln!(stream, "from :{commit}")?;
    }
    for file in changed(parameters, seed, commit) {
        let text = text(seed, file, commit);
        let (path, length) = (path(file), text.len());
        write!(stream, "M 100644 inline {path}\ndata {length}\n{text}\n")?;
    }
    writeln!(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_follows_from_the_seed_and_a_change_is_one_line() {
        let parameters = GitParameters {
            files: 50,
            commits: 4,
            changes: 3,
            ..GitParameters::default()
        };
        let made = stream(&parameters, 7);
        assert_eq!(made, stream(&parameters, 7));
        assert_ne!(made, stream(&parameters, 8));
        let text_of = String::from_utf8(made).expect("text");
        assert_eq!(text_of.matches("\ncommit refs").count() + 1, 4);
        assert_eq!(text_of.matches("M 100644").count(), 50 + 3 * 3);
        assert!(text_of.ends_with("reset refs/heads/half\nfrom :2\n\ndone\n"));
        let (first, second) = (text(7, 3, 0), text(7, 3, 2));
        let differing = first.lines().zip(second.lines()).filter(|(a, b)| a != b);
        assert_eq!(differing.count(), 1);
        assert_eq!(first.lines().count(), second.lines().count());
    }
}
