//! One run's part of the page.

use fslab_compare::Analysis;
use fslab_model::{Plan, RunRecord, TrialOutcome, VenuePlan};

use super::claims::ClaimsPart;
use super::conditions::{Facts, facts};
use super::context::PageContext;
use super::disk::DiskPart;
use super::exhibits::ExhibitPart;
use super::names::{SubjectNames, subjects_in_words, unbroken};
use super::panel::Panel;
use super::phase::PhasePart;
use super::scaling;
use super::tables::{Looks, Style, render};
use crate::chart::Label;
use crate::sentences::{SentenceKind, sentences};
use crate::wording::count;
use crate::{Answer, Chapter, ReportError, Table, tables};

/// The title of the overview's column of winners.
const FASTEST: &str = "Fastest";

pub(super) struct Run {
    /// Prefix of every id of the run.
    pub(super) prefix: String,
    pub(super) title: String,
    pub(super) study: String,
    /// The facts below the title.
    pub(super) brief: Vec<(&'static str, String)>,
    pub(super) answer: Option<Answer>,
    pub(super) outcome: String,
    pub(super) lead: Vec<String>,
    pub(super) caveats: Vec<String>,
    /// The picture of all phases.
    pub(super) ratios: Option<Panel>,
    pub(super) overview: String,
    /// Rates by the number of ranks, and their pictures.
    pub(super) scaling: Option<String>,
    pub(super) scaling_panels: Vec<Panel>,
    /// The geometric mean over all phases.
    pub(super) score: Option<String>,
    pub(super) overall: Option<String>,
    /// Wide intervals, anomalies, and variance components.
    pub(super) confidence: Vec<String>,
    pub(super) exhibits: Vec<ExhibitPart>,
    pub(super) claims: Option<ClaimsPart>,
    pub(super) aged: Option<String>,
    pub(super) failures: Option<String>,
    pub(super) phases: Vec<PhasePart>,
    pub(super) disk: Option<DiskPart>,
    pub(super) durable: Vec<Panel>,
    pub(super) durable_table: Option<String>,
    pub(super) survival: Vec<String>,
    pub(super) steps: Vec<Panel>,
    pub(super) steps_table: Option<String>,
    pub(super) commands: String,
    pub(super) trials: String,
    pub(super) consoles: Vec<(String, String)>,
    pub(super) facts: Vec<Facts>,
}

/// What the run recommends.
fn answer_of(chapter: &Chapter, analysis: &Analysis) -> Option<Answer> {
    let none = crate::Reservations::new();
    let mut answer = crate::answer(analysis, chapter.reservations.unwrap_or(&none))?;
    answer.text = unbroken(&answer.text);
    for remark in &mut answer.remarks {
        remark.text = unbroken(&remark.text);
    }
    Some(answer)
}

/// The title of a run's report.
pub(super) fn title(run: &RunRecord) -> String {
    format!("{}: {}", run.header.plan.title, subjects_in_words(run))
}

impl Run {
    pub(super) fn of(
        chapter: &Chapter,
        analysis: &Analysis,
        index: usize,
        cast: &SubjectNames,
    ) -> Result<Self, ReportError> {
        let prefix = format!("r{}-", index + 1);
        let looks = Looks::of(analysis, cast, &prefix);
        let labels: Vec<Label> = analysis.subjects().map(|s| cast.label(s)).collect();
        let stage = PageContext {
            analysis,
            looks: &looks,
            labels: &labels,
            prefix: &prefix,
        };
        let sheet = |table: &Table, id: &str| render(table, Style::Sheet, &looks, id);
        let optional =
            |table: Option<Table>, id| table.as_ref().map(|table| sheet(table, id)).transpose();
        let summary = sentences(analysis);
        let of_kind = |wanted: &dyn Fn(SentenceKind) -> bool| -> Vec<String> {
            let found = summary.iter().filter(|sentence| wanted(sentence.kind));
            found.map(|sentence| unbroken(&sentence.text)).collect()
        };
        let run = analysis.run;
        Ok(Self {
            title: subjects_in_words(run),
            study: run.header.plan.title.clone(),
            brief: brief(run, analysis.is_exact()),
            answer: answer_of(chapter, analysis),
            outcome: of_kind(&|kind| kind == SentenceKind::Outcome).join(" "),
            lead: of_kind(&is_lead),
            caveats: chapter
                .differences
                .iter()
                .cloned()
                .chain(of_kind(&|kind| kind == SentenceKind::Caveat))
                .collect(),
            ratios: stage.ratios(),
            overview: {
                let table = winners_first(tables::overview(analysis));
                render(&table, Style::Heat, &looks, "overview.table")?
            },
            scaling: optional(chapter.scaling.map(tables::scaling), "scaling.table")?,
            scaling_panels: (chapter.scaling)
                .map_or_else(Vec::new, |it| scaling::panels(it, &prefix)),
            score: optional(tables::score(analysis), "score.table")?,
            overall: optional(tables::overall(analysis), "overall.table")?,
            confidence: sheets(&confidence(analysis), "certainty.", &looks)?,
            exhibits: stage.exhibits(chapter)?,
            claims: stage.claims(chapter)?,
            aged: optional(tables::aged(analysis), "aged.table")?,
            failures: optional(tables::failures(analysis), "failures.table")?,
            phases: analysis
                .phases
                .iter()
                .map(|phase| stage.phase(phase))
                .collect::<Result<_, _>>()?,
            disk: stage.disk_of_trial()?,
            durable: analysis
                .phases
                .iter()
                .filter_map(|p| stage.durable(p))
                .collect(),
            durable_table: optional(tables::durable(analysis), "durable.table")?,
            survival: sheets(&tables::survival_tables(analysis), "", &looks)?,
            steps: steps(&stage),
            steps_table: optional(tables::steps(analysis), "steps.table")?,
            commands: sheet(&tables::commands(analysis), "commands.table")?,
            trials: sheet(&tables::trials(analysis), "trials.table")?,
            consoles: consoles(run),
            facts: facts(analysis),
            prefix,
        })
    }
}

impl Run {
    /// The parts that the run has, by the suffix of their ids and title.
    pub(super) fn sections(&self) -> Vec<(&'static str, &'static str)> {
        let parts = [
            (true, ("overview", "Overview")),
            (!self.confidence.is_empty(), ("certainty", "Confidence")),
            (self.aged.is_some(), ("aged", "Fresh and aged")),
            (
                !self.exhibits.is_empty(),
                ("exhibits", "Figures of the study"),
            ),
            (
                self.claims.is_some(),
                ("claims", "What the original claims"),
            ),
            (
                self.failures.is_some(),
                ("failures", "Failed, skipped, missing"),
            ),
            (!self.phases.is_empty(), ("phases", "Phase by phase")),
            (
                self.disk.is_some(),
                ("disk", "The disk over the entire trial"),
            ),
            (
                self.durable_table.is_some(),
                ("durable", "Until the data is durable"),
            ),
            (
                !self.survival.is_empty(),
                ("survival", "What a power loss leaves"),
            ),
            (self.steps_table.is_some(), ("steps", "mkfs, mount, check")),
            (true, ("conditions", "Conditions")),
        ];
        let there = parts.into_iter().filter(|(there, _)| *there);
        there.map(|(_, part)| part).collect()
    }
}

/// True for the sentences on the subjects.
fn is_lead(kind: SentenceKind) -> bool {
    matches!(
        kind,
        SentenceKind::Score | SentenceKind::Tally | SentenceKind::Claim | SentenceKind::NoWinner
    )
}

/// The tables as HTML, each under an id of `prefix` and its kind.
fn sheets(
    tables: &[(&str, Table)],
    prefix: &str,
    looks: &Looks,
) -> Result<Vec<String>, ReportError> {
    let sheets = tables
        .iter()
        .map(|(kind, table)| render(table, Style::Sheet, looks, &format!("{prefix}{kind}")));
    sheets.collect()
}

/// The tables that qualify the figures, by kind.
pub(super) fn confidence(analysis: &Analysis) -> Vec<(&'static str, Table)> {
    let found = [
        ("sensitivity", tables::sensitivity(analysis)),
        ("spread", tables::spread(analysis)),
        ("oddities", tables::diagnosis(analysis)),
        ("components", tables::components(analysis)),
        ("ranks", tables::ranks(analysis)),
        ("disturbances", tables::disturbances(analysis)),
        ("kernel", tables::kernel_log(analysis)),
    ];
    let there = found.into_iter();
    there
        .filter_map(|(kind, table)| Some((kind, table?)))
        .collect()
}

/// The overview with the column of winners first, so that it is visible with many subjects.
pub(super) fn winners_first(mut table: Table) -> Table {
    let found = table
        .columns
        .iter()
        .position(|column| column.title == FASTEST);
    if let Some(place) = found.filter(|place| *place > 1) {
        table.columns[1..=place].rotate_right(1);
        for row in &mut table.rows {
            row[1..=place].rotate_right(1);
        }
    }
    table
}

/// The venue with the size of its file systems; of an imported run, the tool.
fn place(plan: &Plan) -> String {
    match &plan.venue {
        VenuePlan::Imported { tool } => format!("imported from {tool}"),
        venue => format!("{}, {}", venue.kind().as_str(), plan.size_bytes),
    }
}

/// The repeats of a cell, or their range if the run has a target of precision.
fn repeats(plan: &Plan) -> String {
    match &plan.adaptive {
        Some(adaptive) => format!("{} to {}", plan.repeats, adaptive.repeats_max),
        None => plan.repeats.to_string(),
    }
}

fn brief(run: &RunRecord, exact: bool) -> Vec<(&'static str, String)> {
    let (header, plan) = (&run.header, &run.header.plan);
    let mut brief = vec![
        ("venue", place(plan)),
        if exact {
            ("trials", run.trials_planned().to_string())
        } else {
            (
                "repeats",
                format!(
                    "{}, {}",
                    repeats(plan),
                    count(run.trials_planned(), "trial")
                ),
            )
        },
        (
            "began",
            format!("{} UTC", tables::utc(header.started_unix_s)),
        ),
    ];
    if let VenuePlan::Sim { disk, machine, .. } = &plan.venue {
        brief.insert(1, ("disk", disk.profile.clone()));
        let machine = machine.as_ref().map(ToString::to_string);
        brief.extend(machine.map(|machine| ("machine", machine)));
    }
    brief.extend(kernel(run).map(|kernel| ("kernel", kernel)));
    let labs = plan.labs().into_iter().map(|lab| lab.digest);
    let labs: Vec<_> = labs.filter(|digest| !digest.is_empty()).collect();
    if !labs.is_empty() {
        brief.push(("lab", labs.join(", ")));
    }
    let host = header.machine.host.clone();
    brief.extend(host.map(|host| ("host", host)));
    brief
}

/// The kernel releases that the trials ran on: in guests, the guests'.
fn kernel(run: &RunRecord) -> Option<String> {
    let labs = run.header.plan.labs();
    if labs.is_empty() {
        return run.header.machine.kernel.clone();
    }
    let releases = labs.iter().filter_map(|lab| lab.kernel.split('@').next());
    let mut releases: Vec<_> = releases.collect();
    releases.dedup();
    Some(releases.join(", "))
}

fn steps(stage: &PageContext) -> Vec<Panel> {
    let steps = stage.analysis.steps.iter();
    steps
        .map(|comparison| {
            let name = comparison.metric.name.trim_end_matches("_ns");
            let id = format!("{}steps", stage.prefix);
            stage.dots(comparison, &[], (&id, name, name))
        })
        .collect()
}

/// Standard error of failed trials.
fn consoles(run: &RunRecord) -> Vec<(String, String)> {
    run.trials
        .iter()
        .filter(|trial| trial.outcome != TrialOutcome::Done && !trial.console.is_empty())
        .map(|trial| {
            let title = format!("{}, repeat {}", trial.subject, trial.trial.repeat + 1);
            (title, trial.console.clone())
        })
        .collect()
}
