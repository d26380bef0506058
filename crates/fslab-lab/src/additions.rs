//! Additions to every kernel source: the simulated disk, the lab's drivers (images, exchange with
//! the host, memory in two parts), the edits that hook them into the source's own files, and
//! patches of Debian's source.
//!
//! Invariant: a file of the source is replaced, never written in place: in the copy of a user's
//! tree it is a symbolic link to the original. What is added has the same time in every build, and
//! an edited file that of its original: objects that are kept are older only than what has changed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::LabError;

/// The time of the files of the drivers, since 1970: that of 2000-01-01.
const DRIVERS_TIME: Duration = Duration::from_secs(946_684_800);

/// Directory of the simulated disk's driver in a kernel tree.
const FOLDER: &str = "arch/um/drivers/simdisk";

macro_rules! simdisk {
    ($($path:literal),* $(,)?) => {
        /// Files of the simulated disk: the path below [`FOLDER`], and the text.
        pub(crate) const DRIVERS: &[(&str, &str)] = &[
            $(($path, include_str!(concat!("../../../kernel/simdisk/", $path)))),*
        ];
    };
}

simdisk![
    "Makefile",
    "driver/clock.h",
    "driver/clock_kern.c",
    "driver/disk_kern.c",
    "driver/host.h",
    "driver/host_user.c",
    "driver/kernel_versions.h",
    "driver/page.h",
    "driver/page_kern.c",
    "driver/settings.h",
    "driver/settings_kern.c",
    "driver/trace.h",
    "driver/trace_kern.c",
    "driver/yield.h",
    "driver/yield_kern.c",
    "lab/calls.h",
    "lab/calls_kern.c",
    "lab/disk_kern.c",
    "lab/exchange_kern.c",
    "lab/images.h",
    "lab/images_kern.c",
    "lab/memory_kern.c",
    "model/array.c",
    "model/array.h",
    "model/array_rows.c",
    "model/controller.c",
    "model/controller.h",
    "model/controller_back.c",
    "model/flash.c",
    "model/flash_areas.c",
    "model/flash_areas.h",
    "model/flash_block.c",
    "model/flash_collect.c",
    "model/flash_device.h",
    "model/flash_events.c",
    "model/flash_events.h",
    "model/flash_jobs.c",
    "model/flash_jobs.h",
    "model/flash_nand.c",
    "model/flash_nand.h",
    "model/flash_page.c",
    "model/flash_page.h",
    "model/flash_requests.c",
    "model/hdd.c",
    "model/hdd.h",
    "model/hdd_ahead.c",
    "model/hdd_arm.c",
    "model/hdd_dirty.c",
    "model/hdd_dirty.h",
    "model/hdd_geometry.c",
    "model/hdd_geometry.h",
    "model/model.c",
    "model/model.h",
    "model/parameters.c",
    "model/parameters.h",
    "model/platform.h",
    "model/requests.c",
    "model/requests.h",
    "model/sectors.c",
    "model/sectors.h",
    "model/unit.h",
];

/// An edit of one source file. Skipped if the file or the text is absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    /// What the edit achieves. Edits with the same effect are alternatives for different kernel
    /// versions.
    pub(crate) effect: &'static str,
    pub(crate) file: &'static str,
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
}

/// The edit after which the simulated disk asks the host at each flush whether it succeeds.
pub(crate) const FLUSH_ERRORS: Edit = Edit {
    effect: "flushes that fail",
    file: "arch/um/drivers/simdisk/Makefile",
    old: "\nobj-y += driver/clock_kern.o\n",
    new: "\nccflags-y += -DSIMDISK_FLUSH_ERRORS\nCFLAGS_host_user.o += -DSIMDISK_FLUSH_ERRORS\n\
          obj-y += driver/clock_kern.o\n",
};

/// The edits that hook the simulated disk and the lab's drivers into the source.
pub(crate) const EDITS: &[Edit] = &[
    Edit {
        effect: "the simulated disk",
        file: "arch/um/drivers/Makefile",
        old: "obj-y := stdio_console.o",
        new: "obj-y := simdisk/ stdio_console.o",
    },
    // The simulated disk defines this function and uses the seed, if one is given.
    Edit {
        effect: "random numbers from the seed",
        file: "arch/um/os-Linux/util.c",
        old: "\nssize_t os_getrandom(",
        new: "\nssize_t os_getrandom_of_host(void *, size_t, unsigned int);\n\
              ssize_t os_getrandom_of_host(",
    },
    // A memory page holds the time: reading it costs no system call.
    Edit {
        effect: "a declaration for the clock",
        file: "arch/um/kernel/time.c",
        old: "static void time_travel_set_time(unsigned long long ns)\n{\n",
        new: "void simdisk_set_clock(unsigned long long ns);\n\n\
              static void time_travel_set_time(unsigned long long ns)\n{\n",
    },
    Edit {
        effect: "the clock as a page of memory",
        file: "arch/um/kernel/time.c",
        old: "\n\ttime_travel_time = ns;\n}\n",
        new: "\n\ttime_travel_time = ns;\n\tsimdisk_set_clock(ns);\n}\n",
    },
    // The first is for Linux 6.11 and later, the second for older kernels: sched_yield(2) must
    // advance virtual time.
    yield_edit("kernel/sched/syscalls.c"),
    yield_edit("kernel/sched/core.c"),
    // zfs-fuse waits for its other threads by calling sync(2) until they are done.
    Edit {
        effect: "progress of programs that wait by sync(2)",
        file: "fs/sync.c",
        old: "void ksys_sync(void)\n{\n\tint nowait = 0, wait = 1;\n",
        new: "void simdisk_yield(void);\n\nvoid ksys_sync(void)\n{\n\
              \tint nowait = 0, wait = 1;\n\n\tsimdisk_yield();\n",
    },
    // Memory freed by the set-up is never reused.
    declare_kept("mm/page_alloc.c"),
    Edit {
        effect: "set-up memory stays separate: pages",
        file: "mm/page_alloc.c",
        old: "\tif (unlikely(PageHWPoison(page)) && !order) {\n",
        new: "\tif (lab_keeps_page(page))\n\t\treturn false;\n\n\
              \tif (unlikely(PageHWPoison(page)) && !order) {\n",
    },
    declare_kept("mm/slub.c"),
    Edit {
        effect: "set-up memory stays separate: objects",
        file: "mm/slub.c",
        old: "\tstruct kmem_cache_cpu *c;\n\tunsigned long tid;\n\tvoid **freelist;\n\nredo:\n",
        new: "\tstruct kmem_cache_cpu *c;\n\tunsigned long tid;\n\tvoid **freelist;\n\n\
              \tif (lab_keeps_page(slab_page(slab)))\n\t\treturn;\nredo:\n",
    },
    // Linux 6.18 and later keep freed objects in lists of each processor, which these three keep
    // set-up memory out of.
    Edit {
        effect: "set-up memory stays separate: objects",
        file: "mm/slub.c",
        old: "\tbool on_node_partial;\n\n\
              \tif (IS_ENABLED(CONFIG_SLUB_TINY) || kmem_cache_debug(s)) {\n",
        new: "\tbool on_node_partial;\n\n\tif (lab_keeps_page(slab_page(slab)))\n\t\treturn;\n\
              \tif (IS_ENABLED(CONFIG_SLUB_TINY) || kmem_cache_debug(s)) {\n",
    },
    Edit {
        effect: "set-up memory stays separate: objects",
        file: "mm/slub.c",
        old: "\tint slab_node;\n\tint numa_node;\n\n\tif (!IS_ENABLED(CONFIG_NUMA))\n",
        new: "\tint slab_node;\n\tint numa_node;\n\n\tif (lab_keeps_page(slab_page(slab)))\n\
              \t\treturn false;\n\tif (!IS_ENABLED(CONFIG_NUMA))\n",
    },
    Edit {
        effect: "set-up memory stays separate: objects",
        file: "mm/slub.c",
        old: "\n\tlock_map_acquire_try(&kfree_rcu_sheaf_map);\n",
        new: "\n\tif (lab_keeps_page(virt_to_page(obj)))\n\t\treturn false;\n\
              \tlock_map_acquire_try(&kfree_rcu_sheaf_map);\n",
    },
    // User-Mode Linux counts 100 ticks a second and has no option for it; file systems that wait a
    // tick would wait longer than under a distribution's kernel.
    Edit {
        effect: "250 ticks a second",
        file: "arch/um/Kconfig",
        old: "config HZ\n\tint\n\tdefault 100\n",
        new: "config HZ\n\tint\n\tdefault 250\n",
    },
    // An allocation that reclaims nothing tries again at once. Where the processor takes no time,
    // the disk completes no write meanwhile, and kthreadd, which reclaim never throttles, would try
    // for ever.
    Edit {
        effect: "time for the disk while an allocation reclaims memory",
        file: "mm/page_alloc.c",
        old: "\tif (current->flags & PF_WQ_WORKER)\n\t\tschedule_timeout_uninterruptible(1);\n\
              \telse\n\t\tcond_resched();\nout:\n",
        new: "\tschedule_timeout_uninterruptible(1);\nout:\n",
    },
    // CPU features and cache line size of the host would select other routines and object sizes,
    // and the length of the CPU description would shift the start of memory.
    Edit {
        effect: "no features of the host's processor",
        file: "arch/um/kernel/um_arch.c",
        old: "\tget_host_cpu_features(parse_host_cpu_flags, parse_cache_line);\n",
        new: "\t(void)parse_host_cpu_flags;\n\t(void)parse_cache_line;\n",
    },
    // /proc/cpuinfo would contain the host's name and kernel.
    Edit {
        effect: "no name of the host in /proc/cpuinfo",
        file: "arch/um/kernel/um_arch.c",
        old: "\tsetup_hostinfo(host_info, sizeof host_info);\n",
        new: "\tstrscpy(host_info, \"unknown\", sizeof(host_info));\n",
    },
];

const fn declare_kept(file: &'static str) -> Edit {
    Edit {
        effect: "a declaration for set-up memory",
        file,
        old: "#include \"internal.h\"\n",
        new: "#include \"internal.h\"\n\nbool lab_keeps_page(const struct page *page);\n",
    }
}

const fn yield_edit(file: &'static str) -> Edit {
    Edit {
        effect: "progress of programs that wait by sched_yield(2)",
        file,
        old: "static void do_sched_yield(void)\n{\n\tstruct rq_flags rf;\n\tstruct rq *rq;\n",
        new: "void simdisk_yield(void);\n\nstatic void do_sched_yield(void)\n{\n\
              \tstruct rq_flags rf;\n\tstruct rq *rq;\n\n\tsimdisk_yield();\n",
    }
}

/// Adds the driver to `tree` and applies the edits; returns the effects for which no edit matched.
pub(crate) fn install(
    tree: &Path,
    drivers: &[(&str, &str)],
    edits: &[Edit],
) -> Result<Vec<String>, LabError> {
    for (path, text) in drivers {
        let path = tree.join(FOLDER).join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(LabError::io("make", folder))?;
        }
        write_at(&path, text, SystemTime::UNIX_EPOCH + DRIVERS_TIME)?;
    }
    let mut effects = BTreeMap::<&str, bool>::new();
    for edit in edits {
        *effects.entry(edit.effect).or_default() |= apply(tree, edit)?;
    }
    let missing = effects.into_iter().filter(|(_, is_there)| !is_there);
    Ok(missing.map(|(effect, _)| effect.to_owned()).collect())
}

/// Applies one edit; false if the file or the text is absent.
fn apply(tree: &Path, edit: &Edit) -> Result<bool, LabError> {
    let path = tree.join(edit.file);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        read => read.map_err(LabError::io("read", &path))?,
    };
    if !text.contains(edit.old) {
        return Ok(false);
    }
    let time = path.metadata().and_then(|about| about.modified());
    let time = time.map_err(LabError::io("read", &path))?;
    fs::remove_file(&path).map_err(LabError::io("replace", &path))?;
    write_at(&path, &text.replacen(edit.old, edit.new, 1), time)?;
    Ok(true)
}

/// Writes a file as if at `time`.
fn write_at(path: &Path, text: &str, time: SystemTime) -> Result<(), LabError> {
    let written = fs::File::create(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.set_modified(time)
    });
    written.map_err(LabError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_simulated_disk_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel/simdisk");
        let mut found = vec!["Makefile".to_owned()];
        for folder in ["driver", "lab", "model"] {
            let listed = fs::read_dir(root.join(folder)).expect("the driver's source");
            found.extend(listed.map(|entry| {
                let name = entry.expect("read").file_name();
                format!("{folder}/{}", name.to_string_lossy())
            }));
        }
        found.sort();
        let mut embedded: Vec<_> = DRIVERS.iter().map(|(path, _)| *path).collect();
        embedded.sort_unstable();
        assert_eq!(embedded, found);
        let makefile = DRIVERS[0].1;
        for path in found.iter().filter_map(|path| path.strip_suffix(".c")) {
            assert!(makefile.contains(&format!("obj-y += {path}.o\n")), "{path}");
        }
    }

    #[test]
    fn the_source_leads_to_the_driver_and_what_links_point_to_stays() {
        let place = tempfile::tempdir().expect("a directory");
        let original = place.path().join("Makefile");
        let tree = place.path().join("tree");
        fs::write(&original, "a\nobj-y := stdio_console.o fd.o\n").expect("written");
        fs::create_dir_all(tree.join("arch/um/drivers")).expect("made");
        let link = tree.join("arch/um/drivers/Makefile");
        fslab_sys::os::symlink(&original, &link).expect("linked");
        let missing = install(&tree, DRIVERS, EDITS).expect("installed");
        assert!(!missing.contains(&"the simulated disk".to_owned()));
        assert!(missing.contains(&"random numbers from the seed".to_owned()));
        let text = |path: &Path| fs::read_to_string(path).expect("read");
        assert!(text(&link).contains("obj-y := simdisk/ stdio_console.o fd.o\n"));
        assert!(!text(&original).contains("simdisk"));
        assert!(text(&tree.join(FOLDER).join("model/model.h")).contains("sd_submit"));
    }

    /// Objects that are kept are compiled again where they are older than their source.
    #[test]
    fn what_is_added_and_what_is_edited_is_as_old_in_every_build() {
        let place = tempfile::tempdir().expect("a directory");
        let original = place.path().join("Makefile");
        fs::write(&original, "obj-y := stdio_console.o\n").expect("written");
        let times = |name: &str| {
            let tree = place.path().join(name);
            fs::create_dir_all(tree.join("arch/um/drivers")).expect("made");
            let link = tree.join("arch/um/drivers/Makefile");
            fslab_sys::os::symlink(&original, &link).expect("linked");
            install(&tree, DRIVERS, EDITS).expect("installed");
            [link, tree.join(FOLDER).join("model/model.h")].map(|path| {
                path.metadata()
                    .and_then(|it| it.modified())
                    .expect("a time")
            })
        };
        let first = times("first");
        assert_eq!(first, times("second"));
        let time = original.metadata().and_then(|it| it.modified());
        assert_eq!(first[0], time.expect("a time"));
    }

    #[test]
    fn random_numbers_of_the_host_get_another_name() {
        let place = tempfile::tempdir().expect("a directory");
        let file = place.path().join("arch/um/os-Linux/util.c");
        fs::create_dir_all(file.parent().expect("a directory")).expect("made");
        fs::write(&file, "}\n\nssize_t os_getrandom(void *buf)\n{\n").expect("written");
        let missing = install(place.path(), &[], EDITS).expect("installed");
        assert!(!missing.contains(&"random numbers from the seed".to_owned()));
        let text = fs::read_to_string(file).expect("read");
        assert!(text.ends_with("\nssize_t os_getrandom_of_host(void *buf)\n{\n"));
    }
}
