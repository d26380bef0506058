//! What a target is, and the table of them.

use crate::targets as readers;

/// The form of a target's inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// A JSON document.
    Json,
    /// A JSON document in each line.
    JsonLines,
    /// A TOML document.
    Toml,
    /// Lines and words.
    Text,
    /// The log of a simulated disk: numbers and blocks, compressed.
    DiskLog,
}

/// A reader of untrusted texts.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is that of its directory in `corpus/`.
    pub name: &'static str,
    /// The form of its inputs.
    pub syntax: Syntax,
    /// Committed files that it reads: a path from the root of the workspace, in whose last part a
    /// `*` stands for any text, and so does a part that is `*`.
    pub seeds: &'static [&'static str],
    /// Reads the input, to the end of what is done with it before anything is touched.
    pub run: fn(&[u8]),
}

const ALL: &[Target] = &[
    Target {
        name: "study",
        syntax: Syntax::Toml,
        seeds: &["studies/*/study.toml", "tests/fixtures/*.toml"],
        run: readers::study,
    },
    Target {
        name: "claims",
        syntax: Syntax::Toml,
        seeds: &["studies/*/claims.toml"],
        run: readers::claims,
    },
    Target {
        name: "published",
        syntax: Syntax::Text,
        seeds: &["studies/*/published.csv"],
        run: readers::published,
    },
    Target {
        name: "profile",
        syntax: Syntax::Toml,
        seeds: &["disks/*.toml"],
        run: readers::profile,
    },
    Target {
        name: "trace",
        syntax: Syntax::JsonLines,
        seeds: &["crates/fslab-replay/src/*.trace"],
        run: readers::trace,
    },
    Target {
        name: "subject",
        syntax: Syntax::Text,
        seeds: &[],
        run: readers::subject,
    },
    Target {
        name: "trial",
        syntax: Syntax::Json,
        seeds: &[],
        run: readers::trial,
    },
    Target {
        name: "import-bonnie",
        syntax: Syntax::Text,
        seeds: &["tests/fixtures/exchange/bonnie*", "bench/fixtures/bonnie*"],
        run: readers::import_bonnie,
    },
    Target {
        name: "import-iozone",
        syntax: Syntax::Text,
        seeds: &["tests/fixtures/exchange/iozone*"],
        run: readers::import_iozone,
    },
    Target {
        name: "import-fio",
        syntax: Syntax::Json,
        seeds: &["tests/fixtures/exchange/fio*", "bench/fixtures/fio*"],
        run: readers::import_fio,
    },
    Target {
        name: "import-mdtest",
        syntax: Syntax::Text,
        seeds: &["tests/fixtures/exchange/mdtest*"],
        run: readers::import_mdtest,
    },
    Target {
        name: "import-ior",
        syntax: Syntax::Text,
        seeds: &["tests/fixtures/exchange/ior*"],
        run: readers::import_ior,
    },
    Target {
        name: "import-io500",
        syntax: Syntax::Text,
        seeds: &["tests/fixtures/exchange/io500*"],
        run: readers::import_io500,
    },
    Target {
        name: "import-json",
        syntax: Syntax::Json,
        seeds: &["tests/fixtures/stores/*.json"],
        run: readers::import_json,
    },
    Target {
        name: "import-csv",
        syntax: Syntax::Text,
        seeds: &[],
        run: readers::import_csv,
    },
    Target {
        name: "import-lab",
        syntax: Syntax::Text,
        seeds: &["tests/fixtures/labs/*.tar"],
        run: readers::import_lab,
    },
    Target {
        name: "bundle",
        syntax: Syntax::Text,
        seeds: &["tests/fixtures/bundles/*.bundle"],
        run: readers::bundle,
    },
    Target {
        name: "disk-log",
        syntax: Syntax::DiskLog,
        seeds: &[],
        run: readers::disk_log,
    },
    Target {
        name: "store",
        syntax: Syntax::Text,
        seeds: &[],
        run: crate::stores::store,
    },
    Target {
        name: "import-any",
        syntax: Syntax::Text,
        seeds: &["tests/fixtures/exchange/*", "tests/fixtures/stores/*.json"],
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
