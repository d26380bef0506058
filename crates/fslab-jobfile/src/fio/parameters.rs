//! Jobs on data: the phase of jobs that run at the same time, with the parameters of each.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{CachePolicy, Parameters};
use serde_json::{Value, json};

use super::amounts::{self, FileSpan, JobAmount};
use super::groups::Group;
use super::io;
use super::job::FioJob;
use super::settings::FioEngine;
use crate::draft::{DraftPhase, plain_name};
use crate::problem::Findings;

/// Jobs that run at the same time, as the job `parallel` allows.
const JOBS_MAX: usize = 64;

/// Makes phases, and keeps what they share.
#[derive(Default)]
pub(crate) struct Translator {
    pub(crate) phases: Vec<DraftPhase>,
    /// Bytes of each file, by its name.
    pub(crate) space: BTreeMap<String, u64>,
    /// The path or section behind each name of a file.
    origins: BTreeMap<String, String>,
    /// Files that a phase has written completely.
    written: BTreeMap<String, u64>,
    /// Devices without a size: each is an equal part of half of the file system.
    devices: u64,
}

/// A job that can be expressed.
struct Translated<'a> {
    job: &'a FioJob,
    file: String,
    span: FileSpan,
    amount: JobAmount,
    /// Without those of the single copy.
    parameters: Parameters,
}

impl Translator {
    pub(crate) fn new(groups: &[Group]) -> Self {
        let jobs = groups.iter().flat_map(|group| &group.jobs);
        let devices: BTreeSet<_> = jobs
            .filter(|job| amounts::is_unsized_device(&job.settings))
            .filter_map(|job| job.settings.filename.as_ref())
            .map(|file| &file.name)
            .collect();
        Self {
            devices: devices.len() as u64,
            ..Self::default()
        }
    }

    /// The phases of `jobs`, which run at the same time.
    pub(crate) fn data_phases(&mut self, jobs: &[FioJob], findings: &mut Findings) {
        let translated = jobs.iter().map(|job| self.translated(job, findings));
        let translated: Vec<_> = translated.collect();
        let Some(translated) = translated.into_iter().collect::<Option<Vec<_>>>() else {
            return;
        };
        if translated.is_empty() {
            return;
        }
        for it in &translated {
            self.lay_out(it);
        }
        let mut expanded: Vec<Parameters> = translated.iter().flat_map(copies).collect();
        if expanded.len() > JOBS_MAX {
            let cause = format!(
                "{} jobs at the same time, with the copies that share a file; fslab has up to \
                 {JOBS_MAX}",
                expanded.len()
            );
            findings.refuse(jobs[0].problem("numjobs", cause));
            return;
        }
        number_streams(&mut expanded);
        set_workers(&mut expanded, jobs, findings);
        let cold = |job: &FioJob| {
            let settings = &job.settings;
            settings.pattern.reads && !settings.direct && settings.invalidate
        };
        let cache = match jobs {
            _ if jobs.iter().any(|job| job.settings.pre_read) => CachePolicy::Warm,
            _ if jobs.iter().any(cold) => CachePolicy::Cold,
            _ => CachePolicy::Keep,
        };
        let name = self.phase_name(&self.group_name(jobs));
        let amounts = translated.iter().map(|it| &it.amount);
        let seconds = amounts.clone().map(|it| it.seconds).max().unwrap_or(0);
        let bytes = amounts.map(|it| it.bytes).sum();
        self.phases
            .push(data_phase(name, cache, expanded, (seconds, bytes)));
        self.verify(&translated, findings);
        for it in &translated {
            self.note_written(it);
        }
    }

    fn translated<'a>(
        &mut self,
        job: &'a FioJob,
        findings: &mut Findings,
    ) -> Option<Translated<'a>> {
        let settings = &job.settings;
        let file = match &settings.filename {
            Some(file) => file.name.clone(),
            None => format!("{}.0.0", plain_name(&job.name)),
        };
        let given = settings
            .filename
            .as_ref()
            .map_or(&job.name, |file| &file.given);
        let origin = self
            .origins
            .entry(file.clone())
            .or_insert_with(|| given.clone());
        if origin != given {
            let cause = format!("another file of the job file is also '{file}' here");
            findings.refuse(job.problem("filename", cause).hint("use names that differ"));
            return None;
        }
        if settings
            .filename
            .as_ref()
            .is_some_and(|file| file.given != file.name)
        {
            let why = format!("the file is {file} in the measured file system");
            findings.note(job.note("filename", &why));
        }
        let before = findings.refused();
        let io = io::of_job(job, findings);
        let span = amounts::span(job, &io, self.devices, findings);
        let amount = span
            .as_ref()
            .and_then(|span| amounts::amount(job, &io, span, findings));
        let mut parameters = io.parameters;
        let (span, amount) = (span?, amount?);
        if findings.refused() > before {
            return None;
        }
        parameters.extend(span.parameters.clone());
        parameters.extend(amount.parameters.clone());
        let threads = match settings.filename {
            None => settings.copies,
            Some(_) => 1,
        };
        let space = span.bytes.saturating_mul(threads);
        let known = self.space.entry(file.clone()).or_default();
        *known = space.max(*known);
        Some(Translated {
            job,
            file,
            span,
            amount,
            parameters,
        })
    }

    /// Adds a phase that writes the file of a job that overwrites one.
    fn lay_out(&mut self, it: &Translated<'_>) {
        let settings = &it.job.settings;
        let writes_only = settings.pattern.writes && !settings.pattern.reads;
        let overwrites = settings.overwrite || settings.engine == FioEngine::Mmap;
        let is_written = self
            .written
            .get(&it.file)
            .is_some_and(|bytes| *bytes >= it.span.bytes);
        if !writes_only || !overwrites || is_written {
            return;
        }
        let mut parameters = it.span.parameters.clone();
        let mut put = |name: &str, value: Value| {
            parameters.insert(name.to_owned(), value);
        };
        put("file", json!(it.file));
        put("direction", json!("write"));
        put(
            "record",
            it.parameters
                .get("record")
                .cloned()
                .unwrap_or(json!("1MiB")),
        );
        put("sync", json!({ "closing": "fsync" }));
        if settings.filename.is_none() && settings.copies > 1 {
            put("threads", json!(settings.copies));
        }
        let name = self.phase_name(&format!("lay out {}", plain_name(&it.job.name)));
        let mut phase = data_phase(
            name,
            CachePolicy::Keep,
            vec![parameters],
            (0, it.span.bytes),
        );
        phase.is_measured = false;
        self.phases.push(phase);
        self.written.insert(it.file.clone(), it.span.bytes);
    }

    /// Adds the phase that verifies what jobs have written.
    fn verify(&mut self, translated: &[Translated<'_>], findings: &mut Findings) {
        let mut reads = Vec::new();
        for it in translated {
            let settings = &it.job.settings;
            if !settings.verifies || !settings.do_verify || !settings.pattern.writes {
                continue;
            }
            let covers = matches!(
                it.parameters["access"].as_str(),
                Some("sequential" | "random-once" | "reverse")
            );
            if settings.pattern.reads || !covers || !it.amount.is_whole_file {
                let cause = "fslab verifies the data of a job that writes its whole file, and only \
                             writes";
                findings.refuse(it.job.problem("verify", cause));
                continue;
            }
            let mut parameters = it.parameters.clone();
            for name in [
                "sync",
                "preparation",
                "open_sync",
                "advice",
                "ramp_up_ns",
                "pace",
            ] {
                parameters.remove(name);
            }
            parameters.insert("direction".into(), json!("read"));
            parameters.insert("access".into(), json!("sequential"));
            parameters.insert("verify".into(), json!(true));
            let read = Translated {
                file: it.file.clone(),
                span: it.span.clone(),
                amount: it.amount.clone(),
                parameters,
                ..*it
            };
            reads.extend(copies(&read));
        }
        if reads.is_empty() {
            return;
        }
        let jobs: Vec<_> = translated.iter().map(|it| it.job.clone()).collect();
        set_workers(&mut reads, &jobs, findings);
        let name = self.phase_name(&format!("{} verify", self.group_name(&jobs)));
        let bytes = translated.iter().map(|it| it.span.bytes).sum();
        self.phases
            .push(data_phase(name, CachePolicy::Cold, reads, (0, bytes)));
    }

    /// What is completely there after a phase.
    fn note_written(&mut self, it: &Translated<'_>) {
        let covers = it.parameters["access"] != json!("random-uniform");
        if it.job.settings.pattern.reads || (covers && it.amount.is_whole_file) {
            self.written.insert(it.file.clone(), it.span.bytes);
        }
    }

    /// The name of a phase for `jobs`.
    pub(super) fn group_name(&self, jobs: &[FioJob]) -> String {
        let names: Vec<_> = jobs.iter().map(|job| plain_name(&job.name)).collect();
        let all = names.join("+");
        match names.as_slice() {
            [first, rest @ ..] if all.len() > 50 => {
                let first: String = first.chars().take(40).collect();
                format!("{first}+{} more", rest.len())
            }
            _ => all,
        }
    }

    /// `wanted`, or with a number if another phase has that name.
    pub(super) fn phase_name(&self, wanted: &str) -> String {
        let is_free = |name: &str| self.phases.iter().all(|phase| phase.name != name);
        let wanted: String = wanted.chars().take(58).collect();
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        names.find(|name| is_free(name)).unwrap_or(wanted.clone())
    }
}

/// The jobs of all copies of a job: threads, if each has its own file.
fn copies(it: &Translated<'_>) -> Vec<Parameters> {
    let settings = &it.job.settings;
    let one = |file: &str, copy: u64| {
        let mut parameters = it.parameters.clone();
        parameters.insert("file".into(), json!(file));
        let offset = settings.offset + copy * settings.offset_increment;
        if offset > 0 {
            parameters.insert("offset".into(), json!(offset));
        }
        parameters
    };
    match settings.filename {
        None if settings.offset_increment == 0 || settings.copies == 1 => {
            let mut parameters = one(&it.file, 0);
            if settings.copies > 1 {
                parameters.insert("threads".into(), json!(settings.copies));
            }
            vec![parameters]
        }
        None => {
            let name = plain_name(&it.job.name);
            let of_copy = |copy| one(&format!("{name}.{copy}.0"), copy);
            (0..settings.copies).map(of_copy).collect()
        }
        Some(_) => (0..settings.copies)
            .map(|copy| one(&it.file, copy))
            .collect(),
    }
}

/// Numbers the jobs of each file, so that their random offsets differ.
fn number_streams(jobs: &mut [Parameters]) {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for job in jobs {
        let file = job.get("file").map(Value::to_string).unwrap_or_default();
        let count = counts.entry(file).or_default();
        if *count > 0 {
            job.insert("stream".into(), json!(count));
        }
        *count += 1;
    }
}

/// fio forks a process for each job unless it has `thread`; of a phase's jobs fslab forks all or
/// none.
fn set_workers(expanded: &mut [Parameters], jobs: &[FioJob], findings: &mut Findings) {
    let copies: u64 = jobs.iter().map(|job| job.settings.copies).sum();
    let threads = jobs.iter().filter(|job| job.settings.is_thread).count();
    if copies == 1 || threads == jobs.len() {
        return;
    }
    if threads > 0 {
        let why = "jobs with and without thread run at the same time: all are threads";
        findings.note(jobs[0].note("thread", why));
        return;
    }
    for job in expanded {
        job.insert("workers".into(), json!("processes"));
    }
}

fn data_phase(
    name: String,
    cache: CachePolicy,
    mut jobs: Vec<Parameters>,
    (seconds, bytes): (u64, u64),
) -> DraftPhase {
    let (workload, parameters) = match jobs.len() {
        1 => ("io", jobs.remove(0)),
        _ => {
            let mut parameters = Parameters::new();
            parameters.insert("jobs".into(), json!(jobs));
            ("parallel", parameters)
        }
    };
    DraftPhase {
        name,
        workload,
        cache,
        is_measured: true,
        parameters,
        seconds,
        bytes,
    }
}
