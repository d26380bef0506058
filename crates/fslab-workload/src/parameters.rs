//! Parameters that several workloads share: one big file, a tree of small ones.

use std::path::{Component, Path, PathBuf};

use fslab_engine::{
    Amount, DataJob, EngineKind, MetadataJob, MetadataOperation, MetadataSync, ParseEngineError,
    TreeShape,
};
use fslab_model::{Bytes, Need, Parameters, Share};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::workload::WorkloadParameters;

/// Largest record that a workload accepts.
const RECORD_MAX: Bytes = Bytes::mib(128);

pub(crate) fn from_map<T: DeserializeOwned>(map: &Parameters) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::Value::Object(map.clone()))
}

pub(crate) fn to_map<T: Serialize>(typed: &T) -> Result<Parameters, serde_json::Error> {
    match serde_json::to_value(typed)? {
        serde_json::Value::Object(map) => Ok(map),
        _ => Err(serde::ser::Error::custom("parameters are no map")),
    }
}

/// A size as a study writes it (`"1/4"`, `"64MiB"`) and as a plan holds it (a number of bytes).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Size {
    Bytes(u64),
    Written(String),
}

impl Size {
    /// The size in bytes; a share is one of `whole`.
    pub(crate) fn resolve(&self, whole: Bytes) -> Result<u64, String> {
        match self {
            Self::Bytes(bytes) => Ok(*bytes),
            Self::Written(text) => {
                let share: Share = text.parse().map_err(|error| format!("{error}"))?;
                Ok(share.of(whole).0)
            }
        }
    }

    /// The size in bytes once resolved; 0 before.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => *bytes,
            Self::Written(_) => 0,
        }
    }
}

/// One big file and the record in which it is moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BigFile {
    /// Path below the file system's root.
    pub(crate) file: PathBuf,
    /// Its size, or a share of the file system's.
    pub(crate) file_size: Size,
    /// Size of one record; 0 for the workload's own.
    pub(crate) record: Bytes,
    /// How many records; 0 for as many as the file has.
    pub(crate) operations: u64,
    /// For strided access: from the start of one record to the next, in records.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) stride: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Default for BigFile {
    fn default() -> Self {
        Self {
            file: "data".into(),
            file_size: Size::Written("1/4".into()),
            record: Bytes(0),
            operations: 0,
            stride: 0,
        }
    }
}

impl WorkloadParameters for BigFile {
    fn settle(&mut self, size: Bytes) -> Result<(), String> {
        demand_inside(&self.file)?;
        let bytes = self.file_size.resolve(size)?;
        self.record_or(Bytes::mib(1));
        if self.record > RECORD_MAX {
            return Err(format!(
                "record = {}; a record has 1 B to {RECORD_MAX}",
                self.record
            ));
        }
        if bytes < self.record.0 {
            return Err(format!(
                "file_size = {}, which is less than one record of {}",
                Bytes(bytes),
                self.record
            ));
        }
        // A file of whole records: no phase then has to say what it did with the rest.
        self.file_size = Size::Bytes(bytes - bytes % self.record.0);
        if self.operations == 0 {
            self.operations = self.records();
        }
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        Bytes(self.file_size.bytes())
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        Some(vec![self.file.clone()])
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(Bytes(self.file_size.bytes()))]
    }
}

impl BigFile {
    /// Takes `record` where the study names none.
    pub(crate) fn record_or(&mut self, record: Bytes) {
        if self.record.0 == 0 {
            self.record = record;
        }
    }

    /// A job that writes the file as the parameters say.
    pub(crate) fn write_job(&self) -> DataJob {
        self.job(DataJob::write(
            self.file.clone(),
            self.file_size.bytes(),
            self.record.0,
        ))
    }

    /// A job that reads the file as the parameters say.
    pub(crate) fn read_job(&self) -> DataJob {
        self.job(DataJob::read(
            self.file.clone(),
            self.file_size.bytes(),
            self.record.0,
        ))
    }

    fn job(&self, job: DataJob) -> DataJob {
        DataJob {
            amount: Amount::Operations(self.operations),
            ..job
        }
    }

    /// Number of records in the file.
    fn records(&self) -> u64 {
        self.file_size.bytes() / self.record.0.max(1)
    }
}

/// Many small files in a tree of directories.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SmallFiles {
    /// The tree's root below that of the file system.
    pub(crate) directory: PathBuf,
    /// How many files.
    pub(crate) files: u64,
    /// Files in each directory; 0 for all in one.
    pub(crate) files_per_directory: u64,
    /// Size of each file.
    pub(crate) file_size: Bytes,
}

impl Default for SmallFiles {
    fn default() -> Self {
        Self {
            directory: "tree".into(),
            files: 10_000,
            files_per_directory: 200,
            file_size: Bytes::kib(4),
        }
    }
}

impl WorkloadParameters for SmallFiles {
    fn settle(&mut self, _size: Bytes) -> Result<(), String> {
        demand_inside(&self.directory)?;
        if self.files == 0 {
            return Err("files = 0; there must be at least one".into());
        }
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        tree_footprint(self.files, self.file_size.0)
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        None
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(self.file_size)]
    }
}

impl SmallFiles {
    /// A job that does `operation` to every file of the tree.
    pub(crate) fn job(&self, operation: MetadataOperation) -> MetadataJob {
        let tree = TreeShape::flat(self.directory.clone(), self.files, self.files_per_directory);
        MetadataJob {
            file_bytes: self.file_size.0.into(),
            ..MetadataJob::new(operation, tree)
        }
    }

    /// The same, with syncfs at its end as a part of it.
    pub(crate) fn durable_job(&self, operation: MetadataOperation) -> MetadataJob {
        let sync = MetadataSync {
            closing_syncfs: true,
            ..MetadataSync::default()
        };
        MetadataJob {
            sync,
            ..self.job(operation)
        }
    }
}

/// Every file takes a block of 4 KiB at least, and as much again for names and inodes.
pub(crate) fn tree_footprint(files: u64, file_bytes: u64) -> Bytes {
    let each = file_bytes
        .div_ceil(4096)
        .saturating_add(1)
        .saturating_mul(4096);
    Bytes(files.saturating_mul(each))
}

/// The engine of that name, where one is named.
pub(crate) fn parse_engine(name: Option<&str>) -> Result<Option<EngineKind>, String> {
    name.map(|name| {
        name.parse()
            .map_err(|error: ParseEngineError| error.to_string())
    })
    .transpose()
}

/// A path must lie below the root of the file system that is measured.
pub(crate) fn demand_inside(path: &Path) -> Result<(), String> {
    let inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let plain = path
        .to_str()
        .is_some_and(|text| !text.contains(char::is_control));
    if inside && plain && path.components().next().is_some() {
        return Ok(());
    }
    Err(format!(
        "the path '{}'; it must be relative, without '..' and without control characters",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_becomes_whole_records_and_as_many_operations() {
        let mut file = BigFile {
            record: Bytes::kib(64),
            ..BigFile::default()
        };
        file.settle(Bytes::gib(1)).expect("settles");
        assert_eq!(file.file_size, Size::Bytes(256 << 20));
        assert_eq!(file.operations, 4096);
    }

    #[test]
    fn a_file_that_is_no_multiple_of_the_record_is_shortened() {
        let mut file = BigFile {
            file_size: Size::Written("10000B".into()),
            record: Bytes::kib(4),
            ..BigFile::default()
        };
        file.settle(Bytes::gib(1)).expect("settles");
        assert_eq!(file.file_size, Size::Bytes(8192));
    }

    #[test]
    fn records_and_paths_that_make_no_sense_are_named() {
        for (file, word) in [
            (
                BigFile {
                    record: Bytes::gib(1),
                    ..BigFile::default()
                },
                "record",
            ),
            (
                BigFile {
                    file: "../x".into(),
                    ..BigFile::default()
                },
                "path",
            ),
            (
                BigFile {
                    file: "/x".into(),
                    ..BigFile::default()
                },
                "path",
            ),
            (
                BigFile {
                    file_size: Size::Written("1KiB".into()),
                    ..BigFile::default()
                },
                "less than one record",
            ),
        ] {
            let problem = { file }.settle(Bytes::gib(1)).expect_err(word);
            assert!(problem.contains(word), "{problem}");
        }
    }
}
