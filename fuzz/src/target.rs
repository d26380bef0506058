//! What a target is, and the table of them.

use crate::targets as readers;

/// A reader of untrusted texts.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is that of its directory in `corpus/`.
    pub name: &'static str,
    /// Committed files that it reads: a path from the root of the workspace, in whose last part a
    /// `*` stands for any text, and so does a part that is `*`.
    pub seeds: &'static [&'static str],
    /// Reads the input, to the end of what is done with it before anything is touched.
    pub run: fn(&[u8]),
}

const ALL: &[Target] = &[
    Target {
        name: "study",
        seeds: &["studies/*/study.toml", "tests/fixtures/*.toml"],
        run: readers::study,
    },
    Target {
        name: "job-fio",
        seeds: &["tests/fixtures/jobs/*.fio"],
        run: readers::job_fio,
    },
    Target {
        name: "job-filebench",
        seeds: &["tests/fixtures/jobs/*.f"],
        run: readers::job_filebench,
    },
    Target {
        name: "claims",
        seeds: &["studies/*/claims.toml"],
        run: readers::claims,
    },
    Target {
        name: "published",
        seeds: &["studies/*/published.csv"],
        run: readers::published,
    },
    Target {
        name: "profile",
        seeds: &["disks/*.toml"],
        run: readers::profile,
    },
    Target {
        name: "trace",
        seeds: &[
            "crates/fslab-replay/src/*.trace",
            "crates/fslab-trace/tests/*.log",
            "crates/fslab-trace/tests/*.strace",
            "crates/fslab-trace/tests/*.txt",
        ],
        run: readers::trace,
    },
    Target {
        name: "subject",
        seeds: &[],
        run: readers::subject,
    },
    Target {
        name: "trial",
        seeds: &[],
        run: readers::trial,
    },
    Target {
        name: "import-bonnie",
        seeds: &["tests/fixtures/exchange/bonnie*", "bench/fixtures/bonnie*"],
        run: readers::import_bonnie,
    },
    Target {
        name: "import-iozone",
        seeds: &["tests/fixtures/exchange/iozone*"],
        run: readers::import_iozone,
    },
    Target {
        name: "import-fio",
        seeds: &["tests/fixtures/exchange/fio*", "bench/fixtures/fio*"],
        run: readers::import_fio,
    },
    Target {
        name: "import-mdtest",
        seeds: &["tests/fixtures/exchange/mdtest*"],
        run: readers::import_mdtest,
    },
    Target {
        name: "import-ior",
        seeds: &["tests/fixtures/exchange/ior*"],
        run: readers::import_ior,
    },
    Target {
        name: "import-io500",
        seeds: &["tests/fixtures/exchange/io500*"],
        run: readers::import_io500,
    },
    Target {
        name: "import-dbench",
        seeds: &["tests/fixtures/exchange/dbench*"],
        run: readers::import_dbench,
    },
    Target {
        name: "import-pgbench",
        seeds: &["tests/fixtures/exchange/pgbench*"],
        run: readers::import_pgbench,
    },
    Target {
        name: "import-sysbench",
        seeds: &["tests/fixtures/exchange/sysbench*"],
        run: readers::import_sysbench,
    },
    Target {
        name: "import-fs-mark",
        seeds: &["tests/fixtures/exchange/fs_mark*"],
        run: readers::import_fs_mark,
    },
    Target {
        name: "import-elbencho",
        seeds: &["tests/fixtures/exchange/elbencho*"],
        run: readers::import_elbencho,
    },
    Target {
        name: "import-diskspd",
        seeds: &["tests/fixtures/exchange/diskspd*"],
        run: readers::import_diskspd,
    },
    Target {
        name: "import-smallfile",
        seeds: &["tests/fixtures/exchange/smallfile*"],
        run: readers::import_smallfile,
    },
    Target {
        name: "import-filebench",
        seeds: &["tests/fixtures/exchange/filebench*"],
        run: readers::import_filebench,
    },
    Target {
        name: "import-phoronix",
        seeds: &["tests/fixtures/exchange/phoronix*"],
        run: readers::import_phoronix,
    },
    Target {
        name: "import-json",
        seeds: &["tests/fixtures/stores/*.json"],
        run: readers::import_json,
    },
    Target {
        name: "import-csv",
        seeds: &[],
        run: readers::import_csv,
    },
    Target {
        name: "import-lab",
        seeds: &["tests/fixtures/labs/*.tar"],
        run: readers::import_lab,
    },
    Target {
        name: "bundle",
        seeds: &["tests/fixtures/bundles/*.bundle"],
        run: readers::bundle,
    },
    Target {
        name: "disk-log",
        seeds: &[],
        run: readers::disk_log,
    },
    Target {
        name: "store",
        seeds: &[],
        run: crate::stores::store,
    },
    Target {
        name: "import-any",
        seeds: &[
            "tests/fixtures/exchange/*",
            "tests/fixtures/imports/*",
            "tests/fixtures/logs/*",
            "tests/fixtures/stores/*.json",
        ],
        run: readers::import_any,
    },
];

/// Every target.
pub fn targets() -> &'static [Target] {
    ALL
}

/// The target of that name.
pub fn find(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}
