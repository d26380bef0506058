//! The table of all workloads: a new one is a file below `workloads/` and a line here.

use fslab_model::nearest_name;

use crate::workload::{Workload, WorkloadError};
use crate::workloads::{
    Append, BackwardRead, Chmod, Clear, Command, Compile, Create, DiskImage, Exercise,
    FbFileserver, FbOltp, FbVarmail, FbWebserver, Fifo, Files, Fill, Fread, Fwrite, GetChar, Hash,
    InlineProbe, InlineRead, Io, List, MmapRead, MmapWrite, Parallel, Prefetch, PutChar,
    RandomRead, RandomWrite, Read, ReadFiles, RecordRewrite, Refread, Refwrite, Replay, Rewrite,
    Seeks, Sqlite, Stat, StridedRead, TreeRead, TreeRewrite, TreeStat, TreeUnlink, TreeWrite,
    Unlink, Update, Verify, WebPublish, WebServer, Write, WriteFiles,
};

static ALL: [&dyn Workload; 54] = [
    &Append,
    &BackwardRead,
    &Chmod,
    &Clear,
    &Command,
    &Compile,
    &Create,
    &DiskImage,
    &Exercise,
    &FbFileserver,
    &FbOltp,
    &FbVarmail,
    &FbWebserver,
    &Fifo,
    &Files,
    &Fill,
    &Fread,
    &Fwrite,
    &GetChar,
    &Hash,
    &InlineProbe,
    &InlineRead,
    &Io,
    &List,
    &MmapRead,
    &MmapWrite,
    &Parallel,
    &Prefetch,
    &PutChar,
    &RandomRead,
    &RandomWrite,
    &Read,
    &ReadFiles,
    &RecordRewrite,
    &Refread,
    &Refwrite,
    &Replay,
    &Rewrite,
    &Seeks,
    &Sqlite,
    &Stat,
    &StridedRead,
    &TreeRead,
    &TreeRewrite,
    &TreeStat,
    &TreeUnlink,
    &TreeWrite,
    &Unlink,
    &Update,
    &Verify,
    &WebPublish,
    &WebServer,
    &Write,
    &WriteFiles,
];

/// Every workload, by name.
#[must_use]
pub fn all() -> &'static [&'static dyn Workload] {
    &ALL
}

/// The names of all workloads.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|workload| workload.name())
}

/// The workload of that name.
///
/// # Errors
/// [`WorkloadError::Unknown`] with the nearest known name.
pub fn find(name: &str) -> Result<&'static dyn Workload, WorkloadError> {
    ALL.iter()
        .copied()
        .find(|workload| workload.name() == name)
        .ok_or_else(|| WorkloadError::Unknown {
            name: name.to_owned(),
            nearest: nearest_name(name, names()),
        })
}

#[cfg(test)]
mod tests {
    use fslab_engine::{EngineKind, RunContext};
    use fslab_model::{Bytes, Need, Parameters, PhaseKind};

    use super::*;

    #[test]
    fn the_registry_is_sorted_and_every_name_is_found() {
        let names: Vec<_> = names().collect();
        assert!(names.is_sorted(), "{names:?}");
        for name in names {
            let found = find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(found.name(), name);
        }
    }

    #[test]
    fn an_unknown_workload_suggests_the_nearest() {
        let Err(WorkloadError::Unknown { nearest, .. }) = find("ranom-read") else {
            panic!("must be unknown")
        };
        assert_eq!(nearest, Some("random-read"));
    }

    #[test]
    fn resolved_parameters_resolve_to_themselves() {
        for workload in all() {
            let once = workload
                .resolve(&Parameters::new(), Bytes::mib(64))
                .expect("resolves");
            let twice = workload
                .resolve(&once, Bytes::gib(8))
                .expect("resolves again");
            assert_eq!(once, twice, "{}", workload.name());
        }
    }

    #[test]
    fn an_unknown_parameter_is_refused_by_name() {
        let mut given = Parameters::new();
        given.insert("recrod".into(), "4KiB".into());
        for workload in all() {
            let error = workload
                .resolve(&given, Bytes::gib(1))
                .expect_err(workload.name());
            let source = std::error::Error::source(&error)
                .expect("has a source")
                .to_string();
            assert!(source.contains("recrod"), "{source}");
        }
    }

    /// Every workload runs on the null engine, moves what it says, and does so again.
    #[test]
    fn every_workload_runs_on_the_null_engine_the_same_way_twice() {
        let context = RunContext::new(EngineKind::Null, "/nowhere", 42);
        for workload in all() {
            let parameters = workload
                .resolve(&Parameters::new(), Bytes::mib(64))
                .expect("plan");
            let run = || {
                workload
                    .run(&parameters, &context)
                    .expect("the null engine never fails")
            };
            let first = run().measured;
            assert_eq!(first, run().measured, "{}", workload.name());
            assert!(first.operations > 0, "{}", workload.name());
            if workload.kind(&parameters) != PhaseKind::Metadata {
                assert!(
                    first.bytes.is_some_and(|bytes| bytes > 0),
                    "{}",
                    workload.name()
                );
            }
        }
    }

    #[test]
    fn a_workload_needs_what_its_parameters_say() {
        let needs = |name: &str, given: serde_json::Value| {
            let given = serde_json::from_value(given).expect("a map");
            let workload = find(name).expect("known");
            let parameters = workload.resolve(&given, Bytes::gib(1)).expect(name);
            workload.needs(&parameters).expect("resolved")
        };
        let none = || serde_json::json!({});
        assert_eq!(
            needs("write", none()),
            [Need::FileBytes(Bytes::mib(256))],
            "a quarter of the file system"
        );
        assert!(needs("chmod", none()).contains(&Need::Permissions));
        assert!(!needs("stat", none()).contains(&Need::Permissions));
        for (operation, need) in [
            ("symlink", Need::Symlinks),
            ("link", Need::HardLinks(2)),
            ("chown", Need::Permissions),
            ("set-xattr", Need::ExtendedAttributes),
        ] {
            let given = serde_json::json!({ "operation": operation });
            assert!(needs("files", given).contains(&need), "{operation}");
        }
        let by_link = serde_json::json!({ "operation": "stat", "names": "links" });
        assert!(needs("files", by_link).contains(&Need::HardLinks(2)));
        let large = serde_json::json!({ "largest": "5GiB" });
        assert_eq!(
            needs("exercise", large),
            [Need::FileBytes(Bytes::gib(5))],
            "the largest file"
        );
    }

    /// In a guest there is nothing of the machine but what a phase says that it brings.
    #[test]
    fn a_workload_brings_the_programs_that_it_starts_and_the_files_that_it_reads() {
        let brings = |name: &str, given: serde_json::Value| {
            let given = serde_json::from_value(given).expect("a map");
            let workload = find(name).expect("known");
            let parameters = workload.resolve(&given, Bytes::gib(1)).expect(name);
            workload.brings(&parameters).expect("resolved")
        };
        for workload in all() {
            let name = workload.name();
            let starts = matches!(name, "command" | "web-server");
            let found = brings(name, serde_json::json!({}));
            assert!(starts || found.is_empty(), "{name}: {found:?}");
        }
        let server = |server: &str| brings("web-server", serde_json::json!({ "server": server }));
        assert!(server("nginx").programs["nginx"].is_required);
        let apache = server("apache2").programs;
        assert_eq!(apache.len(), 1, "{apache:?}");
        assert!(server("embedded").is_empty());
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("x.trace");
        std::fs::write(&trace, include_bytes!("replay/sample.trace")).expect("written");
        let found = brings("replay", serde_json::json!({ "trace": trace }));
        let (path, place) = found.files.first_key_value().expect("the trace");
        assert_eq!(*path, trace.canonicalize().expect("a path"));
        let fslab_model::InputPlace::Content { sha256 } = place else {
            panic!("a trace is known by its content")
        };
        assert_eq!(sha256.len(), 64);
    }

    /// The workloads in the only order in which they make sense.
    const ORDER: &[&str] = &[
        "write",
        "rewrite",
        "read",
        "strided-read",
        "random-read",
        "random-write",
        "backward-read",
        "record-rewrite",
        "update",
        "seeks",
        "disk-image",
        "parallel",
        "fwrite",
        "refwrite",
        "fread",
        "refread",
        "mmap-write",
        "mmap-read",
        "put-char",
        "get-char",
        "create",
        "list",
        "stat",
        "read-files",
        "chmod",
        "unlink",
        "append",
        "io",
        "files",
        "command",
        "compile",
        "web-publish",
        "web-server",
        "fb-fileserver",
        "fb-webserver",
        "fb-varmail",
        "fb-oltp",
        "sqlite",
        "replay",
        "exercise",
        "verify",
        "prefetch",
        "inline-probe",
        "inline-read",
        "fill",
        "tree-write",
        "tree-read",
        "tree-stat",
        "tree-rewrite",
        "tree-unlink",
        "write-files",
        "hash",
        "fifo",
        "clear",
    ];

    #[test]
    fn every_workload_runs_on_a_real_directory() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut context = RunContext::new(EngineKind::Psync, folder.path(), 42);
        // `command` starts `true`.
        context.allow_commands = true;
        assert_eq!(ORDER.len(), all().len());
        for &name in ORDER {
            let workload = find(name).expect("known");
            let mut given = Parameters::new();
            if workload.kind(&given) == PhaseKind::Metadata {
                given.insert("files".into(), 500.into());
            }
            if matches!(name, "read" | "strided-read" | "random-read") {
                given.insert("record".into(), 65_536.into());
            }
            if name == "prefetch" {
                given.insert("wait_ms".into(), 1.into());
            }
            let parameters = match workload.resolve(&given, Bytes::mib(16)) {
                Ok(parameters) => parameters,
                Err(_) => workload
                    .resolve(&Parameters::new(), Bytes::mib(16))
                    .expect(name),
            };
            let finished = match workload.run(&parameters, &context) {
                // Where every file has a data block, none was kept to be read.
                Err(crate::workload::RunError::Impossible(_)) if name == "inline-read" => continue,
                finished => finished.expect(name),
            };
            let measured = finished.measured;
            assert!(measured.operations > 0 && measured.elapsed_ns > 0, "{name}");
        }
    }
}
