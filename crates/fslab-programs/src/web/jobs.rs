//! Web workloads as jobs: their defaults, what they need, and what runs them.

use std::path::PathBuf;

use fslab_engine::RunContext;
use fslab_job::{Finished, Job, RunError, ensure_inside};
use fslab_model::{Brings, Bytes, Need};

use super::parameters::{PublishParameters, ServeParameters, ServerKind, Transport};
use super::publish::run_publish;
use super::serve::run_serve;
use super::server::{NGINX, apache_name, installed, is_apache_here};
use super::site::Site;
use crate::permission::ProgramParameters;
use crate::plain_text::plain_text;

/// Default number of files.
const FILES: u64 = 100;

/// Limit of the default number: bytes of all files.
const SITE_BYTES: Bytes = Bytes::mib(256);

impl Job for PublishParameters {
    const NAME: &'static str = "web-publish";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        let mut site = self.site();
        resolve_site(&mut site)?;
        self.files = site.files;
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        self.site().footprint()
    }

    fn data_files(&self, _ranks: u32) -> Option<Vec<PathBuf>> {
        Some(self.site().files_below_root())
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(self.file_size)]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        run_publish(self, context)
    }
}

impl Job for ServeParameters {
    const NAME: &'static str = "web-server";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        let mut site = self.site();
        resolve_site(&mut site)?;
        self.files = site.files;
        if self.workers == 0 {
            self.workers = self.clients;
        }
        if self.server == ServerKind::Auto {
            // A plan names its server, so that results of different servers are not mixed.
            self.server = installed(self.transport, is_apache_here());
        }
        if matches!(self.server, ServerKind::Nginx | ServerKind::Apache2) {
            // It will be part of a configuration.
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

    fn data_files(&self, _ranks: u32) -> Option<Vec<PathBuf>> {
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

/// Fills in the number of files, and validates.
fn resolve_site(site: &mut Site) -> Result<(), String> {
    ensure_inside(&site.directory)?;
    if site.files == 0 {
        site.files = (SITE_BYTES.0 / site.file_bytes).clamp(1, FILES);
    }
    Ok(())
}
