//! ext3: ext2 with a journal.

use fslab_model::Bytes;

use super::ext_family;
use crate::mkfs_defaults::DefaultsHistory;
use crate::reservations::LINUX_ONLY;
use crate::{Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize};

pub(crate) static EXT3: FileSystem = FileSystem {
    name: "ext3",
    title: "ext3",
    history: "Stephen Tweedie gave ext2 a journal, and Linux 2.4.15 had the result in November \
              2001. Its own driver left the kernel with Linux 4.3 in 2015; the ext4 driver has \
              mounted it since.",
    class: Class::Native,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "ext3",
        served_by: &["ext4", "ext3"],
        config: KernelConfig(&[&["CONFIG_EXT4_FS"]]),
        mount_keys: ext_family::MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(ext_family::mkfs(
        "mkfs.ext3",
        ext_family::MKFS_ARGUMENTS,
        DefaultsHistory::NONE,
    )),
    check: Some(ext_family::CHECK),
    minimum: MinimumSize {
        size: Bytes::mib(2),
        mkfs_version: "1.47.0",
        below: "leaves out the journal and exits with 0, which is ext2 under another name",
    },
    capabilities: ext_family::CAPABILITIES,
    spread: None,
    given_by_options: &[],
    reservations: &[LINUX_ONLY],
    signature: Some("ext3"),
    bugs: &[],
    deviations: &[],
};
