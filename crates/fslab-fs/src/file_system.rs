//! A catalogue entry: everything that fslab knows of one file system.

use std::fmt;

use fslab_model::{Bytes, Capabilities, Subject, SubjectPlan};
use serde::{Deserialize, Serialize};

use crate::mkfs::RefusedWord;
use crate::{CatalogueError, Check, CheckVerdict, CommandLine, Mkfs, MountCall, Tool};

/// Stands for the device in commands that are shown before there is one.
pub(crate) const DEVICE_WORD: &str = "DEVICE";
/// Stands for the mount point.
pub(crate) const MOUNT_POINT_WORD: &str = "MOUNTPOINT";

/// Where a file system comes from, and whether it has what Linux expects of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Designed for Linux.
    Native,
    /// Designed for another system, and has permissions, links and the like.
    ForeignSupported,
    /// Designed for another system, and lacks some of those.
    ForeignUnsupported,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Native => "native",
            Self::ForeignSupported => "foreign supported",
            Self::ForeignUnsupported => "foreign unsupported",
        })
    }
}

/// A driver of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDriver {
    /// The name to mount by, as it stands in /proc/filesystems.
    pub fs_type: &'static str,
    /// The drivers that may serve that name, the usual one first.
    pub served_by: &'static [&'static str],
    /// The kernel's configuration that has it.
    pub config: &'static str,
    /// Options that every mount needs; the user's come behind them.
    pub options: &'static [&'static str],
}

/// What mounts a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// The kernel.
    Kernel(KernelDriver),
    /// Nothing needs to: fslab itself stands in for it.
    BuiltIn,
    /// Nothing can; a fragment says why.
    Nowhere(&'static str),
}

/// The smallest device that the file system is whole on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumSize {
    /// Its size.
    pub size: Bytes,
    /// The version of mkfs that it was measured with; other versions may take less.
    pub mkfs_version: &'static str,
    /// What that mkfs does below that size: a sentence's end, behind its name.
    pub below: &'static str,
}

/// Where a file system is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MountPlace<'a> {
    /// The device.
    pub device: &'a str,
    /// The directory.
    pub mount_point: &'a str,
}

/// A catalogue entry.
///
/// Functions that take a subject expect one of this very entry, and refuse its options where a
/// trial must not use them.
#[derive(Clone, Copy, Debug)]
pub struct FileSystem {
    /// Its name on the command line: lower case.
    pub name: &'static str,
    /// Its name as people write it.
    pub title: &'static str,
    /// Where it comes from, in two sentences.
    pub history: &'static str,
    /// Where it comes from, in one word.
    pub class: Class,
    /// What mounts it.
    pub driver: Driver,
    /// How it is made; `None` where nothing is formatted.
    pub mkfs: Option<Mkfs>,
    /// How it is checked; `None` where there is no checker.
    pub check: Option<Check>,
    /// The smallest device.
    pub minimum: MinimumSize,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Where a trial departs from the defaults of its tools, each with the reason.
    pub deviations: &'static [&'static str],
}

impl FileSystem {
    /// Whether a trial of `subject` is possible at all, on whatever machine.
    ///
    /// # Errors
    /// [`CatalogueError::BadOption`] and [`CatalogueError::Unavailable`].
    pub fn validate(&self, subject: &Subject) -> Result<(), CatalogueError> {
        self.plan(subject).map(drop)
    }

    /// Whether it fits on `size` bytes when it is made without options.
    ///
    /// # Errors
    /// [`CatalogueError::TooSmall`].
    pub fn validate_size(&self, size: Bytes) -> Result<(), CatalogueError> {
        if size >= self.minimum.size {
            return Ok(());
        }
        Err(CatalogueError::TooSmall {
            file_system: self.name,
            size,
            minimum: self.minimum.size,
        })
    }

    /// The command that makes the file system on `device`; `None` where nothing is formatted.
    ///
    /// # Errors
    /// [`CatalogueError::BadOption`], also for arguments where nothing is formatted, and
    /// [`CatalogueError::Unavailable`].
    pub fn mkfs_command(
        &self,
        device: &str,
        subject: &Subject,
    ) -> Result<Option<CommandLine>, CatalogueError> {
        self.expect_own(subject)?;
        let Some(mkfs) = &self.mkfs else {
            return match subject.mkfs_arguments().first() {
                Some(word) => Err(self.refused("mkfs", pointless(word))),
                None => Ok(None),
            };
        };
        let mut arguments = mkfs
            .arguments_with(subject.mkfs_arguments())
            .map_err(|refused| self.refused("mkfs", refused))?;
        arguments.push(device.to_owned());
        Ok(Some(CommandLine {
            tool: mkfs.tool,
            arguments,
        }))
    }

    /// What to pass to mount(2); `None` where nothing is mounted.
    ///
    /// # Errors
    /// [`CatalogueError::BadOption`], also for options where nothing is mounted, and
    /// [`CatalogueError::Unavailable`].
    pub fn mount_call(&self, subject: &Subject) -> Result<Option<MountCall>, CatalogueError> {
        self.expect_own(subject)?;
        let Driver::Kernel(driver) = &self.driver else {
            return match subject.mount_options().first() {
                Some(word) => Err(self.refused("mount", pointless(word))),
                None => Ok(None),
            };
        };
        MountCall::new(driver.fs_type, driver.options_with(subject))
            .map(Some)
            .map_err(|refused| self.refused("mount", refused))
    }

    /// The mount(8) command that equals [`FileSystem::mount_call`], for plans and reports.
    ///
    /// # Errors
    /// Those of [`FileSystem::mount_call`].
    pub fn mount_command(
        &self,
        place: &MountPlace<'_>,
        subject: &Subject,
    ) -> Result<Option<Vec<String>>, CatalogueError> {
        self.mount_call(subject)?;
        let Driver::Kernel(driver) = &self.driver else {
            return Ok(None);
        };
        let options: Vec<&str> = driver.options_with(subject).collect();
        let options = options.join(",");
        let mut words = vec!["mount", "-t", driver.fs_type];
        if !options.is_empty() {
            words.extend(["-o", &options]);
        }
        words.extend([place.device, place.mount_point]);
        Ok(Some(words.into_iter().map(str::to_owned).collect()))
    }

    /// The command that checks `device` and changes nothing; `None` where there is no checker.
    #[must_use]
    pub fn check_command(&self, device: &str) -> Option<CommandLine> {
        let check = self.check.as_ref()?;
        let words = check.arguments.iter().copied().chain([device]);
        Some(CommandLine {
            tool: check.tool,
            arguments: words.map(str::to_owned).collect(),
        })
    }

    /// What the checker's exit status means; without a checker nothing can be told.
    #[must_use]
    pub fn judge_check(&self, exit_code: i32) -> CheckVerdict {
        self.check
            .as_ref()
            .map_or(CheckVerdict::CouldNotRun, |check| (check.judge)(exit_code))
    }

    /// The commands of a trial, with the words `DEVICE` and `MOUNTPOINT`.
    ///
    /// # Errors
    /// Those of [`FileSystem::mkfs_command`] and [`FileSystem::mount_call`].
    pub fn plan(&self, subject: &Subject) -> Result<SubjectPlan, CatalogueError> {
        let place = MountPlace {
            device: DEVICE_WORD,
            mount_point: MOUNT_POINT_WORD,
        };
        let words = |command: CommandLine| command.words();
        Ok(SubjectPlan {
            subject: subject.clone(),
            mkfs: self.mkfs_command(DEVICE_WORD, subject)?.map(words),
            mount: self.mount_command(&place, subject)?,
            check: self.check_command(DEVICE_WORD).map(words),
        })
    }

    /// The programs that a trial runs, each once.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        let mkfs = self.mkfs.map(|mkfs| mkfs.tool);
        let check = self.check.map(|check| check.tool);
        mkfs.into_iter()
            .chain(check.filter(|tool| mkfs != Some(*tool)))
            .collect()
    }

    fn expect_own(&self, subject: &Subject) -> Result<(), CatalogueError> {
        assert_eq!(
            subject.fs(),
            self.name,
            "the caller finds the entry by the subject's name"
        );
        match self.driver {
            Driver::Nowhere(reason) => Err(CatalogueError::Unavailable {
                file_system: self.name,
                reason,
            }),
            Driver::Kernel(_) | Driver::BuiltIn => Ok(()),
        }
    }

    fn refused(&self, kind: &'static str, refused: RefusedWord) -> CatalogueError {
        CatalogueError::BadOption {
            file_system: self.name,
            kind,
            option: refused.word,
            reason: refused.reason,
        }
    }
}

impl KernelDriver {
    fn options_with<'a>(&'a self, subject: &'a Subject) -> impl Iterator<Item = &'a str> {
        let users = subject.mount_options().iter().map(String::as_str);
        self.options.iter().copied().chain(users)
    }
}

fn pointless(word: &str) -> RefusedWord {
    RefusedWord {
        word: word.to_owned(),
        reason: "there is nothing that would heed it",
    }
}
