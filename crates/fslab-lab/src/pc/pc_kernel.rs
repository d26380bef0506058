//! A kernel for PCs with what a lab takes of it: a distribution's, or one compiled from source.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::build_dir::BuildDir;
use crate::compilation::Compilation;
use crate::recipe::Recipe;
use crate::source::{Origin, maintenance_in};
use crate::{Architecture, LabError, SourceKind};

/// Object files of Debian's source with this configuration, counted once.
const OBJECTS_EXPECTED: u32 = 2472;

/// Targets of make: the kernel, and the list of its symbols that a module is linked against.
const TARGETS: [&str; 2] = ["bzImage", "modules"];

/// The parts of a kernel.
#[derive(Debug)]
pub(super) struct PcKernel {
    /// The release by uname(2).
    pub(super) release: String,
    pub(super) kind: SourceKind,
    /// Readable description of the source, with its version.
    pub(super) source: String,
    /// Versions of the distribution's packages.
    pub(super) packages: BTreeMap<String, String>,
    pub(super) patches: Vec<String>,
    /// Who maintains the drivers of file systems; empty without a source.
    pub(super) maintenance: BTreeMap<String, String>,
    /// Configuration lines that the source does not know.
    pub(super) config_ignored: Vec<String>,
    /// The root of its files: modules are below `lib/modules`.
    pub(super) folder: PathBuf,
    pub(super) kernel: PathBuf,
    pub(super) config: PathBuf,
    pub(super) modules: PathBuf,
    /// The tree that a module is built against.
    pub(super) headers: PathBuf,
}

impl PcKernel {
    /// Compiles the source `origin` with every file system of the catalogue built in.
    pub(super) fn compile(
        origin: &Origin,
        jobs: NonZeroUsize,
        build_dir: &mut BuildDir<'_>,
    ) -> Result<Self, LabError> {
        build_dir.reporter.expect(OBJECTS_EXPECTED);
        let compilation = Compilation::of(
            origin,
            Architecture::Pc,
            Recipe::pc(),
            jobs,
            None,
            build_dir,
        )?;
        let applied = compilation.prepare(build_dir)?;
        compilation.compile(&TARGETS, build_dir)?;
        let folder = build_dir.make_folder("installed")?;
        let mut install = compilation.make(build_dir);
        install.arg(format!("INSTALL_MOD_PATH={}", folder.display()));
        // depmod(8) runs later, with the modules of the user.
        install.args(["DEPMOD=true", "modules_install"]);
        build_dir.run("list what the kernel has built in", install)?;
        let release = compilation.release()?;
        Ok(Self {
            kind: origin.kind,
            source: origin.description.clone(),
            packages: BTreeMap::new(),
            patches: applied.patches,
            maintenance: maintenance_in(compilation.tree())?,
            config_ignored: applied.config_ignored,
            kernel: compilation.output.join("arch/x86/boot/bzImage"),
            config: compilation.config(),
            modules: folder.join("lib/modules").join(&release),
            headers: compilation.output,
            folder,
            release,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::SourceRequest;

    /// A make that takes the targets of a PC's kernel, and refuses another architecture.
    const MAKEFILE: &str = r#"
ifneq ($(ARCH),x86_64)
$(error $(ARCH))
endif
allnoconfig:
	@mkdir -p $(O)/include/config $(O)/arch/x86/boot
	@cp $(KCONFIG_ALLCONFIG) $(O)/.config
	@echo 6.99.0-pc > $(O)/include/config/kernel.release
bzImage:
	@echo kernel > $(O)/arch/x86/boot/bzImage
modules:
modules_install:
	@mkdir -p $(INSTALL_MOD_PATH)/lib/modules/6.99.0-pc
	@echo kernel/fs/ext4/ext4.ko > $(INSTALL_MOD_PATH)/lib/modules/6.99.0-pc/modules.builtin
"#;

    #[test]
    fn a_source_becomes_a_kernel_for_pcs_with_the_list_of_what_is_built_in() {
        let place = tempfile::tempdir().expect("a directory");
        let tree = place.path().join("tree");
        fs::create_dir_all(tree.join("arch/um")).expect("made");
        for (name, text) in [("Kconfig", ""), ("Makefile", MAKEFILE)] {
            fs::write(tree.join(name), text).expect("written");
        }
        let (stop, mut listener) = (AtomicBool::new(false), |_| {});
        let (folder, log) = (place.path().join("building"), place.path().join("log"));
        let mut build_dir = BuildDir::open(&folder, &log, &stop, &mut listener).expect("opened");
        let request = SourceRequest::at(&tree).expect("there");
        let origin = Origin::find(&request, &mut build_dir).expect("found");
        let kernel =
            PcKernel::compile(&origin, NonZeroUsize::MIN, &mut build_dir).expect("compiled");
        assert_eq!(
            (kernel.release.as_str(), kernel.kind),
            ("6.99.0-pc", SourceKind::Tree)
        );
        let text = |path: PathBuf| fs::read_to_string(path).expect("read");
        assert_eq!(text(kernel.kernel), "kernel\n");
        let built_in = text(kernel.modules.join("modules.builtin"));
        assert_eq!(built_in, "kernel/fs/ext4/ext4.ko\n");
        // Of the lines of User-Mode Linux and of the PC those of the PC count.
        assert!(
            kernel.config_ignored.is_empty(),
            "{:?}",
            kernel.config_ignored
        );
        assert!(!tree.join("include").exists(), "the tree stays as it was");
    }
}
