//! `fslab lab`: builds, lists, exports and imports labs.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use fslab_lab::{Architecture, BuildRequest, BuiltLab, Cache, LabError, Progress, SourceRequest};
use fslab_model::{Bytes, Failure, FailureKind, Subject};
use fslab_venue::ShellRequest;

use super::status;
use crate::commands::lab::progress::BuildProgress;
use crate::commands::measure::guest_lab;
use crate::defaults;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::heartbeat::minutes;
use crate::terminal::screen;

/// The name of a lab whose disk can fail a flush, unless another is given.
const FLUSH_ERRORS: &str = "flush-errors";

/// Arguments of `fslab lab`.
#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Build a guest kernel with every file system of the catalogue, and its root image (5 minutes,
    /// no root)
    Build(BuildArgs),
    /// Unpack the source of the default lab's kernel, to modify it
    Source {
        /// Directory to create for the source tree
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Boot a lab with a shell on this terminal
    Shell(ShellArgs),
    /// List labs, and what is missing to build or run one
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Verify a lab and the snapshots of its guests against their digests and checksums
    Check {
        /// Lab, by name or digest
        #[arg(default_value = "default")]
        name: String,
    },
    /// Export a lab to a tar archive; the same lab always yields the same bytes
    Export {
        /// Tar archive to write
        file: PathBuf,
        /// Lab, by name or digest
        #[arg(long, default_value = "default")]
        name: String,
    },
    /// Import a lab from `fslab lab export`; digests are verified first
    Import {
        /// Tar archive to read
        file: PathBuf,
        /// Name for the lab
        #[arg(long, default_value = "default")]
        name: String,
    },
}

/// Arguments of `fslab lab shell`.
#[derive(Debug, Args)]
struct ShellArgs {
    /// Lab, by name or digest
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Memory of the guest
    #[arg(long, default_value = "1GiB", allow_hyphen_values = true)]
    memory: Bytes,
    /// Image for the guest's disk /dev/ubda; the guest may write to it
    #[arg(long, value_name = "IMAGE")]
    disk: Option<PathBuf>,
}

/// Runs a shell in a guest of the lab, with `disk` as its disk, mounted as that of `subject`.
pub(crate) fn shell_of(
    disk: &Path,
    subject: Subject,
    kernel: Option<&str>,
    memory: Bytes,
) -> Result<(), CommandError> {
    let args = ShellArgs {
        kernel: kernel.map(str::to_owned),
        memory,
        disk: Some(disk.to_owned()),
    };
    args.run(Some(subject))
}

impl ShellArgs {
    fn run(&self, mounted_as: Option<Subject>) -> Result<(), CommandError> {
        let disk = self
            .disk
            .as_deref()
            .map(defaults::canonical_path)
            .transpose()?;
        if let Some(disk) = disk.as_ref().filter(|disk| !disk.exists()) {
            let text = format!("there is no image {}", disk.display());
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint(format!(
                    "create one with: truncate --size 1G {}",
                    disk.display()
                ))
                .into());
        }
        let lab = guest_lab::find_bootable(self.kernel.as_deref())?;
        let request = ShellRequest {
            guest: guest_lab::settings(&lab, NonZeroUsize::MIN)?,
            memory: self.memory,
            disk,
            mounted_as,
            folder: defaults::canonical_path(&std::env::temp_dir())?,
            leases: defaults::leases()?,
        };
        screen::notice(
            "the guest's root is the lab's read-only image, without files of this machine; /tmp is \
             in memory; `exit` shuts the guest down",
        );
        fslab_venue::run_shell(&request)?;
        Ok(())
    }
}

/// What a kernel runs on.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ArchArg {
    /// User-Mode Linux, a process of the host; its processor takes no virtual time
    Um,
    /// A simulated PC; its processor takes virtual time
    Pc,
}

/// Arguments of `fslab lab build`.
#[derive(Debug, Args)]
struct BuildArgs {
    /// Name for the lab. Default: `default`; `debian-VERSION` with --kernel debian:VERSION; `pc`
    /// with --arch pc
    #[arg(long)]
    name: Option<String>,
    /// What the kernel runs on
    #[arg(long, value_enum, default_value_t = ArchArg::Um, conflicts_with = "kernel")]
    arch: ArchArg,
    /// Use a distribution's unmodified kernel, for example debian:6.1 or debian:6.1.0-56, on a
    /// simulated PC whose processor takes virtual time
    #[arg(long, value_name = "DISTRIBUTION:VERSION", conflicts_with = "source")]
    kernel: Option<String>,
    /// Directory with your own modules for that kernel (*.ko, *.ko.xz), for example zfs.ko and
    /// spl.ko
    #[arg(long, value_name = "DIR")]
    modules: Option<PathBuf>,
    /// Kernel source: a clean tree (left unchanged) or a tarball [default: Debian's
    /// linux-source-6.12]
    #[arg(long, value_name = "TREE|TARBALL")]
    source: Option<PathBuf>,
    /// Build a separate lab whose simulated disk can fail flushes, for `fslab faults`; its figures
    /// are not comparable with the default lab's [default name: flush-errors]
    #[arg(long, conflicts_with = "kernel")]
    flush_errors: bool,
    /// Build a separate lab with network file systems and their servers, for network subjects, for
    /// example nfs:ext4; its figures are not comparable with the default lab's [default name:
    /// network; with --kernel, the kernel's]
    #[arg(long, conflicts_with = "flush_errors")]
    network: bool,
    /// Parallel compiler processes [default: one per processor]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Keep compiled objects in this directory: the next build of the same tree compiles only files
    /// whose modification time has changed
    #[arg(long, value_name = "DIR", requires = "source")]
    objects: Option<PathBuf>,
    /// Rebuild the lab even if it exists; with Debian's source, from the newest version
    #[arg(long)]
    force: bool,
    /// Rebuild the root image from the currently installed programs
    #[arg(long)]
    new_root: bool,
}

impl LabArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let cache = defaults::cache()?;
        match &self.command {
            LabCommand::Build(args) => args.build(&cache)?,
            LabCommand::Source { folder } => unpack_source(&cache, folder)?,
            LabCommand::Shell(args) => args.run(None)?,
            LabCommand::Status { json } => status::print(&cache, *json)?,
            LabCommand::Check { name } => check(name)?,
            LabCommand::Export { file, name } => export(&cache, file, name)?,
            LabCommand::Import { file, name } => import(&cache, file, name)?,
        }
        Ok(Exit::Done)
    }
}

impl BuildArgs {
    fn request(&self) -> Result<BuildRequest, Failure> {
        let source = match (&self.source, &self.kernel) {
            (Some(path), _) => SourceRequest::at(path)?,
            (None, Some(kernel)) => SourceRequest::distribution(kernel)?,
            (None, None) => SourceRequest::Debian,
        };
        let architecture = match (self.arch, &self.kernel) {
            (ArchArg::Um, None) => Architecture::Um,
            (ArchArg::Pc, _) | (_, Some(_)) => Architecture::Pc,
        };
        let name = match (&self.name, &source, architecture) {
            (Some(name), ..) => name.clone(),
            (None, SourceRequest::DebianKernel(version), _) => format!("debian-{version}"),
            (None, _, Architecture::Pc) => "pc".to_owned(),
            (None, _, Architecture::Um) if self.flush_errors => FLUSH_ERRORS.to_owned(),
            (None, _, Architecture::Um) if self.network => guest_lab::NETWORK.to_owned(),
            (None, _, Architecture::Um) => "default".to_owned(),
        };
        if self.modules.is_some() && architecture == Architecture::Um {
            let text = "--modules needs a PC's kernel: this kernel has no modules";
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint("add --kernel debian:6.1 or --arch pc, or leave out --modules"));
        }
        if self.flush_errors && architecture == Architecture::Pc {
            let text = "--flush-errors needs --arch um: the disk of a PC cannot fail flushes";
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint("leave out --flush-errors, or build for --arch um"));
        }
        if self.network && matches!((architecture, &self.kernel), (Architecture::Pc, None)) {
            let text = "--network needs --arch um, or a distribution's kernel (--kernel)";
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint("leave out --arch pc, or add --kernel debian:6.1"));
        }
        if self.objects.is_some() && architecture == Architecture::Pc {
            let text = "--objects needs --arch um: other kernels are always built from scratch";
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint("leave out --objects, or build for --arch um"));
        }
        let drivers = fslab_fs::all()
            .iter()
            .filter_map(|entry| entry.driver.kernel_name());
        let layers = fslab_fs::layers().iter();
        let layers = layers.map(|layer| (layer.kind.into(), layer.modules));
        let modules = self.modules.as_deref().map_or(Ok(Vec::new()), modules_in)?;
        let processors = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(BuildRequest {
            name: name.parse()?,
            architecture,
            source,
            jobs: self.jobs.unwrap_or_else(processors),
            objects: self
                .objects
                .as_deref()
                .map(defaults::absolute_path)
                .transpose()?,
            force: self.force,
            new_root: self.new_root,
            file_systems: drivers.map(str::to_owned).collect(),
            layers: layers.collect(),
            flush_errors: self.flush_errors,
            network: self.network,
            modules,
        })
    }

    fn build(&self, cache: &Cache) -> Result<(), CommandError> {
        let request = self.request()?;
        let built =
            with_progress(|stop, listener| fslab_lab::build_lab(cache, &request, stop, listener))?;
        let facts = &built.lab.kernel.facts;
        if !facts.config_ignored.is_empty() {
            screen::warn(&format!(
                "this kernel source does not have the options {}",
                facts.config_ignored.join(", ")
            ));
        }
        if !facts.edits_ignored.is_empty() {
            screen::warn(&format!(
                "these edits do not apply to this kernel source: {}. If one was needed, figures in \
                 virtual time may depend on the host",
                facts.edits_ignored.join("; ")
            ));
        }
        if let Some(missing) = status::missing_programs(&built.lab) {
            screen::notice(&missing);
        }
        screen::print(&built_text(&built))
    }
}

/// Does `work` with the progress on the screen; a signal stops it.
fn with_progress<T>(
    work: impl FnOnce(&AtomicBool, &mut dyn FnMut(Progress)) -> Result<T, LabError>,
) -> Result<T, CommandError> {
    let stop = Arc::new(AtomicBool::new(false));
    fslab_sys::raise_on_stop_signals(&stop)
        .map_err(|error| CommandError::io("cannot handle signals", &error))?;
    let mut progress = BuildProgress::new();
    let done = work(&stop, &mut |at| progress.show(at));
    progress.finish();
    Ok(done.map_err(Failure::from)?)
}

fn unpack_source(cache: &Cache, folder: &Path) -> Result<(), CommandError> {
    let folder = defaults::absolute_path(folder)?;
    let described =
        with_progress(|stop, listener| fslab_lab::unpack_source(cache, &folder, stop, listener))?;
    let folder = folder.display();
    screen::print(&format!(
        "{described}, patched, is in {folder}; build a lab from it with: fslab lab build --source \
         {folder} --name NAME\n"
    ))
}

/// The modules in `folder`.
fn modules_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: &std::io::Error| {
        let text = format!("cannot read the modules in {}", folder.display());
        Failure::new(FailureKind::BadInput, text).because(error)
    };
    let mut modules = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| failed(&error))? {
        let path = entry.map_err(|error| failed(&error))?.path();
        let name = path.to_string_lossy();
        if name.ends_with(".ko") || name.ends_with(".ko.xz") {
            modules.push(path);
        }
    }
    modules.sort();
    if modules.is_empty() {
        let text = format!("there is no module in {}", folder.display());
        return Err(Failure::new(FailureKind::BadInput, text)
            .hint("modules are files *.ko or *.ko.xz, built for the kernel of the lab"));
    }
    Ok(modules)
}

/// A summary of the built lab, with its kernel and root image.
fn built_text(built: &BuiltLab) -> String {
    let (lab, kernel) = (&built.lab, &built.lab.kernel.facts);
    let there = "already present";
    let compiled = || {
        let took = minutes(Duration::from_secs(kernel.build_seconds));
        format!("built in {took} from {}", kernel.source)
    };
    let of_kernel = if built.kernel_was_there {
        there.to_owned()
    } else {
        compiled()
    };
    let of_root = if built.root_was_there {
        format!("{there} (--new-root rebuilds it)")
    } else {
        "built from this machine's programs".to_owned()
    };
    format!(
        "{}: lab {}\n  kernel {}, key {}, {}, {of_kernel}\n  root image {}, {}, {}, {of_root}\n",
        lab.name,
        lab.digest,
        kernel.release,
        kernel.key,
        Bytes(kernel.binary_bytes),
        lab.root.key,
        Bytes(lab.root.bytes),
        screen::counted(lab.root.programs.len(), "program"),
    )
}

/// Verifies kernel, image and snapshots.
fn check(name: &str) -> Result<(), CommandError> {
    let lab = guest_lab::find(Some(name))?;
    lab.verify().map_err(Failure::from)?;
    screen::print(&format!("lab {}: as it was built\n", lab.digest))?;
    let folder = lab.snapshots();
    let checked = fslab_venue::check_snapshots(&folder)
        .map_err(|error| CommandError::io(format!("cannot read {}", folder.display()), &error))?;
    for (path, result) in checked {
        result.map_err(|error| {
            let text = format!("the snapshot {} is damaged", path.display());
            Failure::new(FailureKind::Unsupported, text)
                .because(&error)
                .hint("remove it; the next guest takes a new one")
        })?;
        screen::print(&format!("snapshot {}: as it was taken\n", path.display()))?;
    }
    Ok(())
}

fn export(cache: &Cache, file: &Path, name: &str) -> Result<(), CommandError> {
    let lab = cache.find_lab(name).map_err(Failure::from)?;
    let bytes = fslab_lab::export_lab(&lab, file).map_err(Failure::from)?;
    screen::print(&format!(
        "{}: lab {} exported to {}, {}\n",
        lab.name,
        lab.digest,
        file.display(),
        Bytes(bytes)
    ))
}

fn import(cache: &Cache, file: &Path, name: &str) -> Result<(), CommandError> {
    let name = name.parse()?;
    let lab = fslab_lab::import_lab(cache, file, &name).map_err(Failure::from)?;
    screen::warn(
        "a lab contains programs: its kernel, and in it the programs of its root image, run as \
         your process. With Landlock, they can write only to a trial's directory, but they can \
         read all that you can read. Use labs only from people whose programs you would run",
    );
    screen::print(&format!(
        "{}: lab {}, kernel {}, root image {} with {}\n",
        lab.name,
        lab.digest,
        lab.kernel.facts.release,
        lab.root.key,
        screen::counted(lab.root.programs.len(), "program"),
    ))
}
