//! Formats of other tools, recognised by content, never by file name.

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// bonnie++: its CSV, else its tables.
    #[strum(serialize = "bonnie++")]
    Bonnie,
    /// Iozone: its tables, its reports (`-R`), its throughput mode.
    Iozone,
    /// fio: JSON, JSON+, terse and normal output.
    Fio,
    /// IOR: its text, and its JSON.
    Ior,
    /// mdtest: its summary.
    Mdtest,
    /// IO500: its results.
    Io500,
    /// dbench: its summary.
    Dbench,
    /// pgbench: its text. The plain name is a workload of fslab.
    #[strum(serialize = "pgbench-output")]
    Pgbench,
    /// sysbench: its test fileio.
    Sysbench,
    /// fs_mark: its table.
    #[strum(serialize = "fs_mark")]
    FsMark,
    /// elbencho: its text, CSV and JSON.
    Elbencho,
    /// DiskSpd: its XML.
    Diskspd,
    /// smallfile: its JSON.
    Smallfile,
    /// Filebench: its summary.
    Filebench,
    /// Phoronix Test Suite: its composite.xml.
    Phoronix,
    /// Runs of fslab.
    Json,
    /// A row for each value.
    Csv,
}

impl Format {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name on the command line, in subjects and in studies.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The format that gave its name to a phase's workload; `None` for a workload of fslab.
    pub(crate) fn of_workload(workload: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == workload)
    }

    /// Its name in errors.
    pub fn title(self) -> &'static str {
        match self {
            Self::Bonnie => "output of bonnie++",
            Self::Iozone => "output of Iozone",
            Self::Fio => "output of fio",
            Self::Ior => "output of IOR",
            Self::Mdtest => "output of mdtest",
            Self::Io500 => "results of IO500",
            Self::Dbench => "output of dbench",
            Self::Pgbench => "output of pgbench",
            Self::Sysbench => "output of sysbench",
            Self::FsMark => "output of fs_mark",
            Self::Elbencho => "results of elbencho",
            Self::Diskspd => "XML of DiskSpd",
            Self::Smallfile => "JSON of smallfile",
            Self::Filebench => "output of Filebench",
            Self::Phoronix => "results of the Phoronix Test Suite",
            Self::Json => "JSON of fslab",
            Self::Csv => "CSV with a row for each value",
        }
    }
}
