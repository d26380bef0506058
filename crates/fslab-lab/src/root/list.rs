//! The written list of what the root of a guest holds. Whoever changes it raises its version.
//!
//! Programs come from the machine that the root is built on, and with them their libraries. All
//! configuration is here, and nothing of the machine's.

/// A guest's root is read-only; on these folders its first process mounts memory, where programs
/// may write.
pub const WRITABLE: [&str; 6] = [
    "/tmp",
    "/run",
    "/var/tmp",
    "/var/lib/nilfs",
    "/root",
    "/etc/zfs",
];

/// The version of the list and of how an image is made of it. A root of another version is built
/// anew by `fslab lab build`.
pub(crate) const LIST_VERSION: u32 = 1;

/// Bytes of the file [`PROGRAM`], whatever fslab is appended: more than any build of it takes.
pub const PROGRAM_BYTES: u32 = 192 << 20;

/// Where the guest finds fslab, which lies behind the image.
pub const PROGRAM: &str = "/fslab/fslab";

/// Where the guest finds the packages of its programs: a line `NAME VERSION` each.
pub const PACKAGES: &str = "/fslab/packages";

/// The folder of all libraries.
pub(crate) const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";

/// The loader that programs for x86-64 name, and its file in the folder of libraries.
pub(crate) const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";
pub(crate) const LOADER_NAME: &str = "ld-linux-x86-64.so.2";

/// Libraries that are demanded without a program's header saying so: those of fslab itself, and
/// the one that glibc loads where a thread is ended.
pub(crate) const OWN_LIBRARIES: &[&str] = &["libc.so.6", "libm.so.6", "libgcc_s.so.1"];

/// Programs of one Debian package.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) package: &'static str,
    /// In the guest, each with other names of it in the same folder.
    pub(crate) programs: &'static [(&'static str, &'static [&'static str])],
}

const fn listed(
    package: &'static str,
    programs: &'static [(&'static str, &'static [&'static str])],
) -> Listed {
    Listed { package, programs }
}

/// What formats, mounts and checks; what these start; and what somebody in a shell wants.
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
    listed(
        "zfs-fuse",
        &[
            ("/usr/sbin/zfs-fuse", &[]),
            ("/usr/sbin/zpool", &[]),
            ("/usr/sbin/zfs", &[]),
        ],
    ),
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
    // libfuse starts them.
    listed("fuse3", &[("/usr/bin/fusermount3", &["fusermount"])]),
    listed(
        "mount",
        &[
            ("/usr/bin/mount", &[]),
            ("/usr/bin/umount", &[]),
            ("/usr/sbin/losetup", &[]),
        ],
    ),
    // system(3) starts it.
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

/// Folders that are there although they are empty, with their modes.
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

/// Links: where they stand, and what they lead to.
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

/// Devices that the kernel opens before devtmpfs is mounted: mode, and numbers.
pub(crate) const DEVICES: &[(&str, u16, u8, u8)] =
    &[("/dev/console", 0o600, 5, 1), ("/dev/null", 0o666, 1, 3)];

/// Configuration, which is part of this repository.
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

/// Files of this machine that are no programs, and are left out where it has none: the table of
/// characters that dosfstools asks for, and what bash knows of the console.
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

/// The programs that a root has where the machine has them, each with its Debian package.
pub fn listed_programs() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROGRAMS.iter().flat_map(|listed| {
        listed.programs.iter().flat_map(|(path, names)| {
            let name = path.rsplit_once('/').map_or(*path, |(_, name)| name);
            let all = std::iter::once(name).chain(names.iter().copied());
            all.map(|name| (name, listed.package))
        })
    })
}
