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
            let text = "several ranks can only load a directory that all of them can access";
            return Err(Failure::new(FailureKind::BadInput, text));
        };
        let path = path.to_str().ok_or_else(|| {
            let text = format!("the directory {} is not UTF-8", path.display());
            Failure::new(FailureKind::BadInput, text)
        })?;
        if ranks.is_first() {
            let folder = fslab_sys::OutputFolder::create(Path::new(path));
            let written = folder.and_then(|it| it.write(TOKEN, ranks.host.as_bytes()));
            written.map_err(|error| {
                let text = format!("cannot write in {path}");
                Failure::new(FailureKind::from(&error), text).because(&error)
            })?;
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
            "{} is not shared: a file that rank 0 on {host} has written is not there",
            path.display()
        );
        Failure::new(FailureKind::BadInput, text)
            .because(&error)
            .hint("use a --dir on a file system that every machine has mounted there")
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
    let mut facts = Facts::from([
        ("ranks.hosts".to_owned(), hosts.join(" ")),
        (
            "ranks.clock_error_ns".to_owned(),
            clock_error_ns.to_string(),
        ),
    ]);
    let mounts = ranks.share("the mounts", Ok(mount_text(&path)))?;
    facts.extend(unlike_mounts(&mounts).map(|text| ("ranks.mounts".to_owned(), text)));
    let target = Target::Directory(UsedDirectory::open(&path)?);
    Ok((target, facts))
}

/// The network mount at `path` with its options, else the type of the file system.
fn mount_text(path: &Path) -> String {
    let Ok(found) = fslab_fs::recognise(path) else {
        return "unknown".to_owned();
    };
    match fslab_fs::network_mount(&found) {
        Some(mount) => format!("{mount}: {}", mount.options.join(",")),
        None => found.fs_type,
    }
}

/// Each mount with its machines, if the ranks do not all have the same: their load is then one of
/// several servers, protocols or options.
fn unlike_mounts(mounts: &[(String, String)]) -> Option<String> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for (host, mount) in mounts {
        match found.iter_mut().find(|(known, _)| known == mount) {
            Some((_, hosts)) => hosts.push(host),
            None => found.push((mount, vec![host])),
        }
    }
    let each = found.iter();
    let each: Vec<String> = each
        .map(|(mount, hosts)| format!("{mount} ({})", hosts.join(" ")))
        .collect();
    (each.len() > 1).then(|| each.join("; "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_that_differ_are_named_with_their_machines() {
        let mounts = |texts: [&str; 3]| {
            let hosts = ["a", "b", "c"].into_iter();
            let pairs = hosts
                .zip(texts)
                .map(|(host, text)| (host.into(), text.into()));
            unlike_mounts(&pairs.collect::<Vec<(String, String)>>())
        };
        assert_eq!(mounts(["ext4", "ext4", "ext4"]), None);
        assert_eq!(
            mounts(["NFS 4.2", "ext4", "NFS 4.2"]).as_deref(),
            Some("NFS 4.2 (a c); ext4 (b)")
        );
    }
}
