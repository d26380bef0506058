//! The jobs `web-publish` and `web-server`: a web server that serves files of the measured file
//! system, and its clients.
//!
//! ```text
//!     publish   writes the site
//!     serve     server (nginx, apache2, embedded) <-- socket --> clients, which are timed
//!               \-- configuration, log, socket: in a directory on another file system
//! ```

mod clients;
mod configuration;
mod connection;
mod embedded;
mod http;
mod jobs;
mod parameters;
mod publish;
mod serve;
mod server;
mod site;

pub(crate) use parameters::{PublishParameters, ServeParameters};
