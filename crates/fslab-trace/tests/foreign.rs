//! Traces of the files of other tools: fio's iologs (3.33 wrote `iolog-v3.log`), strace's output
//! (6.1 wrote `sh.strace`; lines about the loading of programs were removed, the directory was
//! renamed), and the text of blkparse (`blkparse.txt` is in the form of its source, 1.2).

use std::path::Path;

use fslab_trace::{EntryKind, ForeignTrace, Operation, Trace};

const IOLOG: &str = include_str!("iolog-v3.log");
const STRACE: &str = include_str!("sh.strace");
const BLKPARSE: &str = include_str!("blkparse.txt");

fn trace(text: &str) -> Trace {
    Trace::parse(text.as_bytes(), Path::new("f")).expect("a trace")
}

fn refused(text: &str) -> String {
    let failure = Trace::parse(text.as_bytes(), Path::new("f")).expect_err("must be refused");
    assert!(failure.hint.is_some());
    failure.to_string()
}

fn count(trace: &Trace, name: &str) -> usize {
    let of_name = trace
        .events
        .iter()
        .filter(|event| event.operation.name() == name);
    of_name.count()
}

#[test]
fn an_iolog_of_version_3_has_the_times_and_places_of_its_lines() {
    let trace = trace(IOLOG);
    let lines = |action: &str| IOLOG.lines().filter(|line| line.contains(action)).count();
    assert_eq!(count(&trace, "read"), lines(" read "));
    assert_eq!(count(&trace, "write"), lines(" write "));
    assert_eq!((count(&trace, "open"), count(&trace, "close")), (1, 1));
    assert_eq!(trace.files.len(), 1);
    assert_eq!(
        (trace.files[0].path.to_string(), trace.files[0].bytes),
        ("iof".to_owned(), 65_536)
    );
    let first = &trace.events[1];
    assert_eq!(first.at_ns, 204_000);
    let Operation::Read { length, offset, .. } = first.operation else {
        panic!("{first:?}");
    };
    assert_eq!((length, offset), (4096, Some(0)));
}

#[test]
fn an_iolog_of_version_2_has_waits_and_no_name_leads_out_of_the_directory() {
    let text = "fio version 2 iolog\n../../etc/x add\n../../etc/x open\n../../etc/x write 0 512\n\
                ../../etc/x wait 70 0\n../../etc/x datasync 0 0\n/a trim 4096 4096\n";
    let trace = trace(text);
    let names: Vec<String> = trace
        .files
        .iter()
        .map(|file| file.path.to_string())
        .collect();
    assert_eq!(names, ["a", "etc", "etc/x"]);
    assert_eq!(trace.files[1].kind, EntryKind::Directory);
    let sync = trace
        .events
        .iter()
        .find(|event| event.operation.name() == "fdatasync");
    assert_eq!(
        sync.or(trace.events.get(2)).map(|it| it.at_ns),
        Some(70_000)
    );
    assert_eq!(count(&trace, "close"), 2);
    for (line, problem) in [
        ("a read 0", "line 2 is no line of an iolog"),
        (
            "a read 18446744073709551615 9",
            "line 2 is no line of an iolog",
        ),
        ("a fly 0 1", "line 2 is no line of an iolog"),
        (".. open", "line 2 is no line of an iolog"),
    ] {
        let shown = refused(&format!("fio version 2 iolog\n{line}\n"));
        assert!(shown.contains(problem), "{shown}");
    }
    assert!(refused("fio version 9 iolog\n").contains("version 9"));
}

/// The parts of the device that were not accessed take no room.
#[test]
fn requests_of_a_device_are_reads_and_writes_of_a_file_without_its_gaps() {
    let trace = trace(BLKPARSE);
    assert_eq!((count(&trace, "write"), count(&trace, "read")), (2, 1));
    assert_eq!(trace.files[0].path.to_string(), "device-8-0");
    assert_eq!(trace.files[0].bytes, 2 << 20);
    let read = trace.events.iter().find_map(|event| match event.operation {
        Operation::Read { offset, length, .. } => Some((event.at_ns, offset, length)),
        _ => None,
    });
    assert_eq!(read, Some((500_000, Some(1 << 20), 4096)));
    assert_eq!(trace.header.unseen["discard"], 1);
    let huge = BLKPARSE.replace("2048 + 128", "2048 + 99999999999999");
    assert!(refused(&huge).contains("at most 64 MiB"));
}

#[test]
fn the_output_of_a_foreign_strace_is_translated_below_its_working_directory() {
    let trace = trace(STRACE);
    assert_eq!(trace.header.root, "/srv/work/st");
    let before: Vec<(String, u64)> = trace
        .files
        .iter()
        .map(|file| (file.path.to_string(), file.bytes))
        .collect();
    assert_eq!(before, [("in.txt".to_owned(), 9)]);
    let made = trace
        .events
        .iter()
        .filter_map(|event| match &event.operation {
            Operation::Mkdir { path, .. } => Some(path.to_string()),
            Operation::Rename { to, .. } => Some(to.to_string()),
            Operation::Unlink { path } => Some(path.to_string()),
            _ => None,
        });
    let made: Vec<String> = made.collect();
    assert_eq!(made, ["d", "d/e", "d/a, (b)"]);
    assert!(trace.header.threads > 1);
}

#[test]
fn what_strace_was_not_asked_for_is_named_by_its_option() {
    let without = |begin: char, end: char| -> String {
        let cut = |line: &str| match (line.rfind(begin), line.rfind(end)) {
            (Some(a), Some(b)) if a < b && line[a..].contains('.') => line[..a].to_owned(),
            _ => line.to_owned(),
        };
        STRACE
            .lines()
            .map(|line| cut(line.trim_end()) + "\n")
            .collect()
    };
    let no_paths = STRACE.replace("AT_FDCWD</srv/work/st>", "AT_FDCWD");
    let relative: String = STRACE
        .lines()
        .map(|line| line.replacen("1796062925.", "12:05:25.", 1) + "\n")
        .collect();
    for (text, option) in [
        (no_paths, "which -y prints"),
        (relative, "which -ttt prints"),
        (without('<', '>'), "which -T prints"),
    ] {
        let shown = refused(&text);
        assert!(shown.contains(option), "{shown}");
    }
}

/// Damaged and mixed files are refused or read, without a panic and without a name outside.
#[test]
fn no_damage_to_a_foreign_trace_makes_its_reader_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let older = "fio version 2 iolog\na add\na open\na read 0 4096\na wait 5 0\na close\n";
    for round in 0..3000 {
        let mut bytes = [IOLOG, STRACE, BLKPARSE, older][round % 4]
            .as_bytes()
            .to_vec();
        for _ in 0..random(6) {
            let place = random(bytes.len());
            bytes[place] = 0x20 + random(0x5f) as u8;
        }
        bytes.truncate(random(bytes.len()) + 1);
        if let Ok(trace) = Trace::parse(&bytes, Path::new("f")) {
            let names = trace.files.iter().map(|file| file.path.to_string());
            assert!(
                names
                    .clone()
                    .all(|name| !name.split('/').any(|part| part == ".."))
            );
            assert!(names.clone().all(|name| !name.starts_with('/')));
        }
    }
    assert_eq!(ForeignTrace::of(BLKPARSE), Some(ForeignTrace::Blkparse));
}
