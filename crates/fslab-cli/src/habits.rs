//! What users of other tools type, and what fslab has for it.

use std::ffi::OsString;

/// The words of the command line. Subjects without a command are those of `compare`.
pub(crate) fn command_line() -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let subjects: Vec<&str> = words
        .iter()
        .skip(1)
        .map_while(|word| word.to_str().filter(|word| !word.starts_with('-')))
        .collect();
    let is_compare =
        !subjects.is_empty() && fslab_fs::parse_subjects(&without_joints(&subjects)).is_ok();
    if is_compare {
        words.insert(1, "compare".into());
    }
    words
}

/// Words without those between two subjects: `ext4 vs xfs`.
pub(crate) fn without_joints<S: AsRef<str>>(subjects: &[S]) -> Vec<String> {
    let is_joint = |word: &str| ["vs", "vs.", "versus", "and"].contains(&word);
    let subjects = subjects.iter().map(AsRef::as_ref);
    subjects
        .filter(|word| !is_joint(word))
        .map(str::to_owned)
        .collect()
}

/// What to type in the place of `option`, which the command does not have.
pub(crate) fn hint(option: &str, words: &[String]) -> Option<String> {
    let rest = Rest::of(option, words);
    let value = |unknown: &str| rest.value.clone().unwrap_or_else(|| unknown.to_owned());
    let typed = |more: String| format!("{} {more}", rest.words.join(" "));
    let is_of_report = words.get(1).is_some_and(|command| command == "report");
    Some(match option {
        "--warmup" => {
            "each repeat begins on a new file system, so there is nothing to warm up; for a \
                       phase that finds its data in memory: --set phase.NAME.cache=warm"
                .to_owned()
        }
        "--export-json" => typed(format!("--json > {}", value("FILE"))),
        "--export-csv" | "--export-markdown" => {
            format!(
                "after the run: fslab export last --output {}",
                value("FILE.csv")
            )
        }
        "--bs" | "--blocksize" | "--block-size" => {
            typed(format!("--set phase.NAME.record={}", value("SIZE")))
        }
        "--runtime" | "--time" | "--duration" => match value("TIME") {
            seconds if seconds.parse::<u32>().is_ok() => typed(format!("--budget {seconds}s")),
            time => typed(format!("--budget {time}")),
        },
        "--output" => typed(format!(
            "--out DIRECTORY; the records: --results {}",
            value("FILE")
        )),
        "--format" if is_of_report => {
            "a report is a page of HTML; its charts as SVG, PNG and PDF: fslab report --charts \
             DIRECTORY; its tables as Markdown, CSV and LaTeX: --tables DIRECTORY"
                .to_owned()
        }
        "--rw" | "--iodepth" | "--numjobs" | "--ioengine" | "--filesize" | "--direct" => {
            "options of fio stand in a job file: fslab run job.fio --fs ext4,xfs".to_owned()
        }
        _ => return None,
    })
}

/// A command line without an option and its value.
struct Rest {
    words: Vec<String>,
    value: Option<String>,
}

impl Rest {
    fn of(option: &str, words: &[String]) -> Self {
        let mut rest = Self {
            words: Vec::new(),
            value: None,
        };
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            match word.strip_prefix(option) {
                Some("") => {
                    rest.value = words.next_if(|next| !next.starts_with('-')).cloned();
                }
                Some(value) if value.starts_with('=') => rest.value = Some(value[1..].to_owned()),
                _ => rest.words.push(word.clone()),
            }
        }
        if let Some(program) = rest.words.first_mut() {
            "fslab".clone_into(program);
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str, option: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        hint(option, &words)
    }

    #[test]
    fn a_hint_has_the_command_with_what_else_was_typed() {
        for (line, option, expected) in [
            (
                "/bin/fslab compare ext4 xfs --export-json x.json --quiet",
                "--export-json",
                "fslab compare ext4 xfs --quiet --json > x.json",
            ),
            (
                "fslab compare ext4 --bs=4k",
                "--bs",
                "fslab compare ext4 --set phase.NAME.record=4k",
            ),
            (
                "fslab run nas --runtime 10",
                "--runtime",
                "fslab run nas --budget 10s",
            ),
            (
                "fslab run nas --runtime 2min",
                "--runtime",
                "fslab run nas --budget 2min",
            ),
        ] {
            assert_eq!(of(line, option).as_deref(), Some(expected), "{line}");
        }
        assert_eq!(of("fslab compare --frobnicate", "--frobnicate"), None);
    }

    #[test]
    fn words_between_subjects_are_no_subjects() {
        assert_eq!(without_joints(&["ext4", "vs", "xfs"]), ["ext4", "xfs"]);
    }
}
