//! A ZFS pool on the trial's devices, and its daemon if the kernel has no ZFS.
//!
//! Invariant: a daemon started here has ended when the pool is dropped; other daemons are never
//! used, since their pools are not the trial's.

use fslab_sys::os::symlink;
use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fslab_fs::{CommandLine, PoolCommands};
use fslab_model::{Failure, FailureKind, StepRecord};

use crate::command::{self, Ran, elapsed_ns};
use crate::server::Server;

/// Poll interval of a scrub.
const SCRUB_POLL: Duration = Duration::from_millis(100);

/// An open pool.
pub(crate) struct Pool {
    commands: PoolCommands,
    /// `None` if the kernel has ZFS.
    _daemon: Option<Server>,
}

impl Pool {
    /// Creates the directory in which the pool is searched, with links to its devices, and starts
    /// the daemon if one is needed.
    pub(crate) fn open(commands: &PoolCommands, devices: &[String]) -> Result<Self, Failure> {
        link_devices(&commands.folder, devices).map_err(|error| {
            let text = format!("cannot make the directory {}", commands.folder);
            Failure::new(FailureKind::Device, text).because(&error)
        })?;
        let daemon = if serves_pools(commands.kernel_fs_type) {
            None
        } else {
            Some(start_daemon(commands)?)
        };
        Ok(Self {
            commands: commands.clone(),
            _daemon: daemon,
        })
    }

    pub(crate) fn import(&self) -> Result<StepRecord, Failure> {
        let kind = FailureKind::Mount;
        command::run_well("mount", &self.commands.import, kind, "import the pool")
    }

    pub(crate) fn export(&self) -> Result<StepRecord, Failure> {
        let kind = FailureKind::Unmount;
        command::run_well("unmount", &self.commands.export, kind, "export the pool")
    }

    pub(crate) fn export_command(&self) -> &CommandLine {
        &self.commands.export
    }

    /// Imports the pool, scrubs it, and exports it. The result is the output of the status command.
    pub(crate) fn scrub(&self) -> Result<Ran, Failure> {
        let began = Instant::now();
        self.import()?;
        let scrubbed = self.scrub_imported();
        let exported = self.export();
        let mut ran = scrubbed?;
        exported?;
        ran.record.elapsed_ns = elapsed_ns(began);
        Ok(ran)
    }

    fn scrub_imported(&self) -> Result<Ran, Failure> {
        let kind = FailureKind::Check;
        command::run_well("check", &self.commands.scrub, kind, "scrub the pool")?;
        loop {
            let ran = command::run("check", &self.commands.status)?;
            if !ran.output.contains("in progress") {
                return Ok(ran);
            }
            thread::sleep(SCRUB_POLL);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // The directory only contains a link; if it stays, the next trial replaces it.
        let folder = Path::new(&self.commands.folder);
        let _ = fs::remove_dir_all(folder);
        // Fails if other pools have directories there.
        let _ = folder.parent().map(fs::remove_dir);
    }
}

/// True if the running kernel has the driver.
fn serves_pools(fs_type: &str) -> bool {
    let drivers = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    drivers
        .lines()
        .any(|line| line.split_whitespace().last() == Some(fs_type))
}

fn link_devices(folder: &str, devices: &[String]) -> io::Result<()> {
    let folder = Path::new(folder);
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    devices
        .iter()
        .map(Path::new)
        .try_for_each(|device| symlink(device, folder.join(device.file_name().unwrap_or_default())))
}

fn start_daemon(commands: &PoolCommands) -> Result<Server, Failure> {
    let answers = || command::run("list", &commands.list).map(|it| it.record.exit_code == Some(0));
    let program = commands.daemon.tool.program;
    if answers()? {
        let text = format!("{program} already runs, with other pools");
        let hint = format!("export its pools and stop {program}: a trial starts its own");
        return Err(Failure::new(FailureKind::Unsupported, text).hint(hint));
    }
    let mut server = Server::start(&commands.daemon)?;
    server.wait_until(FailureKind::Mount, answers)?;
    Ok(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_pool_has_only_a_link_to_its_device() {
        let folder = tempfile::tempdir().expect("a directory");
        let pools = folder.path().join("pools/disk");
        let pools = pools.to_str().expect("temporary paths are UTF-8");
        fs::create_dir_all(pools).expect("is made");
        fs::write(Path::new(pools).join("old"), "left").expect("written");
        link_devices(pools, &["/dev/disk".to_owned()]).expect("is linked");
        let names: Vec<_> = fs::read_dir(pools)
            .expect("a directory")
            .flatten()
            .collect();
        assert_eq!(names.len(), 1);
        let target = fs::read_link(names[0].path()).expect("a link");
        assert_eq!(target, Path::new("/dev/disk"));
    }

    #[test]
    fn a_driver_is_matched_by_its_complete_name() {
        assert!(serves_pools("proc"));
        assert!(!serves_pools("pro"));
    }
}
