//! Bad machines: missing tools, privileges, room, and damaged stores; one clear error each.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::{COMPARE_FAKE, Desk, can_mount, is_root, not_checked};

#[test]
fn the_probe_says_works_exactly_where_nothing_stands_in_the_way() {
    let listed = Desk::new().run(&["fs", "list", "--probe", "--json"]);
    listed.expect_code(0);
    let probes: serde_json::Value = serde_json::from_str(&listed.out).expect("pure JSON");
    for probe in probes.as_array().expect("entries") {
        for venue in probe["venues"].as_array().expect("venues") {
            let obstacles = venue["obstacles"].as_array().map_or(0, Vec::len);
            assert_eq!(venue["works"].as_bool(), Some(obstacles == 0), "{probe}");
        }
    }
}

#[test]
fn a_missing_mkfs_names_the_package() {
    let Some(_turn) = can_mount("missing mkfs", &["mkfs.ext4", "unshare"]) else {
        return;
    };
    let desk = Desk::new();
    // In a separate mount namespace, where mkfs.ext4 is a file that cannot be run.
    let hide = "mount --bind /dev/null $(readlink -f $(PATH=$PATH:/usr/sbin:/sbin command -v \
                mkfs.ext4)) && exec \"$0\" compare ext4 --venue loop";
    let mut hidden = std::process::Command::new("unshare");
    hidden.args(["--mount", "sh", "-c", hide, env!("CARGO_BIN_EXE_fslab")]);
    let ended = desk.run_as_is(hidden);
    ended.expect_code(4).expect_error("mkfs.ext4", "e2fsprogs");
    desk.expect_nothing_left();
}

#[test]
fn the_loop_venue_without_privileges_says_what_to_do() {
    let desk = Desk::new().unprivileged();
    let ended = desk.run(&["compare", "ext4", "--venue", "loop", "--images", "images"]);
    ended
        .expect_code(4)
        .expect_error("every subject in the venue 'loop'", "root");
    desk.expect_nothing_left();
}

#[test]
fn a_folder_that_cannot_be_written_is_reported_before_anything_runs() {
    let desk = Desk::new().unprivileged();
    let ended = desk.run(&[
        "compare",
        "fake",
        "--study",
        "./small.toml",
        "--out",
        "/proc/none",
    ]);
    assert!(matches!(ended.code, Some(2 | 4)), "{:?}", ended.code);
    ended.expect_error("/proc/none", "--out");
    assert!(!desk.store().exists());
    if is_root() {
        fs::set_permissions(desk.path("images"), fs::Permissions::from_mode(0o555)).expect("mode");
        let ended = desk.run(&["compare", "--venue", "dir", "--dir", "/", "--out", "out"]);
        ended
            .expect_code(4)
            .expect_error("cannot write to the directory /", "existing directory");
    } else {
        not_checked(
            "unwritable directory",
            "it needs root to become another user",
        );
    }
}

#[test]
fn a_disk_that_is_too_full_for_the_image_is_reported_before_anything_runs() {
    let Some(_turn) = can_mount("full disk", &["mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    let ended = desk.run(&[
        "compare", "ext4", "--venue", "loop", "--images", "images", "--size", "900TiB",
    ]);
    ended.expect_code(4).expect_error(" free, but ", "--size");
    desk.expect_nothing_left();
}

/// The report used to be written before anything was printed, and a full disk hid the figures.
#[test]
fn a_report_without_room_takes_nothing_from_the_run() {
    let Some(_turn) = can_mount("report without room", &["unshare", "mount"]) else {
        return;
    };
    let desk = Desk::new();
    desk.run(&COMPARE_FAKE).expect_code(0);
    let run = desk.last_run()["run"].as_str().expect("a name").to_owned();
    // In a separate mount namespace, where the reports' directory has room for a part of one.
    let script = "mount -t tmpfs -o size=16k none out && \"$0\" \"$@\"; \
                  ended=$?; ls -A out; exit $ended";
    let without_room = |arguments: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        command.args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_fslab")]);
        command.args(arguments);
        desk.run_as_is(command)
    };
    let again = without_room(&[&COMPARE_FAKE[..], &["--resume"]].concat());
    let hint = format!("fslab report {run} --out");
    again.expect_code(4).expect_error("is stored", &hint);
    assert!(again.out.contains("Strided read"), "{}", again.out);
    let reported = without_room(&["report", "--out", "out"]);
    reported.expect_code(4).expect_error("cannot write", "");
    for ended in [again, reported] {
        assert!(
            !ended.out.contains(".part"),
            "half a report is left: {}",
            ended.out
        );
    }
}

#[test]
fn a_damaged_store_is_refused_and_not_overwritten() {
    let desk = Desk::new();
    let garbage = "this is no database, and it is long enough to have a header of one: ".repeat(9);
    fs::write(desk.path("bad.db"), &garbage).expect("written");
    let mut arguments = COMPARE_FAKE.to_vec();
    arguments.extend(["--store", "bad.db"]);
    desk.run(&arguments)
        .expect_code(2)
        .expect_error("bad.db", "--store");
    for command in [["list", "--store", "bad.db"], ["show", "--store", "bad.db"]] {
        desk.run(&command)
            .expect_code(2)
            .expect_error("bad.db", "--store");
    }
    assert_eq!(
        fs::read_to_string(desk.path("bad.db")).expect("still there"),
        garbage
    );
}

#[test]
fn a_store_with_a_broken_page_is_refused() {
    let desk = Desk::new();
    desk.run(&COMPARE_FAKE).expect_code(0);
    let path = desk.store();
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", path.display()));
    }
    let mut bytes = fs::read(&path).expect("the store");
    let length = bytes.len();
    bytes[100..length].fill(0xA5);
    fs::write(&path, bytes).expect("damaged");
    desk.run(&["list"])
        .expect_code(2)
        .expect_error("fslab.db", "--store");
}

#[test]
fn a_store_in_a_folder_that_is_a_file_is_refused() {
    let desk = Desk::new();
    fs::write(desk.path("file"), "x").expect("written");
    let mut arguments = COMPARE_FAKE.to_vec();
    arguments.extend(["--store", "file/fslab.db"]);
    let ended = desk.run(&arguments);
    assert!(
        matches!(ended.code, Some(2 | 4)),
        "{:?}: {}",
        ended.code,
        ended.err
    );
    ended.expect_error("file/fslab.db", "");
}

#[test]
fn without_a_home_the_hint_names_the_variable_to_set() {
    let desk = Desk::new();
    let program = env!("CARGO_BIN_EXE_fslab");
    let output = std::process::Command::new(program)
        .args(["list"])
        .env_clear()
        .current_dir(desk.path("out"))
        .output()
        .expect("starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("HOME"));
}
