//! The registry of jobs and of built-in workloads (the files of `workloads/`).

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use fslab_conformance::CONFORMANCE_JOBS;
use fslab_job::{ENGINE_JOBS, JobKind, SchemaText};
use fslab_model::{WorkloadDefinition, nearest_name, suggestion};
use fslab_programs::PROGRAM_JOBS;
use fslab_replay::REPLAY_JOBS;
use fslab_sys::Ability;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::workload::{ParameterInfo, WordInfo, Workload, WorkloadError};

/// The kinds of jobs, by crate.
const JOBS: [&[JobKind]; 4] = [ENGINE_JOBS, PROGRAM_JOBS, CONFORMANCE_JOBS, REPLAY_JOBS];

/// What a job needs of the platform, if not every one has it.
pub(crate) fn demanded_by(job: &JobKind) -> Option<Ability> {
    let is_among = |jobs: &[JobKind]| jobs.iter().any(|it| it.name == job.name);
    if is_among(CONFORMANCE_JOBS) {
        Some(Ability::Inodes)
    } else if is_among(REPLAY_JOBS) {
        Some(Ability::Replay)
    } else {
        None
    }
}

fn jobs() -> impl Iterator<Item = &'static JobKind> {
    JOBS.into_iter().flatten()
}

/// Parameters of each job, by its name, with the defaults of the job: made where they are needed,
/// since every trial would pay for all.
static PARAMETERS: LazyLock<BTreeMap<&'static str, OnceLock<Vec<ParameterInfo>>>> =
    LazyLock::new(|| jobs().map(|job| (job.name, OnceLock::new())).collect());

/// The parameters in a schema.
fn parameters(schema: &Schema) -> Vec<ParameterInfo> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let text = SchemaText::of(schema.as_value());
    let parameter = |(name, schema)| ParameterInfo {
        name: String::clone(name),
        kind: text.value(schema),
        words: words(&text, schema),
        meaning: description(schema.as_object()),
        default: schema.get("default").cloned(),
    };
    properties.into_iter().flatten().map(parameter).collect()
}

/// The words of an enumeration that have a meaning.
fn words(text: &SchemaText<'_>, schema: &Value) -> Vec<WordInfo> {
    let words = text.words(schema);
    let info = |(word, meaning): (&str, &str)| WordInfo {
        word: word.to_owned(),
        meaning: meaning.replace('\n', " "),
    };
    words.map(info).collect()
}

fn description(schema: Option<&Map<String, Value>>) -> String {
    let text = schema.and_then(|schema| schema.get("description")?.as_str());
    text.unwrap_or_default().replace('\n', " ")
}

/// Documentation of a kind of job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobInfo {
    /// Its name in the definition of a workload.
    pub name: &'static str,
    /// What it does.
    pub about: String,
    /// All of its parameters, with the defaults of the job.
    pub parameters: Vec<ParameterInfo>,
    /// Their JSON Schema.
    #[serde(skip)]
    pub schema: Schema,
}

/// All kinds of jobs, sorted by name.
pub fn job_infos() -> Vec<JobInfo> {
    let info = |job: &JobKind| {
        let schema = (job.schema)();
        JobInfo {
            name: job.name,
            about: description(schema.as_object()),
            parameters: parameters(&schema),
            schema: Schema::clone(&schema),
        }
    };
    let mut infos: Vec<_> = jobs().map(info).collect();
    infos.sort_unstable_by_key(|info| info.name);
    infos
}

/// The parameters of `job`.
pub(crate) fn parameters_of(job: &JobKind) -> &'static [ParameterInfo] {
    PARAMETERS[job.name].get_or_init(|| parameters(&(job.schema)()))
}

/// Name and text of each file of `workloads/`, sorted by name: see `build.rs`.
static FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/workloads.rs"));

/// The workload of each file, read when it is first asked for.
static BUILT_IN: LazyLock<Vec<OnceLock<Workload>>> =
    LazyLock::new(|| FILES.iter().map(|_| OnceLock::new()).collect());

/// The workload of the file in this place.
fn built_in(place: usize) -> &'static Workload {
    let (name, text) = FILES[place];
    BUILT_IN[place].get_or_init(|| read(name, text))
}

fn read(name: &str, text: &str) -> Workload {
    let definition = WorkloadDefinition::from_toml(text)
        .unwrap_or_else(|error| panic!("workloads/{name}.toml: {error}"));
    assert_eq!(definition.name, name, "workloads/{name}.toml has its name");
    Workload::new(definition).unwrap_or_else(|error| panic!("workloads/{name}.toml: {error}"))
}

/// All built-in workloads, sorted by name.
pub fn all() -> impl ExactSizeIterator<Item = &'static Workload> {
    (0..FILES.len()).map(built_in)
}

/// Names of all built-in workloads.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The built-in workload of that name.
///
/// # Errors
/// [`WorkloadError::Unknown`], with the most similar name.
pub fn find(name: &str) -> Result<&'static Workload, WorkloadError> {
    let found = FILES.binary_search_by(|(known, _)| known.cmp(&name));
    found.map(built_in).map_err(|_| WorkloadError::Unknown {
        name: name.to_owned(),
        nearest: nearest_name(name, names()),
    })
}

/// The job of that name; else an error message.
pub(crate) fn job(name: &str) -> Result<&'static JobKind, String> {
    let found = jobs().find(|job| job.name == name);
    found.ok_or_else(|| {
        let mut known: Vec<_> = jobs().map(|job| job.name).collect();
        known.sort_unstable();
        let nearest = suggestion(nearest_name(name, known.iter().copied()));
        let known = known.join(", ");
        format!("there is no job '{name}'{nearest}; there are {known}")
    })
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use fslab_engine::{EngineKind, RunContext};
    use fslab_job::RunError;
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
    fn a_workload_is_the_same_after_it_was_written_as_toml() {
        for workload in all() {
            let definition = workload.definition();
            let read = WorkloadDefinition::from_toml(&definition.to_toml());
            assert_eq!(read.expect("valid"), *definition);
        }
    }

    #[test]
    fn a_parameter_that_a_workload_does_not_use_is_refused_by_name() {
        for (name, value) in [
            ("stride", "3"),
            ("sync", "\"none\""),
            ("access", "\"random\""),
        ] {
            let given = format!("{{ \"{name}\": {value} }}");
            let given = serde_json::from_str(&given).expect("a map");
            let refused = find("read").and_then(|read| read.resolve(&given, Bytes::gib(1)));
            let error = refused.expect_err(name);
            let text = error.source().map(ToString::to_string).unwrap_or_default();
            assert_eq!(text, format!("{name}: the workload 'read' does not use it"));
        }
    }

    #[test]
    fn zero_is_the_default_of_the_workload_where_a_study_may_write_it() {
        let given = serde_json::from_str(r#"{ "record": 0, "stride": 0 }"#).expect("a map");
        let workload = find("strided-read").expect("known");
        let resolved = workload.resolve(&given, Bytes::gib(1)).expect("resolves");
        assert_eq!(resolved["stride"], 17);
        assert_eq!(resolved["record"], 1 << 20);
    }

    #[test]
    fn every_parameter_of_every_job_has_a_meaning() {
        for job in jobs() {
            for parameter in parameters_of(job) {
                let words = parameter.meaning.split_whitespace().count();
                assert!(words > 1, "{}: {}", job.name, parameter.name);
            }
        }
    }

    #[test]
    fn a_value_outside_the_range_that_a_schema_states_is_refused_by_name() {
        let mut tried = 0;
        for job in jobs() {
            let schema = (job.schema)();
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                let least = property["minimum"].as_u64().filter(|least| *least > 0);
                let most = property["maximum"].as_u64();
                let outside = [least.map(|it| it - 1), most.map(|it| it + 1)];
                for value in outside.into_iter().flatten() {
                    let given = Parameters::from_iter([(name.clone(), value.into())]);
                    let refused = (job.resolve)(&given, Bytes::gib(1)).err();
                    let text = refused.map(|it| it.to_string()).unwrap_or_default();
                    let expected = format!("{name} = ");
                    assert!(
                        text.starts_with(&expected),
                        "{}: {expected}{value}: {text}",
                        job.name
                    );
                    tried += 1;
                }
            }
        }
        assert!(tried > 80, "{tried} values");
    }

    /// Some were left out: what is not serialized has no default in a schema by itself.
    #[test]
    fn every_default_that_a_schema_states_is_that_of_the_job() {
        let size = Bytes::gib(1);
        for job in jobs() {
            let Ok(plain) = (job.resolve)(&Parameters::new(), size) else {
                continue;
            };
            for parameter in parameters_of(job) {
                let Some(default) = &parameter.default else {
                    continue;
                };
                let given = Parameters::from_iter([(parameter.name.clone(), default.clone())]);
                let with = (job.resolve)(&given, size).map(|it| it.parameters);
                let name = format!("{}: {}", job.name, parameter.name);
                assert_eq!(with.expect(&name), plain.parameters, "{name}");
            }
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
            let source = error.source().expect("has a source").to_string();
            assert!(source.contains("recrod"), "{source}");
        }
    }

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
    fn the_needs_of_a_workload_follow_from_its_parameters() {
        let needs = |name: &str, given: Value| {
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

    /// A guest has only those programs and files of the machine that a phase brings.
    #[test]
    fn a_workload_brings_the_programs_that_it_starts_and_the_files_that_it_reads() {
        let brings = |name: &str, given: Value| {
            let given = serde_json::from_value(given).expect("a map");
            let workload = find(name).expect("known");
            let parameters = workload.resolve(&given, Bytes::gib(1)).expect(name);
            workload.brings(&parameters).expect("resolved")
        };
        for workload in all() {
            let name = workload.name();
            let starts = matches!(name, "command" | "git" | "web-server");
            let found = brings(name, serde_json::json!({}));
            assert!(starts || found.is_empty(), "{name}: {found:?}");
        }
        let server = |server: &str| brings("web-server", serde_json::json!({ "server": server }));
        assert!(server("nginx").programs["nginx"].is_required);
        let apache = server("apache2").programs;
        assert_eq!(apache.len(), 1, "{apache:?}");
        assert!(server("embedded").is_empty());
        let folder = tempfile::tempdir().expect("a directory");
        let trace = folder.path().join("x.trace");
        std::fs::write(
            &trace,
            include_bytes!("../../fslab-replay/src/sample.trace"),
        )
        .expect("written");
        let found = brings("replay", serde_json::json!({ "trace": trace }));
        let (path, place) = found.files.first_key_value().expect("the trace");
        assert_eq!(*path, trace.canonicalize().expect("a path"));
        let fslab_model::InputPlace::Content { sha256 } = place else {
            panic!("a trace is identified by its content")
        };
        assert_eq!(sha256.len(), 64);
    }

    /// All workloads, in an order in which each finds the files that it needs.
    const ORDER: &[&str] = &[
        "write",
        "rewrite",
        "read",
        "strided-read",
        "random-read",
        "random-write",
        "random-write-sync",
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
        "git",
        "pgbench",
        "web-publish",
        "web-server",
        "fb-fileserver",
        "fb-webserver",
        "fb-varmail",
        "fb-oltp",
        "personality",
        "sqlite",
        "replay",
        "exercise",
        "facts-probe",
        "facts-recall",
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
        "script",
        "scrub",
        "fail-disk",
        "rebuild",
    ];

    #[test]
    fn every_workload_runs_on_a_real_directory() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut context = RunContext::new(EngineKind::Psync, folder.path(), 42);
        // The workload `command` starts `true`.
        context.allow_commands = true;
        let lacking: Vec<_> = names().filter(|name| !ORDER.contains(name)).collect();
        assert!(lacking.is_empty(), "ORDER lacks {lacking:?}");
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
                // If every file has a data block, no files were kept for it.
                // Nor does a program that is not installed do anything.
                Err(RunError::Impossible(_))
                    if matches!(name, "inline-read" | "git" | "pgbench") =>
                {
                    continue;
                }
                // A directory need lie on no array.
                Err(RunError::Impossible(reason))
                    if matches!(name, "scrub" | "fail-disk" | "rebuild")
                        && reason.contains("no array of md") =>
                {
                    continue;
                }
                finished => finished.expect(name),
            };
            let measured = finished.measured;
            assert!(measured.operations > 0 && measured.elapsed_ns > 0, "{name}");
        }
    }
}
