//! A mounted file system and the programs that it needs until it is unmounted.
//!
//! ```text
//!     Mounting --attach--> Attachment --detach--> StepRecord
//!       Call                 mount(2), and a helper program
//!       Server               a FUSE server, which ends with the unmount
//!       Pool                 an imported pool
//!       Network              a local attachment, a server in this guest, and a mount from it
//! ```

use fslab_sys::os::MetadataExt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fslab_fs::{CommandLine, CompanionCommand, MountCall, Mounting, NetworkMounting};
use fslab_model::{Failure, FailureKind, StepRecord};

use crate::command::{self, elapsed_ns};
use crate::network_server::NetworkServer;
use crate::pool::Pool;
use crate::server::{Companion, Server};

/// A mounted file system.
pub(crate) struct Attachment {
    mount_point: PathBuf,
    provider: Provider,
}

/// Its programs.
enum Provider {
    Kernel(Option<Companion>),
    Server(Server),
    Pool(CommandLine),
    /// Fields are dropped in order: the server ends before what it serves.
    Network {
        server: NetworkServer,
        stop: &'static [&'static str],
        local: Box<Attachment>,
    },
}

/// Why a mount failed: the error of mount(2), or of a program.
pub(crate) enum Refused {
    ByKernel(io::Error),
    ByProgram(Failure),
}

impl Refused {
    /// True if the device is busy.
    pub(crate) fn is_busy(&self) -> bool {
        match self {
            Self::ByKernel(error) => error.kind() == io::ErrorKind::ResourceBusy,
            Self::ByProgram(failure) => crate::busy::is_busy(failure),
        }
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::ByProgram(failure)
    }
}

impl Attachment {
    /// Mounts on `mount_point`. A file system in a pool needs the open `pool`.
    pub(crate) fn attach(
        mounting: &Mounting,
        mount_point: &Path,
        pool: Option<&Pool>,
    ) -> Result<(Self, StepRecord), Refused> {
        let (provider, elapsed_ns) = match (mounting, pool) {
            (Mounting::Pool(_), Some(pool)) => {
                let elapsed_ns = pool.import()?.elapsed_ns;
                (Provider::Pool(pool.export_command().clone()), elapsed_ns)
            }
            (Mounting::Pool(_), None) => {
                let text = "a pool is mounted before it was opened";
                return Err(Failure::new(FailureKind::Mount, text).into());
            }
            (Mounting::Server(line), _) => serve(line, mount_point)?,
            (Mounting::Network(network), pool) => serve_over_network(network, mount_point, pool)?,
            (
                Mounting::Call {
                    source,
                    call,
                    companion,
                    ..
                },
                _,
            ) => mount_by_call(source, call, companion.as_ref(), mount_point)?,
        };
        let record = StepRecord {
            step: "mount".into(),
            command: mounting.words(),
            elapsed_ns,
            exit_code: None,
            output: String::new(),
        };
        let attachment = Self {
            mount_point: mount_point.to_owned(),
            provider,
        };
        Ok((attachment, record))
    }

    /// True if a program serves it, which may delay writes that the kernel has completed.
    pub(crate) fn is_served(&self) -> bool {
        match &self.provider {
            Provider::Server(_) => true,
            Provider::Network { local, .. } => local.is_served(),
            Provider::Kernel(_) | Provider::Pool(_) => false,
        }
    }

    /// Where the file system is mounted that a server on this kernel serves; `None` without one.
    pub(crate) fn served_at(&self) -> Option<&Path> {
        match &self.provider {
            Provider::Network { local, .. } => Some(&local.mount_point),
            Provider::Kernel(_) | Provider::Server(_) | Provider::Pool(_) => None,
        }
    }

    /// Unmounts. The time includes all write-back: a server's until its exit.
    pub(crate) fn detach(&mut self) -> Result<StepRecord, Failure> {
        let umount = || vec!["umount".into(), self.mount_point.display().to_string()];
        let mut output = String::new();
        let (command, elapsed_ns) = match &mut self.provider {
            Provider::Pool(export) => {
                let cannot = format!("unmount {}", self.mount_point.display());
                let kind = FailureKind::Unmount;
                let record = command::run_well("unmount", export, kind, &cannot)?;
                (record.command, record.elapsed_ns)
            }
            Provider::Kernel(companion) => {
                // A file system is busy while its cleaner runs.
                if companion.as_ref().map_or(Ok(true), Companion::stop)? {
                    *companion = None;
                } else {
                    "the program beside the mount had ended by itself".clone_into(&mut output);
                }
                (umount(), unmount(&self.mount_point)?)
            }
            Provider::Server(server) => {
                let unmounted_ns = unmount(&self.mount_point)?;
                let began = Instant::now();
                server.wait_end()?;
                (umount(), unmounted_ns + elapsed_ns(began))
            }
            Provider::Network {
                server,
                stop,
                local,
            } => {
                let unmounted_ns = unmount(&self.mount_point)?;
                let began = Instant::now();
                server.stop()?;
                let stopped_ns = elapsed_ns(began);
                let below = local.detach()?;
                output = below.output;
                let mut command = umount();
                let stop = ["&&"].iter().chain(*stop).chain(&["&&"]);
                command.extend(stop.map(|&word| word.to_owned()));
                command.extend(below.command);
                (command, unmounted_ns + stopped_ns + below.elapsed_ns)
            }
        };
        Ok(StepRecord {
            step: "unmount".into(),
            command,
            elapsed_ns,
            exit_code: None,
            output,
        })
    }

    /// Cleans up after a panic, without errors; the venue checks again. A server ends with its
    /// owner.
    pub(crate) fn abandon(&mut self) {
        match &mut self.provider {
            Provider::Pool(export) => drop(command::run("unmount", export)),
            Provider::Kernel(Some(companion)) => drop(companion.stop()),
            Provider::Kernel(None) | Provider::Server(_) | Provider::Network { .. } => {}
        }
        let _ = fslab_sys::unmount_lazily(&self.mount_point);
        if let Provider::Network { server, local, .. } = &mut self.provider {
            drop(server.stop());
            local.abandon();
        }
    }
}

fn mount_by_call(
    source: &str,
    call: &MountCall,
    companion: Option<&CompanionCommand>,
    mount_point: &Path,
) -> Result<(Provider, u64), Refused> {
    let began = Instant::now();
    let source = Path::new(source);
    fslab_sys::mount(source, mount_point, call.fs_type, call.flags, &call.data)
        .map_err(Refused::ByKernel)?;
    let elapsed_ns = elapsed_ns(began);
    match companion.map(Companion::start).transpose() {
        Ok(companion) => Ok((Provider::Kernel(companion), elapsed_ns)),
        Err(failure) => {
            let _ = fslab_sys::unmount_lazily(mount_point);
            Err(failure.into())
        }
    }
}

/// Mounts the local file system, serves it, and mounts what is served.
fn serve_over_network(
    network: &NetworkMounting,
    mount_point: &Path,
    pool: Option<&Pool>,
) -> Result<(Provider, u64), Refused> {
    let served_at = Path::new(&network.served_at);
    let made = match fs::create_dir(served_at) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    };
    made.map_err(|error| Failure::at(FailureKind::Mount, "make", served_at, &error))?;
    let (mut local, record) = Attachment::attach(&network.local, served_at, pool)?;
    // The start of the server, with the grace period of NFS, is no part of a mount.
    let served = NetworkServer::start(network).map_err(Refused::from);
    let began = Instant::now();
    let mounted = served.and_then(|server| {
        let call = &network.call;
        let source = Path::new(network.source);
        fslab_sys::mount(source, mount_point, call.fs_type, call.flags, &call.data)
            .map_err(Refused::ByKernel)?;
        Ok(server)
    });
    match mounted {
        Ok(server) => {
            let elapsed_ns = record.elapsed_ns + elapsed_ns(began);
            let local = Box::new(local);
            let stop = network.stop;
            let provider = Provider::Network {
                server,
                stop,
                local,
            };
            Ok((provider, elapsed_ns))
        }
        Err(refused) => {
            local.abandon();
            Err(refused)
        }
    }
}

/// Starts a server and waits until its file system is mounted.
fn serve(line: &CommandLine, mount_point: &Path) -> Result<(Provider, u64), Refused> {
    let device = || {
        let failed =
            |error: io::Error| Failure::at(FailureKind::Mount, "examine", mount_point, &error);
        fs::metadata(mount_point).map(|it| it.dev()).map_err(failed)
    };
    let before = device()?;
    let began = Instant::now();
    let mut server = Server::start(line)?;
    server.wait_until(FailureKind::Mount, || Ok(device()? != before))?;
    Ok((Provider::Server(server), elapsed_ns(began)))
}

fn unmount(mount_point: &Path) -> Result<u64, Failure> {
    let elapsed = fslab_sys::unmount(mount_point).map_err(|error| {
        let text = format!("cannot unmount {}", mount_point.display());
        let failure = Failure::new(FailureKind::Unmount, text).because(&error);
        match error.raw_os_error() {
            // EINVAL: it is not a mount point any more.
            Some(22) => failure.hint(
                "another program unmounted it while the trial ran: some of its files were written \
                 to the directory below, so its figures mean nothing",
            ),
            _ => failure,
        }
    })?;
    Ok(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
}
