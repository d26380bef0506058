//! The contents of a guest's root image. Every change must raise [`LIST_VERSION`]; of the programs
//! that a lab with network file systems has besides, [`NETWORK_LIST_VERSION`].
//!
//! Programs and their libraries come from the machine that builds the root image. All configuration
//! comes from this repository, none from the machine.

/// A guest's root is read-only; its init mounts a tmpfs on each of these directories.
pub const WRITABLE: [&str; 6] = [
    "/tmp",
    "/run",
    "/var/tmp",
    "/var/lib/nilfs",
    "/root",
    "/etc/zfs",
];

/// Version of the list and of the image's construction. `fslab lab build` rebuilds root images of
/// other versions.
const LIST_VERSION: u32 = 3;
const NETWORK_LIST_VERSION: u32 = 2;

/// The version of the list: of that with the servers of network file systems if `network`.
pub(crate) fn list_version(network: bool) -> u32 {
    match network {
        true => LIST_VERSION + NETWORK_LIST_VERSION,
        false => LIST_VERSION,
    }
}

/// Bytes of the file [`PROGRAM`], whichever fslab-guest is appended: above the size of any build.
pub const PROGRAM_BYTES: u32 = 192 << 20;

/// Path of fslab-guest in the guest; it is appended to the image.
pub const PROGRAM: &str = "/fslab/fslab";

/// Guest file with the packages of its programs, one `NAME VERSION` per line.
pub const PACKAGES: &str = "/fslab/packages";

/// The directory of all libraries.
pub(crate) const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";

/// The loader that x86-64 programs name, and its file name in the library directory.
pub(crate) const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";
pub(crate) const LOADER_NAME: &str = "ld-linux-x86-64.so.2";

/// Libraries required without a program's header saying so: those of fslab, and the one that glibc
/// loads when a thread is cancelled.
pub(crate) const OWN_LIBRARIES: &[&str] = &["libc.so.6", "libm.so.6", "libgcc_s.so.1"];

/// Programs of a Debian package.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) package: &'static str,
    /// Another package with programs of the same names, which cannot be installed beside it.
    pub(crate) alternative: Option<&'static str>,
    /// Guest paths, each with the names of links to it in the same directory.
    pub(crate) programs: &'static [(&'static str, &'static [&'static str])],
}

const fn listed(
    package: &'static str,
    programs: &'static [(&'static str, &'static [&'static str])],
) -> Listed {
    Listed {
        package,
        alternative: None,
        programs,
    }
}

/// Programs that make, mount and check file systems; programs that these start; and tools for a
/// shell.
pub(crate) const PROGRAMS: &[Listed] = &[
    listed(
        "e2fsprogs",
        &[
            ("/usr/sbin/mke2fs", &["mkfs.ext2", "mkfs.ext3", "mkfs.ext4"]),
            ("/usr/sbin/e2fsck", &["fsck.ext2", "fsck.ext3", "fsck.ext4"]),
            ("/usr/sbin/tune2fs", &[]),
            ("/usr/sbin/dumpe2fs", &[]),
            ("/usr/sbin/debugfs", &[]),
        ],
    ),
    listed(
        "btrfs-progs",
        &[("/usr/bin/btrfs", &[]), ("/usr/sbin/mkfs.btrfs", &[])],
    ),
    listed(
        "xfsprogs",
        &[
            ("/usr/sbin/mkfs.xfs", &[]),
            ("/usr/sbin/xfs_repair", &[]),
            ("/usr/sbin/xfs_db", &[]),
            ("/usr/sbin/xfs_io", &[]),
        ],
    ),
    listed(
        "f2fs-tools",
        &[
            ("/usr/sbin/mkfs.f2fs", &[]),
            ("/usr/sbin/fsck.f2fs", &["dump.f2fs"]),
        ],
    ),
    listed(
        "jfsutils",
        &[
            ("/usr/sbin/jfs_mkfs", &["mkfs.jfs"]),
            ("/usr/sbin/jfs_fsck", &["fsck.jfs"]),
        ],
    ),
    listed(
        "reiserfsprogs",
        &[
            ("/usr/sbin/mkreiserfs", &["mkfs.reiserfs"]),
            ("/usr/sbin/reiserfsck", &["fsck.reiserfs"]),
            ("/usr/sbin/debugreiserfs", &[]),
        ],
    ),
    listed(
        "nilfs-tools",
        &[
            ("/usr/sbin/mkfs.nilfs2", &[]),
            ("/usr/sbin/nilfs_cleanerd", &[]),
            ("/usr/bin/lscp", &[]),
            ("/usr/bin/lssu", &[]),
        ],
    ),
    listed(
        "ntfs-3g",
        &[
            ("/usr/sbin/mkntfs", &["mkfs.ntfs"]),
            ("/usr/bin/ntfsfix", &[]),
            ("/usr/bin/ntfs-3g", &[]),
        ],
    ),
    Listed {
        alternative: Some("zfsutils-linux"),
        ..listed(
            "zfs-fuse",
            &[
                ("/usr/sbin/zfs-fuse", &[]),
                ("/usr/sbin/zpool", &[]),
                ("/usr/sbin/zfs", &[]),
            ],
        )
    },
    listed("udftools", &[("/usr/sbin/mkudffs", &["mkfs.udf"])]),
    listed(
        "dosfstools",
        &[
            ("/usr/sbin/mkfs.fat", &["mkfs.vfat"]),
            ("/usr/sbin/fsck.fat", &["fsck.vfat"]),
        ],
    ),
    listed(
        "exfatprogs",
        &[("/usr/sbin/mkfs.exfat", &[]), ("/usr/sbin/fsck.exfat", &[])],
    ),
    listed(
        "cryptsetup-bin",
        &[
            ("/usr/sbin/cryptsetup", &[]),
            ("/usr/sbin/integritysetup", &[]),
        ],
    ),
    listed("mdadm", &[("/usr/sbin/mdadm", &[])]),
    listed("lvm2", &[("/usr/sbin/lvm", &[])]),
    listed("dmsetup", &[("/usr/sbin/dmsetup", &[])]),
    // Started by libfuse.
    listed("fuse3", &[("/usr/bin/fusermount3", &["fusermount"])]),
    listed(
        "mount",
        &[
            ("/usr/bin/mount", &[]),
            ("/usr/bin/umount", &[]),
            ("/usr/sbin/losetup", &[]),
        ],
    ),
    // Started by system(3).
    listed("dash", &[("/usr/bin/dash", &["sh"])]),
    listed("bash", &[("/usr/bin/bash", &[])]),
    listed(
        "util-linux",
        &[
            ("/usr/bin/setsid", &[]),
            ("/usr/bin/dmesg", &[]),
            ("/usr/bin/findmnt", &[]),
            ("/usr/bin/lsblk", &[]),
            ("/usr/sbin/blkid", &[]),
            ("/usr/bin/fallocate", &[]),
        ],
    ),
    listed(
        "coreutils",
        &[
            ("/usr/bin/[", &[]),
            ("/usr/bin/basename", &[]),
            ("/usr/bin/cat", &[]),
            ("/usr/bin/chmod", &[]),
            ("/usr/bin/chown", &[]),
            ("/usr/bin/cp", &[]),
            ("/usr/bin/cut", &[]),
            ("/usr/bin/date", &[]),
            ("/usr/bin/dd", &[]),
            ("/usr/bin/df", &[]),
            ("/usr/bin/dirname", &[]),
            ("/usr/bin/du", &[]),
            ("/usr/bin/echo", &[]),
            ("/usr/bin/env", &[]),
            ("/usr/bin/false", &[]),
            ("/usr/bin/head", &[]),
            ("/usr/bin/id", &[]),
            ("/usr/bin/ln", &[]),
            ("/usr/bin/ls", &[]),
            ("/usr/bin/mkdir", &[]),
            ("/usr/bin/mkfifo", &[]),
            ("/usr/bin/mknod", &[]),
            ("/usr/bin/mktemp", &[]),
            ("/usr/bin/mv", &[]),
            ("/usr/bin/od", &[]),
            ("/usr/bin/printf", &[]),
            ("/usr/bin/pwd", &[]),
            ("/usr/bin/readlink", &[]),
            ("/usr/bin/rm", &[]),
            ("/usr/bin/rmdir", &[]),
            ("/usr/bin/seq", &[]),
            ("/usr/bin/sha256sum", &[]),
            ("/usr/bin/sleep", &[]),
            ("/usr/bin/sort", &[]),
            ("/usr/bin/stat", &[]),
            ("/usr/bin/sync", &[]),
            ("/usr/bin/tail", &[]),
            ("/usr/bin/tee", &[]),
            ("/usr/bin/test", &[]),
            ("/usr/bin/touch", &[]),
            ("/usr/bin/tr", &[]),
            ("/usr/bin/true", &[]),
            ("/usr/bin/truncate", &[]),
            ("/usr/bin/uname", &[]),
            ("/usr/bin/uniq", &[]),
            ("/usr/bin/wc", &[]),
        ],
    ),
    listed("findutils", &[("/usr/bin/find", &[])]),
    listed("grep", &[("/usr/bin/grep", &[])]),
    listed("sed", &[("/usr/bin/sed", &[])]),
];

/// Servers of network file systems: only in labs with them, so that other root images stay the
/// same.
pub(crate) const NETWORK_PROGRAMS: &[Listed] = &[
    listed("ksmbd-tools", &[("/usr/sbin/ksmbd.mountd", &[])]),
    listed("diod", &[("/usr/sbin/diod", &[])]),
];

/// Symbolic links of labs with them. Every ksmbd.mountd looks in /etc/ksmbd for configuration and
/// users, while its option for another file of users differs between versions; /run is writable.
pub(crate) const NETWORK_LINKS: &[(&str, &str)] = &[("/etc/ksmbd", "/run/ksmbd")];

/// Directories that exist although they are empty, with their modes.
pub(crate) const FOLDERS: &[(&str, u16)] = &[
    ("/dev", 0o755),
    ("/etc/zfs", 0o755),
    ("/home", 0o755),
    ("/mnt", 0o755),
    ("/proc", 0o555),
    ("/root", 0o700),
    ("/run", 0o755),
    ("/sys", 0o555),
    ("/tmp", 0o1777),
    ("/var/cache", 0o755),
    ("/var/lib/nilfs", 0o755),
    ("/var/lib/zfs", 0o755),
    ("/var/log", 0o755),
    ("/var/tmp", 0o1777),
];

/// Symbolic links: path and target.
pub(crate) const LINKS: &[(&str, &str)] = &[
    ("/bin", "usr/bin"),
    ("/etc/mtab", "/proc/self/mounts"),
    ("/lib", "usr/lib"),
    ("/lib64", "usr/lib64"),
    ("/sbin", "usr/sbin"),
    (
        "/usr/lib64/ld-linux-x86-64.so.2",
        "../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
    ),
    ("/var/lock", "/run/lock"),
    ("/var/run", "/run"),
];

/// Devices that the kernel opens before devtmpfs is mounted: mode, major and minor number.
pub(crate) const DEVICES: &[(&str, u16, u8, u8)] =
    &[("/dev/console", 0o600, 5, 1), ("/dev/null", 0o666, 1, 3)];

/// Configuration files of this repository.
pub(crate) const TEXTS: &[(&str, &str)] = &[
    (
        "/etc/fuse.conf",
        include_str!("../../../../lab/etc/fuse.conf"),
    ),
    ("/etc/group", include_str!("../../../../lab/etc/group")),
    (
        "/etc/hostname",
        include_str!("../../../../lab/etc/hostname"),
    ),
    ("/etc/hosts", include_str!("../../../../lab/etc/hosts")),
    (
        "/etc/mke2fs.conf",
        include_str!("../../../../lab/etc/mke2fs.conf"),
    ),
    (
        "/etc/nilfs_cleanerd.conf",
        include_str!("../../../../lab/etc/nilfs_cleanerd.conf"),
    ),
    (
        "/etc/nsswitch.conf",
        include_str!("../../../../lab/etc/nsswitch.conf"),
    ),
    ("/etc/passwd", include_str!("../../../../lab/etc/passwd")),
    (
        "/usr/lib/x86_64-linux-gnu/gconv/gconv-modules",
        include_str!("../../../../lab/etc/gconv-modules"),
    ),
];

/// Data files of this machine, left out if it lacks them: the code page that dosfstools needs, and
/// the console's terminfo entry for bash.
pub(crate) const DATA: &[(&str, &[&str])] = &[
    (
        "/usr/lib/x86_64-linux-gnu/gconv/IBM850.so",
        &["/usr/lib/x86_64-linux-gnu/gconv/IBM850.so"],
    ),
    (
        "/usr/lib/terminfo/l/linux",
        &["/usr/lib/terminfo/l/linux", "/usr/share/terminfo/l/linux"],
    ),
];

/// The listed programs, each with its Debian package.
pub fn listed_programs() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROGRAMS.iter().chain(NETWORK_PROGRAMS).flat_map(|listed| {
        listed.programs.iter().flat_map(|(path, names)| {
            let name = path.rsplit_once('/').map_or(*path, |(_, name)| name);
            let all = std::iter::once(name).chain(names.iter().copied());
            all.map(|name| (name, listed.package))
        })
    })
}
