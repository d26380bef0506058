//! NILFS2: one log, and a checkpoint every few seconds.

use fslab_model::{Bytes, Capabilities, CrashSafety, Reservation, ReservationKind};

use crate::features;
use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{KeyRule, OptionRule, OptionValue, key, option};
use crate::reservations::LINUX_ONLY;
use crate::{
    Class, Companion, Driver, FileSystem, KernelBug, KernelConfig, KernelDriver, MinimumSize, Mkfs,
    OutputStream, Tool, VersionSource,
};

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-b"], OptionValue::Number),
    option(&["-B"], OptionValue::Number),
    option(&["-c"], OptionValue::Nothing),
    option(&["-f"], OptionValue::Nothing),
    option(&["-K"], OptionValue::Nothing),
    option(&["-L"], OptionValue::Text),
    option(&["-m"], OptionValue::Number),
    option(&["-O"], OptionValue::WordsBut(&[])),
    option(&["-q"], OptionValue::Nothing),
    option(&["-v"], OptionValue::Nothing),
];

const MOUNT_KEYS: &[KeyRule] = &[
    key("order", OptionValue::OneOf(&["relaxed", "strict"])),
    key("errors", OptionValue::OneOf(&["continue", "remount-ro"])),
    key("cp", OptionValue::Number),
    key("pp", OptionValue::Number),
];

const fn nilfs_tools(program: &'static str, stream: OutputStream) -> Tool {
    Tool {
        program,
        package: "nilfs-tools",
        version: VersionSource::Asked {
            argument: "-V",
            stream,
        },
    }
}

pub(crate) static NILFS2: FileSystem = FileSystem {
    name: "nilfs2",
    title: "NILFS2",
    history: "NTT's laboratories published it in 2005, and Linux has it since 2.6.30 of June \
              2009. It only ever writes behind the end of a log and keeps every state as a \
              checkpoint, until a cleaner outside the kernel frees the oldest.",
    class: Class::Native,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "nilfs2",
        served_by: &["nilfs2"],
        // The cleaner needs POSIX message queues.
        config: KernelConfig(&[&["CONFIG_NILFS2_FS", "CONFIG_POSIX_MQUEUE"]]),
        // mount(8) starts the cleaner, mount(2) does not. Without it deleted data is not freed.
        companion: Some(Companion {
            tool: nilfs_tools("nilfs_cleanerd", OutputStream::Output),
            off: "nogc",
            arguments: &["-p", "1"],
            options: &[("pp", "-p")],
            pid_prefix: "NILFS_CLEANERD_PID=",
        }),
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(Mkfs {
        tool: nilfs_tools("mkfs.nilfs2", OutputStream::Error),
        subcommand: &[],
        arguments: &["-f", "-q"],
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DefaultsHistory::NONE,
        features: Some(&features::NILFS2),
        formats_nothing: &["-n", "-h", "-V"],
    }),
    check: None,
    minimum: MinimumSize {
        size: Bytes(134_221_824),
        mkfs_version: "2.2.9",
        below: "refuses",
    },
    capabilities: Capabilities {
        hard_links_max: 32_000,
        // Each log has a checksum over itself and its data, which only recovery compares: neither
        // counts as a checksum of what is read.
        crash_safety: CrashSafety::CopyOnWrite,
        volume_bytes_max: Some(Bytes((1 << 63) - 1)),
        ..Capabilities::POSIX
    },
    spread: None,
    given_by_options: &[],
    reservations: &[
        LINUX_ONLY,
        Reservation::stated(
            ReservationKind::Limit,
            "Space that is deleted or overwritten is free only after a cleaner, a separate \
             program, has run.",
            "nilfs_cleanerd(8)",
        ),
        Reservation::stated(
            ReservationKind::Durability,
            "Its checksums are compared only in recovery: a damaged block is read as it is.",
            "Linux 6.12, fs/nilfs2/recovery.c; measured with a flipped bit",
        ),
    ],
    signature: Some("nilfs2"),
    bugs: &[KernelBug {
        kernel: "nilfs-tools 2.2.9, with any kernel",
        effect: "The cleaner takes no segment that was written within the second of the last \
                 change. Where that second filled the log, it frees nothing, all that wants room \
                 is refused, and the file system stays full for good, even when it is empty: \
                 until something changes that wants no room, such as the times of a directory.",
        message: "",
        avoided_by: Some("the conformance study makes such a change while it waits for room"),
    }],
    deviations: &[
        "-p 1: the cleaner of mount(8) is started as it would be, and keeps checkpoints for a \
         second, in place of the hour that /etc/nilfs_cleanerd.conf of Debian names. With that, \
         nothing that a trial deletes or overwrites is freed before its end: a log of 1 GiB is \
         full once 1 GiB was written. The mount option pp=SECONDS sets another time, and nogc \
         leaves the cleaner out.",
    ],
};
