//! Builds a lab: its kernel, its root image, and the name that points to them.

use std::sync::atomic::AtomicBool;

use super::assembly_dir::AssemblyDir;
use crate::lock::BuildLock;
use crate::{Architecture, BuildRequest, Cache, Lab, LabError, Progress, RootFacts, build, pc};

/// Result of building a lab.
#[derive(Clone, Debug)]
pub struct BuiltLab {
    pub lab: Lab,
    /// True if no kernel was built.
    pub kernel_was_there: bool,
    /// True if no root image was built.
    pub root_was_there: bool,
}

/// Builds the kernel and the root image, unless they exist, and points the name to the lab.
///
/// An existing root image of this fslab's list is reused, whatever was installed since: that of the
/// lab with this name, else the default lab's. Labs of two kernels then differ in the kernel alone;
/// a lab with network file systems has their servers besides.
///
/// # Errors
/// [`LabError`]; the name then points to what it did before.
pub fn build_lab(
    cache: &Cache,
    request: &BuildRequest,
    stop: &AtomicBool,
    listener: &mut dyn FnMut(Progress),
) -> Result<BuiltLab, LabError> {
    let built = match request.architecture {
        Architecture::Um => build(cache, request, stop, listener)?,
        Architecture::Pc => pc::build_pc(cache, request, stop, listener)?,
    };
    let is_wanted = |_: &RootFacts| !request.force && !request.new_root;
    let current = cache
        .current_root(&request.name, request.network)
        .filter(is_wanted);
    if built.was_there
        && let Ok(lab) = cache.find_lab(request.name.as_str())
        && lab.kernel.facts.key == built.kernel.facts.key
        && current.as_ref() == Some(&lab.root)
    {
        return Ok(BuiltLab {
            lab,
            kernel_was_there: true,
            root_was_there: true,
        });
    }
    let _lock = BuildLock::take(cache.folder())?;
    let work = AssemblyDir::open(cache.building())?;
    let (root, root_was_there) = match current {
        Some(root) => (root, true),
        None => work.build_root(cache, request.network)?,
    };
    Ok(BuiltLab {
        lab: work.join(cache, &built.kernel, &root, request)?,
        kernel_was_there: built.was_there,
        root_was_there,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use std::num::NonZeroUsize;

    use super::*;
    use crate::kernel::tests::{facts, place};
    use crate::{KernelName, SourceRequest};

    struct Place(tempfile::TempDir);

    impl Place {
        /// A cache with a current kernel of Debian's source, which is not built again.
        fn new() -> Self {
            let place_of = Self(tempfile::tempdir().expect("a directory"));
            let cache = place_of.cache();
            cache.prepare().expect("prepared");
            place_of.publish("aaaaaaaaaaaa", "default");
            place_of
        }

        fn cache(&self) -> Cache {
            Cache::below(self.0.path())
        }

        fn publish(&self, key: &str, name: &str) {
            let facts = facts(key);
            let finished = self.cache().building().join("finished");
            place(&finished, &facts);
            // The kernel file's contents are part of a lab's digest; its description is not.
            fs::write(finished.join("config"), "CONFIG_A=y\n").expect("written");
            let name: KernelName = name.parse().expect("a name");
            self.cache()
                .publish(&finished, &facts.key, &name)
                .expect("published");
            fs::remove_dir_all(self.cache().building()).expect("removed");
        }

        fn try_build(&self, name: &str, new_root: bool) -> Result<BuiltLab, LabError> {
            let request = BuildRequest {
                name: name.parse().expect("a name"),
                architecture: Architecture::Um,
                source: SourceRequest::Debian,
                jobs: NonZeroUsize::MIN,
                objects: None,
                force: false,
                new_root,
                file_systems: Vec::new(),
                layers: Vec::new(),
                flush_errors: false,
                network: false,
                modules: Vec::new(),
            };
            build_lab(
                &self.cache(),
                &request,
                &AtomicBool::new(false),
                &mut |_| {},
            )
        }

        fn build(&self, name: &str) -> BuiltLab {
            self.try_build(name, false).expect("built")
        }
    }

    #[test]
    fn a_kernel_without_a_root_becomes_a_lab_and_stays_the_same_one() {
        let place = Place::new();
        let missing = place.cache().find_lab("default").expect_err("no root");
        assert_eq!(missing.to_string(), "the lab 'default' has no root image");
        let built = place.build("default");
        assert!(built.kernel_was_there && !built.root_was_there);
        let lab = built.lab;
        assert_eq!(place.cache().find_lab("default").expect("found"), lab);
        assert_eq!(
            place
                .cache()
                .find_lab(lab.digest.as_str())
                .expect("found")
                .root,
            lab.root
        );
        lab.verify().expect("whole");
        let again = place.build("default");
        assert!(again.kernel_was_there && again.root_was_there);
        assert_eq!(again.lab, lab);
        // Built again of the same files, it is byte-identical.
        let anew = place.try_build("default", true).expect("built");
        assert_eq!(
            (anew.lab.digest.clone(), anew.root_was_there),
            (lab.digest.clone(), true)
        );
        assert!(
            lab.root
                .programs
                .iter()
                .any(|program| program.name == "mke2fs")
        );
        assert!(!place.cache().building().exists());
    }

    #[test]
    fn another_kernel_has_the_same_root_and_a_replaced_one_leaves_the_lab_whole() {
        let place = Place::new();
        let first = place.build("default").lab;
        place.publish("bbbbbbbbbbbb", "mine");
        fs::write(place.0.path().join("kernels/bbbbbbbbbbbb/linux"), "other").expect("written");
        let second = place.build("mine");
        assert!(second.root_was_there);
        assert_eq!(second.lab.root, first.root);
        assert_ne!(second.lab.digest, first.digest);
        place.publish("aaaaaaaaaaaa", "default");
        fs::write(place.0.path().join("kernels/aaaaaaaaaaaa/linux"), "again").expect("written");
        first.verify().expect("its kernel is there still");
        let names: Vec<_> = place.cache().labs().expect("listed").labs;
        let names: Vec<_> = names.iter().map(|lab| lab.name.as_str()).collect();
        assert_eq!(names, ["default", "mine"]);
    }

    #[test]
    fn a_lab_whose_parts_are_others_is_refused() {
        let place = Place::new();
        let lab = place.build("default").lab;
        let mut image = fs::read(&lab.root_image).expect("read");
        image[5000] ^= 1;
        fs::write(&lab.root_image, &image).expect("written");
        assert!(matches!(lab.verify(), Err(LabError::Unreadable { .. })));
        image.truncate(4096);
        fs::write(&lab.root_image, &image).expect("written");
        let cut = place.cache().find_lab("default");
        assert!(matches!(cut, Err(LabError::Unreadable { .. })), "{cut:?}");
    }

    #[test]
    fn this_very_program_runs_in_a_lab_of_this_machine_and_not_with_an_older_glibc() {
        let place = Place::new();
        let mut lab = place.build("default").lab;
        let running = std::env::current_exe().expect("it runs");
        lab.ensure_runs(&running).expect("it runs there");
        let whole = u64::from(lab.root.program_bytes);
        let copy = place.0.path().join("with-debug-information");
        fs::copy(&running, &copy).expect("copied");
        let file = fs::File::options().append(true).open(&copy).expect("open");
        file.set_len(whole + (64 << 20)).expect("longer");
        lab.ensure_runs(&copy).expect("what is loaded counts");
        lab.root.program_bytes = 4096;
        let refused = lab.ensure_runs(&running).expect_err("too large");
        let ending = "are loaded, but the guest's file for it has 4096";
        assert!(refused.to_string().ends_with(ending), "{refused}");
        lab.root.program_bytes = u32::try_from(whole).expect("as before");
        lab.root.glibc = (2, 2);
        let refused = lab.ensure_runs(&running).expect_err("too old");
        assert!(
            refused.to_string().ends_with("the lab has 2.2"),
            "{refused}"
        );
    }
}
