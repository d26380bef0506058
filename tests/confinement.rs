//! No name of a trial leads out of the tree of its subject, whichever links stand in the tree.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{Desk, can_mount, is_root, skip, turn};

/// So many levels lead above any directory of a test.
const UP: &str = "../../../../../../../../../../../../../../../../..";

/// A directory of the host's that a trace would like to change.
struct Canary {
    folder: PathBuf,
    before: BTreeMap<PathBuf, String>,
}

impl Canary {
    fn new(desk: &Desk, owner: Option<u32>) -> Self {
        let folder = desk.path("canary");
        for name in ["", "empty", "full"] {
            fs::create_dir(folder.join(name)).expect("makes");
        }
        for name in [
            "open", "cut", "mode", "owner", "time", "gone", "moved", "linked", "read", "full/x",
        ] {
            fs::write(folder.join(name), format!("the content of {name}")).expect("writes");
        }
        let before = seen(&folder);
        let own = |path: &Path| std::os::unix::fs::chown(path, owner, owner).expect("chown");
        own(&folder);
        before.keys().for_each(|path| own(path));
        Self {
            before: seen(&folder),
            folder,
        }
    }

    #[track_caller]
    fn expect_unchanged(&self) {
        assert_eq!(seen(&self.folder), self.before);
    }
}

/// Everything below `folder`, with all that a call on a name could change.
fn seen(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(directory) = open.pop() {
        let own = fs::metadata(&directory).expect("is there");
        found.insert(
            directory.clone(),
            format!("{:o} {}", own.mode(), own.mtime_nsec()),
        );
        for entry in fs::read_dir(&directory).expect("lists").flatten() {
            let metadata = entry.metadata().expect("is there");
            if metadata.is_dir() {
                open.push(entry.path());
                continue;
            }
            let content = fs::read_to_string(entry.path()).unwrap_or_default();
            let (user, group, links) = (metadata.uid(), metadata.gid(), metadata.nlink());
            let time = (metadata.mtime(), metadata.mtime_nsec());
            let text = format!(
                "{:o} {user} {group} {links} {time:?} {content}",
                metadata.mode()
            );
            found.insert(entry.path(), text);
        }
    }
    found
}

/// A trace whose links lead to `canary`, and which does through them whatever can be done by name.
fn hostile_trace(canary: &Path) -> String {
    let relative = format!("{UP}{}", canary.display());
    let absolute = canary.display().to_string();
    let link = |path: &str, text: &str| {
        json!({ "before": {
            "path": path, "kind": "symlink", "bytes": 0, "mode": 0o777, "target": { "text": text },
        } })
    };
    let mut lines = vec![link("a", &relative), link("b", &absolute)];
    let mut calls = Vec::new();
    for (name, text) in [("c", &relative), ("d", &absolute)] {
        calls.push(json!({ "op": "symlink", "target": { "text": text }, "path": name }));
        let to = format!("{text}/open");
        let file = format!("{name}-file");
        calls.push(json!({ "op": "symlink", "target": { "text": to }, "path": file }));
    }
    let mut handles = 0;
    for through in ["a", "b", "c", "d"] {
        calls.extend(calls_through(through, &mut handles));
    }
    for through in ["c-file", "d-file"] {
        calls.extend(calls_on_file(through, &mut handles));
    }
    lines.extend((0_u64..).zip(calls).map(|(at, mut call)| {
        let common = json!({ "thread": 0, "at_ns": at * 10, "took_ns": 1, "result": 0 });
        let common = common.as_object().expect("a map").clone();
        call.as_object_mut().expect("a map").extend(common);
        json!({ "event": call })
    }));
    trace_of(handles, lines)
}

/// A trace whose files, made before it is played, stand behind links made before them.
fn trace_of_files_behind_links(canary: &Path) -> String {
    let link = json!({ "before": {
        "path": "a", "kind": "symlink", "bytes": 0, "mode": 0o777, "target": { "text": canary },
    } });
    let file = json!({ "before": {
        "path": "a/new", "kind": "file", "bytes": 9, "mode": 0o777,
    } });
    let event = json!({ "event": {
        "thread": 0, "at_ns": 1, "took_ns": 1, "result": 0,
        "op": "stat", "path": "a/new", "follow": true,
    } });
    trace_of(0, vec![link, file, event])
}

fn trace_of(handles: u32, lines: Vec<Value>) -> String {
    let header = json!({
        "fslab_trace": 1, "command": ["sh"], "root": "/x", "directory": null,
        "file_system": "ext4", "kernel": "6", "started_unix_s": 0, "took_ns": 1,
        "recorder": "strace", "exit": "0", "threads": 1, "handles": handles, "unseen": {},
    });
    let end = json!({ "end": { "lines": lines.len() } });
    let all = [header].into_iter().chain(lines).chain([end]);
    all.map(|line| format!("{line}\n")).collect()
}

fn opened(path: &str, flags: &str, handles: &mut u32) -> Vec<Value> {
    let handle = *handles;
    *handles += 1;
    vec![
        json!({ "op": "open", "path": path, "flags": flags, "mode": 0o666, "handle": handle }),
        json!({ "op": "write", "handle": handle, "length": 100 }),
        json!({ "op": "list", "handle": handle, "length": 4096 }),
        json!({ "op": "truncate", "handle": handle, "length": 3 }),
        json!({ "op": "chmod", "handle": handle, "mode": 0 }),
        json!({ "op": "chown", "handle": handle, "user": 1, "group": 1 }),
        json!({ "op": "touch", "handle": handle }),
        json!({ "op": "close", "handle": handle }),
    ]
}

fn calls_on_file(file: &str, handles: &mut u32) -> Vec<Value> {
    let mut calls = opened(file, "O_WRONLY|O_CREAT|O_TRUNC", handles);
    calls.extend([
        json!({ "op": "truncate", "path": file, "follow": true, "length": 1 }),
        json!({ "op": "chmod", "path": file, "follow": true, "mode": 0 }),
        json!({ "op": "chown", "path": file, "follow": true, "user": 1, "group": 1 }),
        json!({ "op": "touch", "path": file, "follow": true }),
        json!({ "op": "stat", "path": file, "follow": true }),
    ]);
    calls
}

fn calls_through(link: &str, handles: &mut u32) -> Vec<Value> {
    let at = |name: &str| format!("{link}/{name}");
    let own = format!("own-{link}");
    let mut calls = opened(&own, "O_WRONLY|O_CREAT", handles);
    for (name, flags) in [
        ("open", "O_WRONLY|O_CREAT|O_TRUNC"),
        ("new", "O_RDWR|O_CREAT|O_EXCL"),
        ("", "O_RDONLY|O_DIRECTORY"),
    ] {
        let path = at(name);
        calls.extend(opened(path.trim_end_matches('/'), flags, handles));
    }
    calls.extend(calls_on_file(&at("cut"), handles));
    calls.extend([
        json!({ "op": "chmod", "path": at("mode"), "follow": true, "mode": 0o777 }),
        json!({ "op": "chmod", "path": link, "follow": true, "mode": 0 }),
        json!({ "op": "chown", "path": at("owner"), "follow": false, "user": 1, "group": 1 }),
        json!({ "op": "touch", "path": at("time"), "follow": true }),
        json!({ "op": "access", "path": at("read"), "mode": "R_OK" }),
        json!({ "op": "readlink", "path": at("read") }),
        json!({ "op": "mkdir", "path": at("directory"), "mode": 0o777 }),
        json!({ "op": "rmdir", "path": at("empty") }),
        json!({ "op": "unlink", "path": at("gone") }),
        json!({ "op": "unlink", "path": at("full/x") }),
        json!({ "op": "rename", "path": at("moved"), "to": at("elsewhere"), "flags": "0" }),
        json!({ "op": "rename", "path": at("full"), "to": "stolen", "flags": "0" }),
        json!({ "op": "rename", "path": own, "to": at("brought"), "flags": "0" }),
        json!({ "op": "link", "path": at("linked"), "to": at("twice") }),
        json!({ "op": "link", "path": at("linked"), "to": format!("{own}-hard") }),
        json!({ "op": "symlink", "target": { "text": "x" }, "path": at("link") }),
    ]);
    calls
}

/// A study that plays the traces `first` and `second` one after the other in one tree, and goes on
/// in whatever way they end.
fn study(desk: &Desk, traces: &[&Path]) -> String {
    let mut text = "format = 1\nname = \"hostile\"\ntitle = \"Hostile\"\nsubjects = [\"ext4\"]\n\
                    size = \"64MiB\"\nrepeats = 1\ntrial_limit_s = 120\n"
        .to_owned();
    for (number, trace) in traces.iter().enumerate() {
        text.push_str(&format!(
            "[[phase]]\nname = \"replay-{number}\"\nworkload = \"replay\"\ntrace = \"{}\"\n\
             deviations_percent_max = 100.0\ncheck = false\ndirectory = \"replay{number}\"\n\
             cache = \"warm\"\n",
            trace.display()
        ));
    }
    fs::write(desk.path("hostile.toml"), text).expect("the study");
    "./hostile.toml".to_owned()
}

fn phases(run: &Value) -> Vec<Value> {
    run["trials"][0]["phases"]
        .as_array()
        .expect("phases")
        .clone()
}

/// Each call of the trace is issued, and those through its links find nothing.
#[track_caller]
fn expect_confined(desk: &Desk, canary: &Canary, options: &[&str]) {
    let trace = desk.path("hostile.trace");
    fs::write(&trace, hostile_trace(&canary.folder)).expect("the trace");
    let study = study(desk, &[&trace, &trace]);
    let run = [&["run", &study, "--out", "out"], options].concat();
    desk.run(&run).expect_code(0);
    canary.expect_unchanged();
    let run = desk.last_run();
    for phase in phases(&run) {
        assert_eq!(phase["outcome"], "done", "{phase}");
        let deviations = phase["figures"]["replay_deviations"].as_f64();
        assert!(
            deviations > Some(80.0),
            "what leads out is missing: {phase}"
        );
    }
    let fact = run["trials"][0]["facts"]["confinement"].as_str();
    assert!(
        fact.expect("a fact").starts_with("a separate root"),
        "{fact:?}"
    );
}

/// A recording of a program that makes a link and writes through it let the replay, as root,
/// change, delete and overwrite files of the host.
#[test]
fn links_of_a_trace_do_not_lead_root_out_of_a_mounted_file_system() {
    let test = "links of a trace, venue loop";
    let Some(_turn) = can_mount(test, &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let canary = Canary::new(&desk, None);
    let images = desk.path("images");
    let folder = images.to_str().expect("text");
    expect_confined(&desk, &canary, &["--venue", "loop", "--images", folder]);
    desk.expect_nothing_left();
}

/// The same by an ordinary user, whose own files the replay changed.
#[test]
fn links_of_a_trace_do_not_lead_a_user_out_of_a_directory() {
    let _turn = turn();
    let desk = Desk::new().unprivileged();
    let canary = Canary::new(&desk, is_root().then_some(65_534));
    if !may_make_namespaces() {
        skip(
            "links of a trace, venue dir",
            "users may not make namespaces",
        );
        return;
    }
    expect_confined(&desk, &canary, &["--venue", "dir"]);
}

/// Whether an ordinary user may confine anything here.
fn may_make_namespaces() -> bool {
    let number = fs::read_to_string("/proc/sys/user/max_user_namespaces");
    number.is_ok_and(|number| number.trim() != "0")
}

/// The files that a trace found are made before it is played, and were made behind its links.
#[test]
fn files_that_a_trace_found_are_not_made_behind_its_links() {
    let _turn = turn();
    let desk = Desk::new();
    let canary = Canary::new(&desk, None);
    let trace = desk.path("hostile.trace");
    fs::write(&trace, trace_of_files_behind_links(&canary.folder)).expect("the trace");
    let study = study(&desk, &[&trace]);
    desk.run(&["run", &study, "--venue", "dir", "--out", "out"])
        .expect_code(3);
    canary.expect_unchanged();
    let failure = &phases(&desk.last_run())[0]["failure"];
    let message = failure["message"].as_str().unwrap_or_default();
    assert!(message.contains("replay0/a/new"), "{failure}");
}

/// A trial that may not confine itself replayed a trace all the same.
#[test]
fn where_a_trial_may_not_have_its_own_root_a_trace_is_refused_and_the_rest_runs() {
    let (test, _turn) = ("a trial without a separate root", turn());
    let setpriv = Path::new("/usr/bin/setpriv");
    if !is_root() || !setpriv.exists() {
        skip(test, "it needs root and setpriv");
        return;
    }
    let desk = Desk::new();
    let canary = Canary::new(&desk, None);
    let trace = desk.path("hostile.trace");
    fs::write(&trace, hostile_trace(&canary.folder)).expect("the trace");
    let study = study(&desk, &[&trace]);
    let mut text = fs::read_to_string(desk.path("hostile.toml")).expect("reads");
    text.push_str("group = \"other\"\n");
    text.push_str("[[phase]]\nname = \"write\"\nworkload = \"write\"\nfile_size = \"1MiB\"\n");
    fs::write(desk.path("hostile.toml"), text).expect("the study");
    let mut command = std::process::Command::new(setpriv);
    command.args(["--bounding-set=-sys_chroot", env!("CARGO_BIN_EXE_fslab")]);
    command.args(["run", &study, "--venue", "dir", "--out", "out"]);
    desk.run_as_is(command).expect_code(3);
    canary.expect_unchanged();
    let run = desk.last_run();
    let fact = run["trials"][0]["facts"]["confinement"].as_str();
    assert!(fact.expect("a fact").starts_with("none: "), "{fact:?}");
    let phases = phases(&run);
    let message = phases[0]["failure"]["message"].as_str();
    assert!(
        message.is_some_and(|it| it.contains("could lead out")),
        "{}",
        phases[0]
    );
    assert_eq!(phases[1]["outcome"], "done", "{}", phases[1]);
}

/// What a trace's links point to within its directory is found as it was.
#[test]
fn an_honest_trace_whose_links_stay_inside_is_issued_without_deviations() {
    let desk = Desk::new();
    let script = "cd work; mkdir -p in/deep; seq 99 > in/f; ln -s ../f in/deep/up; \
                  ln -s \"$PWD/in\" whole; cat in/deep/up whole/f > sum; echo more >> whole/f; \
                  mv in/f in/g; rm in/deep/up; chmod 600 in/g; ls whole";
    if desk.record_trace("an honest trace", script).is_none() {
        return;
    }
    let run = desk.replay_trace();
    let phase = phases(&run).pop().expect("a phase");
    assert_eq!(phase["figures"]["replay_deviations"], 0.0, "{phase}");
    assert_eq!(phase["figures"]["replay_differences"], 0.0, "{phase}");
}

/// Asking whether it may change its root left the trial of an ordinary user in `/`, where a
/// relative directory was another one.
#[test]
fn a_trial_by_hand_of_a_user_works_in_its_relative_directory_and_starts_programs_there() {
    let desk = Desk::new().unprivileged();
    let work = desk.path("work");
    fs::create_dir(&work).expect("makes");
    let owner = is_root().then_some(65_534);
    std::os::unix::fs::chown(&work, owner, owner).expect("chown");
    let phase = |name: &str, parameters: Value| {
        json!({
            "name": name, "workload": name, "cache": "keep", "settle": false, "group": name,
            "parameters": parameters,
        })
    };
    let spec = json!({
        "format": 1, "trial": { "cell": 0, "repeat": 0 }, "subject": "ext4", "seed": 1,
        "device": { "device": "directory", "path": "work" }, "size_bytes": 1 << 30,
        "cold": "evict", "engine": "psync", "allow_commands": true,
        "phases": [
            phase("web-publish", json!({ "files": 10 })),
            phase("web-server", json!({ "files": 10, "server": "embedded", "workers": 2 })),
            phase("command", json!({ "argv": ["touch", "made"] })),
            phase("sqlite", json!({ "transactions": 3 })),
        ],
    });
    let ended = desk.run_with_input(&["trial"], &spec.to_string());
    ended.expect_code(0);
    assert_eq!(
        ended.out.matches("\"outcome\":\"done\"").count(),
        4,
        "{}",
        ended.out
    );
    assert!(work.join("command/made").exists() && work.join("sqlite.db").exists());
}
