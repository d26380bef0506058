//! A block device on which this trial makes, mounts and unmounts a file system.
//!
//! Invariant: a dropped volume is unmounted.

use std::fs::File;
use std::path::{Path, PathBuf};

use fslab_fs::{CheckVerdict, FileSystem, MountPlace, Mounting, SearchPath, network_file_system};
use fslab_model::{
    ALLOCATION_UNIT_FACT, Bytes, DISK_BYTES_FACT, DRIVER_FACT, DRIVER_OWNER_FACT, DeviceIdentity,
    FEATURES_FACT, Facts, Failure, FailureKind, MemberDisk, STACK_BYTES_FACT, StepRecord, Subject,
};
use fslab_sys::{DeviceNumber, FileSystemRoom, KernelLine, KernelLog, WorkFolder};

use crate::attachment::{Attachment, Refused};
use crate::busy::{is_busy, says_busy, with_patience};
use crate::command::{self, Ran, last_lines};
use crate::counters::read_ahead;
use crate::open_stack::OpenStack;
use crate::pool::Pool;
use crate::write_back::WriteBack;

/// The fact whether programs of other users can reach the mounted file system.
const ADMISSION_FACT: &str = "mount.other_users";
/// Kernel messages shown for a failed mount.
const KERNEL_LINES_SHOWN: usize = 4;

/// A volume's device and file system.
pub(crate) struct VolumeSpec {
    pub(crate) file_system: &'static FileSystem,
    pub(crate) subject: Subject,
    /// The disks, each with its identity when the run began, which is empty if not compared.
    pub(crate) disks: Vec<MemberDisk>,
    /// True if the disks may hold something.
    pub(crate) is_used: bool,
    pub(crate) mount_point: PathBuf,
    pub(crate) size: Bytes,
    /// The device that makes the host drop the disk's pages; `None` outside of a guest.
    pub(crate) host_forgets: Option<PathBuf>,
    /// True if each call advances the clock, so that additional checks would change results.
    pub(crate) virtual_time: bool,
    /// The directory above the mount point that other users' programs must search to reach it;
    /// `None` if there are none.
    pub(crate) admits: Option<PathBuf>,
}

pub(crate) struct Volume {
    spec: VolumeSpec,
    /// The device of the file system, the topmost of the stack; of several, the first.
    device_text: String,
    mount_point_text: String,
    /// Before the pool: fields are dropped in order, and the pool's daemon serves the mount.
    attachment: Option<Attachment>,
    pool: Option<Pool>,
    /// After them: it holds nothing open once they are gone.
    stack: OpenStack,
    write_back: WriteBack,
    /// Whether other users can reach it; `None` if that was not asked for.
    admits_others: Option<bool>,
}

impl Volume {
    pub(crate) fn new(spec: VolumeSpec) -> Self {
        let disks = spec
            .disks
            .iter()
            .map(|disk| disk.path.display().to_string());
        let disks: Vec<String> = disks.collect();
        let stack = OpenStack::of(&spec.subject, &disks, spec.is_used);
        let device_text = stack.devices().first().cloned().unwrap_or_default();
        Self {
            device_text,
            stack,
            mount_point_text: spec.mount_point.display().to_string(),
            spec,
            attachment: None,
            pool: None,
            write_back: WriteBack::default(),
            admits_others: None,
        }
    }

    /// Whether programs of other users can reach it; no fact if no program is started.
    pub(crate) fn admission(&self) -> Facts {
        let text = match self.admits_others {
            None => return Facts::new(),
            Some(true) => "yes",
            Some(false) => "no: its root is writable by other users",
        };
        Facts::from([(ADMISSION_FACT.to_owned(), text.to_owned())])
    }

    /// The kernel's driver that mounted it, and where that came from; no fact if a program did.
    ///
    /// # Errors
    /// Unsupported if the subject asks for another driver, which the kernel does not have.
    pub(crate) fn driver(&self) -> Result<Facts, Failure> {
        let file_system = self.spec.file_system;
        let name = DeviceNumber::of(self.device())
            .ok()
            .and_then(DeviceNumber::kernel_name);
        let Some(serving) = name.and_then(|name| file_system.driver.serving(&name)) else {
            return Ok(Facts::new());
        };
        let asked = file_system.asked_driver(&self.spec.subject);
        if let Some(asked) = asked.filter(|asked| *asked != serving.name) {
            let name = file_system.name;
            let text = format!(
                "this kernel has no driver {asked} for {name}: {} mounted it",
                serving.name
            );
            let hint = format!(
                "without driver={asked}, {} mounts it everywhere",
                serving.name
            );
            return Err(Failure::new(FailureKind::Unsupported, text).hint(hint));
        }
        let mut facts = Facts::from([
            (DRIVER_FACT.to_owned(), serving.name.to_owned()),
            (format!("{DRIVER_FACT}.origin"), serving.origin),
        ]);
        // Written for another file system: ext4's driver mounts ext2 and ext3, too.
        let owner = fslab_fs::find(serving.name).ok();
        let owner = owner.filter(|owner| owner.name != file_system.name);
        facts.extend(owner.map(|it| (DRIVER_OWNER_FACT.to_owned(), it.title.to_owned())));
        Ok(facts)
    }

    /// The unit in which space is given to files: block or cluster.
    pub(crate) fn allocation_unit(&self) -> Facts {
        let room = FileSystemRoom::of(&self.spec.mount_point).ok();
        let fact = room.map(|it| (ALLOCATION_UNIT_FACT.to_owned(), it.block_bytes.to_string()));
        fact.into_iter().collect()
    }

    /// The features that mkfs gave it, read from the unmounted device.
    pub(crate) fn features(&self) -> Facts {
        let table = self.spec.file_system.mkfs.and_then(|mkfs| mkfs.features);
        let found = table.and_then(|table| {
            let mut device = File::open(self.device()).ok()?;
            table.read(&mut device).ok()
        });
        let fact = found.map(|features| (FEATURES_FACT.to_owned(), features));
        fact.into_iter().collect()
    }

    /// The version of mkfs, where its arguments depend on it.
    fn mkfs_version(&self) -> Option<String> {
        if !fslab_fs::has_defaults(self.spec.subject.mkfs_arguments()) {
            return None;
        }
        let tool = self.spec.file_system.mkfs?.tool;
        let program = tool.locate(&SearchPath::from_environment()).ok()?;
        tool.ask_version(&program).ok()
    }

    pub(crate) fn file_system(&self) -> &'static FileSystem {
        self.spec.file_system
    }

    pub(crate) fn mount_point(&self) -> &Path {
        &self.spec.mount_point
    }

    /// The device of the file system, the topmost of the stack; of several, the first.
    pub(crate) fn device(&self) -> &Path {
        Path::new(&self.device_text)
    }

    /// The disks.
    pub(crate) fn disks(&self) -> impl Iterator<Item = &Path> {
        self.spec.disks.iter().map(|disk| disk.path.as_path())
    }

    /// The disks and the devices of the layers.
    pub(crate) fn stack_devices(&self) -> Vec<PathBuf> {
        let layers = self.stack.layer_devices().map(PathBuf::from);
        self.disks().map(Path::to_owned).chain(layers).collect()
    }

    /// The kernel's names of the file system's devices that exist.
    pub(crate) fn device_names(&self) -> impl Iterator<Item = String> {
        let devices = self.stack.devices().iter();
        devices.filter_map(|device| DeviceNumber::of(Path::new(device)).ok()?.kernel_name())
    }

    fn place(&self) -> MountPlace<'_> {
        MountPlace {
            device: &self.device_text,
            others: self.stack.devices().get(1..).unwrap_or_default(),
            mount_point: &self.mount_point_text,
            size: Some(self.spec.size),
        }
    }

    /// Makes the layers below the file system; a step for each.
    pub(crate) fn open_layers(&mut self) -> Result<Vec<StepRecord>, Failure> {
        let _held = self.hold()?;
        self.stack.open()
    }

    /// Closes them, if the file system is not mounted.
    pub(crate) fn close_layers(&mut self) -> Result<Vec<StepRecord>, Failure> {
        match self.is_mounted() {
            true => Ok(Vec::new()),
            false => self.stack.close(),
        }
    }

    /// True if there are layers below the file system.
    pub(crate) fn has_layers(&self) -> bool {
        !self.stack.is_empty()
    }

    /// The bytes of the disks and of the device that the file system gets of them, and the
    /// readahead of the latter; no facts of a file system on one disk.
    pub(crate) fn stack_facts(&self) -> Facts {
        let mut facts = Facts::new();
        if self.stack.is_empty() && self.spec.disks.len() == 1 {
            return facts;
        }
        let size = |path: &Path| DeviceNumber::of(path)?.size_bytes();
        let sum =
            |sizes: Vec<std::io::Result<u64>>| sizes.into_iter().sum::<std::io::Result<u64>>();
        let devices = self.stack.devices().iter().map(|it| size(Path::new(it)));
        let sums = [
            (DISK_BYTES_FACT, sum(self.disks().map(size).collect())),
            (STACK_BYTES_FACT, sum(devices.collect())),
        ];
        for (name, bytes) in sums {
            facts.extend(bytes.ok().map(|bytes| (name.to_owned(), bytes.to_string())));
        }
        let name = self.device_names().next();
        facts.extend(name.and_then(|name| read_ahead(&name)));
        facts
    }

    fn mounting(&self) -> Result<Mounting, Failure> {
        let spec = &self.spec;
        let mounting = spec.file_system.mounting(&self.place(), &spec.subject)?;
        mounting.ok_or_else(|| {
            let text = format!("{} is not mounted on a device", spec.file_system.title);
            Failure::new(FailureKind::BadInput, text)
        })
    }

    /// Opens the disks and checks that they are those of the run's start. While the files are
    /// open, the kernel does not reuse the names of the devices.
    fn hold(&self) -> Result<Vec<File>, Failure> {
        let known = self
            .spec
            .disks
            .iter()
            .filter(|disk| !disk.identity.is_empty());
        known.map(hold_disk).collect()
    }

    /// Makes the file system; `None` if it needs no mkfs.
    ///
    /// A new pool is mounted at once: it is exported again, and the export counts as part of mkfs.
    pub(crate) fn format(&mut self) -> Result<Option<StepRecord>, Failure> {
        let file_system = self.spec.file_system;
        let version = self.mkfs_version();
        let (place, subject) = (self.place(), &self.spec.subject);
        let line = file_system.mkfs_command_for(&place, subject, version.as_deref())?;
        let Some(line) = line else { return Ok(None) };
        let _held = self.hold()?;
        if let Mounting::Pool(commands) = self.mounting()?.local() {
            self.pool = Some(Pool::open(commands, self.stack.devices())?);
        }
        let cannot = format!("make {} on {}", file_system.title, self.device_text);
        let what = format!("mkfs of {}", file_system.title);
        let made = with_patience(
            &what,
            |made: &Result<_, Failure>| made.as_ref().is_err_and(is_busy),
            || command::run_well("mkfs", &line, FailureKind::Format, &cannot),
        );
        let mut record = made??;
        if let Some(pool) = &self.pool {
            record.elapsed_ns += pool.export()?.elapsed_ns;
        }
        Ok(Some(record))
    }

    pub(crate) fn mount(&mut self) -> Result<StepRecord, Failure> {
        let mounting = self.mounting()?;
        let _held = self.hold()?;
        let mut log = KernelLog::mark();
        let what = format!("the mount of {}", self.spec.subject);
        let attached = with_patience(
            &what,
            |attached: &Result<_, Refused>| attached.as_ref().is_err_and(Refused::is_busy),
            || Attachment::attach(&mounting, &self.spec.mount_point, self.pool.as_ref()),
        )?;
        let (attachment, record) = attached.map_err(|refused| match refused {
            Refused::ByKernel(error) => self.refused_mount(&error, &log.since()),
            Refused::ByProgram(failure) => with_kernel_lines(failure, &log.since()),
        })?;
        self.attachment = Some(attachment);
        self.admit_others()?;
        if !self.spec.virtual_time {
            self.write_back.open(&self.spec.mount_point)?;
        }
        Ok(record)
    }

    /// Lets programs of other users reach the mounted file system, unless they could write to its
    /// root.
    fn admit_others(&mut self) -> Result<(), Failure> {
        let (Some(folder), Some(name)) = (&self.spec.admits, self.spec.mount_point.file_name())
        else {
            return Ok(());
        };
        let name = name.to_string_lossy();
        let admitted = WorkFolder::open(folder).and_then(|it| it.admit_others(&name));
        let admitted = admitted.map_err(|error| {
            Failure::at(
                FailureKind::Device,
                "set the permissions of",
                folder,
                &error,
            )
        })?;
        self.admits_others = Some(admitted);
        Ok(())
    }

    fn refused_mount(&self, error: &std::io::Error, kernel: &[KernelLine]) -> Failure {
        let text = format!("cannot mount {} on {}", self.spec.subject, self.device_text);
        let failure = Failure::new(FailureKind::Mount, text).because(error);
        let failure = with_kernel_lines(failure, kernel);
        let network = self.spec.subject.network();
        let not_found = network.and_then(|it| network_file_system(it.protocol).not_found);
        let hint = match (error.kind(), not_found) {
            (std::io::ErrorKind::PermissionDenied, _) => "mounting needs root".to_owned(),
            _ if failure.errno == Some(19) => self.why_no_driver(),
            (std::io::ErrorKind::NotFound, Some(hint)) => hint.to_owned(),
            _ => "check the mount options, which this kernel may not know, and the features of \
                  mkfs, which may be newer than the kernel"
                .to_owned(),
        };
        failure.hint(hint)
    }

    fn why_no_driver(&self) -> String {
        let file_system = self.spec.file_system;
        let release = fslab_sys::kernel_release();
        let by_version = file_system.driver.why_lacking(&release);
        let why = by_version
            .unwrap_or_else(|| "`fslab fs list --probe` shows what works here".to_owned());
        format!("Linux {release} has no {} driver: {why}", file_system.name)
    }

    /// Writes back dirty data and returns the time in ns; fails if any write-back since the mount
    /// has failed. Over a network, that of the client and then that of the server. For a FUSE
    /// server, only the kernel's data is written back; the server writes its own at unmount.
    pub(crate) fn sync(&mut self) -> Result<u64, Failure> {
        let mut elapsed_ns = self.write_back.sync(&self.spec.mount_point)?;
        if let Some(served_at) = self.attachment.as_ref().and_then(Attachment::served_at) {
            elapsed_ns += WriteBack::default().sync(served_at)?;
        }
        let is_held_back = self.attachment.as_ref().is_some_and(Attachment::is_served);
        if !is_held_back {
            self.write_back.mark_safe();
        }
        Ok(elapsed_ns)
    }

    pub(crate) fn write_back(&self) -> &WriteBack {
        &self.write_back
    }

    pub(crate) fn write_back_mut(&mut self) -> &mut WriteBack {
        &mut self.write_back
    }

    /// In a guest, makes the host drop the disk's pages from its page cache.
    pub(crate) fn drop_host_cache(&self) -> Result<(), Failure> {
        let folder = self.spec.host_forgets.as_deref();
        folder.map_or(Ok(()), crate::host::drop_host_cache)
    }

    pub(crate) fn unmount(&mut self) -> Result<StepRecord, Failure> {
        let attachment = self.attachment.as_mut().ok_or_else(|| {
            let text = format!(
                "cannot unmount {}: it is not mounted",
                self.mount_point_text
            );
            Failure::new(FailureKind::Unmount, text)
        })?;
        self.write_back.close();
        // umount(2) has been tried for seconds.
        let record =
            attachment.detach().map_err(|failure| {
                match is_busy(&failure) {
            true => Failure {
                kind: FailureKind::Host,
                ..failure.hint(
                    "another program uses the mounted file system (fuser -vm shows which); end it, \
                     then run the same command with --resume",
                )
            },
            false => failure,
        }
            })?;
        self.attachment = None;
        self.write_back.mark_safe();
        Ok(record)
    }

    pub(crate) fn is_mounted(&self) -> bool {
        self.attachment.is_some()
    }

    /// Checks the unmounted file system without changes; no record if it has no checker.
    ///
    /// If the checker finds errors, the record is also returned, for its output.
    pub(crate) fn check(&self) -> (Option<StepRecord>, Option<Failure>) {
        let _held = match self.hold() {
            Ok(held) => held,
            Err(failure) => return (None, Some(failure)),
        };
        let Some(line) = self.spec.file_system.check_command(&self.device_text) else {
            return (None, None);
        };
        let ran = with_patience(
            &format!("the check of {}", self.spec.subject),
            |ran: &Result<Ran, Failure>| match ran {
                Ok(ran) => says_busy(&ran.output) && self.judge(ran).is_some(),
                Err(failure) => is_busy(failure),
            },
            || match &self.pool {
                Some(pool) => pool.scrub(),
                None => command::run("check", &line),
            },
        );
        let ran = ran.and_then(|ran| ran);
        match ran {
            Ok(ran) => {
                let failure = self.judge(&ran);
                (Some(ran.record), failure)
            }
            Err(failure) => (None, Some(failure)),
        }
    }

    fn judge(&self, ran: &Ran) -> Option<Failure> {
        let exit_code = ran.record.exit_code.unwrap_or(-1);
        let what = match self.spec.file_system.judge_check(exit_code, &ran.output) {
            CheckVerdict::Clean => return None,
            CheckVerdict::Errors => "found errors",
            CheckVerdict::CouldNotRun => "could not run",
        };
        let text = format!(
            "the check of {} {what}: `{}` ended with status {exit_code}: {}",
            self.spec.subject,
            ran.record.command.join(" "),
            last_lines(&ran.record.output)
        );
        Some(Failure::new(FailureKind::Check, text))
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        // Still mounted only after a panic.
        self.write_back.close();
        if let Some(attachment) = &mut self.attachment {
            attachment.abandon();
        }
    }
}

/// Opens a disk, if it is the one of the run's start.
fn hold_disk(disk: &MemberDisk) -> Result<File, Failure> {
    let found = fslab_sys::open_block_device(&disk.path)
        .and_then(|device| Ok((fslab_sys::device_identity(&device)?, device)));
    let (identity, device) = found.map_err(|error| {
        let text = format!("cannot identify the device {}", disk.path.display());
        Failure::new(FailureKind::Device, text).because(&error)
    })?;
    let Some(difference) = disk.identity.difference(&DeviceIdentity::new(identity)) else {
        return Ok(device);
    };
    let text = format!(
        "{} is a different device than when the run began",
        disk.path.display()
    );
    let mut failure = Failure::new(FailureKind::Device, text);
    failure.causes.push(difference);
    Err(failure)
}

/// Adds what the kernel said last, except where the reason is known.
fn with_kernel_lines(mut failure: Failure, kernel: &[KernelLine]) -> Failure {
    if failure.kind == FailureKind::Unsupported {
        return failure;
    }
    let first = kernel.len().saturating_sub(KERNEL_LINES_SHOWN);
    let lines = kernel[first..].iter();
    failure
        .causes
        .extend(lines.map(|line| format!("the kernel says: {}", line.text)));
    failure
}
