//! `fslab clean`: removes mounts, loop devices, directories of servers and files that killed runs
//! left behind.

use std::io::ErrorKind;

use clap::Args;
use fslab_run::RunLock;
use fslab_venue::Reclaimed;

use crate::defaults;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::screen;

/// Arguments of `fslab clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanArgs {}

impl CleanArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let reclaimed = reclaim()?;
        if reclaimed.undone.is_empty() && reclaimed.failures.is_empty() {
            screen::print("nothing to clean\n")?;
        }
        for path in &reclaimed.undone {
            screen::print(&format!("removed: {}\n", path.display()))?;
        }
        let mut failures = reclaimed.failures.into_iter();
        let Some(first) = failures.next() else {
            return Ok(Exit::Done);
        };
        failures.for_each(|failure| screen::warn(&failure.to_string()));
        Err(CommandError {
            failure: first,
            exit: Exit::CannotHere,
        })
    }
}

/// Removes the resources and locks that killed runs left; those of running ones are kept.
pub(crate) fn reclaim() -> Result<Reclaimed, CommandError> {
    let failed =
        |error| CommandError::io("cannot search for resources left by killed runs", &error);
    let mut reclaimed = defaults::leases()?.reclaim().map_err(failed)?;
    reclaimed
        .undone
        .extend(fslab_programs::remove_stale_folders());
    match RunLock::remove_unheld(&defaults::state()?) {
        Ok(locks) => reclaimed.undone.extend(locks),
        // Already reported for the leases, which are beside the locks.
        Err(error)
            if error.kind() == ErrorKind::PermissionDenied && !reclaimed.failures.is_empty() => {}
        Err(error) => return Err(failed(error)),
    }
    Ok(reclaimed)
}
