//! Every workload of the registry stays in the tree of its subject.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fslab_engine::{EngineKind, RunContext, StopFlag};
use fslab_model::{
    Bytes, CachePolicy, ColdMethod, DeviceSpec, Event, EventBody, Parameters, PhaseSpec, Subject,
    TrialSpec,
};
use serde_json::Value;

const SIZE: Bytes = Bytes::mib(32);

/// Parameters that shorten workloads with a long default.
fn given(workload: &str) -> Parameters {
    let given = match workload {
        "command" => r#"{"argv": ["touch", "made-by-a-program"]}"#,
        _ => "{}",
    };
    serde_json::from_str(given).expect("a map")
}

/// Every text parameter, and its first directory: the names of files and directories are among
/// them.
fn texts(parameters: &Parameters) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<&Value> = parameters.values().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if !text.is_empty() && !text.starts_with('/') => {
                found.extend(text.split('/').next().map(str::to_owned));
            }
            Value::Array(values) => open.extend(values),
            Value::Object(values) => open.extend(values.values()),
            _ => {}
        }
    }
    found.sort();
    found.dedup();
    found
}

/// A tree in which every name in `parameters` is a link to the canary beside it: for `odd` ones
/// relative, else absolute, and to a file or a directory.
fn set_traps(folder: &Path, parameters: &Parameters, files: &[PathBuf], turn: usize) -> PathBuf {
    let tree = folder.join(format!("tree{turn}"));
    fs::create_dir(&tree).expect("makes");
    let canary = ["canary/file", "canary/folder"][turn % 2];
    let target = match turn / 2 % 2 {
        0 => Path::new("..").join(canary),
        _ => folder.join(canary),
    };
    let first = |file: &PathBuf| {
        file.iter()
            .next()
            .map(|it| it.to_string_lossy().into_owned())
    };
    let mut names = texts(parameters);
    names.extend(files.iter().filter_map(first));
    names.sort();
    names.dedup();
    for name in names.iter().filter(|name| *name != "." && *name != "..") {
        symlink(&target, tree.join(name)).expect("links");
    }
    tree
}

/// Every path of the canary, with all properties that a call could change.
fn canary_of(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.join("canary")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("lists").flatten() {
            let it = entry.metadata().expect("is there");
            if it.is_dir() {
                open.push(entry.path());
            }
            let content = fs::read(entry.path()).unwrap_or_default();
            let owner = (it.mode(), it.uid(), it.nlink(), it.mtime_nsec());
            found.insert(entry.path(), format!("{owner:?} {content:?}"));
        }
    }
    found
}

fn scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a directory");
    fs::create_dir_all(folder.path().join("canary/folder/below")).expect("makes");
    for name in [
        "canary/file",
        "canary/folder/file",
        "canary/folder/below/file",
    ] {
        fs::write(folder.path().join(name), "alive").expect("writes");
    }
    folder
}

fn is_superuser() -> bool {
    let is = fslab_sys::is_superuser();
    if !is {
        eprintln!("skipped: a test binary has several threads, so that it needs root");
    }
    is
}

fn spec(tree: PathBuf, phases: Vec<PhaseSpec>) -> TrialSpec {
    TrialSpec {
        phases,
        allow_commands: true,
        ..TrialSpec::first(
            Subject::plain("ext4"),
            DeviceSpec::Directory { path: tree },
            SIZE,
            ColdMethod::Evict,
        )
    }
}

fn events(spec: &TrialSpec, stop: &StopFlag) -> Vec<EventBody> {
    let mut output = Vec::new();
    fslab_trial::run_trial(spec, stop, &mut output).expect("memory takes events");
    let text = String::from_utf8(output).expect("text");
    let event = |line| serde_json::from_str::<Event>(line).expect("an event").body;
    text.lines().map(event).collect()
}

/// A flag that is raised soon: a workload follows links at its start.
fn soon() -> StopFlag {
    let stop = StopFlag::new();
    let raised = stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        raised.raise();
    });
    stop
}

/// Whatever names a workload used for its files, a link of that name in the tree led it to the
/// host's.
#[test]
fn no_workload_follows_a_link_out_of_the_tree() {
    if !is_superuser() {
        return;
    }
    for workload in fslab_workload::all() {
        let scene = scene();
        let before = canary_of(scene.path());
        let name = workload.name();
        let parameters = workload.resolve(&given(name), SIZE).expect("resolves");
        let files = workload.data_files(&parameters, 1).expect("resolved");
        let files = files.unwrap_or_default();
        for (turn, cache) in [
            CachePolicy::Keep,
            CachePolicy::Warm,
            CachePolicy::Cold,
            CachePolicy::Keep,
        ]
        .into_iter()
        .enumerate()
        {
            let tree = set_traps(scene.path(), &parameters, &files, turn);
            let phase = PhaseSpec {
                cache,
                ..PhaseSpec::new("phase", name, parameters.clone())
            };
            let events = events(&spec(tree, vec![phase]), &soon());
            let ran = events.iter().any(|it| matches!(it, EventBody::Phase(_)));
            assert!(ran, "{name}: {events:?}");
            assert_eq!(canary_of(scene.path()), before, "{name}, {cache:?}");
        }
    }
}

/// The links of the test above do point out: without confinement the canary is changed.
#[test]
fn without_confinement_the_same_links_are_followed() {
    let scene = scene();
    let before = canary_of(scene.path());
    let write = fslab_workload::find("write").expect("is there");
    let parameters = write.resolve(&Parameters::new(), SIZE).expect("resolves");
    let files = write
        .data_files(&parameters, 1)
        .expect("resolved")
        .unwrap_or_default();
    let tree = set_traps(scene.path(), &parameters, &files, 0);
    let context = RunContext::new(EngineKind::Psync, tree, 1);
    let _ = write.run(&parameters, &context);
    assert_ne!(canary_of(scene.path()), before);
}

/// A program is not confined: in a tree of links from a trace it would have followed them.
#[test]
fn no_program_is_started_in_a_tree_with_links_of_a_trace() {
    if !is_superuser() {
        return;
    }
    let scene = scene();
    let before = canary_of(scene.path());
    let target = scene.path().join("canary/folder");
    let trace = scene.path().join("the.trace");
    let header = r#"{"fslab_trace":1,"command":["sh"],"root":"/x","directory":null,
        "file_system":"ext4","kernel":"6","started_unix_s":0,"took_ns":1,"recorder":"strace",
        "exit":"0","threads":1,"handles":0,"unseen":{}}"#;
    let link = serde_json::json!({ "event": {
        "thread": 0, "at_ns": 1, "took_ns": 1, "result": 0,
        "op": "symlink", "target": { "text": target }, "path": "x",
    } });
    let text = format!(
        "{}\n{link}\n{{\"end\":{{\"lines\":1}}}}\n",
        header.replace('\n', "")
    );
    fs::write(&trace, text).expect("writes");
    let phase = |name: &str, parameters: Value| {
        let given = serde_json::from_value(parameters).expect("a map");
        let workload = fslab_workload::find(name).expect("is there");
        let parameters = workload.resolve(&given, SIZE).expect("resolves");
        PhaseSpec {
            group: Some(name.into()),
            ..PhaseSpec::new(name, name, parameters)
        }
    };
    let tree = scene.path().join("tree");
    fs::create_dir(&tree).expect("makes");
    let phases = vec![
        phase(
            "replay",
            serde_json::json!({ "trace": trace, "directory": "d" }),
        ),
        phase(
            "command",
            serde_json::json!({ "argv": ["touch", "x/y"], "directory": "d" }),
        ),
        phase("web-server", serde_json::json!({ "directory": "d/x" })),
    ];
    let events = events(&spec(tree.clone(), phases), &StopFlag::new());
    assert!(tree.join("d/x").is_symlink(), "{events:?}");
    assert_eq!(canary_of(scene.path()), before, "{events:?}");
    let stated = format!("{events:?}");
    assert_eq!(
        stated
            .matches("cannot start a program in a directory with the link")
            .count(),
        2,
        "{stated}"
    );
}
