//! Configurations of nginx and the Apache HTTP server.
//!
//! Texts of a study or the machine enter them only as numbers and as plain, quoted paths
//! ([`QuotedPaths`]). A server listens on a Unix socket or on the loopback interface, serves files
//! below the site's root, and follows no symbolic link out of the file system.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::connection::Endpoint;
use super::parameters::{Method, ServeParameters};
use crate::plain_text::plain_text;

/// Directories of the Apache HTTP server's modules, by distribution.
const APACHE_MODULES: [&str; 3] = [
    "/usr/lib/apache2/modules",
    "/usr/lib64/httpd/modules",
    "/usr/lib/httpd/modules",
];
/// User and group id of `nobody`, valid on every system.
const UNPRIVILEGED_ID: u32 = 65_534;

/// The task of a server.
pub(super) struct Task<'a> {
    pub(super) parameters: &'a ServeParameters,
    /// The root of the file system, or of the phase's part of it.
    pub(super) base: &'a Path,
    /// The root of the site, below it.
    pub(super) root: &'a Path,
    pub(super) endpoint: &'a Endpoint,
    /// The server's directory for its own files.
    pub(super) folder: &'a Path,
}

/// The paths of a task, safe within quotation marks.
struct QuotedPaths<'a> {
    base: &'a str,
    root: &'a str,
    folder: &'a str,
    /// The address to listen at.
    listen: String,
}

impl<'a> QuotedPaths<'a> {
    /// The paths of `task`; an error message if a path is not plain or the address is not local.
    fn of(task: &'a Task) -> Result<Self, String> {
        let listen = match task.endpoint {
            Endpoint::Unix(path) => format!("unix:{}", plain_text(path)?),
            Endpoint::Tcp(address) if address.ip().is_loopback() => address.to_string(),
            Endpoint::Tcp(address) => {
                return Err(format!("{address} is no address of the loopback interface"));
            }
        };
        Ok(Self {
            base: plain_text(task.base)?,
            root: plain_text(task.root)?,
            folder: plain_text(task.folder)?,
            listen,
        })
    }
}

/// Name of the error log in the server's directory.
pub(super) const ERROR_LOG: &str = "error.log";

/// nginx.conf, or an error message.
pub(super) fn nginx(task: &Task) -> Result<String, String> {
    let parameters = task.parameters;
    let QuotedPaths {
        base,
        root,
        folder,
        listen,
    } = QuotedPaths::of(task)?;
    let mut text = String::new();
    if fslab_sys::is_superuser() {
        // Otherwise its workers would become a user who may not read the site.
        line(&mut text, "user root;");
    }
    let (master, workers) = match parameters.workers {
        1 => ("off", 1),
        workers => ("on", workers),
    };
    let sendfile = match parameters.method {
        Method::Sendfile => "on",
        Method::Read => "off",
    };
    let connections = parameters.clients.saturating_add(64);
    for words in [
        "daemon off;".to_owned(),
        format!("master_process {master};"),
        format!("worker_processes {workers};"),
        format!("error_log \"{folder}/{ERROR_LOG}\";"),
        format!("pid \"{folder}/pid\";"),
        format!("events {{ worker_connections {connections}; }}"),
        "http {".to_owned(),
        "access_log off;".to_owned(),
        format!("sendfile {sendfile};"),
        "open_file_cache off;".to_owned(),
        "autoindex off;".to_owned(),
        // Links below the measured tree are refused; those above it are the user's.
        format!("disable_symlinks on \"from={base}\";"),
        "default_type application/octet-stream;".to_owned(),
        "keepalive_requests 1000000000;".to_owned(),
        "keepalive_timeout 1h;".to_owned(),
    ] {
        line(&mut text, &words);
    }
    for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        line(&mut text, &format!("{name}_temp_path \"{folder}/{name}\";"));
    }
    line(
        &mut text,
        &format!("server {{ listen \"{listen}\"; root \"{root}\"; }}\n}}"),
    );
    Ok(text)
}

/// The directory of the Apache HTTP server's modules.
pub(super) fn apache_modules() -> Option<PathBuf> {
    let folders = APACHE_MODULES.map(PathBuf::from);
    folders.into_iter().find(|folder| folder.is_dir())
}

/// The configuration of the Apache HTTP server, or an error message.
pub(super) fn apache(task: &Task, modules: &Path) -> Result<String, String> {
    let parameters = task.parameters;
    let QuotedPaths {
        base,
        root,
        folder,
        listen,
    } = QuotedPaths::of(task)?;
    let mut text = String::new();
    let on_off = |on: bool| if on { "On" } else { "Off" };
    for (module, file) in [
        ("mpm_event_module", "mod_mpm_event.so"),
        ("authz_core_module", "mod_authz_core.so"),
        ("unixd_module", "mod_unixd.so"),
    ] {
        // Built-in modules have no file and cannot be loaded.
        let file = modules.join(file);
        if file.is_file() {
            let file = file.display();
            line(&mut text, &format!("<IfModule !{module}>"));
            line(&mut text, &format!("LoadModule {module} \"{file}\""));
            line(&mut text, "</IfModule>");
        }
    }
    if fslab_sys::is_superuser() {
        // apache2 refuses to serve as root.
        line(
            &mut text,
            &format!("User #{UNPRIVILEGED_ID}\nGroup #{UNPRIVILEGED_ID}"),
        );
    }
    let threads = parameters.workers;
    let keep_alive = on_off(parameters.keep_alive);
    let sendfile = on_off(parameters.method == Method::Sendfile);
    for words in [
        format!("ServerRoot \"{folder}\""),
        format!("DefaultRuntimeDir \"{folder}\""),
        format!("PidFile \"{folder}/pid\""),
        format!("ErrorLog \"{folder}/{ERROR_LOG}\""),
        "ServerName localhost".to_owned(),
        format!("Listen {listen}"),
        "TraceEnable Off".to_owned(),
        "AcceptFilter http none".to_owned(),
        format!("ServerLimit 1\nStartServers 1\nThreadLimit {threads}"),
        format!("ThreadsPerChild {threads}\nMaxRequestWorkers {threads}"),
        format!("MinSpareThreads 1\nMaxSpareThreads {threads}"),
        format!("KeepAlive {keep_alive}\nKeepAliveTimeout 3600\nMaxKeepAliveRequests 0"),
        format!("EnableSendfile {sendfile}\nEnableMMAP Off"),
        format!("DocumentRoot \"{root}\""),
        // Links above the measured tree are the user's; below it none is followed.
        "<Directory \"/\">\nAllowOverride None\nOptions FollowSymLinks".to_owned(),
        "Require all denied\n</Directory>".to_owned(),
        format!("<Directory \"{base}\">\nOptions None\n</Directory>"),
        format!("<Directory \"{root}\">\nRequire all granted\n</Directory>"),
    ] {
        line(&mut text, &words);
    }
    Ok(text)
}

fn line(text: &mut String, words: &str) {
    writeln!(text, "{words}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use fslab_job::Job;
    use fslab_model::Bytes;

    use super::*;

    type Writer = fn(&Task) -> Result<String, String>;
    const WRITERS: [Writer; 2] = [nginx, |task| apache(task, Path::new("/modules"))];

    fn parameters() -> ServeParameters {
        let given = serde_json::json!({ "server": "embedded", "clients": 3 });
        let mut parameters: ServeParameters = serde_json::from_value(given).expect("parameters");
        parameters.resolve(Bytes::gib(1)).expect("resolves");
        parameters
    }

    fn loopback() -> Endpoint {
        Endpoint::Tcp(([127, 0, 0, 1], 8_080).into())
    }

    fn written(write: Writer, paths: [&str; 3], endpoint: &Endpoint) -> Result<String, String> {
        let [base, root, folder] = paths.map(Path::new);
        write(&Task {
            parameters: &parameters(),
            base,
            root,
            endpoint,
            folder,
        })
    }

    /// `directory = "x\"; } server { listen 0.0.0.0:18080; root \"/etc"` started a second server,
    /// open to the network, for /etc. The machine's directories may have such names, too.
    #[test]
    fn no_path_of_a_study_or_a_machine_ends_its_quotation() {
        let good = ["/mnt/a b", "/mnt/a b/web", "/tmp/f"];
        for write in WRITERS {
            let text = written(write, good, &loopback()).expect("is plain");
            assert!(text.contains("\"/mnt/a b/web\""), "{text}");
            for bad in [
                "/x\"; } server { listen 0.0.0.0:18080; root \"/etc",
                "/x\nListen 0.0.0.0:1",
                "/x\\",
                "/$document_root",
                "/${HOME}",
                "/%{ENV}",
                "/x#",
                "/x;",
                "/*",
            ] {
                for at in 0..good.len() {
                    let mut paths = good;
                    paths[at] = bad;
                    let refused = written(write, paths, &loopback()).expect_err(bad);
                    assert!(!refused.contains('\n'), "{refused}");
                }
                let socket = Endpoint::Unix(bad.into());
                assert!(written(write, good, &socket).is_err(), "{bad}");
            }
        }
    }

    #[test]
    fn a_server_listens_only_locally_and_follows_no_link() {
        let paths = ["/mnt", "/mnt/web", "/tmp/f"];
        for write in WRITERS {
            let text = written(write, paths, &loopback()).expect("is plain");
            let listening: Vec<_> = text
                .lines()
                .filter(|line| line.to_lowercase().contains("listen"))
                .collect();
            let [line] = listening[..] else {
                panic!("{text}")
            };
            assert!(line.contains("127.0.0.1:8080"), "{line}");
            for open in ["0.0.0.0:80", "192.168.1.1:80", "[::]:80"] {
                let endpoint = Endpoint::Tcp(open.parse().expect("an address"));
                assert!(written(write, paths, &endpoint).is_err(), "{open}");
            }
        }
        let text = written(nginx, paths, &Endpoint::Unix("/tmp/f/socket".into()));
        let text = text.expect("is plain");
        assert!(text.contains("listen \"unix:/tmp/f/socket\";"), "{text}");
        assert!(
            text.contains("disable_symlinks on \"from=/mnt\";"),
            "{text}"
        );
    }
}
