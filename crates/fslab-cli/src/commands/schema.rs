//! `fslab schema`: the JSON Schemas of the formats, generated from their types.

use clap::Args;
use fslab_claims::{Claims, ThenAndNow};
use fslab_disk::bench::Bench;
use fslab_disk::{Machine, Profile};
use fslab_fs::{Details, Probe};
use fslab_model::{
    Event, Plan, RunRecord, Study, TrialSpec, WorkloadDefinition, did_you_mean, nearest_name,
};
use fslab_report::{DiffDocument, GateDocument, MeetingsDocument};
use fslab_store::{Checked, ListedRun};
use fslab_workload::JobInfo;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::commands::config::ShownSetting;
use crate::commands::crash::faults_table::FaultsResult;
use crate::commands::crash::judge::JudgedLog;
use crate::commands::diff::phase_activities::PhaseActivities;
use crate::commands::disk::fit::FitDocument;
use crate::commands::disk::{DiskDetails, DiskSummary};
use crate::commands::lab::status::LabStatuses;
use crate::commands::store::delete::DeletedRun;
use crate::commands::study::check::ScorecardDocument;
use crate::commands::trace::text::TraceDetails;
use crate::commands::workload::{WorkloadDetails, WorkloadSummary};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::screen;

/// Arguments of `fslab schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Format; without it, list the formats
    name: Option<String>,
}

pub(crate) struct Format {
    pub(crate) name: &'static str,
    about: &'static str,
    /// The schema in draft 7, which TOML editors support.
    pub(crate) schema: fn() -> Schema,
}

/// All formats with a schema: those that users write, those of trials and runs, then documents that
/// are only printed, named by their command.
pub(crate) const FORMATS: &[Format] = &[
    format(
        "study",
        "a study: study.toml, and `fslab study show --json`",
        read::<Study>,
    ),
    format(
        "workload",
        "a workload: workloads/NAME.toml",
        read::<WorkloadDefinition>,
    ),
    format(
        "disk",
        "a disk profile: disks/NAME.toml, and `fslab disk show --toml`",
        read::<Profile>,
    ),
    format(
        "machine",
        "a machine: machines/NAME.toml, and `fslab machine show --json`",
        read::<Machine>,
    ),
    format("claims", "the claims of an original: claims.toml", || {
        Claims::schema(SchemaSettings::draft07().into_generator())
    }),
    format(
        "plan",
        "a resolved study: `fslab run --dry-run --json`",
        read::<Plan>,
    ),
    format(
        "trial",
        "the specification of a trial: standard input of `fslab trial`",
        read::<TrialSpec>,
    ),
    format(
        "event",
        "an event of a trial: each line of the standard output of `fslab trial`",
        read::<Event>,
    ),
    format(
        "run",
        "a run with its trials: `fslab show --json`",
        read::<RunRecord>,
    ),
    format("list", "`fslab list --json`", printed::<Vec<ListedRun>>),
    format(
        "delete",
        "`fslab delete --json`",
        printed::<Vec<DeletedRun>>,
    ),
    format(
        "store-check",
        "`fslab store check --json`",
        printed::<Checked>,
    ),
    format(
        "import-dry-run",
        "`fslab import --dry-run --json`",
        printed::<Vec<PhaseActivities>>,
    ),
    format("fs-list", "`fslab fs list --json`", printed::<Vec<Details>>),
    format(
        "fs-probe",
        "`fslab fs list --probe --json`",
        printed::<Vec<Probe>>,
    ),
    format("fs-show", "`fslab fs show --json`", printed::<Details>),
    format(
        "disk-list",
        "`fslab disk list --json`",
        printed::<Vec<DiskSummary>>,
    ),
    format("disk-show", "`fslab disk show --json`", read::<DiskDetails>),
    format(
        "machine-list",
        "`fslab machine list --json`",
        printed::<Vec<Machine>>,
    ),
    format("disk-test", "`fslab disk test --json`", printed::<Bench>),
    format(
        "disk-fit",
        "`fslab disk fit --json`",
        printed::<FitDocument>,
    ),
    format(
        "workload-list",
        "`fslab workload list --json`",
        printed::<Vec<WorkloadSummary>>,
    ),
    format(
        "workload-jobs",
        "`fslab workload jobs --json`",
        printed::<Vec<JobInfo>>,
    ),
    format(
        "workload-show",
        "`fslab workload show --json`",
        printed::<WorkloadDetails>,
    ),
    format(
        "trace-show",
        "`fslab trace show --json`",
        printed::<TraceDetails>,
    ),
    format(
        "diff",
        "`fslab diff --json`",
        printed::<DiffDocument<'static>>,
    ),
    format(
        "diff-dry-run",
        "`fslab diff --dry-run --json`",
        printed::<MeetingsDocument<'static>>,
    ),
    format(
        "gate",
        "`fslab gate --json`",
        printed::<GateDocument<'static>>,
    ),
    format(
        "study-check",
        "`fslab study check --json`",
        printed::<ScorecardDocument<'static>>,
    ),
    format(
        "study-check-published",
        "`fslab study check --published --json`",
        printed::<ThenAndNow>,
    ),
    format(
        "crash-judge",
        "`fslab crash judge --json`",
        printed::<Vec<JudgedLog<'static>>>,
    ),
    format(
        "faults",
        "`fslab faults --json`",
        printed::<Vec<FaultsResult>>,
    ),
    format(
        "config-show",
        "`fslab config show --json`",
        printed::<Vec<ShownSetting>>,
    ),
    format(
        "lab-status",
        "`fslab lab status --json`",
        printed::<LabStatuses>,
    ),
];

const fn format(name: &'static str, about: &'static str, schema: fn() -> Schema) -> Format {
    Format {
        name,
        about,
        schema,
    }
}

/// The schema of what fslab reads: values with defaults may be missing, as in a profile of a disk
/// that is printed.
fn read<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft07();
    settings.into_generator().into_root_schema_for::<T>()
}

/// The schema of what fslab only prints.
fn printed<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft07().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}

impl SchemaArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.name {
            None => {
                let width = FORMATS
                    .iter()
                    .map(|it| it.name.len())
                    .max()
                    .unwrap_or_default();
                let line = |it: &Format| format!("{:<width$}  {}\n", it.name, it.about);
                screen::print(&FORMATS.iter().map(line).collect::<String>())?;
            }
            Some(name) => screen::print_json(&(find(name)?.schema)())?,
        }
        Ok(Exit::Done)
    }
}

fn find(name: &str) -> Result<&'static Format, CommandError> {
    let found = FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| {
        let mut error = CommandError::bad_input(format!("there is no schema '{name}'"));
        let nearest = nearest_name(name, FORMATS.iter().map(|it| it.name)).map(did_you_mean);
        let hint = nearest.unwrap_or_else(|| "`fslab schema` lists the formats".to_owned());
        error.failure.hint = Some(hint);
        error
    })
}

#[cfg(test)]
mod tests {
    use fslab_engine::StopFlag;
    use jsonschema::{Validator, validator_for};
    use serde_json::{Value, json};

    use super::*;

    fn validator(name: &str) -> Validator {
        let schema = (find(name).expect("a format").schema)();
        validator_for(schema.as_value()).expect("a schema")
    }

    /// The files of that name below a directory of the repository, parsed as TOML.
    fn files(folder: &str, is_wanted: fn(&str) -> bool) -> Vec<(String, Value)> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders = vec![root.join(folder)];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a directory") {
                let path = entry.expect("an entry").path();
                let name = path
                    .file_name()
                    .and_then(|name| name.to_str())
                    .expect("a name");
                if path.is_dir() {
                    folders.push(path);
                } else if is_wanted(name) {
                    let text = std::fs::read_to_string(&path).expect("a text");
                    let value: toml::Table = toml::from_str(&text).expect("TOML");
                    let value = serde_json::to_value(value).expect("JSON");
                    found.push((path.display().to_string(), value));
                }
            }
        }
        assert!(!found.is_empty());
        found
    }

    #[track_caller]
    fn accepts(validator: &Validator, name: &str, value: &Value) {
        let errors: Vec<_> = validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }

    /// Asserts that the schema refuses `value` with each change.
    #[track_caller]
    fn refuses(validator: &Validator, value: &Value, changes: &[(&str, Value)]) {
        for (pointer, wrong) in changes {
            let mut changed = value.clone();
            let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
            let parent = changed.pointer_mut(parent).expect(pointer);
            match parent {
                Value::Object(map) => map.insert(key.to_owned(), wrong.clone()),
                _ => panic!("{pointer} is in no table"),
            };
            assert!(!validator.is_valid(&changed), "{pointer} = {wrong}");
        }
    }

    #[test]
    fn the_schema_accepts_every_study_and_refuses_invalid_ones() {
        let validator = validator("study");
        let studies = files("studies", |name| name == "study.toml");
        for (file, study) in &studies {
            accepts(&validator, file, study);
            refuses(
                &validator,
                study,
                &[
                    ("/repeat", json!(3)),
                    ("/format", json!(2)),
                    ("/repeats", json!("3")),
                    ("/repeats", json!(0)),
                    ("/size", json!("1")),
                    ("/phase", json!([])),
                    ("/phase/0/cache", json!("coold")),
                    ("/phase/0/name", json!("a/b")),
                    ("/target", json!("five")),
                ],
            );
        }
        let with_sweep = studies
            .iter()
            .find(|(_, study)| study.get("sweep").is_some());
        let (_, study) = with_sweep.expect("a study with a sweep");
        let wrong = json!({"a": {"x": {"from": 1, "to": 2, "factor": 1}}});
        refuses(&validator, study, &[("/sweep", wrong)]);
    }

    #[test]
    fn the_schema_accepts_every_machine_and_refuses_invalid_ones() {
        let validator = validator("machine");
        for (file, machine) in files("machines", |name| name.ends_with(".toml")) {
            accepts(&validator, &file, &machine);
            refuses(
                &validator,
                &machine,
                &[
                    ("/yaer", json!(2002)),
                    ("/processor/instructions_per_s", json!("fast")),
                    ("/memory", json!("1GiB")),
                    ("/disk/profil", json!("x")),
                ],
            );
        }
    }

    #[test]
    fn the_schema_accepts_every_disk_profile_and_refuses_invalid_ones() {
        let validator = validator("disk");
        for (file, disk) in files("disks", |name| name.ends_with(".toml")) {
            accepts(&validator, &file, &disk);
            let other_group = match disk["kind"].as_str() {
                Some("hdd") => "/flash",
                _ => "/media",
            };
            refuses(
                &validator,
                &disk,
                &[
                    ("/yaer", json!(2002)),
                    ("/year", json!(1900)),
                    ("/name", json!("H D")),
                    ("/kind", json!("tape")),
                    (other_group, json!({})),
                    ("/device/capacty", json!("1 GB")),
                    ("/device/capacity", json!("1 furlong")),
                    ("/device/queue_depth", json!(-1)),
                    ("/interface/command", json!("8.9 MB")),
                    ("/interface/command", json!(8.9)),
                    ("/cache/fua", json!("yes")),
                ],
            );
        }
    }

    #[test]
    fn the_schema_accepts_every_workload_and_refuses_invalid_ones() {
        let validator = validator("workload");
        for (file, workload) in files("workloads", |name| name.ends_with(".toml")) {
            accepts(&validator, &file, &workload);
            refuses(
                &validator,
                &workload,
                &[
                    ("/format", json!(2)),
                    ("/name", json!("Random Read")),
                    ("/titel", json!("x")),
                    ("/kind", json!("reed")),
                    ("/may_set", json!("record")),
                    ("/defaults", json!([])),
                ],
            );
        }
    }

    #[test]
    fn the_schema_accepts_every_claims_file_and_refuses_invalid_ones() {
        let validator = validator("claims");
        for (file, claims) in files("studies", |name| name == "claims.toml") {
            accepts(&validator, &file, &claims);
            refuses(
                &validator,
                &claims,
                &[
                    ("/claims", json!([])),
                    ("/study", json!(1)),
                    ("/claim/0/id", json!("")),
                    ("/claim/0/required", json!("yes")),
                    ("/claim/0/original", json!("agrees")),
                    ("/claim/0/venues", json!(["here"])),
                    ("/claim/0/holds/kind", json!("fastest")),
                    ("/claim/0/holds/withn", json!(0.1)),
                    ("/claim/0/holds/within", json!(-1)),
                ],
            );
        }
    }

    #[test]
    fn the_schemas_accept_a_trial_and_its_events() {
        let spec = json!({
            "format": 1, "trial": {"cell": 0, "repeat": 0}, "subject": "fake",
            "device": {"device": "fake"}, "size_bytes": 67_108_864, "cold": "evict",
            "engine": "null", "phases": [], "seed": 1
        });
        let validator = validator("trial");
        accepts(&validator, "spec", &spec);
        refuses(
            &validator,
            &spec,
            &[
                ("/seed", json!(-1)),
                ("/cold", json!("frozen")),
                ("/device", json!({"device": "tape"})),
                ("/subject", json!(":noatime")),
            ],
        );
        let spec: TrialSpec = serde_json::from_value(spec).expect("a specification");
        let mut output = Vec::new();
        fslab_trial::run_trial(&spec, &StopFlag::new(), &mut output).expect("events");
        let validator = self::validator("event");
        let text = String::from_utf8(output).expect("a text");
        assert!(text.lines().count() >= 2, "{text}");
        for line in text.lines() {
            let event: Value = serde_json::from_str(line).expect("JSON");
            accepts(&validator, line, &event);
        }
        let unknown = json!({"at_ns": 1, "event": "nonsense"});
        assert!(!validator.is_valid(&unknown));
    }

    #[test]
    fn the_schemas_accept_plans_and_runs_of_every_version() {
        let (plans, runs) = (validator("plan"), validator("run"));
        for entry in std::fs::read_dir(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/stores"
        ))
        .expect("the fixtures")
        {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|ending| ending != "sqlite") {
                continue;
            }
            let folder = tempfile::tempdir().expect("a directory");
            let copy = folder.path().join("store.sqlite");
            std::fs::copy(&path, &copy).expect("a copy");
            let store = fslab_store::Store::open(&copy).expect("a store");
            let last: fslab_store::RunSelector = "last".parse().expect("a selector");
            let record = store.run(&last).expect("a record");
            let name = path.display().to_string();
            let value = serde_json::to_value(&record).expect("JSON");
            accepts(&runs, &name, &value);
            accepts(&plans, &name, &value["plan"]);
            refuses(
                &plans,
                &value["plan"],
                &[("/seed", json!("1")), ("/venue", json!("moon"))],
            );
        }
    }
}
