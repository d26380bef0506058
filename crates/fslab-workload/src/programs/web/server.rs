//! A server that runs, whichever it is.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fslab_engine::StopFlag;
use fslab_sys::{ChildGroup, PLAIN_PATH, ResourceUse};

use super::configuration::{ERROR_LOG, Task, apache, nginx};
use super::connection::Endpoint;
use super::embedded::EmbeddedServer;
use super::folder::ServerFolder;
use super::parameters::{ServeParameters, ServerKind, Transport};
use crate::programs::error::ProgramError;
use crate::programs::locate;
use crate::programs::session::end_gently;
use crate::workload::RunError;

/// How long a server may take until it listens.
const START_PATIENCE: Duration = Duration::from_secs(30);
/// How often it is tried.
const TRY_EACH: Duration = Duration::from_millis(5);
/// How much of what a server prints is kept.
const KEPT_BYTES: usize = 4_096;
/// How much of its log is told: the end.
const LOG_BYTES: usize = 4_096;
/// The names of the Apache HTTP server.
const APACHE: [&str; 2] = ["apache2", "httpd"];

/// Whether an Apache HTTP server is installed.
pub(super) fn is_apache_here() -> bool {
    apache_program().is_some()
}

fn apache_program() -> Option<std::path::PathBuf> {
    APACHE.iter().find_map(|name| locate::program(name))
}

/// The server that `auto` means where requests go by `transport`.
pub(super) fn installed(transport: Option<Transport>, has_apache: bool) -> ServerKind {
    if locate::program("nginx").is_some() {
        ServerKind::Nginx
    } else if has_apache && transport != Some(Transport::Unix) {
        ServerKind::Apache2
    } else {
        ServerKind::Embedded
    }
}

/// A server that listens.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) endpoint: Endpoint,
    running: Running,
    /// Behind what uses it.
    folder: ServerFolder,
}

#[derive(Debug)]
enum Running {
    Embedded(EmbeddedServer),
    Program { name: String, group: ChildGroup },
}

/// What a server left.
#[derive(Debug, Default)]
pub(super) struct ServerEnd {
    /// The processor time of its processes; that of an embedded one is the trial's own.
    pub(super) used: ResourceUse,
    /// What it complained of; empty where it did not.
    pub(super) complaints: String,
}

impl Server {
    /// Starts the server for the site at `root` and waits until it listens.
    pub(super) fn start(
        parameters: &ServeParameters,
        root: &Path,
        stop: &StopFlag,
    ) -> Result<Self, RunError> {
        let elsewhere = std::env::temp_dir();
        let failed = |error| ProgramError::io("make a folder in", &elsewhere, error);
        let folder = ServerFolder::make().map_err(failed)?;
        let endpoint = match parameters.transport() {
            Transport::Unix => Endpoint::Unix(folder.join("socket")),
            Transport::Tcp => tcp_endpoint()?,
        };
        let task = Task {
            parameters,
            root,
            endpoint: &endpoint,
            folder: folder.path(),
        };
        let running = match parameters.server {
            ServerKind::Nginx => start_nginx(&task)?,
            ServerKind::Apache2 => start_apache(&task)?,
            // A plan has replaced `auto`.
            ServerKind::Embedded | ServerKind::Auto => {
                let (workers, method) = (parameters.workers, parameters.method);
                let server = EmbeddedServer::start(&endpoint, root, workers, method)
                    .map_err(|error| ProgramError::io("start a server for", root, error))?;
                Running::Embedded(server)
            }
        };
        let mut server = Self {
            endpoint,
            running,
            folder,
        };
        server.wait_until_it_listens(stop)?;
        Ok(server)
    }

    /// Ends it and reaps all of it.
    pub(super) fn stop(self) -> Result<ServerEnd, ProgramError> {
        let log = self.folder.join(ERROR_LOG);
        match self.running {
            Running::Embedded(server) => Ok(ServerEnd {
                used: ResourceUse::default(),
                complaints: server.stop().map_or_else(String::new, |it| it.to_string()),
            }),
            Running::Program { name, group } => {
                let end = end_gently(group)
                    .map_err(|error| ProgramError::io("end", Path::new(&name), error))?;
                let mut complaints = end.output;
                complaints.push_str(&tail_of(&log));
                Ok(ServerEnd {
                    used: end.used,
                    complaints,
                })
            }
        }
    }

    fn wait_until_it_listens(&mut self, stop: &StopFlag) -> Result<(), ProgramError> {
        let began = Instant::now();
        let log = self.folder.join(ERROR_LOG);
        let Running::Program { name, group } = &mut self.running else {
            return Ok(());
        };
        while self.endpoint.connect(TRY_EACH).is_err() {
            let failed = |error| ProgramError::io("watch", Path::new(name.as_str()), error);
            let has_ended = group.wait_a_moment(TRY_EACH).map_err(failed)?;
            if stop.is_raised() {
                return Err(ProgramError::interrupted(name));
            }
            if has_ended || began.elapsed() > START_PATIENCE {
                let what = if has_ended {
                    "ended"
                } else {
                    "does not listen"
                };
                let error = ProgramError::other(format!("{name} was started and {what}"));
                let words = format!("{}{}", group.output(), tail_of(&log));
                return Err(error.printed(&words));
            }
        }
        Ok(())
    }
}

fn tcp_endpoint() -> Result<Endpoint, RunError> {
    // A guest that has just booted has no interface up.
    fslab_sys::bring_up_loopback().map_err(|error| {
        RunError::Impossible(format!(
            "the loopback interface is down and stays so: {error}"
        ))
    })?;
    let port = Endpoint::free_port();
    Ok(port.map_err(|error| ProgramError::io("listen on", Path::new("127.0.0.1"), error))?)
}

fn start_nginx(task: &Task) -> Result<Running, RunError> {
    let Some(program) = locate::program("nginx") else {
        let reason = "not installed: nginx (package nginx-light)";
        return Err(RunError::Impossible(reason.to_owned()));
    };
    let configuration = write_configuration(task, &nginx(task))?;
    let mut command = Command::new(program);
    command.arg("-p").arg(task.folder);
    command.arg("-e").arg(task.folder.join(ERROR_LOG));
    command.arg("-c").arg(configuration);
    Ok(start_program("nginx", command)?)
}

fn start_apache(task: &Task) -> Result<Running, RunError> {
    let missing = || RunError::Impossible("not installed: apache2 (package apache2-bin)".into());
    let program = apache_program().ok_or_else(missing)?;
    if let Some(folder) = closed_to_nobody(task.root).filter(|_| fslab_sys::is_superuser()) {
        return Err(RunError::Impossible(format!(
            "apache2 serves as nobody where it is started by root, and nobody may not enter {}",
            folder.display()
        )));
    }
    let configuration = write_configuration(task, &apache(task).ok_or_else(missing)?)?;
    let mut command = Command::new(program);
    command.arg("-d").arg(task.folder);
    command.arg("-f").arg(configuration);
    command.arg("-DFOREGROUND");
    Ok(start_program("apache2", command)?)
}

/// The folder on the way to `root` that not everybody may enter; `None` where there is none.
fn closed_to_nobody(root: &Path) -> Option<&Path> {
    let is_closed = |folder: &&Path| {
        let mode = folder
            .metadata()
            .map(|metadata| metadata.permissions().mode());
        mode.is_ok_and(|mode| mode & 0o001 == 0)
    };
    root.ancestors().find(is_closed)
}

fn write_configuration(task: &Task, text: &str) -> Result<std::path::PathBuf, ProgramError> {
    let path = task.folder.join("configuration");
    match std::fs::write(&path, text) {
        Ok(()) => Ok(path),
        Err(error) => Err(ProgramError::io("write", &path, error)),
    }
}

fn start_program(name: &str, mut command: Command) -> Result<Running, ProgramError> {
    command
        .env_clear()
        .env("PATH", PLAIN_PATH)
        .env("LC_ALL", "C")
        .current_dir("/");
    let group =
        ChildGroup::start(command, KEPT_BYTES).map_err(|error| ProgramError::start(name, error))?;
    Ok(Running::Program {
        name: name.to_owned(),
        group,
    })
}

/// The end of a log; empty where there is none.
fn tail_of(log: &Path) -> String {
    let read = |log: &Path| -> io::Result<String> {
        let bytes = std::fs::read(log)?;
        let from = bytes.len().saturating_sub(LOG_BYTES);
        Ok(String::from_utf8_lossy(&bytes[from..]).into_owned())
    };
    read(log).unwrap_or_default()
}
