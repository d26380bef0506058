//! Records real programs and replays them elsewhere: the final files must be the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, Job, RunError};
use fslab_model::{Bytes, Failure, FailureKind};
use fslab_trace::{RecordRequest, Trace, record};

use super::parameters::ReplayParameters;
use super::phase::replay;

/// Records `script`, run by sh in a directory that `prepare` has filled; `None`, with a printed
/// reason, if tracing is not possible here.
fn recorded(folder: &Path, prepare: impl FnOnce(&Path), script: &str) -> Option<PathBuf> {
    let (root, scratch) = (folder.join("root"), folder.join("scratch"));
    fs::create_dir(&root).expect("makes");
    fs::create_dir(&scratch).expect("makes");
    prepare(&root);
    let script = format!("cd {} && {{ {script}\n}}", root.display());
    let request = RecordRequest {
        command: vec!["sh".into(), "-c".into(), script],
        root,
        scratch,
        file_system: "test".into(),
    };
    let recorded = match record(&request) {
        Ok(recorded) => recorded,
        Err(error)
            if matches!(
                error.kind,
                FailureKind::MissingTool | FailureKind::Unsupported
            ) =>
        {
            println!("skipped: {error}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    assert!(recorded.status.success(), "{}", recorded.status);
    let path = folder.join("the.trace");
    recorded.trace.write(&path).expect("writes");
    Some(path)
}

fn play(
    trace: &Path,
    root: &Path,
    change: impl FnOnce(&mut ReplayParameters),
) -> Result<Finished, RunError> {
    let mut parameters = ReplayParameters {
        trace: trace.to_str().expect("UTF-8").to_owned(),
        ..ReplayParameters::default()
    };
    parameters.resolve(Bytes::gib(1)).expect("resolves");
    change(&mut parameters);
    replay(&parameters, &RunContext::new(EngineKind::Psync, root, 3))
}

/// Describes each name: length, directory, or target of a link.
fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("lists") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("stat");
            let what = if metadata.is_dir() {
                directories.push(path.clone());
                "a directory".into()
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path).expect("a link");
                let below = target
                    .strip_prefix(root)
                    .map(|path| format!("./{}", path.display()));
                below.unwrap_or_else(|_| target.display().to_string())
            } else {
                format!("{} bytes", metadata.len())
            };
            found.insert(path.strip_prefix(root).expect("below").to_owned(), what);
        }
    }
    found
}

fn figure(finished: &Finished, name: &str) -> f64 {
    *finished.figures.get(name).expect(name)
}

/// Unpacks, changes, copies, links, moves and removes; some calls fail; two processes at once.
const BUSY: &str = "
    mkdir -p a/b && for i in 1 2 3 4 5 6 7 8; do seq $((i * 400)) > a/b/f$i; done
    tar cf all.tar a && mkdir c && tar xf all.tar -C c
    cat a/b/* > joined & sort -o sorted a/b/f8; wait
    mv c/a/b/f1 c/moved && ln c/moved c/hard && ln -s moved c/soft && ln -s $PWD/a c/abs
    echo more >> c/soft; cat missing 2> /dev/null || rm -r c/a/b/f2 all.tar
    cp before/x y && truncate -s 100 y && test -e nothing || chmod 600 y
    find . -name 'f*' > names && dd if=sorted of=synced bs=512 conv=fsync 2> /dev/null";

fn fill_before(root: &Path) {
    fs::create_dir(root.join("before")).expect("makes");
    fs::write(root.join("before/x"), vec![7; 70_000]).expect("writes");
    fs::write(root.join("untouched"), b"not in the trace").expect("writes");
}

#[test]
fn a_shell_with_many_children_ends_with_the_same_names_and_lengths() {
    let folder = tempfile::tempdir().expect("a directory");
    let Some(trace) = recorded(folder.path(), fill_before, BUSY) else {
        return;
    };
    let root = folder.path().join("root");
    for pace in [
        super::parameters::ReplayPace::Fast,
        super::parameters::ReplayPace::Recorded,
    ] {
        let target = folder.path().join(format!("{pace:?}"));
        fs::create_dir(&target).expect("makes");
        let finished = play(&trace, &target, |it| it.pace = pace).expect("plays");
        assert_eq!(
            figure(&finished, "replay_deviations"),
            0.0,
            "{:?}",
            finished.notes
        );
        assert_eq!(
            figure(&finished, "replay_differences"),
            0.0,
            "{:?}",
            finished.notes
        );
        let mut expected = tree(&root);
        // A file that the program did not use may exist here, since a listing saw its name.
        expected.remove(Path::new("untouched"));
        let mut found = tree(&target.join("replay"));
        found.remove(Path::new("untouched"));
        assert_eq!(found, expected);
        let trace = Trace::read(&trace).expect("reads");
        let operations = trace
            .events
            .iter()
            .filter(|event| event.operation.is_file_operation());
        assert_eq!(finished.measured.operations, operations.count() as u64);
    }
}

#[test]
fn the_recorded_pace_includes_think_times() {
    let folder = tempfile::tempdir().expect("a directory");
    let script = "echo a > a; sleep 0.4; echo b > b";
    let Some(trace) = recorded(folder.path(), |_| {}, script) else {
        return;
    };
    let elapsed_ns = |name: &str, pace| {
        let target = folder.path().join(name);
        fs::create_dir(&target).expect("makes");
        let finished = play(&trace, &target, |it| it.pace = pace).expect("plays");
        finished.measured.elapsed_ns
    };
    assert!(elapsed_ns("slow", super::parameters::ReplayPace::Recorded) >= 400_000_000);
    assert!(elapsed_ns("fast", super::parameters::ReplayPace::Fast) < 400_000_000);
}

#[test]
fn deviations_are_counted_and_too_many_are_a_failure() {
    let folder = tempfile::tempdir().expect("a directory");
    let script = "for i in 1 2 3 4; do echo $i > f$i; mv f$i g$i; done";
    let Some(trace) = recorded(folder.path(), |_| {}, script) else {
        return;
    };
    // A directory occupies the target name of one rename.
    let text = fs::read_to_string(&trace).expect("reads");
    let taken = "{\"before\":{\"path\":\"g3\",\"kind\":\"directory\",\"bytes\":0,\"mode\":493}}\n";
    let first_event = text.find("{\"event\"").expect("events");
    let lines: u64 = text.lines().count() as u64 - 2;
    let end = format!("\"lines\":{lines}");
    let text = format!("{}{taken}{}", &text[..first_event], &text[first_event..]);
    let text = text.replace(&end, &format!("\"lines\":{}", lines + 1));
    fs::write(&trace, text).expect("writes");
    let target = folder.path().join("strict");
    fs::create_dir(&target).expect("makes");
    let failure: Failure = play(&trace, &target, |_| {}).expect_err("deviates").into();
    assert_eq!(failure.kind, FailureKind::Check);
    assert!(failure.message.contains("rename: done then"), "{failure}");
    let target = folder.path().join("lenient");
    fs::create_dir(&target).expect("makes");
    let finished = play(&trace, &target, |it| it.deviations_percent_max = 60.0).expect("allowed");
    assert!(figure(&finished, "replay_deviations") >= 1.0);
    assert!(figure(&finished, "replay_differences") >= 1.0);
    assert!(
        finished
            .notes
            .iter()
            .any(|note| note.contains("g3 was 2 bytes and is a directory")),
        "{:?}",
        finished.notes
    );
}

#[test]
fn a_trace_that_was_changed_since_the_plan_is_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("a.trace");
    fs::write(&path, include_bytes!("sample.trace")).expect("writes");
    let mut parameters = ReplayParameters {
        trace: path.to_str().expect("UTF-8").to_owned(),
        ..ReplayParameters::default()
    };
    parameters.resolve(Bytes::gib(1)).expect("resolves");
    assert_eq!(parameters.sha256.len(), 64);
    let mut text = fs::read(&path).expect("reads");
    text.splice(0..0, *b" ");
    fs::write(&path, text).expect("writes");
    let problem = parameters
        .clone()
        .resolve(Bytes::gib(1))
        .expect_err("changed");
    assert!(problem.contains(&parameters.sha256), "{problem}");
    let context = RunContext::new(EngineKind::Psync, folder.path(), 3);
    let failure: Failure = replay(&parameters, &context).expect_err("changed").into();
    assert_eq!(failure.kind, FailureKind::BadInput);
}

#[test]
fn the_sample_is_prepared_in_one_phase_and_played_in_another() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut parameters = ReplayParameters::default();
    parameters.resolve(Bytes::gib(1)).expect("resolves");
    let context = RunContext::new(EngineKind::Psync, folder.path(), 3);
    parameters.part = fslab_job::PhasePart::Prepare;
    replay(&parameters, &context).expect("makes the files");
    parameters.part = fslab_job::PhasePart::Play;
    let finished = replay(&parameters, &context).expect("plays");
    assert_eq!(
        figure(&finished, "replay_differences"),
        0.0,
        "{:?}",
        finished.notes
    );
}
