//! The configurations of the servers that fslab starts but has not written.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::connection::Endpoint;
use super::parameters::{Method, ServeParameters};

/// Where distributions keep the modules of the Apache HTTP server.
const APACHE_MODULES: [&str; 3] = [
    "/usr/lib/apache2/modules",
    "/usr/lib64/httpd/modules",
    "/usr/lib/httpd/modules",
];
/// Who is nobody, by number: no system lacks it.
const NOBODY: u32 = 65_534;

/// What a server is to do.
pub(super) struct Task<'a> {
    pub(super) parameters: &'a ServeParameters,
    /// The root of the site.
    pub(super) root: &'a Path,
    pub(super) endpoint: &'a Endpoint,
    /// Where it may write.
    pub(super) folder: &'a Path,
}

/// The name of the log of errors in the server's folder.
pub(super) const ERROR_LOG: &str = "error.log";

/// nginx.conf. One process where one worker is wanted: it ends with the trial, however that ends.
pub(super) fn nginx(task: &Task) -> String {
    let parameters = task.parameters;
    let folder = task.folder.display();
    let mut text = String::new();
    if fslab_sys::is_superuser() {
        // Otherwise its workers would become somebody who may not read the site.
        line(&mut text, "user root;");
    }
    let (master, workers) = match parameters.workers {
        1 => ("off", 1),
        workers => ("on", workers),
    };
    let listen = match task.endpoint {
        Endpoint::Unix(path) => format!("unix:{}", path.display()),
        Endpoint::Tcp(address) => address.to_string(),
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
        "default_type application/octet-stream;".to_owned(),
        "keepalive_requests 1000000000;".to_owned(),
        "keepalive_timeout 1h;".to_owned(),
    ] {
        line(&mut text, &words);
    }
    for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        line(&mut text, &format!("{name}_temp_path \"{folder}/{name}\";"));
    }
    let root = task.root.display();
    line(
        &mut text,
        &format!("server {{ listen {listen}; root \"{root}\"; }}\n}}"),
    );
    text
}

/// The configuration of the Apache HTTP server; `None` where its modules are nowhere.
pub(super) fn apache(task: &Task) -> Option<String> {
    let modules = APACHE_MODULES.map(PathBuf::from);
    let modules = modules.iter().find(|folder| folder.is_dir())?;
    let parameters = task.parameters;
    let Endpoint::Tcp(address) = task.endpoint else {
        return None;
    };
    let mut text = String::new();
    let on_off = |on: bool| if on { "On" } else { "Off" };
    for (module, file) in [
        ("mpm_event_module", "mod_mpm_event.so"),
        ("authz_core_module", "mod_authz_core.so"),
        ("unixd_module", "mod_unixd.so"),
    ] {
        // What is built in cannot be loaded, and has no file either.
        let file = modules.join(file);
        if file.is_file() {
            let file = file.display();
            line(&mut text, &format!("<IfModule !{module}>"));
            line(&mut text, &format!("LoadModule {module} \"{file}\""));
            line(&mut text, "</IfModule>");
        }
    }
    if fslab_sys::is_superuser() {
        // It refuses to serve as root.
        line(&mut text, &format!("User #{NOBODY}\nGroup #{NOBODY}"));
    }
    let (folder, root) = (task.folder.display(), task.root.display());
    let threads = parameters.workers;
    let keep_alive = on_off(parameters.keep_alive);
    let sendfile = on_off(parameters.method == Method::Sendfile);
    for words in [
        format!("ServerRoot \"{folder}\""),
        format!("DefaultRuntimeDir \"{folder}\""),
        format!("PidFile \"{folder}/pid\""),
        format!("ErrorLog \"{folder}/{ERROR_LOG}\""),
        "ServerName localhost".to_owned(),
        format!("Listen {address}"),
        "AcceptFilter http none".to_owned(),
        format!("ServerLimit 1\nStartServers 1\nThreadLimit {threads}"),
        format!("ThreadsPerChild {threads}\nMaxRequestWorkers {threads}"),
        format!("MinSpareThreads 1\nMaxSpareThreads {threads}"),
        format!("KeepAlive {keep_alive}\nKeepAliveTimeout 3600\nMaxKeepAliveRequests 0"),
        format!("EnableSendfile {sendfile}\nEnableMMAP Off"),
        format!("DocumentRoot \"{root}\""),
        format!("<Directory \"{root}\">\nAllowOverride None\nRequire all granted\n</Directory>"),
    ] {
        line(&mut text, &words);
    }
    Some(text)
}

fn line(text: &mut String, words: &str) {
    writeln!(text, "{words}").expect("a string takes everything");
}
