//! Mounting a subject: a call, a program that serves, or the commands of a pool; each of them also
//! over a network protocol.

use std::path::Path;

use fslab_model::{Bytes, Subject};

use crate::driver::DRIVER_KEY;
use crate::mkfs::RefusedWord;
use crate::mount_call::{check_option, check_word};
use crate::spread::SpreadRule;
use crate::{
    CommandLine, DriverChoice, FuseDriver, KernelDriver, MountCall, MountSource, NetworkMounting,
    PoolDriver, Tool,
};

/// Placeholder of the size in commands that are shown before there is a device.
const SIZE_WORD: &str = "SIZE";

/// The parent of each pool's search directory, which has only a link to its device.
///
/// A scan of /dev would read every disk of the machine, and take time for each.
const POOL_FOLDERS: &str = "/run/fslab-pools";

/// The device and mount point of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MountPlace<'a> {
    /// The device; of several, the first.
    pub device: &'a str,
    /// The further devices of a file system that spreads over several.
    pub others: &'a [String],
    /// The directory.
    pub mount_point: &'a str,
    /// The device's size; `None` in a plan.
    pub size: Option<Bytes>,
}

impl<'a> MountPlace<'a> {
    /// All devices.
    pub(crate) fn devices(&self) -> Vec<&'a str> {
        let others = self.others.iter().map(String::as_str);
        std::iter::once(self.device).chain(others).collect()
    }
}

/// The way to mount a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mounting {
    /// By mount(2).
    Call {
        /// The source: the device, or a word if there is none.
        source: String,
        /// Its arguments.
        call: MountCall,
        /// The equivalent command of mount(8).
        command: Vec<String>,
        /// A program to start after it, and to end before the unmount.
        companion: Option<CompanionCommand>,
    },
    /// By a program that stays in the foreground until it is unmounted.
    Server(CommandLine),
    /// By importing a pool.
    Pool(Box<PoolCommands>),
    /// Over a network protocol, from the same kernel.
    Network(Box<NetworkMounting>),
}

/// A program that runs beside a mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompanionCommand {
    pub line: CommandLine,
    /// The text before its process id in its output, before it goes to the background.
    pub pid_prefix: &'static str,
}

/// The commands of a pool on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolCommands {
    /// The kernel's driver; if present, no daemon is needed.
    pub kernel_fs_type: &'static str,
    /// The daemon, in the foreground.
    pub daemon: CommandLine,
    /// Lists pools: succeeds once the daemon answers.
    pub list: CommandLine,
    /// A directory that must contain a link to the device, and nothing else.
    pub folder: String,
    /// Mounts.
    pub import: CommandLine,
    /// Unmounts, after writing everything.
    pub export: CommandLine,
    /// Starts to read and verify everything.
    pub scrub: CommandLine,
    /// Reports the progress and result of that.
    pub status: CommandLine,
}

impl Mounting {
    /// The mount command, for plans and records.
    pub fn words(&self) -> Vec<String> {
        match self {
            Self::Call { command, .. } => command.clone(),
            Self::Server(line) => line.words(),
            Self::Pool(pool) => pool.import.words(),
            Self::Network(network) => network.command.clone(),
        }
    }

    /// The way to mount the local file system.
    pub fn local(&self) -> &Self {
        match self {
            Self::Network(network) => network.local.local(),
            Self::Call { .. } | Self::Server(_) | Self::Pool(_) => self,
        }
    }
}

pub(crate) fn by_kernel(
    driver: &KernelDriver,
    place: &MountPlace<'_>,
    subject: &Subject,
    spread: Option<&SpreadRule>,
) -> Result<Mounting, RefusedWord> {
    let of_devices = spread.map(|rule| rule.mount_options(place.others));
    let of_devices = of_devices.unwrap_or_default();
    let size = place
        .size
        .map_or(SIZE_WORD.to_owned(), |it| it.0.to_string());
    let size = format!("size={size}");
    let (source, ours) = match driver.source {
        MountSource::Device => (place.device, None),
        MountSource::Memory => (driver.fs_type, Some(size.as_str())),
    };
    let mut companion = driver.companion.map(|it| (it, words(it.arguments)));
    let mut options: Vec<&str> = driver.options.iter().copied().chain(ours).collect();
    options.extend(of_devices.iter().map(String::as_str));
    let mut choice = driver.choices.first();
    for option in subject.mount_options() {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        if key == DRIVER_KEY && choice.is_some() {
            choice = Some(chosen(driver.choices, option, value)?);
            continue;
        }
        check_option(driver.mount_keys, option)?;
        let has_off = driver.companion.is_some_and(|it| it.off == option);
        let known = driver
            .companion
            .and_then(|it| it.options.iter().find(|(of, _)| *of == key));
        match (known, companion.as_mut()) {
            _ if has_off => companion = None,
            (Some((_, argument)), Some((_, arguments))) => {
                arguments.extend([(*argument).to_owned(), value.to_owned()]);
            }
            (Some(_), None) => {}
            (None, _) => {
                check_word(driver.mount_keys, option)?;
                options.push(option);
            }
        }
    }
    let fs_type = choice.map_or(driver.fs_type, |it| it.name);
    options.splice(0..0, choice.into_iter().flat_map(|it| it.options).copied());
    let call = MountCall::new(fs_type, options.iter().copied());
    let joined = options.join(",");
    let mut command = vec!["mount", "-t", fs_type];
    if !joined.is_empty() {
        command.extend(["-o", &joined]);
    }
    command.extend([source, place.mount_point]);
    Ok(Mounting::Call {
        source: source.to_owned(),
        call,
        command: command.into_iter().map(str::to_owned).collect(),
        companion: companion.map(|(it, mut arguments)| {
            arguments.extend([place.device, place.mount_point].map(str::to_owned));
            CompanionCommand {
                line: CommandLine {
                    tool: it.tool,
                    arguments,
                },
                pid_prefix: it.pid_prefix,
            }
        }),
    })
}

/// The driver that the option names.
fn chosen<'a>(
    choices: &'a [DriverChoice],
    option: &str,
    name: &str,
) -> Result<&'a DriverChoice, RefusedWord> {
    let found = choices.iter().find(|it| it.name == name);
    found.ok_or_else(|| {
        let known: Vec<String> = choices
            .iter()
            .map(|it| format!("{DRIVER_KEY}={}", it.name))
            .collect();
        RefusedWord {
            word: option.to_owned(),
            reason: "there is no such driver".to_owned(),
            allowed: Some(format!("allowed are {}", known.join(" and "))),
        }
    })
}

pub(crate) fn by_program(
    driver: &FuseDriver,
    place: &MountPlace<'_>,
    subject: &Subject,
) -> Result<Mounting, RefusedWord> {
    let mut options: Vec<&str> = driver.options.to_vec();
    for option in subject.mount_options() {
        check_option(driver.mount_keys, option)?;
        options.push(option);
    }
    let options = options.join(",");
    let words = [place.device, place.mount_point, "-o", &options];
    Ok(Mounting::Server(line(driver.tool, &words)))
}

pub(crate) fn by_pool(
    driver: &PoolDriver,
    place: &MountPlace<'_>,
    subject: &Subject,
) -> Result<Mounting, RefusedWord> {
    let name = pool_name(place.device);
    let folder = format!("{POOL_FOLDERS}/{}", base_name(place.device));
    let mut import = vec!["import", "-d", &folder, "-o", "cachefile=none"];
    for option in subject.mount_options() {
        check_option(driver.mount_keys, option)?;
        import.extend(["-o", option]);
    }
    import.push(&name);
    Ok(Mounting::Pool(Box::new(PoolCommands {
        kernel_fs_type: driver.kernel_fs_type,
        daemon: line(driver.daemon, driver.daemon_arguments),
        list: line(driver.tool, &["list"]),
        import: line(driver.tool, &import),
        export: line(driver.tool, &["export", &name]),
        scrub: line(driver.tool, &["scrub", &name]),
        status: line(driver.tool, &["status", "-v", &name]),
        folder,
    })))
}

/// The words of the command that creates a pool before its devices: mount point and name.
pub(crate) fn pool_words(device: &str, mount_point: &str) -> Vec<String> {
    let name = pool_name(device);
    ["-m", mount_point, &name].map(str::to_owned).into()
}

/// A name for each device of a machine that another user is unlikely to choose.
pub(crate) fn pool_name(device: &str) -> String {
    format!("fslab-{}", base_name(device))
}

/// A device's name without its directory.
pub(crate) fn base_name(device: &str) -> &str {
    let name = Path::new(device).file_name().and_then(|name| name.to_str());
    name.unwrap_or(device)
}

fn line(tool: Tool, arguments: &[&str]) -> CommandLine {
    CommandLine {
        tool,
        arguments: words(arguments),
    }
}

fn words(of: &[&str]) -> Vec<String> {
    of.iter().map(|&word| word.to_owned()).collect()
}
