//! What the ranks of a load have in common: their directory, and which phases they skip.

use std::path::{Path, PathBuf};

use fslab_engine::{Ranks, RunContext};
use fslab_model::{DeviceSpec, Facts, Failure, FailureKind, TrialSpec};

use crate::target::{Target, UsedDirectory};

/// The directory of rank 0, for all ranks. Before any phase it is known that all see it: a file
/// that rank 0 has made is found by each.
pub(crate) fn shared_target(ranks: &Ranks, spec: &TrialSpec) -> Result<(Target, Facts), Failure> {
    let make = || {
        let DeviceSpec::Directory { path } = &spec.device else {
            let text = "several ranks load a directory that all of them see, and nothing else";
            return Err(Failure::new(FailureKind::BadInput, text));
        };
        let path = path.to_str().ok_or_else(|| {
            let text = format!("the directory {} is not UTF-8", path.display());
            Failure::new(FailureKind::BadInput, text)
        })?;
        if ranks.is_first() {
            std::fs::write(Path::new(path).join(TOKEN), ranks.host.as_bytes()).map_err(
                |error| {
                    let text = format!("cannot write in {path}");
                    Failure::new(FailureKind::from(&error), text).because(&error)
                },
            )?;
        }
        Ok(path.to_owned())
    };
    let paths = ranks.share("the directory", make())?;
    let hosts: Vec<String> = paths.iter().map(|(host, _)| host.clone()).collect();
    let (host, path) = paths.into_iter().next().unwrap_or_default();
    let path = PathBuf::from(path);
    let found = std::fs::read(path.join(TOKEN));
    let found = found.map_err(|error| {
        let text = format!(
            "{} is not shared: what rank 0 on {host} has written is not there",
            path.display()
        );
        Failure::new(FailureKind::BadInput, text)
            .because(&error)
            .hint("--dir must be on a file system that every machine has mounted there")
    });
    ranks.agree("the token", found)?;
    let removed = match ranks.is_first() {
        true => std::fs::remove_file(path.join(TOKEN)),
        false => Ok(()),
    };
    let removed = removed.map_err(|error| {
        let text = format!("cannot remove a file in {}", path.display());
        Failure::new(FailureKind::from(&error), text).because(&error)
    });
    ranks.agree("the token's end", removed)?;
    let clock_error_ns = spec.ranks.as_ref().map_or(0, |rank| rank.clock_error_ns);
    let facts = [
        ("ranks.hosts".to_owned(), hosts.join(" ")),
        (
            "ranks.clock_error_ns".to_owned(),
            clock_error_ns.to_string(),
        ),
    ];
    let target = Target::Directory(UsedDirectory::open(&path)?);
    Ok((target, facts.into()))
}

/// The file by which all ranks find that they see the same directory.
const TOKEN: &str = "token";

/// Why a phase is skipped: at one rank, so at all.
pub(crate) fn common_reason(
    context: &RunContext,
    own: Option<String>,
) -> Result<Option<String>, Failure> {
    let Some(ranks) = &context.ranks else {
        return Ok(own);
    };
    ranks.first_text("the next phase", Ok(own))
}
