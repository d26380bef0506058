//! Files that another user has placed under the names that fslab gives, pipes where files are
//! meant, and devices that do not exist.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::Path;
use std::process::Command;

use crate::harness::{Desk, can_mount, is_root, not_checked};

const NOBODY: u32 = 65534;

fn make_fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo starts").success());
}

/// Pages of reports, figures, charts, tables and the manual were written to where links in the
/// directory pointed, as root over any file.
#[test]
fn a_link_under_a_name_that_the_user_did_not_type_is_refused() {
    let desk = Desk::new();
    desk.compare_fake(&[]).expect_code(0);
    let run = desk.last_run()["run"].as_str().expect("a name").to_owned();
    let precious = desk.path("precious");
    fs::write(&precious, "precious").expect("written");
    let page = format!("fslab-{run}.html");
    let cases: [(&str, &[&str], &str); 4] = [
        ("pages", &["report", "--out", "pages"], &page),
        ("manual", &["man", "--out", "manual"], "fslab-compare.1"),
        (
            "charts",
            &["report", "--out", "out", "--charts", "charts"],
            "index.md",
        ),
        (
            "tables",
            &["report", "--out", "out", "--tables", "tables"],
            "index.md",
        ),
    ];
    for (folder, words, name) in cases {
        fs::create_dir(desk.path(folder)).expect("made");
        let file = desk.path(folder).join(name);
        symlink(&precious, &file).expect("a link");
        let ended = desk.run(words);
        assert!(matches!(ended.code, Some(2 | 4)), "{words:?}: {ended:?}");
        ended.expect_error("it is a symbolic link", name);
        assert_eq!(fs::read(&precious).expect("read"), b"precious", "{words:?}");
        // A directory below, too, leads nowhere else.
        fs::remove_file(&file).expect("removed");
        desk.run(words).expect_code(0);
        assert!(
            file.symlink_metadata().expect("written").is_file(),
            "{words:?}"
        );
    }
    let outside = desk.path("outside");
    fs::create_dir(&outside).expect("made");
    fs::create_dir(desk.path("linked")).expect("made");
    symlink(&outside, desk.path("linked").join(&run)).expect("a link");
    let ended = desk.run(&["report", "--out", "out", "--charts", "linked"]);
    ended.expect_error("it is a symbolic link", &run);
    assert_eq!(fs::read_dir(&outside).expect("listed").count(), 0);
    // What the user typed is followed, as by `>`.
    symlink(&precious, desk.path("typed.json")).expect("a link");
    let typed = ["export", "--format", "json", "--output", "typed.json"];
    desk.run(&typed).expect_code(0);
    assert_ne!(fs::read(&precious).expect("read"), b"precious");
}

/// A named pipe was waited for without end.
#[test]
fn a_named_pipe_is_no_input() {
    let desk = Desk::new();
    make_fifo(&desk.path("pipe"));
    make_fifo(&desk.path("study.toml"));
    let commands: [&[&str]; 7] = [
        &["import", "pipe"],
        &["run", "./study.toml"],
        &["study", "show", "./study.toml"],
        &["lab", "import", "pipe"],
        &["crash", "requests", "pipe"],
        &["disk", "show", "./pipe"],
        &["compare", "fake", "--study", "./study.toml"],
    ];
    for words in commands {
        let ended = desk.run(&[&["-q"], words].concat());
        assert!(matches!(ended.code, Some(2 | 4)), "{words:?}: {ended:?}");
        assert!(ended.err.contains("pipe"), "{words:?}: {}", ended.err);
    }
}

/// "DESTROYING /dev/sda", exit code 0, for a device that does not exist and for the mounted root.
#[test]
fn a_dry_run_makes_the_checks_of_the_run() {
    let desk = Desk::new();
    let dry = |words: &[&str]| {
        let study = ["--study", "./small.toml", "--dry-run"];
        let ended = desk.run(&[&["compare"], words, &study].concat());
        assert!(
            !ended.out.contains("DESTROYING"),
            "{words:?}: {}",
            ended.out
        );
        assert!(matches!(ended.code, Some(2 | 4)), "{words:?}: {ended:?}");
        ended
    };
    dry(&["fake", "--out", "/proc/none"]).expect_error("/proc/none", "--out");
    dry(&["fake", "--store", "/proc/none/runs.db"]).expect_error("/proc/none/runs.db", "");
    make_fifo(&desk.path("pipe.db"));
    dry(&["fake", "--store", "pipe.db"]).expect_error("pipe.db", "");
    if is_root() {
        let missing = dry(&["ext4", "--destroy", "/dev/does-not-exist"]);
        missing.expect_error("/dev/does-not-exist", "");
        let no_device = dry(&["ext4", "--destroy", "small.toml"]);
        no_device.expect_error("small.toml", "--destroy");
    } else {
        not_checked("devices of a dry run", "not root");
    }
    assert!(!desk.store().exists());
    let fine = [
        "compare",
        "fake",
        "--study",
        "./small.toml",
        "--dry-run",
        "--out",
        "new/folder",
    ];
    desk.run(&fine).expect_code(0);
    assert!(!desk.path("new").exists() && !desk.store().exists());
}

#[test]
fn a_dry_run_refuses_a_device_that_is_mounted() {
    let Some(_turn) = can_mount("a dry run on a mounted device", &["mkfs.ext4", "losetup"]) else {
        return;
    };
    let desk = Desk::new();
    let script = "set -e; truncate -s 64M image; mkdir -p mount; PATH=$PATH:/usr/sbin:/sbin
        mkfs.ext4 -q image; device=$(losetup --find --show image)
        trap 'umount mount; losetup --detach $device' EXIT
        mount $device mount; \"$0\" compare ext4 --study ./small.toml --dry-run --destroy $device";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_fslab")]);
    let ended = desk.run_as_is(shell);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    ended.expect_error("it is mounted on", "unused");
    assert!(!ended.out.contains("DESTROYING"), "{}", ended.out);
}

/// The directory of a web server whose trial was killed stayed in /tmp.
#[test]
fn clean_removes_the_folder_of_a_killed_server_and_no_other() {
    let desk = Desk::new();
    let temporary = desk.path("images");
    let ours = temporary.join(format!("fslab-web-{}-0", u32::MAX));
    let running = temporary.join(format!("fslab-web-{}-0", std::process::id()));
    for folder in [&ours, &running] {
        fs::create_dir(folder).expect("made");
        let only_us = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(folder, only_us).expect("closed");
    }
    let variables = [("TMPDIR", temporary.to_str().expect("text"))];
    let ended = desk.run_in(&["clean"], &variables);
    ended.expect_code(0);
    assert!(ended.out.contains("removed:"), "{}", ended.out);
    assert!(!ours.exists() && running.exists());
}

/// `LOG.judged` as a link was emptied and overwritten, as a FIFO hung and ignored SIGTERM, and the
/// states that another user had put there were shown as results.
#[test]
fn judged_states_beside_a_log_are_the_users_own() {
    let Some(desk) = Desk::new().with_lab("judged states of others") else {
        return;
    };
    let sim = [
        "--venue",
        "sim",
        "--images",
        "images",
        "--out",
        "out",
        "--repeats",
        "1",
    ];
    let study = [
        "compare",
        "ext4",
        "--study",
        "./small.toml",
        "--record-disk",
        "logs",
    ];
    desk.run(&[&study[..], &sim].concat()).expect_code(0);
    let logs = fs::read_dir(desk.path("logs")).expect("listed");
    let log = logs
        .map(|it| it.expect("an entry").path())
        .next()
        .expect("a log");
    let judged = format!("{}.judged", log.display());
    let log = log.to_str().expect("text");
    let words = [
        "crash",
        "judge",
        log,
        "--resume",
        "--max-states",
        "1",
        "--phase",
        "append",
    ];
    let words = [&words[..], &["--images", "images"]].concat();
    let refused = |what: &str| {
        let ended = desk.run(&words);
        assert!(matches!(ended.code, Some(2 | 4)), "{what}: {ended:?}");
        ended.expect_error(what, "remove");
    };
    let precious = desk.path("precious");
    fs::write(&precious, "precious").expect("written");
    symlink(&precious, &judged).expect("a link");
    refused("it is a symbolic link");
    assert_eq!(fs::read(&precious).expect("read"), b"precious");
    fs::remove_file(&judged).expect("removed");
    make_fifo(Path::new(&judged));
    refused("it is not a regular file");
    fs::remove_file(&judged).expect("removed");
    fs::hard_link(&precious, &judged).expect("a link");
    refused("hard links");
    fs::remove_file(&judged).expect("removed");
    if is_root() {
        fs::write(&judged, "").expect("written");
        chown(&judged, Some(NOBODY), None).expect("chown");
        refused("it belongs to the user 65534");
        fs::remove_file(&judged).expect("removed");
    } else {
        not_checked("judged states of another user", "not root");
    }
    desk.run(&words).expect_code(0);
    assert!(fs::metadata(&judged).expect("written").len() > 0);
    assert_eq!(fs::read(&precious).expect("read"), b"precious");
}
