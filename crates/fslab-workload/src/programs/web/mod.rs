//! A web server that serves files of the file system, and clients that ask for them.
//!
//! ```text
//!     publish   writes the site
//!     serve     server (nginx, apache2, embedded) <-- socket --> clients: the clock is theirs
//!               \-- configuration, log, socket: in a folder elsewhere
//! ```

mod clients;
mod configuration;
mod connection;
mod embedded;
mod folder;
mod http;
mod parameters;
mod publish;
mod serve;
mod server;
mod site;

pub(crate) use parameters::{PublishParameters, ServeParameters};
