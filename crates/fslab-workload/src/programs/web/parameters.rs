//! Parameters of `web-publish` and of `web-server`, which must name the same site.

use std::path::PathBuf;

use fslab_engine::RunContext;
use fslab_model::{Brings, Bytes, Need};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::publish::run_publish;
use super::serve::run_serve;
use super::server::{NGINX, apache_name, installed, is_apache_here};
use super::site::Site;
use crate::job::Job;
use crate::parameters::{Size, ensure_inside};
use crate::programs::ProgramParameters;
use crate::programs::plain_text::plain_text;
use crate::workload::{Finished, RunError};

/// Files of a site where there is room for them.
const FILES: u64 = 100;
/// The most that a site has where its files are large.
const SITE_BYTES: Bytes = Bytes::mib(256);
/// Names have so many digits.
const FILES_MAX: u64 = 99_999;
const FILE_MAX: Bytes = Bytes::gib(16);
const CLIENTS_MAX: u32 = 512;
const PASSES_MAX: u32 = 10_000;

/// Parameters of `web-publish`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PublishParameters {
    /// The site's root below that of the file system.
    directory: PathBuf,
    /// How many files; 0: 100, or as many as give 256 MiB.
    files: u64,
    /// Size of each.
    #[schemars(with = "Size")]
    file_size: Bytes,
    /// Files in each directory; 0: all in one.
    files_per_directory: u64,
}

impl Default for PublishParameters {
    fn default() -> Self {
        Self {
            directory: "web".into(),
            files: 0,
            file_size: Bytes::kib(64),
            files_per_directory: 100,
        }
    }
}

impl PublishParameters {
    pub(super) fn site(&self) -> Site {
        Site {
            directory: self.directory.clone(),
            files: self.files,
            file_bytes: self.file_size.0,
            files_per_directory: self.files_per_directory,
        }
    }
}

impl Job for PublishParameters {
    const NAME: &'static str = "web-publish";

    fn settle(&mut self, _size: Bytes) -> Result<(), String> {
        let mut site = self.site();
        settle_site(&mut site)?;
        self.files = site.files;
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        self.site().footprint()
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        Some(self.site().files_below_root())
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(self.file_size)]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        run_publish(self, context)
    }
}

/// Which program serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ServerKind {
    /// The first of the following that is installed. A plan names which one that is.
    Auto,
    /// nginx.
    Nginx,
    /// The Apache HTTP server.
    Apache2,
    /// A small one of fslab's own, in the trial's process.
    Embedded,
}

/// By what way requests go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Transport {
    /// A Unix-domain socket: no network, no timers of one.
    Unix,
    /// TCP over the loopback interface.
    Tcp,
}

/// How a server moves a file to its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Method {
    /// sendfile(2).
    Sendfile,
    /// read(2) and write(2).
    Read,
}

/// Parameters of `web-server`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServeParameters {
    /// Which program serves.
    pub(super) server: ServerKind,
    /// The site, as `web-publish` has it.
    directory: PathBuf,
    /// How many files the site has; 0: 100, or as many as give 256 MiB.
    files: u64,
    /// Bytes of each file: at most 16 GiB.
    #[schemars(with = "Size")]
    file_size: Bytes,
    /// Files in each directory; 0 for all in one.
    files_per_directory: u64,
    /// How often each file is asked for.
    pub(super) passes: u32,
    /// Connections at once, each with one request at a time.
    pub(super) clients: u32,
    /// Processes of nginx, threads of the others; 0: as many as clients.
    pub(super) workers: u32,
    /// Whether a client asks for all its files through one connection.
    pub(super) keep_alive: bool,
    /// By what way; where it is left out, a Unix socket, and TCP for a server that has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    transport: Option<Transport>,
    /// How the server moves a file.
    pub(super) method: Method,
    /// Whether clients compare every byte; the length is always checked.
    pub(super) verify: bool,
}

impl Default for ServeParameters {
    fn default() -> Self {
        let site = PublishParameters::default();
        Self {
            server: ServerKind::Auto,
            directory: site.directory,
            files: site.files,
            file_size: site.file_size,
            files_per_directory: site.files_per_directory,
            passes: 1,
            clients: 1,
            workers: 0,
            keep_alive: false,
            transport: None,
            method: Method::Sendfile,
            verify: false,
        }
    }
}

impl ServeParameters {
    pub(super) fn site(&self) -> Site {
        Site {
            directory: self.directory.clone(),
            files: self.files,
            file_bytes: self.file_size.0,
            files_per_directory: self.files_per_directory,
        }
    }

    /// By what way requests go, once resolved.
    pub(super) fn transport(&self) -> Transport {
        self.transport.unwrap_or(match self.server {
            ServerKind::Apache2 => Transport::Tcp,
            ServerKind::Auto | ServerKind::Nginx | ServerKind::Embedded => Transport::Unix,
        })
    }
}

impl Job for ServeParameters {
    const NAME: &'static str = "web-server";

    fn settle(&mut self, _size: Bytes) -> Result<(), String> {
        let mut site = self.site();
        settle_site(&mut site)?;
        self.files = site.files;
        for (name, value, most) in [
            ("clients", self.clients, CLIENTS_MAX),
            ("passes", self.passes, PASSES_MAX),
        ] {
            if value == 0 || value > most {
                return Err(format!("{name} = {value}; it must be 1 to {most}"));
            }
        }
        if self.workers == 0 {
            self.workers = self.clients;
        }
        if self.workers > CLIENTS_MAX {
            return Err(format!("workers = {}; at most {CLIENTS_MAX}", self.workers));
        }
        if self.server == ServerKind::Auto {
            // A plan says which server it is for: what others serve is not to be mixed with it.
            self.server = installed(self.transport, is_apache_here());
        }
        if matches!(self.server, ServerKind::Nginx | ServerKind::Apache2) {
            // It will stand in a configuration.
            plain_text(&self.directory)?;
        }
        if self.server == ServerKind::Apache2 && self.transport == Some(Transport::Unix) {
            return Err("transport = \"unix\": apache2 listens to TCP alone".to_owned());
        }
        self.transport = Some(self.transport());
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        self.site().footprint()
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        Some(self.site().files_below_root())
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(self.file_size)]
    }

    fn brings(&self) -> Brings {
        let brings = Brings::default();
        match self.server {
            ServerKind::Nginx => brings.with_required(&[NGINX]),
            ServerKind::Apache2 => brings.with_required(&[apache_name()]),
            // A plan has replaced `auto`.
            ServerKind::Embedded | ServerKind::Auto => brings,
        }
    }

    fn foreign(&self) -> Option<String> {
        ProgramParameters::foreign(self)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        run_serve(self, context)
    }
}

impl ProgramParameters for ServeParameters {
    /// Nothing: of what a study decides, a server is given numbers, words of a list, and a path
    /// that is plain.
    fn foreign(&self) -> Option<String> {
        let Self {
            server: _,
            // See the configurations.
            directory: _,
            files: _,
            file_size: _,
            files_per_directory: _,
            passes: _,
            clients: _,
            workers: _,
            keep_alive: _,
            transport: _,
            method: _,
            verify: _,
        } = self;
        None
    }
}

/// Fills in how many files there are, and says what makes no sense.
fn settle_site(site: &mut Site) -> Result<(), String> {
    ensure_inside(&site.directory)?;
    let file_size = Bytes(site.file_bytes);
    if file_size.0 == 0 || file_size > FILE_MAX {
        return Err(format!("file_size = {file_size}; 1 B to {FILE_MAX}"));
    }
    if site.files == 0 {
        site.files = (SITE_BYTES.0 / file_size.0).clamp(1, FILES);
    }
    if site.files > FILES_MAX {
        return Err(format!("files = {}; at most {FILES_MAX}", site.files));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(given: serde_json::Value) -> Result<ServeParameters, String> {
        let mut parameters: ServeParameters = serde_json::from_value(given).expect("parameters");
        parameters.settle(Bytes::gib(1)).map(|()| parameters)
    }

    #[test]
    fn a_site_of_large_files_has_fewer_of_them() {
        for (file_size, files) in [("1KiB", 100), ("1MiB", 100), ("64MiB", 4), ("1GiB", 1)] {
            let given = serde_json::json!({ "file_size": file_size });
            assert_eq!(settled(given).expect("settles").files, files);
        }
    }

    #[test]
    fn a_resolved_plan_names_its_server_and_the_way_to_it() {
        let auto = settled(serde_json::json!({})).expect("settles");
        assert_ne!(auto.server, ServerKind::Auto);
        assert!(auto.transport.is_some());
        let apache = settled(serde_json::json!({ "server": "apache2" })).expect("settles");
        assert_eq!(apache.transport(), Transport::Tcp);
        let given = serde_json::json!({ "server": "embedded", "clients": 4 });
        let embedded = settled(given).expect("settles");
        assert_eq!(
            (embedded.transport(), embedded.workers),
            (Transport::Unix, 4)
        );
    }

    #[test]
    fn parameters_that_make_no_sense_are_refused_by_name() {
        for (given, word) in [
            (serde_json::json!({ "file_size": 0 }), "file_size"),
            (serde_json::json!({ "files": 100_000 }), "files"),
            (serde_json::json!({ "clients": 0 }), "clients"),
            (serde_json::json!({ "passes": 0 }), "passes"),
            (serde_json::json!({ "workers": 9_999 }), "workers"),
            (serde_json::json!({ "directory": ".." }), "path"),
            (
                serde_json::json!({
                    "server": "nginx",
                    "directory": "x\"; } server { listen 0.0.0.0:18080; root \"/etc",
                }),
                "character",
            ),
            (
                serde_json::json!({ "server": "apache2", "directory": "${HOME}" }),
                "character",
            ),
            (
                serde_json::json!({ "server": "apache2", "transport": "unix" }),
                "apache2",
            ),
        ] {
            let problem = settled(given).expect_err(word);
            assert!(problem.contains(word), "{problem}");
        }
    }
}
