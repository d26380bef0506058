//! The source of the default lab as a tree: to change it, and to build a lab of what it is then.

use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::build_dir::BuildDir;
use crate::compilation::Compilation;
use crate::lock::BuildLock;
use crate::progress::{BuildStage, Progress};
use crate::recipe::Recipe;
use crate::source::Origin;
use crate::{Architecture, Cache, KernelName, LabError, SourceRequest};

/// Unpacks Debian's source, with the recipe's patches, into `folder`, which must not exist; returns
/// its description.
///
/// A lab that is built of this tree differs from the default one in nothing but its name and key.
///
/// # Errors
/// [`LabError`]; then there is no directory.
pub fn unpack_source(
    cache: &Cache,
    folder: &Path,
    stop: &AtomicBool,
    listener: &mut dyn FnMut(Progress),
) -> Result<String, LabError> {
    if folder.symlink_metadata().is_ok() {
        let exists = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(LabError::io("make", folder)(exists));
    }
    cache.prepare()?;
    let _lock = BuildLock::take(cache.folder())?;
    let name: KernelName = "source".parse()?;
    let log = cache.log(&name);
    let mut build_dir = BuildDir::open(&cache.building(), &log, stop, listener)?;
    let origin = Origin::find(&SourceRequest::Debian, &mut build_dir)?;
    let (architecture, recipe) = (Architecture::Um, Recipe::current());
    let jobs = NonZeroUsize::MIN;
    let compilation = Compilation::of(&origin, architecture, recipe, jobs, None, &mut build_dir)?;
    compilation.patch(&mut build_dir)?;
    build_dir.reporter.enter(BuildStage::Storing);
    // mv copies where rename(2) cannot: the cache may be on another file system.
    let mut mv = build_dir.command("mv");
    mv.arg("--no-target-directory");
    mv.arg(compilation.tree()).arg(folder);
    if let Err(error) = build_dir.run("move the source", mv) {
        // Half of a copy is no source.
        let _ = fs::remove_dir_all(folder);
        return Err(error);
    }
    // Nothing refers to the log of a source that is there.
    let _ = fs::remove_file(log);
    Ok(origin.description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_there_is_left_as_it_is() {
        let place = tempfile::tempdir().expect("a directory");
        let (cache, stop) = (Cache::below(place.path()), AtomicBool::new(false));
        let refused = unpack_source(&cache, place.path(), &stop, &mut |_| {});
        let refused = refused.expect_err("refused").to_string();
        assert!(refused.starts_with("cannot make "), "{refused}");
        assert!(place.path().read_dir().expect("listed").next().is_none());
    }
}
