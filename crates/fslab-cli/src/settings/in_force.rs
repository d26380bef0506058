//! The settings of this process, read once.

use std::path::PathBuf;
use std::sync::OnceLock;

use fslab_model::Failure;

use super::options::Options;
use super::setting::Settings;
use super::{file, variables};
use crate::defaults;
use crate::terminal::screen;

static IN_FORCE: OnceLock<Settings> = OnceLock::new();

/// The settings that were put in force; none before.
pub(crate) fn in_force() -> &'static Settings {
    static NONE: Settings = Settings {
        file: None,
        all: Vec::new(),
    };
    IN_FORCE.get().unwrap_or(&NONE)
}

/// Makes `settings` those of this process.
pub(crate) fn put_in_force(settings: Settings) -> &'static Settings {
    IN_FORCE.get_or_init(|| settings)
}

impl Settings {
    /// Those of the user's configuration file and of the environment.
    pub(crate) fn load(options: &Options) -> Result<Self, Failure> {
        let mut settings = Self::default();
        if let Some(path) = defaults::configuration()
            && let Some(found) = file::read(&path, options)?
        {
            settings.file = Some(path);
            settings.all = found;
        }
        let (found, warnings) = variables::read(options, std::env::vars_os())?;
        warnings.iter().for_each(|warning| screen::warn(warning));
        settings.all.extend(found);
        Ok(settings)
    }

    /// Where the file of this user is, if it is there or not.
    pub(crate) fn place() -> Option<PathBuf> {
        defaults::configuration()
    }
}
