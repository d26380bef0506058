//! Builds a kernel: find the source, compute the key, configure, compile, test, store.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use fslab_model::Failure;

use crate::build_dir::BuildDir;
use crate::compilation::Compilation;
use crate::kept_objects::KeptObjects;
use crate::kernel::{BINARY, CONFIG, Kernel, KernelFacts};
use crate::lock::BuildLock;
use crate::progress::{BuildStage, Progress};
use crate::recipe::Recipe;
use crate::source::{Origin, maintenance_in};
use crate::{
    Architecture, Cache, KernelKey, KernelName, LabError, SourceKind, SourceRequest, fragment,
    tools,
};

/// Object files of the default kernel, counted once; later builds use the count of the last build.
const OBJECTS_EXPECTED: u32 = 1800;

/// What to build.
#[derive(Clone, Debug)]
pub struct BuildRequest {
    /// Name of the kernel.
    pub name: KernelName,
    /// What it runs on.
    pub architecture: Architecture,
    pub source: SourceRequest,
    /// Parallel make jobs.
    pub jobs: NonZeroUsize,
    /// Directory in which make's objects are kept for the next build of the same tree.
    pub objects: Option<PathBuf>,
    /// Build even if kernel and root image exist.
    pub force: bool,
    /// Build the root image even if it exists.
    pub new_root: bool,
    /// File systems, by their drivers' names, whose modules a PC's guest can load.
    pub file_systems: Vec<String>,
    /// The layers of stacks, each with its modules, which a kernel with modules loads.
    pub layers: Vec<(&'static str, &'static [&'static str])>,
    /// Whether the host can fail a flush of the simulated disk of User-Mode Linux.
    pub flush_errors: bool,
    /// Whether it has client and server of network file systems.
    pub network: bool,
    /// Modules of the user for a PC's kernel.
    pub modules: Vec<PathBuf>,
}

/// Result of a build.
#[derive(Clone, Debug)]
pub struct Built {
    pub kernel: Kernel,
    /// True if nothing was built.
    pub was_there: bool,
}

/// Builds a kernel and points its name to it.
///
/// An existing kernel is not built again. With Debian's source that is any kernel of this name and
/// this recipe, even if Debian has published a newer version since: a new version would change the
/// results, so `force` is needed to fetch it.
///
/// # Errors
/// [`LabError`]; the cache is then unchanged except for the log.
pub fn build(
    cache: &Cache,
    request: &BuildRequest,
    stop: &AtomicBool,
    listener: &mut dyn FnMut(Progress),
) -> Result<Built, LabError> {
    let recipe = Recipe::um(request.flush_errors).with_network(request.network);
    build_by(recipe, cache, request, stop, listener)
}

fn build_by(
    recipe: Recipe,
    cache: &Cache,
    request: &BuildRequest,
    stop: &AtomicBool,
    listener: &mut dyn FnMut(Progress),
) -> Result<Built, LabError> {
    tools::runs_here().map_err(|reason| {
        Failure::unsupported(format!("guests cannot run on this machine: {reason}"))
    })?;
    cache.prepare()?;
    // An existing kernel needs no lock: another build may hold it.
    if let Some(kernel) = current_debian(recipe, cache, request) {
        return Ok(Built {
            kernel,
            was_there: true,
        });
    }
    let _lock = BuildLock::take(cache.folder())?;
    tools::demand_none(&tools::missing_tools())?;
    let log = cache.log(&request.name);
    let mut build_dir = BuildDir::open(&cache.building(), &log, stop, listener)?;
    let origin = Origin::find(&request.source, &mut build_dir)?;
    let key = recipe.key(&origin.identity);
    // A damaged kernel is rebuilt.
    if !request.force && cache.find(key.as_str()).is_ok() {
        return Ok(Built {
            kernel: cache.point(&request.name, &key)?,
            was_there: true,
        });
    }
    build_dir.reporter.expect(objects_expected(recipe, cache));
    let kept = request.objects.as_ref();
    let kept = kept.map(|folder| KeptObjects::below(folder.join(objects_of(recipe, request))));
    let compilation = Compilation::of(
        &origin,
        Architecture::Um,
        recipe,
        request.jobs,
        kept.as_ref(),
        &mut build_dir,
    )?;
    let finished = compile(&compilation, recipe, &origin, &key, &mut build_dir);
    if let Some(kept) = kept {
        kept.take_tree(&build_dir)?;
    }
    let finished = finished?;
    let kernel = cache.publish(&finished, &key, &request.name)?;
    // The kernel has a copy; logs kept here are of failed builds.
    let _ = fs::remove_file(log);
    Ok(Built {
        kernel,
        was_there: false,
    })
}

/// The directory of a source's objects, below the one that is kept: objects of another source or
/// recipe may be newer than what they would have to be built from again.
fn objects_of(recipe: Recipe, request: &BuildRequest) -> String {
    let source = match &request.source {
        SourceRequest::Debian => "debian".into(),
        SourceRequest::Tree(path) | SourceRequest::Tarball(path) => path.to_string_lossy(),
        SourceRequest::DebianKernel(version) => version.into(),
    };
    recipe.key(&source).to_string()
}

/// The existing kernel that makes a build of Debian's source unnecessary.
fn current_debian(recipe: Recipe, cache: &Cache, request: &BuildRequest) -> Option<Kernel> {
    if request.force || request.source != SourceRequest::Debian {
        return None;
    }
    // A damaged kernel is rebuilt.
    let kernel = cache.find(request.name.as_str()).ok()?;
    let is_alike =
        kernel.facts.source_kind == SourceKind::Debian && kernel.facts.recipe == recipe.digest();
    is_alike.then_some(kernel)
}

/// Objects of the newest kernel of the same recipe, else of any kernel.
fn objects_expected(recipe: Recipe, cache: &Cache) -> u32 {
    let kernels = cache.kernels().map(|list| list.kernels);
    let digest = recipe.digest();
    let newest = kernels
        .unwrap_or_default()
        .into_iter()
        .max_by_key(|kernel| (kernel.facts.recipe == digest, kernel.facts.built_unix_s));
    newest.map_or(OBJECTS_EXPECTED, |kernel| kernel.facts.objects)
}

/// Compiles, and returns the directory of the finished kernel.
fn compile(
    compilation: &Compilation,
    recipe: Recipe,
    origin: &Origin,
    key: &KernelKey,
    build_dir: &mut BuildDir<'_>,
) -> Result<PathBuf, LabError> {
    let applied = compilation.prepare(build_dir)?;
    compilation.compile(&["linux"], build_dir)?;
    build_dir.reporter.enter(BuildStage::Storing);
    let finished = build_dir.make_folder("finished")?;
    let binary = finished.join(BINARY);
    let mut strip = build_dir.command("strip");
    strip
        .arg("-o")
        .arg(&binary)
        .arg(compilation.output.join("linux"));
    build_dir.run("strip the kernel", strip)?;
    let config_path = compilation.config();
    let config = fs::read_to_string(&config_path).map_err(LabError::io("read", &config_path))?;
    let about = binary.metadata().map_err(LabError::io("find", &binary))?;
    let compiler = fragment::text_value(&config, "CONFIG_CC_VERSION_TEXT");
    let facts = KernelFacts {
        key: key.clone(),
        recipe: recipe.digest(),
        release: confirmed_release(compilation, &binary, build_dir)?,
        source_kind: origin.kind,
        source: origin.description.clone(),
        config_ignored: applied.config_ignored,
        edits_ignored: applied.edits_ignored,
        patches: applied.patches,
        maintenance: maintenance_in(compilation.tree())?,
        simdisk: !recipe.drivers.is_empty(),
        lab_devices: !recipe.drivers.is_empty(),
        flush_errors: recipe.option.is_some(),
        network: recipe.has_network(),
        compiler: compiler.unwrap_or("unknown").to_owned(),
        binary_bytes: about.len(),
        objects: build_dir.reporter.objects_done(),
        built_unix_s: fslab_sys::unix_seconds(),
        build_seconds: build_dir.reporter.elapsed().as_secs(),
        pc: None,
    };
    copy(&config_path, &finished.join(CONFIG))?;
    copy(build_dir.log_path(), &finished.join("build.log"))?;
    facts.write(&finished)?;
    Ok(finished)
}

/// The release by make, confirmed by running the kernel.
fn confirmed_release(
    compilation: &Compilation,
    binary: &Path,
    build_dir: &mut BuildDir<'_>,
) -> Result<String, LabError> {
    let release = compilation.release()?;
    let path = binary.to_string_lossy();
    let mut trial = build_dir.command(&path);
    trial.arg("--version");
    let found = build_dir.ask("try the kernel", trial)?;
    let found = String::from_utf8_lossy(&found).trim().to_owned();
    if found == release {
        Ok(release)
    } else {
        let text = format!("the new kernel reports the release '{found}' instead of '{release}'");
        Err(Failure::unsupported(text).into())
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), LabError> {
    fs::copy(from, to)
        .map(drop)
        .map_err(LabError::io("write", to))
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::atomic::Ordering;

    use fslab_model::FailureKind;

    use super::*;
    use crate::kernel::tests::{facts, place};
    use crate::{KernelList, Objects};

    const RECIPE: &str = "CONFIG_A=y\nCONFIG_B=n\nCONFIG_UNKNOWN=y\n";

    /// A make that accepts the options of a kernel's Makefile; its program prints the release.
    const MAKEFILE: &str = r#"
allnoconfig:
	@mkdir -p $(O)/include/config
	@grep -v UNKNOWN $(KCONFIG_ALLCONFIG) > $(O)/.config
	@echo 'CONFIG_CC_VERSION_TEXT="fake 1.0"' >> $(O)/.config
	@echo 6.99.0-fslab > $(O)/include/config/kernel.release
linux:
	@echo '  CC      init/main.o'
	@echo '  LD      vmlinux.o'
	@gcc -o $(O)/linux main.c
"#;

    const PROGRAM: &str = "#include <stdio.h>\nint main(void) { puts(\"6.99.0-fslab\"); }\n";

    /// A cache, and a kernel tree that builds at once.
    struct TestEnv {
        place: tempfile::TempDir,
        stages: Vec<(BuildStage, Objects)>,
        stop: AtomicBool,
    }

    impl TestEnv {
        fn new() -> Self {
            let env = Self {
                place: tempfile::tempdir().expect("a directory"),
                stages: Vec::new(),
                stop: AtomicBool::new(false),
            };
            fs::create_dir_all(env.tree().join("arch/um")).expect("made");
            for (name, text) in [("Kconfig", ""), ("Makefile", MAKEFILE), ("main.c", PROGRAM)] {
                env.change(name, text);
            }
            env
        }

        fn tree(&self) -> PathBuf {
            self.place.path().join("tree")
        }

        fn cache(&self) -> Cache {
            Cache::below(&self.place.path().join("cache"))
        }

        fn change(&self, file: &str, text: &str) {
            fs::write(self.tree().join(file), text).expect("written");
        }

        fn request(&self, name: &str) -> BuildRequest {
            BuildRequest {
                name: name.parse().expect("a name"),
                architecture: Architecture::Um,
                source: SourceRequest::Tree(self.tree()),
                jobs: NonZeroUsize::MIN,
                objects: None,
                force: false,
                new_root: false,
                file_systems: Vec::new(),
                layers: Vec::new(),
                flush_errors: false,
                network: false,
                modules: Vec::new(),
            }
        }

        fn try_build(&mut self, request: &BuildRequest) -> Result<Built, LabError> {
            let (cache, recipe) = (self.cache(), Recipe::of(RECIPE));
            let stages = &mut self.stages;
            let mut listener = |progress: Progress| {
                if stages
                    .last()
                    .is_none_or(|(last, _)| *last != progress.stage)
                {
                    stages.push((progress.stage, progress.objects));
                }
            };
            build_by(recipe, &cache, request, &self.stop, &mut listener)
        }

        fn build(&mut self, name: &str) -> Built {
            self.try_build(&self.request(name)).expect("built")
        }

        fn kernel_list(&self) -> KernelList {
            self.cache().kernels().expect("listed")
        }

        /// Asserts that a build has left neither its directory nor its lock.
        fn assert_tidy(&self) {
            assert!(!self.cache().building().exists());
            drop(BuildLock::take(self.cache().folder()).expect("the lock is free"));
        }
    }

    #[test]
    fn a_tree_is_built_described_and_left_as_it_was() {
        let mut env = TestEnv::new();
        let files = |path: &Path| {
            let listed = fs::read_dir(path).expect("listed");
            let mut names: Vec<_> = listed
                .map(|entry| entry.expect("read").file_name())
                .collect();
            names.sort();
            names
        };
        let before = files(&env.tree());
        let built = env.build("mine");
        assert!(!built.was_there);
        let facts = &built.kernel.facts;
        assert_eq!(facts.release, "6.99.0-fslab");
        assert_eq!(facts.compiler, "fake 1.0");
        assert_eq!(facts.source_kind, SourceKind::Tree);
        assert_eq!(facts.config_ignored, ["CONFIG_UNKNOWN=y"]);
        assert_eq!(facts.objects, 2);
        assert_eq!(env.cache().find("mine").expect("found"), built.kernel);
        let folder = built.kernel.binary.parent().expect("a directory");
        assert_eq!(
            files(folder),
            ["build.log", "config", "kernel.json", "linux"]
        );
        assert_eq!(files(&env.tree()), before);
        assert_eq!(files(&env.cache().folder().join("logs")).len(), 0);
        env.assert_tidy();
    }

    #[test]
    fn the_stages_are_reported_in_order_with_the_expected_objects() {
        let mut env = TestEnv::new();
        env.build("mine");
        let stages: Vec<_> = env.stages.iter().map(|(stage, _)| *stage).collect();
        let order = [
            BuildStage::Looking,
            BuildStage::Configuring,
            BuildStage::Compiling,
            BuildStage::Linking,
            BuildStage::Storing,
            BuildStage::Clearing,
        ];
        assert_eq!(stages, order);
        let expected = |env: &TestEnv| env.stages[2].1.expected;
        assert_eq!(expected(&env), OBJECTS_EXPECTED);
        env.stages.clear();
        env.change("new.c", "int a;");
        env.build("mine");
        assert_eq!(expected(&env), 2, "that of the last build");
    }

    #[test]
    fn what_is_there_is_not_built_again_unless_forced() {
        let mut env = TestEnv::new();
        let first = env.build("mine").kernel;
        let mark = first.binary.with_file_name("mark");
        fs::write(&mark, "").expect("written");
        assert!(env.build("mine").was_there && mark.exists());
        let forced = BuildRequest {
            force: true,
            ..env.request("mine")
        };
        let again = env.try_build(&forced).expect("built");
        assert!(!again.was_there && !mark.exists());
        assert_eq!(again.kernel.binary, first.binary);
        env.assert_tidy();
    }

    #[test]
    fn one_tree_may_have_two_names_and_a_changed_tree_takes_its_name_along() {
        let mut env = TestEnv::new();
        let first = env.build("one").kernel;
        let second = env.build("two");
        assert!(second.was_there);
        assert_eq!(second.kernel.facts.key, first.facts.key);
        env.change("new.c", "int a;");
        let changed = env.build("one");
        assert!(!changed.was_there);
        assert_ne!(changed.kernel.facts.key, first.facts.key);
        let found = env.cache().find("two").expect("found");
        assert_eq!(found.facts.key, first.facts.key);
        assert_eq!(env.kernel_list().kernels.len(), 2);
    }

    #[test]
    fn a_failed_build_leaves_its_log_and_the_kernel_that_was_there() {
        let mut env = TestEnv::new();
        let good = env.build("mine").kernel;
        env.change("main.c", "int main(void) { return nothing; }\n");
        let failed = env.try_build(&env.request("mine")).expect_err("fails");
        let failed = Failure::from(failed);
        assert!(
            failed.message.starts_with("cannot compile the kernel: "),
            "{failed}"
        );
        assert!(failed.causes[0].contains("nothing"), "{failed}");
        let hint = failed.hint.expect("a hint");
        let log = hint.strip_prefix("the full log is in ").expect("a path");
        let log = fs::read_to_string(log).expect("the log is there");
        assert!(
            log.contains("allnoconfig") && log.contains("CC      init/main.o"),
            "{log}"
        );
        assert_eq!(env.cache().find("mine").expect("found"), good);
        env.assert_tidy();
    }

    #[test]
    fn a_program_that_denies_its_release_is_not_kept() {
        let mut env = TestEnv::new();
        env.change("main.c", &PROGRAM.replace("6.99", "6.98"));
        let failed = env.try_build(&env.request("mine")).expect_err("refused");
        assert!(
            failed.to_string().contains("reports the release"),
            "{failed}"
        );
        assert!(env.kernel_list().kernels.is_empty());
        env.assert_tidy();
    }

    #[test]
    fn a_stopped_build_ends_soon_and_leaves_nothing() {
        let mut env = TestEnv::new();
        env.change("Makefile", &MAKEFILE.replace("@gcc", "@sleep 60; gcc"));
        let (cache, request) = (env.cache(), env.request("mine"));
        let mut listener = |progress: Progress| {
            if progress.stage == BuildStage::Linking {
                env.stop.store(true, Ordering::Relaxed);
            }
        };
        let recipe = Recipe::of(RECIPE);
        let ended = build_by(recipe, &cache, &request, &env.stop, &mut listener);
        let ended = Failure::from(ended.expect_err("stopped"));
        assert_eq!(ended.kind, FailureKind::Interrupted);
        env.stop = AtomicBool::new(false);
        env.assert_tidy();
    }

    #[test]
    fn only_one_build_runs_in_a_cache() {
        let mut env = TestEnv::new();
        env.cache().prepare().expect("prepared");
        let held = BuildLock::take(env.cache().folder()).expect("free");
        let refused = env.try_build(&env.request("mine")).expect_err("locked");
        assert_eq!(refused.to_string(), "another fslab is building a kernel");
        drop(held);
        env.build("mine");
    }

    #[test]
    fn a_tarball_is_built_whether_or_not_its_tree_stands_in_a_folder() {
        let mut env = TestEnv::new();
        for (name, folder, what) in [("whole", ".", "tree"), ("bare", "tree", ".")] {
            let file = env.place.path().join(format!("{name}.tar.gz"));
            let mut tar = Command::new("tar");
            tar.arg("-C").arg(env.place.path().join(folder));
            tar.arg("-czf").arg(&file).arg(what);
            assert!(tar.status().expect("tar runs").success());
            let request = BuildRequest {
                source: SourceRequest::at(&file).expect("there"),
                ..env.request(name)
            };
            let kernel = env.try_build(&request).expect("built").kernel;
            assert_eq!(kernel.facts.source_kind, SourceKind::Tarball);
            assert!(kernel.facts.source.contains(&format!("{name}.tar.gz")));
            env.assert_tidy();
        }
    }

    #[test]
    fn a_kernel_of_debian_is_current_until_the_recipe_changes() {
        let env = TestEnv::new();
        let cache = env.cache();
        cache.prepare().expect("prepared");
        let facts = facts("aaaaaaaaaaaa");
        let finished = cache.building().join("finished");
        place(&finished, &facts);
        let name = "default".parse().expect("a name");
        cache
            .publish(&finished, &facts.key, &name)
            .expect("published");
        let wanted = BuildRequest {
            source: SourceRequest::Debian,
            ..env.request("default")
        };
        let forced = BuildRequest {
            force: true,
            ..wanted.clone()
        };
        let is_current = |recipe, request| current_debian(recipe, &cache, request).is_some();
        assert!(is_current(Recipe::current(), &wanted));
        assert!(!is_current(Recipe::of(RECIPE), &wanted));
        assert!(!is_current(Recipe::current(), &forced));
        assert!(!is_current(Recipe::current(), &env.request("default")));
    }
}
