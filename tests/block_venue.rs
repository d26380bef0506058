//! The venue `block`, tried on loop devices: what may be formatted, and what must not.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Desk, Ended, can_mount};

/// A loop device over an image of the test's own.
struct Device {
    path: PathBuf,
}

impl Device {
    fn new(desk: &Desk) -> Self {
        let image = desk.path("device.img");
        std::fs::File::create(&image)
            .and_then(|file| file.set_len(400 << 20))
            .expect("an image");
        Self::over(&image)
    }

    fn over(backing: &Path) -> Self {
        let output = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(backing)
            .output();
        let output = output.expect("losetup starts");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Self {
            path: String::from_utf8(output.stdout)
                .expect("a path")
                .trim()
                .into(),
        }
    }

    fn name(&self) -> &str {
        self.path.to_str().expect("text")
    }

    fn tool(&self, words: &[&str]) {
        let status = Command::new(words[0])
            .args(&words[1..])
            .status()
            .expect("starts");
        assert!(status.success(), "{words:?}");
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.path)
            .status();
    }
}

fn compare(desk: &Desk, device: &str) -> Ended {
    desk.run(&[
        "compare",
        "ext4",
        "ext2",
        "--study",
        "./small.toml",
        "--venue",
        "block",
        "--destroy",
        device,
        "--repeats",
        "1",
        "--out",
        "out",
    ])
}

#[test]
fn a_device_named_for_destruction_is_formatted_even_over_a_signature() {
    let Some(_turn) = can_mount("block venue", &["mkfs.ext4", "losetup"]) else {
        return;
    };
    let desk = Desk::new();
    let device = Device::new(&desk);
    device.tool(&["mkfs.ext4", "-q", device.name()]);
    compare(&desk, device.name()).expect_code(0);
    let run = desk.last_run();
    assert_eq!(run["trials"].as_array().map(Vec::len), Some(2));
    let facts = &run["trials"][0]["facts"];
    assert!(facts["device.signature_before"].is_string(), "{facts}");
}

#[test]
fn a_mounted_device_is_refused() {
    let Some(_turn) = can_mount("mounted device", &["mkfs.ext4", "losetup"]) else {
        return;
    };
    let desk = Desk::new();
    let device = Device::new(&desk);
    device.tool(&["mkfs.ext4", "-q", device.name()]);
    let mount_point = desk.path("out");
    device.tool(&["mount", device.name(), mount_point.to_str().expect("text")]);
    let ended = desk.run(&[
        "compare",
        "ext4",
        "--study",
        "./small.toml",
        "--destroy",
        device.name(),
    ]);
    device.tool(&["umount", mount_point.to_str().expect("text")]);
    ended
        .expect_code(2)
        .expect_error("refusing to format", "nothing uses");
    assert!(ended.err.contains("it is mounted on"), "{}", ended.err);
}

/// A loop device over a block device is no holder of it and claims nothing, and once was formatted
/// away from under a mounted file system.
#[test]
fn a_device_that_carries_another_loop_device_is_refused() {
    let Some(_turn) = can_mount("stacked loop devices", &["mkfs.ext4", "losetup"]) else {
        return;
    };
    let desk = Desk::new();
    let below = Device::new(&desk);
    let above = Device::over(&below.path);
    let ended = compare(&desk, below.name());
    ended
        .expect_code(2)
        .expect_error("refusing to format", "nothing uses");
    assert!(ended.err.contains("it is part of loop"), "{}", ended.err);
    drop(above);
}

#[test]
fn swap_space_in_use_is_refused() {
    let Some(_turn) = can_mount("swap", &["mkswap", "swapon", "losetup"]) else {
        return;
    };
    let desk = Desk::new();
    let device = Device::new(&desk);
    device.tool(&["mkswap", device.name()]);
    let on = Command::new("swapon")
        .arg(device.name())
        .status()
        .expect("swapon starts");
    if !on.success() {
        return crate::harness::skip("swap", "this kernel takes no swap on a loop device");
    }
    let ended = compare(&desk, device.name());
    device.tool(&["swapoff", device.name()]);
    ended.expect_code(2).expect_error("refusing to format", "");
}

#[test]
fn what_is_no_block_device_or_too_small_is_refused() {
    let Some(_turn) = can_mount("no device", &["losetup", "mkfs.ext4"]) else {
        return;
    };
    let desk = Desk::new();
    compare(&desk, "small.toml")
        .expect_code(2)
        .expect_error("not a block device", "/dev/");
    compare(&desk, "/dev/none")
        .expect_code(2)
        .expect_error("/dev/none", "");
    let device = Device::new(&desk);
    let ended = desk.run(&[
        "compare",
        "ext4",
        "--destroy",
        device.name(),
        "--size",
        "2GiB",
    ]);
    ended.expect_code(2).expect_error("are needed", "--size");
}
