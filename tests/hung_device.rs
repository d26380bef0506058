//! A device that hangs: the run ends all the same, and what is left is removed when it lives again.
//!
//! The device is a loop device over a file of a FUSE file system that this test serves, as
//! linux/fuse.h defines the protocol, and stops to serve when it likes.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::harness::{Desk, can_mount};

const IMAGE_BYTES: u64 = 400 << 20;
/// A trial of it ends long before its limit, also on a machine with much other work.
const STUDY: &str = r#"
format = 1
name = "one-write"
title = "One write"
subjects = ["ext4"]
size = "320MiB"
repeats = 1

[[phase]]
name = "write"
workload = "write"
file_size = "1MiB"
"#;
const ROOT: u64 = 1;
const IMAGE: u64 = 2;
/// Room for the largest write and its header.
const REQUEST_BYTES: usize = (1 << 20) + 4096;
const MAX_WRITE: u32 = 128 << 10;
const O_NONBLOCK: i32 = 0o4000;
const ENOENT: i32 = 2;
const ENOSYS: i32 = 38;

/// A file system with one file, `disk.img`.
struct Served {
    mount_point: PathBuf,
    answers: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
    channel: Option<File>,
    server: Option<JoinHandle<()>>,
}

impl Served {
    fn new(desk: &Desk) -> Option<Self> {
        let mount_point = desk.path("served");
        fs::create_dir(&mount_point).expect("a directory");
        let backing = File::create_new(desk.path("backing.img")).expect("a file");
        backing.set_len(IMAGE_BYTES).expect("room");
        let backing = File::options()
            .read(true)
            .write(true)
            .open(desk.path("backing.img"));
        let channel = File::options()
            .read(true)
            .write(true)
            .custom_flags(O_NONBLOCK)
            .open("/dev/fuse")
            .ok()?;
        let answers = Arc::new(AtomicBool::new(true));
        let ends = Arc::new(AtomicBool::new(false));
        let server = Server {
            channel: channel.try_clone().expect("another descriptor"),
            backing: backing.expect("open"),
            answers: Arc::clone(&answers),
            ends: Arc::clone(&ends),
        };
        let server = std::thread::spawn(move || server.serve());
        // The mount's process finds the channel as its standard input.
        let mounted = Command::new("mount")
            .args([
                "-i",
                "-t",
                "fuse",
                "-o",
                "fd=0,rootmode=40000,user_id=0,group_id=0",
            ])
            .arg("fslab-test")
            .arg(&mount_point)
            .stdin(Stdio::from(
                channel.try_clone().expect("another descriptor"),
            ))
            .status();
        assert!(mounted.expect("mount starts").success());
        Some(Self {
            mount_point,
            answers,
            ends,
            channel: Some(channel),
            server: Some(server),
        })
    }

    fn image(&self) -> PathBuf {
        self.mount_point.join("disk.img")
    }

    /// From now on no request is answered.
    fn hang(&self) {
        self.answers.store(false, Ordering::SeqCst);
    }

    /// Ends the connection with its last descriptor: whatever waits for an answer gets an error.
    fn end(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ = Command::new("umount")
            .arg("-l")
            .arg(&self.mount_point)
            .status();
        drop(self.channel.take());
        self.server.take().map(JoinHandle::join);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}

struct Server {
    channel: File,
    backing: File,
    answers: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
}

/// The number at `offset` of a request.
fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(bytes[offset..offset + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(bytes[offset..offset + 8].try_into().expect("eight bytes"))
}

/// `struct fuse_attr`.
fn attributes(node: u64) -> Vec<u8> {
    let (size, mode) = match node {
        ROOT => (0, 0o040_755_u32),
        _ => (IMAGE_BYTES, 0o100_600),
    };
    let mut bytes = Vec::new();
    for number in [node, size, size / 512, 0, 0, 0] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

impl Server {
    fn serve(mut self) {
        let mut request = vec![0; REQUEST_BYTES];
        loop {
            let length = match self.channel.read(&mut request) {
                Ok(length) => length,
                // EPERM: nothing is mounted yet.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::PermissionDenied
                    ) =>
                {
                    if self.ends.load(Ordering::SeqCst) {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                Err(_) => return,
            };
            if !self.answers.load(Ordering::SeqCst) {
                continue;
            }
            let (opcode, unique) = (u32_at(&request, 4), u64_at(&request, 8));
            let node = u64_at(&request, 16);
            // FORGET, INTERRUPT and BATCH_FORGET have no answer.
            if matches!(opcode, 2 | 36 | 42) {
                continue;
            }
            let answer = self.answer(opcode, node, &request[40..length]);
            let (error, body) = answer.map_or_else(|errno| (-errno, Vec::new()), |body| (0, body));
            let length = u32::try_from(16 + body.len()).expect("short");
            let mut message = length.to_le_bytes().to_vec();
            message.extend(error.to_le_bytes());
            message.extend(unique.to_le_bytes());
            message.extend(body);
            let _ = self.channel.write(&message);
        }
    }

    fn answer(&self, opcode: u32, node: u64, body: &[u8]) -> Result<Vec<u8>, i32> {
        let timed = |node: u64| {
            // Valid for an hour.
            let mut bytes = 3600_u64.to_le_bytes().to_vec();
            bytes.extend([0; 8]);
            bytes.extend(attributes(node));
            bytes
        };
        match opcode {
            // LOOKUP
            1 if body.starts_with(b"disk.img\0") => {
                let mut bytes = IMAGE.to_le_bytes().to_vec();
                bytes.extend(0_u64.to_le_bytes());
                bytes.extend(3600_u64.to_le_bytes());
                bytes.extend(3600_u64.to_le_bytes());
                bytes.extend([0; 8]);
                bytes.extend(attributes(IMAGE));
                Ok(bytes)
            }
            1 => Err(ENOENT),
            // GETATTR, SETATTR
            3 | 4 => Ok(timed(node)),
            // OPEN, OPENDIR
            14 | 27 => Ok(vec![0; 16]),
            // READ
            15 => {
                let (offset, size) = (u64_at(body, 8), u32_at(body, 16));
                let mut bytes = vec![0; size as usize];
                let read = self.backing.read_at(&mut bytes, offset).map_err(|_| 5)?;
                bytes.truncate(read);
                Ok(bytes)
            }
            // WRITE
            16 => {
                let (offset, size) = (u64_at(body, 8), u32_at(body, 16));
                let data = &body[40..40 + size as usize];
                self.backing.write_all_at(data, offset).map_err(|_| 5)?;
                Ok([size.to_le_bytes(), [0; 4]].concat())
            }
            // RELEASE, FSYNC, FLUSH, READDIR, RELEASEDIR, ACCESS
            18 | 20 | 25 | 28 | 29 | 34 => Ok(Vec::new()),
            // INIT
            26 => {
                let mut bytes = Vec::new();
                for number in [7, 31, 128 << 10, 0] {
                    bytes.extend(u32::to_le_bytes(number));
                }
                // Requests in the background, then what is largest.
                bytes.extend([16, 0, 12, 0]);
                bytes.extend(MAX_WRITE.to_le_bytes());
                bytes.resize(64, 0);
                Ok(bytes)
            }
            _ => Err(ENOSYS),
        }
    }
}

fn losetup(words: &[&str], image: Option<&Path>) -> String {
    let output = Command::new("losetup").args(words).args(image).output();
    let output = output.expect("losetup starts");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The process of the run itself opened, synced and unmounted the device, and could neither go on
/// nor be killed when that never answered.
#[test]
fn a_device_that_hangs_ends_the_run_and_is_cleaned_up_when_it_lives_again() {
    let Some(_turn) = can_mount("a device that hangs", &["mkfs.ext4", "losetup"]) else {
        return;
    };
    let desk = Desk::new();
    let Some(mut served) = Served::new(&desk) else {
        return crate::harness::skip("a device that hangs", "this kernel has no FUSE");
    };
    fs::write(desk.path("one-write.toml"), STUDY).expect("a file");
    let device = losetup(&["--find", "--show"], Some(&served.image()));
    assert!(device.starts_with("/dev/loop"), "{device}");
    let mut run = desk.start(&[
        "compare",
        "ext4",
        "--study",
        "./one-write.toml",
        "--venue",
        "block",
        "--destroy",
        &device,
        "--repeats",
        "1000",
        "--out",
        "out",
        "--trial-limit",
        "20",
    ]);
    let errors = BufReader::new(run.stderr.take().expect("a pipe"));
    let mut lines = errors.lines();
    let mut before = Vec::new();
    loop {
        match lines.next() {
            Some(Ok(line)) if line.starts_with("1/") => break,
            Some(Ok(line)) => before.push(line),
            _ => panic!("the run ended before its first trial: {before:#?}"),
        }
    }
    let said = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
    served.hang();
    let began = Instant::now();
    let status = loop {
        if let Some(status) = run.try_wait().expect("ours") {
            break Some(status);
        }
        if began.elapsed() > Duration::from_secs(200) {
            break None;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    // The device lives again, or is dead: nothing hangs any more.
    served.end();
    let _ = run.kill();
    let _ = run.wait();
    let said = said.join().expect("it ends").join("\n");
    losetup(&["--detach", &device], None);
    let status = status.unwrap_or_else(|| panic!("the run hangs: {said}"));
    assert_eq!(status.code(), Some(4), "{said}");
    assert!(said.contains("error:") && said.contains("hangs"), "{said}");
    // What hung ends within a moment.
    let began = Instant::now();
    while desk.run(&["clean"]).code != Some(0) {
        assert!(began.elapsed() < Duration::from_secs(60), "not cleaned up");
        std::thread::sleep(Duration::from_millis(500));
    }
    desk.expect_nothing_left();
}
