//! Assembles the readers' results to one run: subjects, repeats, a plan of what was measured;
//! checks that repeats measured the same.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{
    CellId, Failure, FigureLayout, FigureSpec, MachineFacts, Parameters, PhaseOutcome, PhaseRecord,
    PhaseSpec, Plan, Rounds, RunHeader, RunId, RunRecord, Subject, SubjectPlan, TrialId,
    TrialOutcome, TrialRecord, phase_metrics, trial_metrics,
};
use serde_json::Value;

use crate::Format;
use crate::collection::{Collected, Part, Placed, collect};
use crate::error::Fault;
use crate::reading::push_new;

/// Builds the run, and notes what is uncertain.
pub(crate) fn assemble(
    format: Format,
    parts: Vec<Part>,
    labels: &Labels,
) -> Result<(RunRecord, Vec<String>), Failure> {
    let Collected {
        tools,
        engines,
        subjects,
        trials: mut placed,
        mut notes,
        next,
    } = collect(parts, format, labels)?;
    drop_never_run(&mut placed);
    ensure_figures(&placed, format)?;
    ensure_alike(&placed, format)?;
    let phases = phases(&mut placed, &mut notes);
    let tool = tools.join(", ");
    let plan = Plan {
        title: format!("Imported from {tool}"),
        engine: match engines.is_empty() {
            true => format.name().to_owned(),
            false => engines.join(", "),
        },
        subjects: subjects.iter().cloned().map(planned).collect(),
        figures: figures(format, &phases),
        phases,
        // The repeats that every subject has.
        repeats: next.values().min().copied().unwrap_or(1).max(1),
        rounds: rounds(&placed),
        ranks: ranks(&placed),
        ..Plan::imported(format.name(), tool)
    };
    let header = RunHeader {
        run: labels.run.clone(),
        plan_hash: plan.hash(),
        plan,
        fslab: labels.fslab.clone(),
        machine: MachineFacts::default(),
        command: labels.command.clone(),
        started_unix_s: labels.now_unix_s,
    };
    let trials = trials(placed, &subjects, labels.now_unix_s);
    Ok((RunRecord { header, trials }, notes))
}

fn planned(subject: Subject) -> SubjectPlan {
    SubjectPlan {
        title: fslab_fs::title_of(subject.fs()),
        ..SubjectPlan::existing(subject)
    }
}

/// The rounds of a trial: the most of any.
fn rounds(placed: &[Placed]) -> Rounds {
    let phases = placed.iter().flat_map(|trial| &trial.measured.phases);
    let rounds = phases.filter_map(|phase| phase.round);
    rounds.fold(Rounds::ONE, |most, round| Rounds {
        mounts: most.mounts.max(round.mount.saturating_add(1)),
        iterations: most.iterations.max(round.iteration.saturating_add(1)),
    })
}

/// The most ranks that are believed: no machine has run more, and a report has lists of them.
const RANKS_MAX: u32 = 16 << 20;

/// The processes that ran each phase together, if all phases name the same number of them.
fn ranks(placed: &[Placed]) -> u32 {
    let phases = placed.iter().flat_map(|trial| &trial.measured.phases);
    let tasks = phases.map(|phase| phase.parameters.get("tasks").and_then(Value::as_u64));
    let tasks: BTreeSet<Option<u64>> = tasks.collect();
    match tasks.first() {
        Some(Some(count)) if tasks.len() == 1 => {
            let count = u32::try_from(*count).ok();
            count
                .filter(|count| (1..=RANKS_MAX).contains(count))
                .unwrap_or(1)
        }
        _ => 1,
    }
}

/// Removes phases that no trial ran: a tool lists all that it supports.
fn drop_never_run(placed: &mut [Placed]) {
    let is_run = |phase: &&PhaseRecord| !matches!(phase.outcome, PhaseOutcome::Skipped { .. });
    let run: BTreeSet<String> = placed
        .iter()
        .flat_map(|trial| &trial.measured.phases)
        .filter(is_run)
        .map(|phase| phase.name.clone())
        .collect();
    for trial in placed {
        trial
            .measured
            .phases
            .retain(|phase| run.contains(&phase.name));
    }
}

fn ensure_figures(placed: &[Placed], format: Format) -> Result<(), Failure> {
    let has_figure = |phase: &PhaseRecord| {
        !phase_metrics(phase).is_empty() || matches!(phase.outcome, PhaseOutcome::Failed { .. })
    };
    let has_any = placed.iter().any(|trial| {
        trial.measured.phases.iter().any(has_figure) || !trial.measured.steps.is_empty()
    });
    if has_any {
        return Ok(());
    }
    let reason = "every phase was left out, or was too short to be measured";
    let file = placed.first().map_or("", |trial| &trial.file);
    Err(Fault::no_figure(reason).of(file, Some(format)))
}

/// Checks that the repeats of a subject measured the same.
fn ensure_alike(placed: &[Placed], format: Format) -> Result<(), Failure> {
    let mut first: BTreeMap<(&Subject, &str), (&PhaseRecord, &str)> = BTreeMap::new();
    for trial in placed {
        for phase in &trial.measured.phases {
            let key = (&trial.subject, phase.name.as_str());
            let (known, file) = first.entry(key).or_insert((phase, &trial.file));
            let Some(name) = differing(&known.parameters, &phase.parameters)
                .first()
                .cloned()
            else {
                continue;
            };
            let value = |parameters: &Parameters| {
                parameters
                    .get(&name)
                    .map_or_else(|| "not given".to_owned(), ToString::to_string)
            };
            let (here, there) = (value(&phase.parameters), value(&known.parameters));
            let text = format!(
                "not a repeat of the phase '{}': {name} is {here}, but {there} in an earlier one \
                 ({file})",
                phase.name
            );
            let fault = Fault::new("", text).hint(
                "import different measurements as a separate run, or as another subject: \
                 --subject NAME=FILE",
            );
            return Err(fault.of(&trial.file, Some(format)));
        }
    }
    Ok(())
}

fn differing(a: &Parameters, b: &Parameters) -> Vec<String> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let differ = names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name));
    differ.cloned().collect()
}

/// The phases of the plan: those of all trials, in their order. A parameter in which subjects
/// differ is left out of the plan and noted.
fn phases(placed: &mut [Placed], notes: &mut Vec<String>) -> Vec<PhaseSpec> {
    let mut specs: Vec<PhaseSpec> = Vec::new();
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    let mut noted: BTreeSet<String> = BTreeSet::new();
    for phase in placed.iter().flat_map(|trial| &trial.measured.phases) {
        let Some(place) = index.get(&phase.name) else {
            index.insert(phase.name.clone(), specs.len());
            specs.push(PhaseSpec {
                cache: phase.cache,
                swept: phase.swept.clone(),
                ..PhaseSpec::new(&phase.name, &phase.workload, phase.parameters.clone())
            });
            continue;
        };
        let spec = &mut specs[*place];
        for name in differing(&spec.parameters, &phase.parameters) {
            spec.parameters.shift_remove(&name);
            noted.insert(name);
        }
    }
    for name in noted {
        notes.push(format!(
            "subjects differ in {name}: their figures compare only as far as that does not matter"
        ));
        let note = format!("Subjects differ in {name}.");
        for phase in placed
            .iter_mut()
            .flat_map(|trial| &mut trial.measured.phases)
        {
            if phase.parameters.contains_key(&name) {
                phase.notes.push(note.clone());
            }
        }
    }
    specs
}

/// The table in the tool's own layout.
fn figures(format: Format, phases: &[PhaseSpec]) -> Vec<FigureSpec> {
    let (layout, title) = match format {
        Format::Bonnie => (
            FigureLayout::BonnieTable,
            "The table, as bonnie++ prints it",
        ),
        Format::Iozone => (FigureLayout::IozoneTable, "The table, as Iozone prints it"),
        Format::Fio
        | Format::Ior
        | Format::Mdtest
        | Format::Io500
        | Format::Dbench
        | Format::Pgbench
        | Format::Sysbench
        | Format::FsMark
        | Format::Elbencho
        | Format::Diskspd
        | Format::Smallfile
        | Format::Filebench
        | Format::Phoronix
        | Format::Json
        | Format::Csv => {
            return Vec::new();
        }
    };
    let is_of_layout = |phase: &&PhaseSpec| {
        layout != FigureLayout::IozoneTable
            || phase
                .swept
                .as_ref()
                .is_some_and(|swept| swept.point.contains_key("file_size"))
    };
    let mut names: Vec<String> = Vec::new();
    for phase in phases.iter().filter(is_of_layout) {
        let swept = phase.swept.as_ref().map(|swept| swept.phase.clone());
        push_new(&mut names, swept.unwrap_or_else(|| phase.name.clone()));
    }
    if names.is_empty() {
        return Vec::new();
    }
    vec![FigureSpec {
        id: "table".to_owned(),
        title: title.to_owned(),
        layout,
        phases: names,
        metric: None,
        over: None,
        condition: BTreeMap::new(),
        cap: None,
        list: None,
    }]
}

fn trials(placed: Vec<Placed>, subjects: &[Subject], now_unix_s: u64) -> Vec<TrialRecord> {
    let mut trials: Vec<TrialRecord> = Vec::new();
    for (position, trial) in (0..).zip(placed) {
        let cell = subjects
            .iter()
            .position(|subject| *subject == trial.subject);
        let cell = cell
            .and_then(|cell| u32::try_from(cell).ok())
            .unwrap_or_default();
        let failure = trial
            .measured
            .phases
            .iter()
            .find_map(|phase| match &phase.outcome {
                PhaseOutcome::Failed { failure } => Some(failure.clone()),
                _ => None,
            });
        let mut facts = trial.measured.facts;
        facts.insert("imported from".to_owned(), trial.file);
        trials.push(TrialRecord {
            trial: TrialId {
                cell: CellId(cell),
                repeat: trial.repeat,
            },
            subject: trial.subject,
            perturbation: fslab_model::Perturbation::NONE,
            position,
            started_unix_s: trial.measured.began_unix_s.unwrap_or(now_unix_s),
            elapsed_ns: 0,
            outcome: failure.map_or(TrialOutcome::Done, |failure| TrialOutcome::Failed {
                failure,
            }),
            steps: trial.measured.steps,
            phases: trial.measured.phases,
            facts,
            console: String::new(),
            insight: None,
            kernel_log: Vec::new(),
            survival: None,
        });
    }
    trials.sort_by_key(|trial| trial.trial);
    debug_assert!(
        trials
            .iter()
            .flat_map(trial_metrics)
            .all(|metric| metric.value.is_finite())
    );
    trials
}

/// Facts that the outputs lack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// The name of a run that has none.
    pub run: RunId,
    /// The subject of files without a subject.
    pub subject: Option<Subject>,
    /// Version of this fslab.
    pub fslab: String,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// Seconds since 1970.
    pub now_unix_s: u64,
}
