//! A kernel's recipe: the configuration, patches, and additions to every source. All are embedded.

use crate::KernelKey;
use crate::additions::{DRIVERS, EDITS, Edit, FLUSH_ERRORS};
use crate::key::Fingerprint;

/// The configuration of every guest kernel.
const CONFIG: &str = include_str!("../../../kernel/config");

/// The configuration of a simulated PC's kernel: of several lines of a symbol the last counts.
const PC_CONFIG: &str = concat!(
    include_str!("../../../kernel/config"),
    include_str!("../../../kernel/config-pc")
);

/// The configuration of a guest kernel with client and server of network file systems.
const NETWORK_CONFIG: &str = concat!(
    include_str!("../../../kernel/config"),
    include_str!("../../../kernel/config-network")
);

/// Patches of Debian's source: name, and text for patch(1). A user's source is not patched.
const PATCHES: &[(&str, &str)] = &[
    (
        "hfs-full-volume",
        include_str!("../../../kernel/patches/hfs-full-volume.patch"),
    ),
    (
        "reiserfs-3.5-short-names",
        include_str!("../../../kernel/patches/reiserfs-3.5-short-names.patch"),
    ),
];

/// Everything a kernel is built from except its source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) config: &'static str,
    pub(crate) patches: &'static [(&'static str, &'static str)],
    pub(crate) drivers: &'static [(&'static str, &'static str)],
    pub(crate) edits: &'static [Edit],
    /// The edit of an option.
    pub(crate) option: Option<Edit>,
}

impl Recipe {
    /// The recipe of this fslab.
    pub(crate) fn current() -> Self {
        Self {
            config: CONFIG,
            patches: PATCHES,
            drivers: DRIVERS,
            edits: EDITS,
            option: None,
        }
    }

    /// The recipe of a User-Mode Linux whose disk can fail a flush, or not.
    pub(crate) fn um(flush_errors: bool) -> Self {
        Self {
            option: flush_errors.then_some(FLUSH_ERRORS),
            ..Self::current()
        }
    }

    /// The same, with client and server of network file systems if `has_network`.
    pub(crate) fn with_network(self, has_network: bool) -> Self {
        match has_network {
            true => Self {
                config: NETWORK_CONFIG,
                ..self
            },
            false => self,
        }
    }

    /// True if it has client and server of network file systems.
    pub(crate) fn has_network(self) -> bool {
        self.config == NETWORK_CONFIG
    }

    pub(crate) fn edits(self) -> Vec<Edit> {
        self.edits.iter().copied().chain(self.option).collect()
    }

    /// The recipe of a simulated PC's kernel: the disk is a module of it, and nothing is edited.
    pub(crate) fn pc() -> Self {
        Self {
            config: PC_CONFIG,
            patches: PATCHES,
            drivers: &[],
            edits: &[],
            option: None,
        }
    }

    /// Identifies the recipe, independent of the source.
    pub(crate) fn digest(self) -> KernelKey {
        self.fingerprint().finish()
    }

    /// The key of a kernel built with this recipe from the source `identity`.
    pub(crate) fn key(self, identity: &str) -> KernelKey {
        let mut fingerprint = self.fingerprint();
        fingerprint.add(identity);
        fingerprint.finish()
    }

    fn fingerprint(self) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        self.add_to(&mut fingerprint);
        fingerprint
    }

    /// Adds everything of it to `fingerprint`.
    pub(crate) fn add_to(self, fingerprint: &mut Fingerprint) {
        fingerprint.add(self.config);
        for (path, text) in self.patches.iter().chain(self.drivers) {
            fingerprint.add(path);
            fingerprint.add(text);
        }
        for edit in self.edits() {
            fingerprint.add(edit.file);
            fingerprint.add(edit.new);
        }
    }

    /// A recipe with `config` alone.
    #[cfg(test)]
    pub(crate) fn of(config: &'static str) -> Self {
        Self {
            config,
            patches: &[],
            drivers: &[],
            edits: &[],
            option: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_depends_on_source_configuration_patches_and_drivers() {
        let plain = Recipe::of("CONFIG_A=y\n");
        let driven = Recipe {
            drivers: &[("drivers/a.c", "int a;")],
            ..plain
        };
        let patched = Recipe {
            patches: &[("fix", "--- a")],
            ..plain
        };
        assert_ne!(plain.digest(), patched.digest());
        assert_eq!(Recipe::um(false).digest(), Recipe::current().digest());
        assert_ne!(Recipe::um(true).digest(), Recipe::current().digest());
        let other = Recipe::of("CONFIG_A=n\n");
        assert_ne!(plain.digest(), driven.digest());
        assert_ne!(plain.digest(), other.digest());
        assert_eq!(plain.key("6.12"), plain.key("6.12"));
        assert_ne!(plain.key("6.12"), plain.key("6.13"));
        assert_ne!(plain.key("6.12"), driven.key("6.12"));
        assert_ne!(plain.key("6.12"), plain.digest());
    }

    // Each of these would let root in the guest access the host past its file systems, or change
    // the running kernel; a host without Landlock does not confine that.
    #[test]
    fn the_embedded_configuration_has_no_way_past_the_guest_kernel() {
        let config = Recipe::current().config;
        for symbol in [
            "HOSTFS",
            "MODULES",
            "MCONSOLE",
            "SSL",
            "PORT_CHAN",
            "PTY_CHAN",
            "TTY_CHAN",
            "XTERM_CHAN",
            "UML_NET",
            "UML_RANDOM",
            "VIRTIO_UML",
            "VFIO",
            "DEVMEM",
            "KEXEC",
            "BPF_SYSCALL",
            "KPROBES",
            "DEBUG_FS",
            "USER_NS",
        ] {
            let line = format!("CONFIG_{symbol}=n");
            assert!(config.lines().any(|found| found == line), "{line}");
        }
    }

    #[test]
    fn a_pc_has_every_file_system_of_the_other_kernel() {
        let (um, pc) = (Recipe::current().config, Recipe::pc().config);
        let own = pc.strip_prefix(um).expect("it begins with the other");
        assert!(!own.contains("_FS="), "{own}");
        assert!(own.contains("CONFIG_MODULES=y\n"), "{own}");
    }

    /// The default kernel's recipe, and so the id of its lab, must not depend on this option.
    #[test]
    fn a_kernel_with_a_network_is_the_other_one_and_more() {
        let (plain, network) = (Recipe::um(false), Recipe::um(false).with_network(true));
        assert_eq!(plain.with_network(false).digest(), plain.digest());
        assert_ne!(network.digest(), plain.digest());
        let own = network.config.strip_prefix(plain.config);
        let own = own.expect("it begins with the other");
        assert!(own.contains("CONFIG_NFSD_V4=y\n"), "{own}");
        assert!(!plain.config.contains("CONFIG_NFS"));
    }

    #[test]
    fn the_embedded_configuration_has_what_a_guest_cannot_do_without() {
        let config = Recipe::current().config;
        for line in [
            "CONFIG_EROFS_FS=y",
            "CONFIG_OVERLAY_FS=y",
            "CONFIG_BLK_DEV_UBD=y",
            "CONFIG_DEVTMPFS=y",
        ] {
            assert!(config.lines().any(|found| found == line), "{line}");
        }
    }
}
