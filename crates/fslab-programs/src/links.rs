//! Checks symbolic links before a program is started. Unlike fslab's own calls, a program is not
//! confined to the tree: if an earlier phase created links that fslab has not chosen, the
//! directories of a program must have none that leads out of them.

use std::fs;
use std::io;
use std::path::{Component, Path};

use fslab_engine::RunContext;

use super::error::ProgramError;

/// Refuses `folder`, a path below the root, if a link on its path, or one below it, may lead out.
/// A missing directory is accepted.
///
/// A target with `..` counts as leading out, since that depends on other links.
pub(crate) fn ensure_links_stay_inside(
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
        let failed = |error| ProgramError::io("list", &directory, &error);
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

/// The file type; `None` if it does not exist.
fn kind_of(path: &Path) -> Result<Option<fs::FileType>, ProgramError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ProgramError::io("look at", path, &error)),
    }
}

fn leads_out(link: &Path) -> Result<bool, ProgramError> {
    let text = fs::read_link(link).map_err(|error| ProgramError::io("read", link, &error))?;
    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    Ok(!text.components().all(is_below))
}

fn refused(link: &Path) -> ProgramError {
    let text = format!(
        "cannot start a program in a directory with the link {}",
        link.display()
    );
    ProgramError::other(text).hint(
        "an earlier phase created links of a trace, and a program would follow them out of the \
        file system; put the two phases into separate studies",
    )
}

#[cfg(test)]
mod tests {
    use fslab_sys::os::symlink;

    use fslab_engine::EngineKind;

    use super::*;

    #[test]
    fn links_that_may_lead_out_are_refused_if_fslab_did_not_choose_them() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut context = RunContext::new(EngineKind::Psync, folder.path(), 1);
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).expect("makes");
        symlink("c", at("a/b/inside")).expect("links");
        symlink("/etc", at("trap")).expect("links");
        let asks = |context: &RunContext, name: &str| {
            ensure_links_stay_inside(context, Path::new(name)).is_ok()
        };
        assert!(
            asks(&context, "trap/x"),
            "fslab's own links are not checked"
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
