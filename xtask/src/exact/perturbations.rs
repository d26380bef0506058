//! The perturbations of the host, as data: what each changes, and by which reading it is known to
//! have taken effect.
//!
//! The texts are for `sh -eu`. They find `$RUN` (a folder of the run's own, not there before),
//! `$FOLDER` (where the guests' folders are made; a text may name another), `$WORK` (above all
//! runs, with the copy of the lab), `$FSLAB` (the program that is run) and `$JOBS`.
//!
//! Invariant: what a text changes ends with the processes of the run. It mounts in a mount
//! namespace, and writes below `$RUN` alone. Several perturbations make one run in the order of the
//! list: each starts the next one in place of the run, so that a text finds what those before it
//! changed.

use super::programs::Program;

/// One change of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Perturbation {
    pub(crate) name: &'static str,
    /// What is other, in a line.
    pub(crate) about: &'static str,
    /// Changes the surroundings of the shell that reads it.
    pub(crate) change: &'static str,
    /// Starts the run, as `sh "$RUN/inner"`.
    pub(crate) start: &'static str,
    /// Prints something that must be other inside than it is outside; empty where nothing changes.
    pub(crate) reading: &'static str,
    /// Namespaces besides that of mounts, as options of unshare(1).
    pub(crate) spaces: &'static [&'static str],
    pub(crate) program: Program,
    pub(crate) needs: Need,
}

/// What not every machine lets everybody do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    Nothing,
    /// A mount namespace: root, or a kernel that gives users namespaces.
    Mounts,
    /// Another user, a loop device, or a page cache to drop.
    Root,
}

const START: &str = r#"exec sh "$RUN/inner""#;

const fn plain(name: &'static str, about: &'static str) -> Perturbation {
    Perturbation {
        name,
        about,
        change: "",
        start: START,
        reading: "",
        spaces: &[],
        program: Program::AsIs,
        needs: Need::Nothing,
    }
}

const fn mounting(
    name: &'static str,
    about: &'static str,
    change: &'static str,
    reading: &'static str,
) -> Perturbation {
    Perturbation {
        change,
        reading,
        needs: Need::Mounts,
        ..plain(name, about)
    }
}

const fn built(name: &'static str, about: &'static str, program: Program) -> Perturbation {
    Perturbation {
        program,
        reading: r#"program=${FSLAB%/*}/fslab-guest
[ -f "$program" ] || program=$FSLAB
sha256sum <"$program""#,
        ..plain(name, about)
    }
}

/// All of them. The first changes nothing: where it differs, the others say nothing.
pub(crate) const PERTURBATIONS: &[Perturbation] = &[
    plain("again", "nothing: a second run in another folder"),
    mounting(
        "ld-cache-page",
        "/etc/ld.so.cache longer by 4 KiB, as after the installation of a few packages",
        r#"cp /etc/ld.so.cache "$RUN/ld.so.cache"
head -c 4096 /dev/zero >>"$RUN/ld.so.cache"
mount --bind "$RUN/ld.so.cache" /etc/ld.so.cache"#,
        "stat -c %s /etc/ld.so.cache",
    ),
    mounting(
        "ld-cache-large",
        "/etc/ld.so.cache longer by 200 kB",
        r#"cp /etc/ld.so.cache "$RUN/ld.so.cache.large"
head -c 200000 /dev/zero >>"$RUN/ld.so.cache.large"
mount --bind "$RUN/ld.so.cache.large" /etc/ld.so.cache"#,
        "stat -c %s /etc/ld.so.cache",
    ),
    mounting(
        "mke2fs-conf",
        "/etc/mke2fs.conf with a comment of 20 kB, and other values behind it",
        r#"{
    head -c 20000 /dev/zero | tr '\0' '#'
    printf '\n[defaults]\n base_features = sparse_super\n blocksize = 1024\n inode_size = 128\n'
} >"$RUN/mke2fs.conf"
[ -e /etc/mke2fs.conf ] || exit 77
mount --bind "$RUN/mke2fs.conf" /etc/mke2fs.conf"#,
        "wc -c </etc/mke2fs.conf",
    ),
    mounting(
        "libraries-longer",
        "the C library and the loader of the host longer by 1 MB each",
        r#"ldd /bin/sh | tr ' ' '\n' | grep '^/' | sort -u | while read -r file; do
    file=$(readlink -f "$file")
    cp "$file" "$RUN/library"
    head -c 1000000 /dev/zero >>"$RUN/library"
    chmod 755 "$RUN/library"
    mount --bind "$RUN/library" "$file"
    rm "$RUN/library"
done"#,
        r#"ldd /bin/sh | tr ' ' '\n' | grep '^/' | xargs stat -L -c %s"#,
    ),
    mounting(
        "tools-longer",
        "every mkfs, fsck and tune program of the host longer by 1 MB",
        r#"for file in /usr/sbin/mkfs* /usr/sbin/fsck* /usr/sbin/*fsck /usr/sbin/tune2fs; do
    file=$(readlink -f "$file")
    [ ! -f "$file" ] || echo "$file"
done | sort -u | while read -r file; do
    cp "$file" "$RUN/tool"
    head -c 1000000 /dev/zero >>"$RUN/tool"
    chmod 755 "$RUN/tool"
    mount --bind "$RUN/tool" "$file"
    rm "$RUN/tool"
done"#,
        "stat -L -c %s /usr/sbin/mkfs* 2>/dev/null | sort",
    ),
    mounting(
        "no-tools",
        "/usr/sbin is empty: no mkfs and no fsck on the host",
        "mount -t tmpfs none /usr/sbin",
        "ls /usr/sbin | wc -l",
    ),
    mounting(
        "no-etc",
        "/etc is empty, as in a small container",
        "mount -t tmpfs none /etc",
        "ls /etc | wc -l",
    ),
    mounting(
        "no-locales",
        "neither time zones nor locales are installed",
        r#"for folder in /usr/share/zoneinfo /usr/lib/locale /usr/share/locale /usr/share/i18n; do
    [ ! -d "$folder" ] || mount -t tmpfs none "$folder"
done"#,
        "ls /usr/share/zoneinfo /usr/lib/locale /usr/share/locale | wc -l",
    ),
    SMALL_ROOT,
    mounting(
        "cpuinfo",
        "/proc/cpuinfo of a processor with other features and lines of 128 bytes",
        r#"sed -e 's/^\(flags.*: \).*/\1fpu sse sse2 avx512f amx_tile/' \
    -e 's/^\(cache_alignment.*: \).*/\1128/' \
    -e 's/^\(model name.*: \).*/\1another/' /proc/cpuinfo >"$RUN/cpuinfo"
mount --bind "$RUN/cpuinfo" /proc/cpuinfo"#,
        "grep -E '^(flags|cache_alignment|model name)' /proc/cpuinfo",
    ),
    mounting(
        "no-cpuinfo",
        "/proc/cpuinfo is empty",
        "mount --bind /dev/null /proc/cpuinfo",
        "grep -c . /proc/cpuinfo || :",
    ),
    mounting(
        "memory-elsewhere",
        "/dev/shm has no room, so that the guests' memory lies in their folders",
        "mount -t tmpfs -o size=16m none /dev/shm",
        "df --output=size /dev/shm",
    ),
    mounting(
        "folder-in-memory",
        "the guests' folders on tmpfs",
        r#"mount -t tmpfs none "$FOLDER""#,
        r#"stat -f -c %T "$FOLDER""#,
    ),
    on_loop(
        "folder-on-ext4",
        "the guests' folders on ext4 in an image: other inode numbers and blocks of 1 KiB",
        r#"truncate -s 16g "$RUN/image"
mkfs.ext4 -q -F -b 1024 -I 128 "$RUN/image""#,
        r#"stat -c '%d %i' "$FOLDER"; stat -f -c '%T %s' "$FOLDER""#,
    ),
    on_loop(
        "folder-on-xfs",
        "the guests' folders on XFS in an image",
        r#"truncate -s 16g "$RUN/image"
mkfs.xfs -q "$RUN/image""#,
        r#"stat -f -c %T "$FOLDER""#,
    ),
    Perturbation {
        change: r#"at=$FOLDER
name=$(head -c 200 /dev/zero | tr '\0' n)
for depth in 1 2 3 4 5 6 7 8; do
    at=$at/$name$depth
done
mkdir -p "$at"
export FOLDER="$at""#,
        reading: "echo ${#FOLDER}",
        ..plain(
            "folder-long",
            "a folder whose path has 1,600 characters more",
        )
    },
    Perturbation {
        change: r#"hostname a-host-with-quite-another-and-longer-name
if [ -e /etc/hostname ]; then
    hostname >"$RUN/hostname"
    mount --bind "$RUN/hostname" /etc/hostname
fi"#,
        reading: "uname -n; cat /etc/hostname || :",
        spaces: &["--uts"],
        ..mounting("host-name", "another host name", "", "")
    },
    mounting(
        "time-zone",
        "another time zone, by TZ and, where it is there, by /etc/localtime",
        r#"export TZ=Australia/Eucla
if [ -e /etc/localtime ]; then
    head -c 5000 /dev/urandom >"$RUN/localtime"
    mount --bind "$RUN/localtime" "$(readlink -f /etc/localtime)"
fi"#,
        r#"echo "${TZ:-}"; stat -L -c %s /etc/localtime 2>/dev/null || :"#,
    ),
    Perturbation {
        change: r#"i=0
while [ $i -lt 2000 ]; do
    export "EXACT_$i=$(printf '%040d' $i)"
    i=$((i + 1))
done
# A mkfs and a fsck of the user's, at the front of the path.
mkdir "$RUN/bin"
for tool in mkfs.ext4 mke2fs mkfs.btrfs mkfs.xfs e2fsck mount; do
    printf '#!/bin/sh\nexit 9\n' >"$RUN/bin/$tool"
    chmod 755 "$RUN/bin/$tool"
done
export PATH="$RUN/bin:$PATH" LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8 LD_BIND_NOW=1 TMPDIR="$RUN"
export MKE2FS_CONFIG=/dev/null MALLOC_ARENA_MAX=7 TZDIR=/dev/null COLUMNS=31 TERM=dumb"#,
        reading: r#"env | grep -c . ; echo "${LC_ALL:-}"; command -v mke2fs || :"#,
        ..plain(
            "environment",
            "2,000 variables more, a locale, and a PATH that begins with other tools",
        )
    },
    Perturbation {
        change: "export GLIBC_TUNABLES=\
glibc.cpu.hwcaps=-AVX2,-AVX512F,-ERMS,-FSRM,-BMI2:glibc.malloc.arena_max=3",
        reading: r#"echo "${GLIBC_TUNABLES:-}""#,
        ..plain(
            "processor-features",
            "the C library of the host's programs takes the processor for an older one",
        )
    },
    Perturbation {
        change: r#"ulimit -n 256
ulimit -s 1024
ulimit -l 64
ulimit -c 0
ulimit -u 4000 2>/dev/null || ulimit -p 4000"#,
        reading: "ulimit -n; ulimit -s; ulimit -l",
        ..plain(
            "limits",
            "few open files, a stack of 1 MiB, hardly any locked memory, few processes",
        )
    },
    Perturbation {
        start: r#"exec script -qefc "sh \"$RUN/inner\"" /dev/null"#,
        reading: r#"if [ -t 0 ]; then echo a terminal; else echo none; fi"#,
        ..plain("terminal", "on a terminal")
    },
    Perturbation {
        start: r#"exec setsid --wait sh "$RUN/inner" <&- 2>/dev/null"#,
        reading: "[ -e /proc/self/fd/0 ] && echo open || echo closed",
        ..plain(
            "no-terminal",
            "a session without a terminal, standard input closed, standard error not read",
        )
    },
    Perturbation {
        change: "export JOBS=1",
        start: r#"exec taskset -c 0 sh "$RUN/inner""#,
        reading: "nproc",
        ..plain("one-processor", "one processor, and one trial at a time")
    },
    Perturbation {
        change: "export JOBS=5",
        reading: r#"echo "$JOBS""#,
        ..plain("neighbours", "five trials at a time")
    },
    Perturbation {
        start: r#"BUSY=
for i in $(seq $(nproc)); do
    setpriv --pdeathsig TERM timeout 7200 sh -c 'while :; do :; done' &
    BUSY="$BUSY $!"
done
setpriv --pdeathsig TERM timeout 7200 \
    sh -c 'while :; do dd if=/dev/zero of="$0" bs=1M count=256 conv=fsync; done' \
    "$RUN/written" 2>/dev/null &
BUSY="$BUSY $!"
export BUSY
code=0
sh "$RUN/inner" || code=$?
kill $BUSY
exit $code"#,
        reading: r#"set -- ${BUSY:-}; for id; do [ -d "/proc/$id" ]; done; echo "$# at work""#,
        ..plain("load", "loops on all processors, and a writer on the disk")
    },
    Perturbation {
        start: r#"setpriv --pdeathsig TERM timeout 7200 \
    sh -c 'while sleep 1; do echo 1 >/proc/sys/vm/drop_caches; done' &
export DROPPER=$!
code=0
sh "$RUN/inner" || code=$?
kill $DROPPER
exit $code"#,
        reading: r#"[ -z "${DROPPER:-}" ] || { [ -d "/proc/$DROPPER" ] && echo at work; }"#,
        needs: Need::Root,
        ..plain("drop-caches", "the host drops its page cache every second")
    },
    Perturbation {
        change: "umask 077",
        start: r#"exec nice -n 15 ionice -c 3 sh "$RUN/inner""#,
        reading: "umask; nice",
        ..plain("priority", "umask 077, and the least priority")
    },
    Perturbation {
        reading: "[ $(cut -d. -f1 /proc/uptime) -gt 300000000 ] && echo long || echo short",
        spaces: &[
            "--time",
            "--monotonic",
            "400000000",
            "--boottime",
            "400000000",
            "--fork",
        ],
        ..mounting("clock", "a host that has been up for 12 years", "", "")
    },
    Perturbation {
        start: r#"exec setarch --uname-2.6 --addr-no-randomize sh "$RUN/inner""#,
        reading: "uname -r; cat /proc/self/personality",
        ..plain(
            "kernel-name",
            "another release of the host's kernel, and no address randomisation",
        )
    },
    Perturbation {
        change: r#"chown -R 64999:64998 "$RUN""#,
        start: "exec setpriv --reuid 64999 --regid 64998 --groups 5,20,64997 --inh-caps=-all \
sh \"$RUN/inner\"",
        reading: "id",
        needs: Need::Root,
        ..plain("user", "another user, without privileges, in other groups")
    },
    built("padded", "the program longer by 10 MB", Program::Padded),
    built("stripped", "the program without symbols", Program::Stripped),
    built(
        "built-otherwise",
        "a second checkout, built with optimisation and without debug information",
        Program::Otherwise,
    ),
    built(
        "built-for-release",
        "the release build, or the debug one where that is the other",
        Program::OtherProfile,
    ),
];

/// The runs of `--together`: each has all perturbations of a line at once. Where such a run is
/// equal, so is one under each of its perturbations, unless two of them compensate each other to
/// the byte.
pub(crate) const TOGETHER: &[&[&str]] = &[
    &[
        "ld-cache-page",
        "ld-cache-large",
        "mke2fs-conf",
        "libraries-longer",
        "tools-longer",
        "no-locales",
        "cpuinfo",
        "host-name",
        "time-zone",
        "environment",
        "terminal",
        "kernel-name",
        "padded",
    ],
    &[
        "no-tools",
        "no-etc",
        "no-cpuinfo",
        "memory-elsewhere",
        "folder-in-memory",
        "folder-long",
        "processor-features",
        "limits",
        "no-terminal",
        "one-processor",
        "stripped",
    ],
    &[
        "folder-on-xfs",
        "neighbours",
        "load",
        "drop-caches",
        "priority",
        "clock",
        "user",
    ],
    &["small-root", "built-otherwise"],
    &["folder-on-ext4", "built-for-release"],
];

/// A folder on a file system in an image.
const fn on_loop(
    name: &'static str,
    about: &'static str,
    make: &'static str,
    reading: &'static str,
) -> Perturbation {
    Perturbation {
        change: make,
        start: r#"mount -o loop "$RUN/image" "$FOLDER"
exec sh "$RUN/inner""#,
        reading,
        needs: Need::Root,
        ..plain(name, about)
    }
}

/// A root in memory with fslab, the guest kernel, a shell, the program of readings, and their
/// libraries. The folder of the runs is mounted into it, since the lab lies there.
const SMALL_ROOT: Perturbation = Perturbation {
    change: r#"ROOT=$RUN/root
mkdir "$ROOT"
mount -t tmpfs -o mode=755 none "$ROOT"
mkdir -p "$ROOT/bin" "$ROOT/proc" "$ROOT/dev/shm" "$ROOT/tmp" "$ROOT$WORK"
{
    find "$WORK/cache" -name linux -type f
    command -v sh
    command -v sha256sum
    echo "$FSLAB"
} | while read -r program; do
    ldd "$program" | tr ' \t' '\n\n' | grep '^/' | sort -u | while read -r library; do
        mkdir -p "$ROOT${library%/*}"
        cp -L "$library" "$ROOT$library"
    done
done
cp -L "$(command -v sh)" "$(command -v sha256sum)" "$ROOT/bin"
for device in null zero full random urandom; do
    : >"$ROOT/dev/$device"
    mount --bind "/dev/$device" "$ROOT/dev/$device"
done
mount --rbind /proc "$ROOT/proc"
mount -t tmpfs none "$ROOT/dev/shm"
mount --bind "$WORK" "$ROOT$WORK""#,
    start: r#"exec chroot "$ROOT" /bin/sh "$RUN/inner""#,
    reading: "echo /*",
    needs: Need::Mounts,
    ..plain(
        "small-root",
        "a root with nothing but fslab, a shell, sha256sum and their libraries",
    )
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_each_but_the_first_has_a_reading() {
        let mut names: Vec<_> = PERTURBATIONS.iter().map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PERTURBATIONS.len());
        let without: Vec<_> = PERTURBATIONS
            .iter()
            .filter(|one| one.reading.is_empty())
            .map(|one| one.name)
            .collect();
        assert_eq!(without, ["again"]);
    }

    #[test]
    fn what_mounts_says_so_and_no_text_holds_a_path_of_one_machine() {
        for one in PERTURBATIONS {
            let mounts = [one.change, one.start]
                .iter()
                .any(|it| it.contains("mount -"));
            assert!(!mounts || one.needs >= Need::Mounts, "{}", one.name);
            assert!(one.spaces.is_empty() || one.needs >= Need::Mounts);
        }
    }

    #[test]
    fn the_runs_together_have_each_perturbation_once_and_one_program() {
        let mut together: Vec<_> = TOGETHER.iter().flat_map(|names| *names).collect();
        together.sort_unstable();
        let mut names: Vec<_> = PERTURBATIONS[1..].iter().map(|one| &one.name).collect();
        names.sort_unstable();
        assert_eq!(together, names);
        for names in TOGETHER {
            let programs = PERTURBATIONS
                .iter()
                .filter(|one| names.contains(&one.name) && one.program != Program::AsIs);
            assert!(programs.count() <= 1, "{names:?}");
        }
    }
}
