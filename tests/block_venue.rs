//! The venue `block`, tried on loop devices: what may be formatted, and what must not.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

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

/// The arguments of a run that formats `device`.
fn arguments<'a>(subjects: &[&'a str], device: &'a str, repeats: &'a str) -> Vec<&'a str> {
    let study = ["--study", "./small.toml", "--out", "out"];
    let venue = ["--venue", "block", "--destroy", device];
    [
        &["compare"],
        subjects,
        &study,
        &venue,
        &["--repeats", repeats],
    ]
    .concat()
}

fn compare(desk: &Desk, device: &str) -> Ended {
    desk.run(&arguments(&["ext4", "ext2"], device, "1"))
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
        .expect_error("refusing to format", "unused devices");
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
        .expect_error("refusing to format", "unused devices");
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

/// A study whose trials take long enough to be caught between two of them.
fn begin_two_trials(desk: &Desk, device: &str) -> std::process::Child {
    desk.start(&arguments(&["ext4"], device, "40"))
}

/// Between two trials another disk got the name of the first, and was formatted.
#[test]
fn a_device_that_was_swapped_under_its_name_is_not_formatted_and_the_run_ends() {
    let Some(_turn) = can_mount("swapped device", &["mkfs.ext4", "losetup"]) else {
        return;
    };
    let desk = Desk::new();
    let device = Device::new(&desk);
    let precious = desk.path("precious.img");
    // mkfs writes to the beginning at least.
    let content = vec![0x5a_u8; 4 << 20];
    std::fs::write(&precious, &content).expect("an image");
    std::fs::File::options()
        .write(true)
        .open(&precious)
        .and_then(|file| file.set_len(400 << 20))
        .expect("room");
    let run = begin_two_trials(&desk, device.name());
    let began = Instant::now();
    // A detached device keeps its number as long as it is in use: try until it is between trials.
    let swapped = loop {
        assert!(began.elapsed() < Duration::from_secs(120), "never free");
        let quiet = |words: &[&str]| {
            let mut command = Command::new(words[0]);
            command
                .args(&words[1..])
                .stderr(std::process::Stdio::null());
            command.status().expect("losetup starts").success()
        };
        if began.elapsed() > Duration::from_secs(2) {
            quiet(&["losetup", "--detach", device.name()]);
            if quiet(&["losetup", device.name(), precious.to_str().expect("text")]) {
                break true;
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let ended = run.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(swapped && ended.status.code() == Some(4), "{said}");
    assert!(
        said.contains("is a different device than when the run began"),
        "{said}"
    );
    assert!(said.contains("device.img"), "{said}");
    let mut left = vec![0; content.len()];
    let image = std::fs::File::open(&precious).expect("the image");
    std::os::unix::fs::FileExt::read_exact_at(&image, &mut left, 0).expect("its beginning");
    assert!(left == content, "the other device was written to");
    drop(device);
    desk.expect_nothing_left();
}

#[test]
fn a_run_is_not_resumed_on_another_device() {
    let Some(_turn) = can_mount("resumed on another", &["mkfs.ext4", "losetup"]) else {
        return;
    };
    let desk = Desk::new();
    let device = Device::new(&desk);
    compare(&desk, device.name()).expect_code(0);
    let facts = desk.last_run()["trials"][0]["facts"].clone();
    assert_eq!(
        facts["device.size_bytes"],
        (400_u64 << 20).to_string(),
        "{facts}"
    );
    let name = device.path.clone();
    drop(device);
    let other = desk.path("other.img");
    std::fs::File::create(&other)
        .and_then(|file| file.set_len(401 << 20))
        .expect("an image");
    let attached = Command::new("losetup").arg(&name).arg(&other).status();
    assert!(attached.expect("losetup starts").success());
    let other = Device { path: name };
    let resumed = desk.run(&[
        "compare",
        "ext4",
        "ext2",
        "--study",
        "./small.toml",
        "--venue",
        "block",
        "--destroy",
        other.name(),
        "--repeats",
        "2",
        "--out",
        "out",
        "--resume",
        "--size",
        &format!("{}MiB", 400),
    ]);
    if !resumed.err.contains("there is no run of this plan") {
        resumed
            .expect_code(2)
            .expect_error("another device", "--resume");
    }
}

/// The kernel keeps exclusive users apart, and knows nothing of plain ones.
#[test]
fn a_device_that_a_process_writes_to_is_refused_with_the_process() {
    let Some(_turn) = can_mount("a writer", &["mkfs.ext4", "losetup"]) else {
        return;
    };
    let desk = Desk::new();
    let device = Device::new(&desk);
    let image = desk.path("device.img");
    for (path, how) in [(&device.path, "<>"), (&image, ">>")] {
        let script = format!("exec 3{how}\"$1\"; echo; read line");
        let mut writer = Command::new("sh")
            .args(["-c", &script, "sh"])
            .arg(path)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("sh starts");
        let mut output = writer.stdout.take().expect("a pipe");
        std::io::Read::read_exact(&mut output, &mut [0]).expect("it has it open");
        let ended = compare(&desk, device.name());
        drop(writer.stdin.take());
        writer.wait().expect("it ends");
        ended
            .expect_code(2)
            .expect_error("refusing to format", "unused devices");
        let named = format!("process {} (sh)", writer.id());
        assert!(ended.err.contains(&named), "{}", ended.err);
    }
    compare(&desk, device.name()).expect_code(0);
}

#[test]
fn a_loop_device_whose_file_is_behind_another_or_that_lies_on_a_used_device_is_refused() {
    let Some(_turn) = can_mount("shared file", &["mkfs.ext4", "losetup"]) else {
        return;
    };
    let desk = Desk::new();
    let device = Device::new(&desk);
    let twin = Device::over(&desk.path("device.img"));
    let ended = compare(&desk, device.name());
    ended.expect_code(2).expect_error("refusing to format", "");
    assert!(
        ended.err.contains("another loop device, loop"),
        "{}",
        ended.err
    );
    drop(twin);
    // A device over one that is mounted.
    device.tool(&["mkfs.ext4", "-q", device.name()]);
    let above = Device::over(&device.path);
    let mount_point = desk.path("out");
    device.tool(&["mount", device.name(), mount_point.to_str().expect("text")]);
    let ended = compare(&desk, above.name());
    device.tool(&["umount", mount_point.to_str().expect("text")]);
    ended.expect_code(2).expect_error("refusing to format", "");
    assert!(
        ended.err.contains("the underlying device "),
        "{}",
        ended.err
    );
    drop(above);
}
