//! The translation of strace's output of a real program.
//!
//! The program is a perl script that appends to a file, duplicates and inherits it, creates, moves,
//! links and removes names, fails three times, and ends with an execve(2). Lines about the loading
//! of perl were removed from the output.

use std::path::Path;

use fslab_trace::{
    CallOutcome, Header, LinkTarget, Operation, Place, Schedule, Trace, TraceEvent, Translation,
    Wait, translate,
};

const PERL: &str = include_str!("perl.strace");

fn perl() -> Translation {
    let root = Path::new("/srv/root");
    translate(PERL, root, root).expect("strace's output")
}

/// The events of one kind of operation.
fn all<'a>(events: &'a [TraceEvent], name: &str) -> Vec<&'a TraceEvent> {
    events
        .iter()
        .filter(|event| event.operation.name() == name)
        .collect()
}

fn path(event: &TraceEvent) -> String {
    match &event.operation {
        Operation::Open { path, .. }
        | Operation::Mkdir { path, .. }
        | Operation::Unlink { path }
        | Operation::Stat {
            place: Place::Path { path, .. },
        } => path.to_string(),
        other => panic!("{other:?} has no path"),
    }
}

#[test]
fn every_call_below_the_folder_has_its_event_and_nothing_else_has() {
    let done = perl();
    let expected = [
        ("open", 5),
        ("close", 3),
        ("dup", 1),
        ("read", 2),
        ("write", 2),
        ("seek", 5),
        ("stat", 9),
        ("mkdir", 2),
        ("rename", 1),
        ("link", 1),
        ("symlink", 1),
        ("readlink", 1),
        ("chmod", 1),
        ("utimens", 1),
        ("truncate", 1),
        ("getdents", 1),
        ("unlink", 2),
        ("rmdir", 1),
        ("spawn", 1),
        ("wait", 1),
        ("exec", 2),
        ("exit", 2),
    ];
    for (name, count) in expected {
        assert_eq!(all(&done.events, name).len(), count, "{name}");
    }
    let counted: usize = expected.iter().map(|(_, count)| count).sum();
    assert_eq!(done.events.len(), counted);
    assert_eq!(done.threads, 2);
    assert!(done.events.is_sorted_by_key(|event| event.at_ns));
    // ioctl(2) for a terminal is no operation on a file.
    let unseen: Vec<_> = done.unseen.iter().collect();
    assert_eq!(unseen, [(&"ioctl TCGETS".to_owned(), &3)]);
}

#[test]
fn paths_are_relative_to_the_folder_in_any_working_directory() {
    let done = perl();
    let opened: Vec<_> = all(&done.events, "open").into_iter().map(path).collect();
    // The last one by the child, which had changed its directory.
    assert_eq!(opened, ["in/x", "way/new", "missing", "dir", "dir/y"]);
    let Operation::Open { real, .. } = &all(&done.events, "open")[1].operation else {
        panic!("an open")
    };
    assert_eq!(
        real.as_ref().map(ToString::to_string),
        Some("in/new".into())
    );
    let removed: Vec<_> = all(&done.events, "unlink").into_iter().map(path).collect();
    assert_eq!(removed, ["hard", "abs"], "the second by its absolute name");
    let Operation::Symlink { target, .. } = &all(&done.events, "symlink")[0].operation else {
        panic!("a symlink")
    };
    assert!(matches!(target, LinkTarget::Below(path) if path.to_string() == "dir"));
    assert!(done.listed.iter().any(|path| path.to_string() == "dir"));
}

#[test]
fn failures_are_kept_with_their_errno() {
    let failed: Vec<_> = perl()
        .events
        .into_iter()
        .filter_map(|event| match event.outcome {
            CallOutcome::Error(name) => Some((event.operation.name(), name)),
            CallOutcome::Result(_) => None,
        })
        .collect();
    let expected = [
        ("open", "ENOENT"),
        ("mkdir", "EEXIST"),
        ("rmdir", "ENOTEMPTY"),
    ];
    assert_eq!(failed, expected.map(|(call, name)| (call, name.to_owned())));
}

#[test]
fn inherited_open_files_get_new_numbers_and_exec_closes_them() {
    let done = perl();
    let Operation::Spawn { child, inherited } = &all(&done.events, "spawn")[0].operation else {
        panic!("a spawn")
    };
    // in/x, its duplicate, and in/new.
    let parents: Vec<_> = inherited.iter().map(|(old, _)| *old).collect();
    assert_eq!((*child, parents), (1, vec![0, 1, 2]));
    let reads: Vec<_> = all(&done.events, "read")
        .into_iter()
        .map(|event| match event.operation {
            Operation::Read { handle, .. } => (event.thread, handle),
            ref other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(reads[0], (0, 0));
    assert_eq!(reads[1], (1, inherited[0].1));
    let Operation::Exit { closed } = &all(&done.events, "exit")[0].operation else {
        panic!("an exit")
    };
    let news = inherited.iter().map(|(_, new)| *new);
    assert!(news.clone().all(|new| closed.contains(&new)), "{closed:?}");
    // perl opens with O_CLOEXEC: the parent's open file is closed when it executes /bin/true.
    let Operation::Exec { closed } = &all(&done.events, "exec")[1].operation else {
        panic!("an exec")
    };
    assert_eq!(closed, &[0]);
}

#[test]
fn the_parent_waits_for_its_childs_end_and_the_child_for_earlier_operations() {
    let done = perl();
    let trace = Trace {
        header: Header {
            threads: done.threads,
            handles: done.handles,
            ..Header::default()
        },
        events: done.events,
        ..Trace::default()
    };
    let schedule = Schedule::of(&trace);
    let lane = &schedule.lanes[0];
    let waits_of = |name: &str| {
        let step = lane
            .steps
            .iter()
            .find(|step| trace.events[step.event].operation.name() == name);
        step.map(|step| step.waits.clone()).expect(name)
    };
    let all_of_child = u32::try_from(schedule.lanes[1].steps.len()).expect("few");
    let wait = Wait {
        thread: 1,
        steps: all_of_child,
    };
    assert_eq!(waits_of("wait"), [wait]);
    // The child removes a name that the parent made: it waits for the parent's last use.
    let steps = schedule.lanes[1].steps.iter();
    let until_unlink =
        steps.take_while(|step| trace.events[step.event].operation.name() != "rmdir");
    let waited = until_unlink
        .flat_map(|step| &step.waits)
        .map(|wait| wait.steps)
        .max();
    let last_use = lane
        .steps
        .iter()
        .position(|step| trace.events[step.event].operation.name() == "truncate")
        .expect("truncates");
    assert!(
        waited.is_some_and(|steps| steps as usize > last_use),
        "{waited:?}"
    );
}

#[test]
fn a_trace_survives_a_round_trip_and_a_truncated_file_is_refused() {
    let done = perl();
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("a.trace");
    let trace = Trace {
        header: Header {
            command: vec!["perl".into()],
            threads: done.threads,
            handles: done.handles,
            unseen: done.unseen,
            ..Header::default()
        },
        events: done.events,
        ..Trace::default()
    };
    trace.write(&path).expect("writes");
    assert_eq!(Trace::read(&path).expect("reads"), trace);
    let text = std::fs::read_to_string(&path).expect("reads");
    let lines: Vec<_> = text.lines().collect();
    let refusals = [
        (lines[..lines.len() - 1].join("\n"), "it was cut"),
        (
            text.replace("\"fslab_trace\":1", "\"fslab_trace\":2"),
            "format 2",
        ),
        (
            text.replacen("\"handle\":0", "\"handle\":99", 1),
            "no open file 99",
        ),
        (
            text.replacen("\"thread\":1", "\"thread\":9", 1),
            "no thread 9",
        ),
        (
            text.replacen("\"op\":\"read\"", "\"op\":\"raed\"", 1),
            "is not readable",
        ),
        // These counts size tables, so they are checked first.
        (
            text.replacen("\"threads\":", "\"threads\":429496729", 1),
            "threads; at most 65536",
        ),
        (
            text.replacen("\"handles\":", "\"handles\":42949672", 1),
            "open files; at most 4194304",
        ),
        (String::new(), "it is empty"),
    ];
    for (text, word) in refusals {
        std::fs::write(&path, text).expect("writes");
        let error = Trace::read(&path).expect_err(word);
        assert!(error.to_string().contains(word), "{error}");
    }
}
