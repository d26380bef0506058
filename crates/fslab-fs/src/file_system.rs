//! A catalogue entry: all facts about one file system.

use std::fmt;

use fslab_model::{Bytes, Capabilities, Failure, Reservation, Subject, SubjectPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::driver::DRIVER_KEY;
use crate::mkfs::RefusedWord;
use crate::mounting::{by_kernel, by_pool, by_program, pool_name, pool_words};
use crate::network::{local_mount_point, network_file_system, over_network};
use crate::spread::{SpreadRule, validate_spread};
use crate::stack::{Stack, disk_words, validate_layers};
use crate::{
    CheckCommand, CheckVerdict, CommandLine, Driver, Mkfs, MountPlace, MountSource, Mounting, Tool,
};

/// Placeholder of the mount point.
pub(crate) const MOUNT_POINT_WORD: &str = "MOUNTPOINT";

/// The origin of a file system, and whether it has the features that Linux expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Designed for Linux.
    Native,
    /// Designed for another system, and has permissions, links and the like.
    ForeignSupported,
    /// Designed for another system, and lacks some of them.
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

/// The smallest device on which the file system is consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumSize {
    pub size: Bytes,
    /// The version of mkfs used for the measurement; other versions may accept less.
    pub mkfs_version: &'static str,
    /// What that mkfs does below that size: the end of a sentence that begins with its name.
    pub below: &'static str,
}

/// A feature that a mount option can enable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Owner, group and mode of a file are kept.
    Permissions,
    /// A hole in a file takes no space.
    SparseFiles,
    /// Extended attributes of the `user` namespace are kept.
    ExtendedAttributes,
}

/// A known bug of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelBug {
    /// The kernel.
    pub kernel: &'static str,
    /// The effect: a sentence.
    pub effect: &'static str,
    /// The kernel's message; empty if it prints none.
    pub message: &'static str,
    /// How this entry avoids it; `None` if it cannot.
    pub avoided_by: Option<&'static str>,
}

/// A catalogue entry.
///
/// Functions with a subject expect one of this entry, and refuse options that a trial must not use.
#[derive(Clone, Copy, Debug)]
pub struct FileSystem {
    /// Its name on the command line: lower case.
    pub name: &'static str,
    /// Its name in prose.
    pub title: &'static str,
    /// Its history, in two sentences.
    pub history: &'static str,
    /// Its origin, in one word.
    pub class: Class,
    pub driver: Driver,
    /// Its mkfs; `None` if nothing is formatted.
    pub mkfs: Option<Mkfs>,
    /// Its checker; `None` if there is none.
    pub check: Option<CheckCommand>,
    /// The smallest device.
    pub minimum: MinimumSize,
    /// Its capabilities without options.
    pub capabilities: Capabilities,
    /// How it spreads over several disks; `None` if it is on one device.
    pub spread: Option<&'static SpreadRule>,
    /// Mount options that enable missing features.
    pub given_by_options: &'static [(&'static str, Feature)],
    /// What speaks for or against it beside its speed, and does not follow from the rest.
    pub reservations: &'static [Reservation],
    /// The name of its signature; `None` if it leaves none on a device.
    pub signature: Option<&'static str>,
    /// Known bugs of kernels.
    pub bugs: &'static [KernelBug],
    /// Deviations of a trial from the defaults of its tools, each with the reason.
    pub deviations: &'static [&'static str],
}

impl FileSystem {
    /// Checks whether a trial of `subject` is possible on any machine.
    pub fn validate(&self, subject: &Subject) -> Result<(), Failure> {
        validate_spread(subject, self.spread)?;
        validate_layers(subject)?;
        self.validate_disks(subject)?;
        self.plan(subject).map(drop)
    }

    /// True if it lies on a block device.
    pub(crate) fn is_on_device(&self) -> bool {
        match &self.driver {
            Driver::Kernel(driver) => driver.source == MountSource::Device,
            Driver::Fuse(_) | Driver::Pool(_) => true,
            Driver::BuiltIn | Driver::Nowhere(_) => false,
        }
    }

    /// Refuses layers below what lies on no device.
    fn validate_disks(&self, subject: &Subject) -> Result<(), Failure> {
        if self.is_on_device() || subject.layers().is_empty() {
            return Ok(());
        }
        let text = format!(
            "{} lies on no device, so no layer can be below it",
            self.name
        );
        Err(Failure::bad_input(text).hint(format!("measure {} without layers", self.name)))
    }

    /// Its capabilities with the mount options and over the protocol of `subject`.
    ///
    /// Only features that options enable are known, not those that they disable.
    pub fn capabilities_of(&self, subject: &Subject) -> Capabilities {
        let mut capabilities = self.capabilities;
        let is_asked = |option: &str| subject.mount_options().iter().any(|it| it == option);
        for (_, feature) in self.given_by_options.iter().filter(|it| is_asked(it.0)) {
            match feature {
                Feature::Permissions => capabilities.permissions = true,
                Feature::SparseFiles => capabilities.sparse_files = true,
                Feature::ExtendedAttributes => capabilities.extended_attributes = true,
            }
        }
        if let Some(network) = subject.network() {
            (network_file_system(network.protocol).limit)(&mut capabilities, network);
        }
        capabilities
    }

    /// The kernel's driver that mounts `subject`, if there is a choice.
    pub fn asked_driver(&self, subject: &Subject) -> Option<&'static str> {
        let Driver::Kernel(driver) = &self.driver else {
            return None;
        };
        let mut asked = subject.mount_options().iter().filter_map(|option| {
            let (key, value) = option.split_once('=')?;
            (key == DRIVER_KEY).then_some(value)
        });
        let asked = asked.next_back();
        let choice = driver.choices.iter().find(|it| Some(it.name) == asked);
        choice.or(driver.choices.first()).map(|it| it.name)
    }

    /// Checks whether it fits on `size` bytes when made without options.
    pub fn validate_size(&self, size: Bytes) -> Result<(), Failure> {
        let (name, minimum) = (self.name, self.minimum.size);
        if size < minimum {
            let text = format!("{size} is too small for {name}, which needs {minimum}");
            let hint = format!("use --size {} or more", minimum.to_argument());
            return Err(Failure::bad_input(text).hint(hint));
        }
        match self.capabilities.volume_bytes_max {
            Some(maximum) if size > maximum => {
                let text = format!("{size} is too large for {name}, whose maximum is {maximum}");
                let hint = format!("use --size {} or less", maximum.to_argument());
                Err(Failure::bad_input(text).hint(hint))
            }
            _ => Ok(()),
        }
    }

    /// The command that makes the file system at `place`; `None` if nothing is formatted.
    ///
    /// # Errors
    /// Bad input for an option, also for arguments if nothing is formatted; unsupported if nothing
    /// mounts the file system.
    pub fn mkfs_command(
        &self,
        place: &MountPlace<'_>,
        subject: &Subject,
    ) -> Result<Option<CommandLine>, Failure> {
        self.mkfs_command_for(place, subject, None)
    }

    /// As [`Self::mkfs_command`], for an mkfs that prints `version`: of a set of earlier defaults
    /// without the options that it does not know.
    ///
    /// # Errors
    /// As [`Self::mkfs_command`].
    pub fn mkfs_command_for(
        &self,
        place: &MountPlace<'_>,
        subject: &Subject,
        version: Option<&str>,
    ) -> Result<Option<CommandLine>, Failure> {
        self.expect_own(subject)?;
        let Some(mkfs) = &self.mkfs else {
            return match subject.mkfs_arguments().first() {
                Some(word) => Err(self.refused("mkfs", pointless(word))),
                None => Ok(None),
            };
        };
        let mut arguments = mkfs
            .arguments_with(subject.mkfs_arguments(), version)
            .map_err(|refused| self.refused("mkfs", refused))?;
        if let Driver::Pool(_) = self.driver {
            let mount_point = local_mount_point(place.mount_point, subject);
            arguments.extend(pool_words(place.device, &mount_point));
        }
        let devices = place.devices();
        match (subject.spread(), self.spread) {
            (Some(spread), Some(rule)) => {
                let words = rule.mkfs_words(spread, &arguments, &devices);
                arguments.extend(words);
            }
            _ => arguments.push(place.device.to_owned()),
        }
        Ok(Some(CommandLine {
            tool: mkfs.tool,
            arguments,
        }))
    }

    /// The way to mount it at `place`; `None` if nothing is mounted.
    ///
    /// # Errors
    /// Bad input for an option, also for options if nothing is mounted; unsupported if nothing
    /// mounts the file system.
    pub fn mounting(
        &self,
        place: &MountPlace<'_>,
        subject: &Subject,
    ) -> Result<Option<Mounting>, Failure> {
        self.expect_own(subject)?;
        let served_at = local_mount_point(place.mount_point, subject);
        let local = MountPlace {
            mount_point: &served_at,
            ..*place
        };
        let mounting = match &self.driver {
            Driver::Kernel(driver) => by_kernel(driver, &local, subject, self.spread),
            Driver::Fuse(driver) => by_program(driver, &local, subject),
            Driver::Pool(driver) => by_pool(driver, &local, subject),
            Driver::BuiltIn | Driver::Nowhere(_) => {
                return match (subject.mount_options().first(), subject.network()) {
                    (Some(word), _) => Err(self.refused("mount", pointless(word))),
                    (None, Some(_)) => Err(self.unavailable("there is nothing to serve")),
                    (None, None) => Ok(None),
                };
            }
        };
        let mounting = mounting.map_err(|refused| self.refused("mount", refused))?;
        let Some(network) = subject.network() else {
            return Ok(Some(mounting));
        };
        let mounting = over_network(network, mounting, &served_at, place)
            .map_err(|(kind, refused)| self.refused(kind, refused))?;
        Ok(Some(Mounting::Network(Box::new(mounting))))
    }

    /// The read-only command that checks `device`; `None` without a checker.
    ///
    /// A pool is checked while it is imported, see [`crate::PoolCommands`].
    pub fn check_command(&self, device: &str) -> Option<CommandLine> {
        let check = self.check.as_ref()?;
        let pool = pool_name(device);
        let checked = match self.driver {
            Driver::Pool(_) => &pool,
            _ => device,
        };
        let words = check.arguments.iter().copied().chain([checked]);
        Some(CommandLine {
            tool: check.tool,
            arguments: words.map(str::to_owned).collect(),
        })
    }

    /// The meaning of the checker's exit status and output; [`CheckVerdict::CouldNotRun`] without a
    /// checker.
    pub fn judge_check(&self, exit_code: i32, output: &str) -> CheckVerdict {
        self.check
            .as_ref()
            .map_or(CheckVerdict::CouldNotRun, |check| {
                (check.judge)(exit_code, output)
            })
    }

    /// The commands of a trial, with the placeholders `DEVICE` and `MOUNTPOINT`.
    pub fn plan(&self, subject: &Subject) -> Result<SubjectPlan, Failure> {
        let stack = Stack::of(subject, &disk_words(subject.disks()));
        let (device, others) = stack.first_and_others();
        let place = MountPlace {
            device,
            others,
            mount_point: MOUNT_POINT_WORD,
            size: None,
        };
        let words = |command: CommandLine| command.words();
        Ok(SubjectPlan {
            subject: subject.clone(),
            title: Some(self.title.to_owned()),
            mkfs: self.mkfs_command(&place, subject)?.map(words),
            mount: self.mounting(&place, subject)?.map(|it| it.words()),
            check: self.check_command(device).map(words),
            stack: stack.plan(),
            lab: None,
            network_mount: None,
        })
    }

    /// The programs that a trial runs, each once.
    pub fn tools(&self) -> Vec<Tool> {
        let mkfs = self.mkfs.map(|mkfs| mkfs.tool);
        let check = self.check.map(|check| check.tool);
        let mut tools: Vec<Tool> = Vec::new();
        for tool in mkfs.into_iter().chain(self.driver.tools()).chain(check) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        tools
    }

    fn expect_own(&self, subject: &Subject) -> Result<(), Failure> {
        assert_eq!(
            subject.fs(),
            self.name,
            "the caller finds the entry by the subject's name"
        );
        match self.driver {
            Driver::Nowhere(reason) => Err(self.unavailable(reason)),
            Driver::Kernel(_) | Driver::Fuse(_) | Driver::Pool(_) | Driver::BuiltIn => Ok(()),
        }
    }

    fn refused(&self, kind: &str, refused: RefusedWord) -> Failure {
        let RefusedWord {
            word,
            reason,
            allowed,
        } = refused;
        let text = format!(
            "cannot use the {kind} option '{word}' with {}: {reason}",
            self.name
        );
        Failure::bad_input(text).with_hint(allowed)
    }

    fn unavailable(&self, reason: &str) -> Failure {
        Failure::unsupported(format!(
            "{} cannot be mounted anywhere: {reason}",
            self.name
        ))
    }
}

fn pointless(word: &str) -> RefusedWord {
    RefusedWord {
        word: word.to_owned(),
        reason: "nothing would use it".to_owned(),
        allowed: None,
    }
}
