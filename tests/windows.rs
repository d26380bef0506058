//! The build for Windows, under Wine: a comparison in a directory, and what reads its run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

use crate::harness::{skip, turn};
use crate::interruption::wait_for_first_trial;

const WINE: &str = "/usr/lib/wine/wine64";
const PROGRAM: &str = "target/cross/x86_64-pc-windows-gnu/debug/fslab.exe";

/// A separate Windows, with the program.
struct Windows {
    folder: tempfile::TempDir,
}

impl Windows {
    /// `None`, with the reason, where Wine or the program is missing.
    fn find(test: &str) -> Option<Self> {
        Self::with(test, PROGRAM, "cargo xtask cross x86_64-windows")
    }

    /// The same with another program, which `build` makes.
    fn with(test: &str, program: &str, build: &str) -> Option<Self> {
        let root = root();
        let program = root.join(program);
        let Ok(built) = fs::metadata(&program).and_then(|it| it.modified()) else {
            let what = program.file_name().unwrap_or_default().display();
            skip(test, &format!("there is no {what}: `{build}` builds it"));
            return None;
        };
        if newest(&root.join("crates")) > built {
            skip(
                test,
                &format!("what was built for Windows is older than the sources: `{build}`"),
            );
            return None;
        }
        if !Path::new(WINE).exists() {
            skip(test, "there is no Wine: `scripts/setup cross` installs it");
            return None;
        }
        let folder = tempfile::tempdir().expect("a directory");
        let at = |name: &str| folder.path().join(name);
        fs::hard_link(&program, at("fslab.exe"))
            .or_else(|_| fs::copy(&program, at("fslab.exe")).map(drop))
            .expect("the program");
        fs::create_dir(at("data")).expect("a directory");
        for study in ["study.toml", "long.toml"] {
            let from = root.join("tests/windows").join(study);
            fs::copy(from, at(study)).expect("the study");
        }
        // Wine 8 lacks one library of Windows 10.
        let compiled = Command::new("x86_64-w64-mingw32-gcc")
            .args(["-O2", "-shared", "-o"])
            .arg(at("bcryptprimitives.dll"))
            .arg(root.join("tests/windows/bcryptprimitives.c"))
            .arg("-ladvapi32")
            .status();
        assert!(
            compiled.is_ok_and(|it| it.success()),
            "the library compiles"
        );
        Some(Self { folder })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(WINE);
        command
            .arg("fslab.exe")
            .args(arguments)
            .current_dir(self.folder.path())
            .env("WINEPREFIX", self.folder.path().join("prefix"))
            .env("WINEDEBUG", "-all")
            .env_remove("DISPLAY");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("Wine starts")
    }

    /// Demands that no trial has left anything in the measured directory.
    fn expect_nothing_left(&self) {
        let left = fs::read_dir(self.path("data")).expect("listed").flatten();
        let left: Vec<_> = left.map(|entry| entry.path()).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }

    /// The output of a command that ends with `code`.
    fn expect(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let ended = self.run(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        let (out, err) = (text(&ended.stdout), text(&ended.stderr));
        assert_eq!(
            ended.status.code(),
            Some(code),
            "{arguments:?}:\n{out}\n{err}"
        );
        (out, err)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        // Wine's server stays for a while after the last program, and writes to the directory.
        let _ = Command::new("/usr/lib/wine/wineserver64")
            .arg("--kill")
            .env("WINEPREFIX", self.path("prefix"))
            .status();
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The time of the last change below `folder`.
fn newest(folder: &Path) -> SystemTime {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let times = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => newest(&entry.path()),
        _ => entry
            .metadata()
            .and_then(|it| it.modified())
            .unwrap_or(SystemTime::UNIX_EPOCH),
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

#[test]
fn a_directory_is_measured_on_windows_by_every_engine_and_its_run_is_read_here() {
    let test = "a_directory_is_measured_on_windows_by_every_engine_and_its_run_is_read_here";
    let _turn = turn();
    let Some(windows) = Windows::find(test) else {
        return;
    };
    let store = ["--store", "store.db"];
    let (out, _) = windows.expect(
        0,
        &[
            &[
                "compare",
                "--study",
                "study.toml",
                "--venue",
                "dir",
                "--dir",
                "data",
            ][..],
            &["--repeats", "2", "--out", "out", "--allow-commands"],
            &store,
        ]
        .concat(),
    );
    assert!(out.contains("All 2 trials ran to the end."), "{out}");
    windows.expect_nothing_left();
    let export = ["export", "--format", "json", "-o", "run.json"];
    windows.expect(0, &[&export[..], &store].concat());
    let run = fs::read(windows.path("run.json")).expect("exported");
    let run: serde_json::Value = serde_json::from_slice(&run).expect("JSON");
    assert_phases_of_windows(&run);
    windows.expect(0, &[&["report", "--out", "web"][..], &store].concat());
    let pages = fs::read_dir(windows.path("web"))
        .expect("a directory")
        .flatten();
    assert!(
        pages
            .map(|it| it.path())
            .any(|it| it.extension().is_some_and(|it| it == "html"))
    );
    windows.expect(
        0,
        &[&["import", "run.json"][..], &["--store", "other.db"]].concat(),
    );
    let (listed, _) = windows.expect(0, &["list", "--store", "other.db"]);
    assert!(listed.contains("2/2"), "{listed}");
    // A run against itself: no difference, and a gate that passes.
    let (diff, _) = windows.expect(0, &[&["diff", "last", "last"][..], &store].concat());
    assert!(diff.contains("Stream"), "{diff}");
    windows.expect(0, &[&["gate", "last", "last"][..], &store].concat());
    windows.expect(0, &[&["gate", "last", "run.json"][..], &store].concat());
    let (csv, _) = windows.expect(0, &[&["export", "--format", "csv"][..], &store].concat());
    assert!(csv.lines().count() > 20, "{csv}");
}

/// What was measured, what was skipped with a reason, and the calls that stand behind it.
fn assert_phases_of_windows(run: &serde_json::Value) {
    let facts = &run["trials"][0]["facts"];
    assert_eq!(facts["platform"], "Windows");
    assert_eq!(facts["clock"], "QueryPerformanceCounter");
    assert_eq!(facts["calls.unbuffered"], "FILE_FLAG_NO_BUFFERING");
    let phases = run["trials"][0]["phases"].as_array().expect("phases");
    let done = |name: &str| {
        let phase = phases.iter().find(|phase| phase["name"] == name);
        let phase = phase.expect(name);
        assert_eq!(phase["outcome"], "done", "{phase}");
        assert!(phase["elapsed_ns"].as_u64() > Some(0), "{phase}");
    };
    for name in [
        "write",
        "queue",
        "queue-write",
        "unbuffered",
        "write-through",
        "mapped",
        "stream",
        "threads",
        "program",
        "create",
        "stat",
        "unlink",
    ] {
        done(name);
    }
    let phase = |name: &str| {
        phases
            .iter()
            .find(|phase| phase["name"] == name)
            .expect("it")
    };
    assert_eq!(
        phase("threads")["threads"].as_array().map(Vec::len),
        Some(4)
    );
    for (name, reason) in [
        ("chmod", "chmod"),
        ("cold", "cold"),
        ("barrier", "needs macOS: barrier"),
    ] {
        let phase = phase(name);
        assert_eq!(phase["outcome"], "skipped", "{phase}");
        let said = phase["reason"].as_str().expect("a reason");
        assert!(said.contains(reason), "{said}");
    }
}

/// The unit tests of the crates that differ between platforms.
#[test]
fn unit_tests_pass_on_windows() {
    let test = "unit_tests_pass_on_windows";
    for name in ["fslab_sys", "fslab_engine", "fslab_job", "fslab_store"] {
        let program = format!("target/cross/tests/x86_64-windows/{name}.exe");
        let build = "cargo xtask cross x86_64-windows --tests";
        let Some(windows) = Windows::with(test, &program, build) else {
            return;
        };
        let (out, _) = windows.expect(0, &[]);
        let passed = out.split_once("test result: ok. ");
        let passed = passed.and_then(|(_, rest)| rest.split(' ').next()?.parse::<u32>().ok());
        assert!(passed > Some(10), "{name}: {out}");
    }
}

#[test]
fn what_windows_lacks_is_refused_by_name() {
    let Some(windows) = Windows::find("what_windows_lacks_is_refused_by_name") else {
        return;
    };
    for (arguments, what) in [
        (&["compare", "ext4", "--venue", "sim"][..], "guest"),
        (&["compare", "ext4", "--venue", "loop"], "loop"),
        (&["lab", "build"], "labs"),
    ] {
        let (_, err) = windows.expect(4, arguments);
        assert!(err.contains("needs Linux") && err.contains(what), "{err}");
    }
    let (out, _) = windows.expect(0, &["platform"]);
    assert!(out.contains("this platform is Windows"), "{out}");
}

const LONG: [&str; 11] = [
    "compare",
    "--study",
    "long.toml",
    "--venue",
    "dir",
    "--dir",
    "data",
    "--out",
    "out",
    "--store",
    "store.db",
];

#[test]
fn a_trial_ends_at_its_limit_and_ctrl_c_keeps_what_is_done_on_windows() {
    let test = "a_trial_ends_at_its_limit_and_ctrl_c_keeps_what_is_done_on_windows";
    let _turn = turn();
    let Some(windows) = Windows::find(test) else {
        return;
    };
    let mut study = fs::read_to_string(windows.path("long.toml")).expect("the study");
    study = study.replace("400000", "4000000000");
    fs::write(windows.path("endless.toml"), study).expect("written");
    let endless = LONG.map(|word| match word {
        "long.toml" => "endless.toml",
        other => other,
    });
    let limited = [&endless[..], &["--repeats", "1", "--trial-limit", "3s"]].concat();
    let (out, err) = windows.expect(3, &limited);
    assert!(
        out.contains("limit of 3 s") || err.contains("limit of 3 s"),
        "{out}\n{err}"
    );
    windows.expect_nothing_left();

    let mut child = windows
        .command(&LONG)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Wine starts");
    wait_for_first_trial(&mut child);
    // Wine makes Ctrl-C of it.
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is there");
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
    windows.expect_nothing_left();
    let show = ["show", "last", "--json", "--store", "store.db"];
    let stored = || {
        let (run, _) = windows.expect(0, &show);
        let run: serde_json::Value = serde_json::from_str(&run).expect("JSON");
        run["trials"].as_array().map_or(0, Vec::len)
    };
    let before = stored();
    assert!((1..4).contains(&before), "{before} trials");
    let (_, err) = windows.expect(0, &[&LONG[..], &["--resume"]].concat());
    let said = format!("{before} of 4 trials are done already");
    assert!(err.contains(&said), "{err}");
    assert_eq!(stored(), 4);
    windows.expect_nothing_left();
}
