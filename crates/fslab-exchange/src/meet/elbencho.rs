//! elbencho: what its phases do.

use fslab_model::PhaseSpec;
use serde_json::Value;

use super::activity::Activity::{self, *};
use super::condition::Condition;
use super::phase_content::{self, PhaseContent};

/// The phases on one or more large files, in order and at random places.
const OF_DATA: [(&str, Activity, Activity); 2] =
    [("write", Write, RandomWrite), ("read", Read, RandomRead)];
/// The phases on names and small files.
const OF_FILES: [(&str, Activity); 6] = [
    ("mkdirs", MakeDirectories),
    ("write-files", Create),
    ("read-files", ReadFiles),
    ("stat", Stat),
    ("rmfiles", Unlink),
    ("rmdirs", RemoveDirectories),
];

pub(super) fn content(spec: &PhaseSpec) -> PhaseContent {
    let parameters = &spec.parameters;
    let number = |name: &str| phase_content::number(parameters, name);
    let flag = |name: &str| parameters.get(name).and_then(Value::as_bool);
    let base = spec.name.split(' ').next().unwrap_or_default();
    let is_of_files = OF_FILES.iter().find(|(known, _)| *known == base);
    let data = OF_DATA.iter().find(|(known, ..)| *known == base);
    let activity = match (is_of_files, data) {
        (Some((_, activity)), _) => *activity,
        (None, Some((_, in_order, random))) => match flag("random") == Some(true) {
            true => *random,
            false => *in_order,
        },
        (None, None) => return PhaseContent::default(),
    };
    let mut content = PhaseContent::of(Some(activity));
    let conditions = &mut content.conditions;
    let threads = number("threads");
    conditions.set_count(Condition::Threads, threads);
    if is_of_files.is_some() {
        // Numbers are of a thread and a directory.
        let each = [number("files"), number("directories"), threads];
        let files = each
            .into_iter()
            .try_fold(1_u64, |all, it| all.checked_mul(it?));
        conditions.set_count(Condition::Files, files);
        conditions.set_bytes(Condition::FilesEach, number("file_size"));
        return content;
    }
    conditions.set_bytes(Condition::FileSize, number("file_size"));
    conditions.set_bytes(Condition::RecordSize, number("block_size"));
    conditions.set_count(Condition::QueueDepth, number("io_depth"));
    let direct = flag("direct").map(|it| if it { "yes" } else { "no" });
    conditions.set_known(Condition::Direct, direct.map(str::to_owned));
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_in_the_tables_is_one_of_elbencho() {
        let names = OF_DATA.iter().map(|(name, ..)| *name);
        for name in names.chain(OF_FILES.iter().map(|(name, _)| *name)) {
            let name = name.trim_end_matches("-files");
            let mut known = crate::read::elbencho::PHASES.iter();
            assert!(known.any(|(_, known, _)| *known == name), "{name}");
        }
    }
}
