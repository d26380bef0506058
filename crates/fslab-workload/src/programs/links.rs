//! Links that programs would follow. A program is not confined to the tree as fslab's own calls on
//! names are: where an earlier phase of the trial made links that fslab has not chosen, the folders
//! of a program must hold none that leads out of them.

use std::fs;
use std::io;
use std::path::{Component, Path};

use fslab_engine::RunContext;

use super::error::ProgramError;

/// Refuses `folder`, one below the root, where a link on the way to it or below it might lead
/// somewhere else. What is not there yet holds no link.
///
/// Whether a text with `..` stays inside depends on the links that it passes, so it counts as one
/// that does not.
pub(crate) fn demand_none_leads_out(
    context: &RunContext,
    folder: &Path,
) -> Result<(), ProgramError> {
    if !context.foreign_links {
        return Ok(());
    }
    let mut at = context.root.clone();
    for part in folder {
        at.push(part);
        if kind_of(&at)?.is_some_and(|kind| kind.is_symlink()) {
            return Err(refused(&at));
        }
    }
    let mut open: Vec<_> = kind_of(&at)?.into_iter().map(|_| at.clone()).collect();
    while let Some(directory) = open.pop() {
        let failed = |error| ProgramError::io("list", &directory, error);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            match kind_of(&path)? {
                Some(kind) if kind.is_dir() => open.push(path),
                Some(kind) if kind.is_symlink() && leads_out(&path)? => return Err(refused(&path)),
                _ => {}
            }
        }
    }
    Ok(())
}

/// What stands there; `None` where nothing does.
fn kind_of(path: &Path) -> Result<Option<fs::FileType>, ProgramError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ProgramError::io("look at", path, error)),
    }
}

fn leads_out(link: &Path) -> Result<bool, ProgramError> {
    let text = fs::read_link(link).map_err(|error| ProgramError::io("read", link, error))?;
    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    Ok(!text.components().all(is_below))
}

fn refused(link: &Path) -> ProgramError {
    let text = format!("cannot start a program beside the link {}", link.display());
    ProgramError::other(text).hint(
        "a phase before it made links that a trace chose, and a program would follow them out of \
         the file system; give the two phases studies of their own",
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use fslab_engine::EngineKind;

    use super::*;

    #[test]
    fn links_that_might_lead_out_are_refused_where_somebody_else_may_have_made_them() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut context = RunContext::new(EngineKind::Psync, folder.path(), 1);
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).expect("makes");
        symlink("c", at("a/b/inside")).expect("links");
        symlink("/etc", at("trap")).expect("links");
        let asks = |context: &RunContext, name: &str| {
            demand_none_leads_out(context, Path::new(name)).is_ok()
        };
        assert!(
            asks(&context, "trap/x"),
            "fslab's own links are not looked at"
        );
        context.foreign_links = true;
        assert!(asks(&context, "a/b") && asks(&context, "a/missing"));
        assert!(!asks(&context, "trap") && !asks(&context, "trap/x"));
        for text in ["/etc", "../x", "b/../../x"] {
            let link = at("a/b/out");
            symlink(text, &link).expect("links");
            assert!(!asks(&context, "a"), "{text}");
            fs::remove_file(link).expect("removes");
        }
    }
}
