//! Parameters of `web-publish` and `web-server`, which must describe the same site.

use std::path::PathBuf;

use fslab_model::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::site::Site;
use crate::permission::ProgramParameters;

/// Limit by the digits of names.
const FILES_MAX: u64 = 99_999;
const FILE_MAX: Bytes = Bytes::gib(16);
const CLIENTS_MAX: u32 = 512;
const PASSES_MAX: u32 = 10_000;

/// Writes the files that a web server serves: open, write and close of each.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PublishParameters {
    /// The site's root below that of the file system.
    pub(super) directory: PathBuf,
    /// Number of files; 0 for 100, or as many as give 256 MiB.
    #[schemars(range(max = FILES_MAX))]
    pub(super) files: u64,
    /// Size of each file.
    #[schemars(extend("minimum" = 1, "maximum" = FILE_MAX.0))]
    pub(super) file_size: Bytes,
    /// Files in each directory; 0 for all in one.
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

/// Which program serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ServerKind {
    /// The first of the following that is installed; a plan has the one found.
    Auto,
    /// nginx.
    Nginx,
    /// The Apache HTTP server.
    Apache2,
    /// A small built-in server, in the trial's process.
    Embedded,
}

/// The socket between clients and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Transport {
    /// A Unix-domain socket: no network and none of its timers.
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

/// A web server serves every file of a site, in random order. The site must be that of
/// `web-publish`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServeParameters {
    /// The server.
    pub(super) server: ServerKind,
    /// The site's root, as in `web-publish`.
    pub(super) directory: PathBuf,
    /// Number of files; 0 for 100, or as many as give 256 MiB.
    #[schemars(range(max = FILES_MAX))]
    pub(super) files: u64,
    /// Size of each file.
    #[schemars(extend("minimum" = 1, "maximum" = FILE_MAX.0))]
    pub(super) file_size: Bytes,
    /// Files in each directory; 0 for all in one.
    files_per_directory: u64,
    /// Requests of each file.
    #[schemars(range(min = 1, max = PASSES_MAX))]
    pub(super) passes: u32,
    /// Clients, each with one connection and one request at a time.
    #[schemars(range(min = 1, max = CLIENTS_MAX))]
    pub(super) clients: u32,
    /// Processes of nginx, threads of the others; 0 for as many as clients.
    #[schemars(range(max = CLIENTS_MAX))]
    pub(super) workers: u32,
    /// Use one connection for all requests of a client.
    pub(super) keep_alive: bool,
    /// The connection; unless given, "unix" if the server supports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) transport: Option<Transport>,
    /// How the server sends a file.
    pub(super) method: Method,
    /// Clients compare every byte; the length is always checked.
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

    /// The resolved transport.
    pub(super) fn transport(&self) -> Transport {
        self.transport.unwrap_or(match self.server {
            ServerKind::Apache2 => Transport::Tcp,
            ServerKind::Auto | ServerKind::Nginx | ServerKind::Embedded => Transport::Unix,
        })
    }
}

impl ProgramParameters for ServeParameters {
    /// None: a server gets only numbers, words of a list, and a plain path of the study.
    fn foreign(&self) -> Option<String> {
        let Self {
            server: _,
            // Plain and quoted in a configuration.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(given: &serde_json::Value) -> Result<ServeParameters, String> {
        crate::resolved::resolved(given)
    }

    #[test]
    fn a_site_of_large_files_has_fewer_of_them() {
        for (file_size, files) in [("1KiB", 100), ("1MiB", 100), ("64MiB", 4), ("1GiB", 1)] {
            let given = serde_json::json!({ "file_size": file_size });
            assert_eq!(resolved(&given).expect("resolves").files, files);
        }
    }

    #[test]
    fn a_resolved_plan_names_its_server_and_transport() {
        let auto = resolved(&serde_json::json!({})).expect("resolves");
        assert_ne!(auto.server, ServerKind::Auto);
        assert!(auto.transport.is_some());
        let apache = resolved(&serde_json::json!({ "server": "apache2" })).expect("resolves");
        assert_eq!(apache.transport(), Transport::Tcp);
        let given = serde_json::json!({ "server": "embedded", "clients": 4 });
        let embedded = resolved(&given).expect("resolves");
        assert_eq!(
            (embedded.transport(), embedded.workers),
            (Transport::Unix, 4)
        );
    }

    #[test]
    fn invalid_parameters_are_refused_by_name() {
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
            let problem = resolved(&given).expect_err(word);
            assert!(problem.contains(word), "{problem}");
        }
    }
}
