//! tmpfs: files in memory.

use fslab_model::{Bytes, Capabilities};

use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize, MountSource};

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Number),
    key("gid", OptionValue::Number),
    key("mode", OptionValue::Number),
    key("nr_inodes", OptionValue::Number),
    key(
        "huge",
        OptionValue::OneOf(&["never", "always", "within_size", "advise"]),
    ),
    key("mpol", OptionValue::Word),
];

pub(crate) static TMPFS: FileSystem = FileSystem {
    name: "tmpfs",
    title: "tmpfs",
    history: "SunOS had the first of that name in 1987, and Linux's grew out of its file system \
              for shared memory with 2.4 of January 2001. Its files are pages of the page cache \
              that are never written to a disk, at most to swap, and end with the mount.",
    class: Class::Native,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "tmpfs",
        served_by: &["tmpfs"],
        config: KernelConfig(&[&["CONFIG_TMPFS"]]),
        source: MountSource::Memory,
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: None,
    check: None,
    minimum: MinimumSize {
        size: Bytes::kib(4),
        mkfs_version: "",
        below: "takes any size, in pages",
    },
    capabilities: Capabilities {
        persistent: false,
        hard_links_max: (1 << 31) - 1,
        extended_attributes: true,
        volume_bytes_max: Some(Bytes((1 << 63) - 1)),
        ..Capabilities::POSIX
    },
    spread: None,
    given_by_options: &[],
    reservations: &[],
    signature: None,
    bugs: &[],
    deviations: &[
        "-o size: it holds as much as the device would have held, where the default is half of \
         the memory.",
    ],
};
