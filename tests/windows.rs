//! The build for Windows, under Wine: a comparison in a directory, and what reads its run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use crate::harness::{skip, turn};

const WINE: &str = "/usr/lib/wine/wine64";
const PROGRAM: &str = "target/cross/x86_64-pc-windows-gnu/debug/fslab.exe";

/// A separate Windows, with the program.
struct Windows {
    folder: tempfile::TempDir,
}

impl Windows {
    /// `None`, with the reason, where Wine or the program is missing.
    fn find(test: &str) -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let program = root.join(PROGRAM);
        let Ok(built) = fs::metadata(&program).and_then(|it| it.modified()) else {
            skip(
                test,
                "there is no fslab.exe: `cargo xtask cross x86_64-windows` builds it",
            );
            return None;
        };
        if newest(&root.join("crates")) > built {
            skip(
                test,
                "fslab.exe is older than the sources: `cargo xtask cross x86_64-windows`",
            );
            return None;
        }
        if !Path::new(WINE).exists() {
            skip(test, "there is no Wine: `scripts/setup cross` installs it");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::hard_link(&program, at("fslab.exe"))
            .or_else(|_| fs::copy(&program, at("fslab.exe")).map(drop))
            .expect("the program");
        fs::create_dir(at("data")).expect("a folder");
        fs::copy(root.join("tests/windows/study.toml"), at("study.toml")).expect("the study");
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

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(WINE)
            .arg("fslab.exe")
            .args(arguments)
            .current_dir(self.folder.path())
            .env("WINEPREFIX", self.folder.path().join("prefix"))
            .env("WINEDEBUG", "-all")
            .env_remove("DISPLAY")
            .output()
            .expect("Wine starts")
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
        // Wine's server stays for a while after the last program, and writes to the folder.
        let _ = Command::new("/usr/lib/wine/wineserver64")
            .arg("--kill")
            .env("WINEPREFIX", self.path("prefix"))
            .status();
    }
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
            &["--repeats", "2", "--out", "out"],
            &store,
        ]
        .concat(),
    );
    assert!(out.contains("All 2 trials ran to the end."), "{out}");
    assert_eq!(
        fs::read_dir(windows.path("data")).expect("listed").count(),
        0,
        "the trials' folders are removed"
    );
    let export = ["export", "--format", "json", "-o", "run.json"];
    windows.expect(0, &[&export[..], &store].concat());
    let run = fs::read(windows.path("run.json")).expect("exported");
    let run: serde_json::Value = serde_json::from_slice(&run).expect("JSON");
    assert_phases_of_windows(&run);
    windows.expect(0, &[&["report", "--out", "web"][..], &store].concat());
    let pages = fs::read_dir(windows.path("web"))
        .expect("a folder")
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
    for (name, reason) in [("chmod", "chmod"), ("cold", "cold")] {
        let phase = phase(name);
        assert_eq!(phase["outcome"], "skipped", "{phase}");
        let said = phase["reason"].as_str().expect("a reason");
        assert!(said.contains(reason), "{said}");
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
    assert!(out.contains("here is Windows"), "{out}");
}
