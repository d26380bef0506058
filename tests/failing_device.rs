//! Devices that fail below a file system: no figure is made of writes that never reached them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Desk, can_mount};

/// Writes without any sync: the page cache takes everything, and the errors come later.
const STUDY: &str = r#"
format = 1
name = "unsynced"
title = "Writes that nothing syncs"
description = "One file is written, and nothing waits for the device."
subjects = ["ext4"]
size = "512MiB"
repeats = 1
trial_limit_s = 120

[[phase]]
name = "write"
workload = "write"
record = "1MiB"
sync = "none"

[[phase]]
name = "reread"
workload = "read"
record = "1MiB"
"#;

/// A loop device over a sparse file in a tmpfs that is full when the file system has been made:
/// each further write fails.
struct FailingDevice {
    folder: PathBuf,
    path: String,
}

impl FailingDevice {
    fn new(desk: &Desk, room: &str) -> Self {
        let folder = desk.path("tmpfs");
        std::fs::create_dir(&folder).expect("a directory");
        let options = format!("size={room}");
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&folder)
            .status();
        assert!(status.expect("mount starts").success());
        let image = folder.join("image");
        let made = std::fs::File::create(&image).and_then(|file| file.set_len(600 << 20));
        made.expect("an image");
        let output = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(&image)
            .output()
            .expect("losetup starts");
        assert!(output.status.success());
        let path = String::from_utf8(output.stdout).expect("a path");
        Self {
            folder,
            path: path.trim().to_owned(),
        }
    }
}

impl Drop for FailingDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .args(["--detach", &self.path])
            .status();
        let _ = Command::new("umount").arg(&self.folder).status();
    }
}

/// Runs the study on a device that takes `room` and no more, and demands that no phase has a
/// figure.
fn expect_no_figures(fs: &str, room: &str) {
    let desk = Desk::new();
    std::fs::write(desk.path("unsynced.toml"), STUDY).expect("the study");
    let device = FailingDevice::new(&desk, room);
    let ended = desk.run(&[
        "run",
        "unsynced.toml",
        "--venue",
        "block",
        "--destroy",
        &device.path,
        "--fs",
        fs,
        "--out",
        "out",
    ]);
    ended.expect_code(3);
    let run = desk.last_run();
    let trial = &run["trials"][0];
    assert_eq!(trial["outcome"], "failed", "{trial:#}");
    for phase in trial["phases"].as_array().expect("phases") {
        assert_ne!(phase["outcome"], "done", "{phase:#}");
        assert!(
            phase["elapsed_ns"].is_null() && phase["bytes"].is_null(),
            "{phase:#}"
        );
    }
    if is_log_readable() {
        let log = trial["kernel_log"]
            .as_array()
            .expect("what the kernel said");
        let is_error = |it: &&serde_json::Value| it["is_error"] == true;
        assert!(log.iter().any(|it| is_error(&it)), "{log:#?}");
        let name = device.path.trim_start_matches("/dev/");
        let named =
            |it: &serde_json::Value| it["text"].as_str().is_some_and(|it| it.contains(name));
        assert!(log.iter().filter(is_error).all(named), "{log:#?}");
        assert!(page(&desk.path("out")).contains("What the kernel said of the devices"));
        assert!(
            ended.out.contains("What the kernel said of the devices"),
            "{}",
            ended.out
        );
    }
    drop(device);
    desk.expect_nothing_left();
}

/// The report.
fn page(folder: &Path) -> String {
    let files = std::fs::read_dir(folder).expect("lists").flatten();
    let mut pages = files.map(|file| file.path());
    let page = pages.find(|file| file.extension().is_some_and(|it| it == "html"));
    std::fs::read_to_string(page.expect("a page")).expect("text")
}

fn is_log_readable() -> bool {
    std::fs::File::open(Path::new("/dev/kmsg")).is_ok()
}

/// With every data write failing, ext4 was shown with 1.29 GB/s, XFS with 5.27 and Btrfs with 0.83,
/// and fslab ended with 0: the errors of the write-back were not read.
#[test]
fn writes_that_a_full_device_lost_give_ext4_no_figure() {
    let test = "writes_that_a_full_device_lost_give_ext4_no_figure";
    let Some(_turn) = can_mount(test, &["mkfs.ext4"]) else {
        return;
    };
    expect_no_figures("ext4", "44m");
    expect_no_figures("ext2", "44m");
}

/// The same as of ext4.
#[test]
fn writes_that_a_full_device_lost_give_xfs_and_btrfs_no_figure() {
    let test = "writes_that_a_full_device_lost_give_xfs_and_btrfs_no_figure";
    let Some(_turn) = can_mount(test, &["mkfs.xfs", "mkfs.btrfs"]) else {
        return;
    };
    expect_no_figures("xfs", "100m");
    expect_no_figures("btrfs", "90m");
}

/// What ran well must not be taken for an error: a device that is as it should be.
#[test]
fn writes_that_nothing_syncs_keep_their_figures_where_the_device_is_well() {
    let test = "writes_that_nothing_syncs_keep_their_figures_where_the_device_is_well";
    let Some(_turn) = can_mount(test, &["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"]) else {
        return;
    };
    let desk = Desk::new();
    std::fs::write(desk.path("unsynced.toml"), STUDY).expect("the study");
    let images = desk.path("images");
    let ended = desk.run(&[
        "run",
        "unsynced.toml",
        "--venue",
        "loop",
        "--images",
        images.to_str().expect("text"),
        "--fs",
        "ext4,xfs,btrfs",
        "--repeats",
        "1",
    ]);
    ended.expect_code(0);
    for trial in desk.last_run()["trials"].as_array().expect("trials") {
        assert!(trial["phases"][0]["bytes"].is_number(), "{trial:#}");
    }
}
