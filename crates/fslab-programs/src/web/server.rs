//! Starts and stops a server: nginx, the Apache HTTP server, or the embedded one.

use fslab_sys::os::PermissionsExt;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fslab_engine::StopFlag;
use fslab_job::RunError;
use fslab_sys::{ChildGroup, PLAIN_PATH, ResourceUse};

use super::configuration::{ERROR_LOG, Task, apache, apache_modules, nginx};
use super::connection::Endpoint;
use super::embedded::EmbeddedServer;
use super::parameters::{ServeParameters, ServerKind, Transport};
use crate::error::ProgramError;
use crate::locate;
use crate::permission::Permission;
use crate::private_folder::PrivateFolder;
use crate::session::terminate;

/// Time limit until a server listens.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval between attempts to connect.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Bytes of a server's output that are kept.
const KEPT_BYTES: usize = 4_096;
/// Bytes of its log that are reported, from its end.
const LOG_BYTES: usize = 4_096;
/// Program names of the Apache HTTP server.
const APACHE: [&str; 2] = ["apache2", "httpd"];
/// The package of Debian with the server, but without the scripts that start it at boot.
const APACHE_PACKAGE: &str = "apache2-bin";
/// nginx and its package of Debian.
pub(super) const NGINX: (&str, &str) = ("nginx", "nginx-light");

/// True if an Apache HTTP server is installed.
pub(super) fn is_apache_here() -> bool {
    apache_program().is_some()
}

/// Program name of the Apache HTTP server on this machine, and its package of Debian.
pub(super) fn apache_name() -> (&'static str, &'static str) {
    let name = APACHE.into_iter().find(|it| locate::program(it).is_some());
    (name.unwrap_or(APACHE[0]), APACHE_PACKAGE)
}

fn apache_program() -> Option<std::path::PathBuf> {
    APACHE.iter().find_map(|name| locate::program(name))
}

/// The server that `auto` selects for `transport`.
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
    /// Declared after `running`, so that it is dropped after its user.
    folder: PrivateFolder,
}

#[derive(Debug)]
enum Running {
    Embedded(EmbeddedServer),
    Program { name: String, group: ChildGroup },
}

/// The directories of a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct SiteFolders<'a> {
    /// The directory that no link may leave: the root of the file system, or of the phase's part of
    /// it.
    pub(super) base: &'a Path,
    /// The site's root, below it.
    pub(super) root: &'a Path,
}

/// Result of a server.
#[derive(Debug, Default)]
pub(super) struct ServerEnd {
    /// Processor time of its processes; an embedded server's is part of the trial's.
    pub(super) used: ResourceUse,
    /// Output and end of the error log; may be empty.
    pub(super) error_output: String,
}

impl Server {
    /// Starts the server for the site at `root`, below `base`, and waits until it listens.
    pub(super) fn start(
        parameters: &ServeParameters,
        _permission: Permission,
        SiteFolders { base, root }: SiteFolders,
        stop: &StopFlag,
    ) -> Result<Self, RunError> {
        let elsewhere = std::env::temp_dir();
        let failed = |error| ProgramError::io("make a directory in", &elsewhere, &error);
        let folder = PrivateFolder::make().map_err(failed)?;
        let endpoint = match parameters.transport() {
            Transport::Unix => Endpoint::Unix(folder.join("socket")),
            Transport::Tcp => tcp_endpoint()?,
        };
        let task = Task {
            parameters,
            base,
            root,
            endpoint: &endpoint,
            folder: folder.path(),
        };
        let running = match parameters.server {
            ServerKind::Nginx => start_nginx(&task)?,
            ServerKind::Apache2 => start_apache(&task)?,
            // A plan has replaced `auto`.
            ServerKind::Embedded | ServerKind::Auto => {
                let server = EmbeddedServer::start(&task)
                    .map_err(|error| ProgramError::io("start a server for", root, &error))?;
                Running::Embedded(server)
            }
        };
        let mut server = Self {
            endpoint,
            running,
            folder,
        };
        server.wait_until_listening(stop)?;
        Ok(server)
    }

    /// Ends the server and reaps its processes.
    pub(super) fn stop(self) -> Result<ServerEnd, ProgramError> {
        let log = self.folder.join(ERROR_LOG);
        match self.running {
            Running::Embedded(server) => Ok(ServerEnd {
                used: ResourceUse::default(),
                error_output: server.stop().map_or_else(String::new, |it| it.to_string()),
            }),
            Running::Program { name, group } => {
                let end = terminate(group)
                    .map_err(|error| ProgramError::io("end", Path::new(&name), &error))?;
                let mut error_output = end.output;
                error_output.push_str(&tail_of(&log));
                Ok(ServerEnd {
                    used: end.used,
                    error_output,
                })
            }
        }
    }

    fn wait_until_listening(&mut self, stop: &StopFlag) -> Result<(), ProgramError> {
        let began = Instant::now();
        let log = self.folder.join(ERROR_LOG);
        let Running::Program { name, group } = &mut self.running else {
            return Ok(());
        };
        while self.endpoint.connect(POLL_INTERVAL).is_err() {
            let failed = |error| ProgramError::io("watch", Path::new(name.as_str()), &error);
            let has_ended = group.poll_output(POLL_INTERVAL).map_err(failed)?;
            if stop.is_raised() {
                return Err(ProgramError::interrupted(name));
            }
            if has_ended || began.elapsed() > START_TIMEOUT {
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
    Ok(port.map_err(|error| ProgramError::io("listen on", Path::new("127.0.0.1"), &error))?)
}

fn start_nginx(task: &Task) -> Result<Running, RunError> {
    let (name, package) = NGINX;
    let Some(program) = locate::program(name) else {
        let reason = format!("not installed: {name} (package {package})");
        return Err(RunError::Impossible(reason));
    };
    let text = nginx(task).map_err(RunError::Impossible)?;
    let configuration = write_configuration(task, &text)?;
    let mut command = Command::new(program);
    command.arg("-p").arg(task.folder);
    command.arg("-e").arg(task.folder.join(ERROR_LOG));
    command.arg("-c").arg(configuration);
    Ok(start_program("nginx", command)?)
}

fn start_apache(task: &Task) -> Result<Running, RunError> {
    let (name, package) = (APACHE[0], APACHE_PACKAGE);
    let missing = || RunError::Impossible(format!("not installed: {name} (package {package})"));
    let program = apache_program().ok_or_else(missing)?;
    if let Some(folder) = closed_to_others(task.root).filter(|_| fslab_sys::is_superuser()) {
        return Err(RunError::Impossible(format!(
            "apache2 started by root serves as the user `nobody`, who may not enter {}",
            folder.display()
        )));
    }
    let modules = apache_modules().ok_or_else(missing)?;
    let text = apache(task, &modules).map_err(RunError::Impossible)?;
    let configuration = write_configuration(task, &text)?;
    let mut command = Command::new(program);
    command.arg("-d").arg(task.folder);
    command.arg("-f").arg(configuration);
    command.arg("-DFOREGROUND");
    Ok(start_program("apache2", command)?)
}

/// The first directory on the path of `root` without execute permission for other users.
fn closed_to_others(root: &Path) -> Option<&Path> {
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
        Err(error) => Err(ProgramError::io("write", &path, &error)),
    }
}

fn start_program(name: &str, mut command: Command) -> Result<Running, ProgramError> {
    command
        .env_clear()
        .env("PATH", PLAIN_PATH)
        .env("LC_ALL", "C")
        .envs(fslab_sys::inherited_loading())
        .current_dir("/");
    let group = ChildGroup::start(command, KEPT_BYTES)
        .map_err(|error| ProgramError::start(name, &error))?;
    Ok(Running::Program {
        name: name.to_owned(),
        group,
    })
}

/// The end of a log; empty if there is none.
fn tail_of(log: &Path) -> String {
    let read = |log: &Path| -> io::Result<String> {
        let bytes = std::fs::read(log)?;
        let from = bytes.len().saturating_sub(LOG_BYTES);
        Ok(String::from_utf8_lossy(&bytes[from..]).into_owned())
    };
    read(log).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::path::PathBuf;

    use fslab_engine::{EngineKind, RunContext};
    use fslab_job::Job;
    use fslab_model::Bytes;

    use super::super::http::parse_response;
    use super::*;

    /// A directory with permission for all users, with a site and links that lead out of it.
    struct TestSite {
        folder: tempfile::TempDir,
    }

    impl TestSite {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a directory");
            let site = Self { folder };
            let (base, root) = (site.base(), site.root());
            std::fs::create_dir_all(root.join("d")).expect("made");
            std::fs::write(site.folder.path().join("secret"), "secret").expect("written");
            std::fs::write(base.join("secret"), "secret").expect("written");
            std::fs::write(root.join("d/f"), "public").expect("written");
            std::fs::write(root.join(".htaccess"), "Options FollowSymLinks").expect("written");
            let link = |to: &Path, name: PathBuf| fslab_sys::os::symlink(to, name);
            link(&site.folder.path().join("secret"), root.join("link")).expect("a link");
            link(site.folder.path(), root.join("up")).expect("a link");
            link(&root, base.join("other-web")).expect("a link");
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(site.folder.path(), open).expect("ours");
            site
        }

        fn base(&self) -> PathBuf {
            self.folder.path().join("mount")
        }

        fn root(&self) -> PathBuf {
            self.base().join("web")
        }

        fn serve(
            &self,
            server: &str,
            transport: &str,
            directory: &str,
        ) -> Result<Server, RunError> {
            let given = serde_json::json!({
                "server": server, "transport": transport, "directory": directory, "clients": 3,
            });
            let mut parameters: ServeParameters =
                serde_json::from_value(given).expect("parameters");
            parameters.resolve(Bytes::gib(1)).expect("resolves");
            let base = self.base();
            let context = RunContext::new(EngineKind::Psync, &base, 1);
            let permission =
                Permission::of(&parameters, &context).expect("nothing of it is foreign");
            let folders = SiteFolders {
                base: &base,
                root: &base.join(directory),
            };
            Server::start(&parameters, permission, folders, &context.stop)
        }
    }

    /// The answer to `GET target`: status and all bytes.
    fn asked(server: &Server, target: &str) -> (u16, String) {
        let connection = server.endpoint.connect(Duration::from_secs(5));
        let mut connection = connection.expect("it listens");
        let request =
            format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).expect("is sent");
        let mut answer = Vec::new();
        let _ = connection.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = parse_response(answer.as_bytes()).map_or(0, |it| it.status);
        (status, answer)
    }

    /// The installed servers, by the values of the parameter.
    fn servers() -> Vec<&'static str> {
        let mut servers = vec!["embedded"];
        for (name, is_here) in [
            ("nginx", locate::program("nginx").is_some()),
            ("apache2", is_apache_here()),
        ] {
            match is_here {
                true => servers.push(name),
                false => eprintln!("not checked: {name} is not installed"),
            }
        }
        servers
    }

    /// All servers followed links out of the site, so that links of an earlier phase gave access to
    /// any file of the host.
    #[test]
    fn files_outside_of_a_site_are_served_by_no_server() {
        let site = TestSite::new();
        for name in servers() {
            let server = site.serve(name, "tcp", "web").expect(name);
            let (status, answer) = asked(&server, "/d/f");
            assert_eq!(status, 200, "{name}: {answer}");
            assert!(answer.ends_with("public"), "{name}: {answer}");
            let absolute = format!("/{}", site.base().join("secret").display());
            for target in [
                "/link",
                "/up/secret",
                "/up/mount/secret",
                "/../secret",
                "/%2e%2e/secret",
                "/d/%2e%2e/%2e%2e/secret",
                "/d/..%2f..%2fsecret",
                "/..%5csecret",
                "//../secret",
                "/d/",
                "/.",
                "/",
                &absolute,
            ] {
                let (status, answer) = asked(&server, target);
                assert_ne!(status, 200, "{name} {target}: {answer}");
                assert!(
                    !answer.contains("secret\n") && !answer.ends_with("secret"),
                    "{target}"
                );
            }
            server.stop().expect("ends");
            // The site's root may be a link, too.
            let server = site.serve(name, "tcp", "other-web").expect(name);
            let (status, answer) = asked(&server, "/d/f");
            assert_ne!(status, 200, "{name}: {answer}");
        }
    }

    /// The addresses, in the format of /proc/net, at which processes of the group `leader` listen.
    fn listening(leader: u32) -> Vec<String> {
        let of_group = fslab_sys::processes().filter(|it| it.group == leader);
        let files = of_group.flat_map(|it| {
            let files = std::fs::read_dir(format!("/proc/{}/fd", it.pid));
            files.into_iter().flatten().flatten()
        });
        let targets = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        let sockets: Vec<_> = targets
            .filter_map(|it| {
                let name = it.to_str()?.strip_prefix("socket:[")?.to_owned();
                Some(name.trim_end_matches(']').to_owned())
            })
            .collect();
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
        let text = tables
            .map(|it| std::fs::read_to_string(it).unwrap_or_default())
            .concat();
        let lines = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        // The second column is the local address, the fourth the state: 0A is LISTEN.
        let listening = lines.filter(|it| it.get(3) == Some(&"0A"));
        let ours = listening.filter(|it| {
            it.get(9)
                .is_some_and(|inode| sockets.iter().any(|socket| socket == inode))
        });
        ours.map(|it| it[1].to_owned()).collect()
    }

    #[test]
    fn a_server_listens_on_the_loopback_interface_or_on_no_interface() {
        let site = TestSite::new();
        for (name, transport) in [("nginx", "tcp"), ("nginx", "unix"), ("apache2", "tcp")] {
            if !servers().contains(&name) {
                continue;
            }
            let server = site.serve(name, transport, "web").expect(name);
            let Running::Program { group, .. } = &server.running else {
                panic!("{name} is a program")
            };
            let addresses = listening(group.id());
            assert_eq!(addresses.is_empty(), transport == "unix", "{addresses:?}");
            for address in addresses {
                assert!(
                    address.starts_with("0100007F:"),
                    "{name} listens at {address}"
                );
            }
            server.stop().expect("ends");
        }
    }
}
