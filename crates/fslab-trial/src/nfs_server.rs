//! The kernel's NFS server, started and stopped through its files below /proc: no program of
//! nfs-utils is needed. The loopback interface is up before.
//!
//! ```text
//!     /proc/fs/nfsd/versions, max_block_size, portlist    what is served, and where
//!     /proc/net/rpc/*/channel                             the export, ahead of the first question
//!     /proc/fs/nfsd/threads                               runs
//!     /proc/fs/nfsd/v4_end_grace                          the grace period has ended
//! ```
//!
//! The answers of the export caches are those that mountd would give: Linux,
//! Documentation/filesystems/nfs/rpc-cache.rst.
//!
//! Invariant: a dropped server is stopped; it exports nothing then.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use fslab_model::{Failure, FailureKind};
use fslab_sys::MountFlags;

/// The server's files, after its file system is mounted there.
const SERVER: &str = "/proc/fs/nfsd";
const THREADS: &str = "/proc/fs/nfsd/threads";
/// The port of NFS.
const PORT: &str = "tcp 2049\n";
/// A name for all clients with the loopback address.
const DOMAIN: &str = "fslab";
/// A time beyond each trial, in seconds since 1970: no answer expires.
const NEVER: &str = "2147483647";
/// Flags of an export, of the kernel's include/uapi/linux/nfsd/export.h.
const ASYNC: u32 = 0x10;
const GATHERED_WRITES: u32 = 0x20;
const NO_SUBTREE_CHECK: u32 = 0x400;
const FSID: u32 = 0x2000;
/// The shortest grace period that the kernel takes, in seconds. In it no file is opened: clients of
/// before a restart, of which there are none, would reclaim theirs.
const GRACE_S: u64 = 10;
/// How often it is looked at, and how much later than the period it must have ended.
const GRACE_STEP: Duration = Duration::from_millis(100);
const GRACE_SLACK_S: u64 = 20;
/// User and group of requests without one.
const ANONYMOUS: u32 = 65534;

/// How it is started.
#[derive(Clone, Copy)]
pub(crate) struct NfsSettings<'a> {
    /// The directory that is the root of NFS 4.
    pub(crate) folder: &'a str,
    /// Whether it answers before its file system has written what it changed.
    pub(crate) is_async: bool,
    pub(crate) threads: u32,
    /// The largest request.
    pub(crate) request_bytes: u32,
}

/// A running server with one export.
pub(crate) struct NfsServer {
    _private: (),
}

impl NfsServer {
    /// Serves what is mounted at the directory as the root of NFS 4.
    pub(crate) fn start(settings: NfsSettings<'_>) -> Result<Self, Failure> {
        let failed = |what: &'static str| move |error: io::Error| cannot(what, &error);
        mount_files().map_err(failed("mount its files"))?;
        write("versions", "-2 -3 +4\n").map_err(failed("choose versions of NFS"))?;
        write("max_block_size", &format!("{}\n", settings.request_bytes))
            .map_err(failed("set the largest request"))?;
        write("nfsv4gracetime", &format!("{GRACE_S}\n")).map_err(failed("set its grace period"))?;
        // From here on there is something to stop.
        let server = Self { _private: () };
        write("portlist", PORT).map_err(failed("listen"))?;
        export(settings)?;
        fs::write(THREADS, format!("{}\n", settings.threads)).map_err(failed("start threads"))?;
        end_grace().map_err(failed("end the grace period"))?;
        Ok(server)
    }

    /// Ends all threads; the kernel then closes what it has open and forgets the export.
    pub(crate) fn stop(&self) -> Result<(), Failure> {
        fs::write(THREADS, "0\n").map_err(|error| cannot("end its threads", &error))
    }
}

impl Drop for NfsServer {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// Gives the kernel the answers to its questions: who asks, which file system is the root, and how
/// it is exported.
fn export(settings: NfsSettings<'_>) -> Result<(), Failure> {
    let path = quoted(Path::new(settings.folder));
    let flags =
        FSID | NO_SUBTREE_CHECK | GATHERED_WRITES | if settings.is_async { ASYNC } else { 0 };
    let answers = [
        ("auth.unix.ip", format!("nfsd 127.0.0.1 {NEVER} {DOMAIN}\n")),
        (
            "nfsd.export",
            format!("{DOMAIN} {path} {NEVER} {flags} {ANONYMOUS} {ANONYMOUS} 0\n"),
        ),
        // A handle of type 1 is a number of 32 bits, as fsid=0 of exports(5).
        (
            "nfsd.fh",
            format!("{DOMAIN} 1 \\x00000000 {NEVER} {path}\n"),
        ),
    ];
    for (cache, answer) in answers {
        answer_cache(cache, &answer)
            .map_err(|error| not_exported(cache, settings.folder, &error))?;
    }
    Ok(())
}

/// Ends the grace period, or waits for its end: a kernel without a program that notes its clients
/// does not let it be ended.
fn end_grace() -> io::Result<()> {
    let _ = write("v4_end_grace", "Y\n");
    let step_ms = GRACE_STEP.as_millis() as u64;
    for _ in 0..(GRACE_S + GRACE_SLACK_S) * 1000 / step_ms {
        if fs::read_to_string(format!("{SERVER}/v4_end_grace"))?.starts_with('Y') {
            return Ok(());
        }
        thread::sleep(GRACE_STEP);
    }
    Err(io::ErrorKind::TimedOut.into())
}

fn answer_cache(cache: &str, answer: &str) -> io::Result<()> {
    let path = format!("/proc/net/rpc/{cache}/channel");
    File::options()
        .write(true)
        .open(path)?
        .write_all(answer.as_bytes())
}

fn write(file: &str, text: &str) -> io::Result<()> {
    fs::write(format!("{SERVER}/{file}"), text)
}

fn mount_files() -> io::Result<()> {
    if Path::new(THREADS).exists() {
        return Ok(());
    }
    let flags = MountFlags::empty();
    fslab_sys::mount(Path::new("nfsd"), Path::new(SERVER), "nfsd", flags, "")
}

/// A path in a cache's line: blanks, backslashes and control characters are octal.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.bytes()
        .map(|byte| match byte {
            b'!'..=b'[' | b']'..=b'~' => char::from(byte).to_string(),
            _ => format!("\\{byte:03o}"),
        })
        .collect()
}

fn cannot(what: &str, error: &io::Error) -> Failure {
    Failure::new(
        FailureKind::Mount,
        format!("cannot start or stop the kernel's NFS server: cannot {what}"),
    )
    .because(error)
    .hint("build a guest kernel with client and server: fslab lab build --network")
}

fn not_exported(cache: &str, folder: &str, error: &io::Error) -> Failure {
    let failure = Failure::new(
        FailureKind::Unsupported,
        format!("cannot export {folder} over nfs: {cache}"),
    )
    .because(error);
    match error.kind() {
        io::ErrorKind::InvalidInput => failure.hint(
            "the driver of this file system has no persistent file handles, which a server needs",
        ),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_line() {
        assert_eq!(quoted(Path::new("/tmp/mnt-served")), "/tmp/mnt-served");
        assert_eq!(quoted(Path::new("/a b\\\n")), "/a\\040b\\134\\012");
    }

    #[test]
    fn a_refused_export_says_what_is_missing() {
        let refused = io::Error::from_raw_os_error(22);
        let failure = not_exported("nfsd.export", "/tmp/mnt-served", &refused);
        assert!(
            failure.message.contains("/tmp/mnt-served over nfs"),
            "{failure}"
        );
        assert!(failure.hint.is_some_and(|hint| hint.contains("handles")));
    }
}
