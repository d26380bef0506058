//! `fslab experiment`: what the runs of an experiment say together.

use std::path::{Path, PathBuf};

use clap::Args;
use fslab_compare::Experiment;
use fslab_model::{Failure, FailureKind, RunHeader, RunRecord};
use fslab_report::{experiment_html, model_sentence, tables};
use fslab_store::{RunFilter, RunSelector, Store};
use serde::Serialize;

use crate::commands::store::args::StoreArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::output_file::OutputDirectory;
use crate::terminal::screen;

/// Arguments of `fslab experiment`.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// Experiment: a name, or `last` for the newest one
    #[arg(default_value = "last")]
    experiment: String,
    /// Directory for the page
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl ExperimentArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let store = self.store.open_read_only()?;
        let records = records(&store, &self.experiment)?;
        super::prepare_folder(&self.out)?;
        show(&Experiment::of(&records)?, &records, self.json, &self.out)?;
        Ok(Exit::Done)
    }
}

/// The newest run of each condition of the experiment `name`, or of the newest one.
pub(crate) fn headers(store: &Store, name: Option<&str>) -> Result<Vec<RunHeader>, CommandError> {
    let mut wanted = name.map(str::to_owned);
    let mut headers: Vec<RunHeader> = Vec::new();
    for listed in store.runs(&RunFilter::default(), None)? {
        let Some(summary) = listed.sound() else {
            continue;
        };
        let header = store.header(&summary.run)?;
        let Some(condition) = &header.plan.condition else {
            continue;
        };
        let wanted = wanted.get_or_insert_with(|| condition.experiment.clone());
        let mut known = headers.iter();
        let is_known = known.any(|it| it.plan.condition == header.plan.condition);
        if condition.experiment == *wanted && !is_known {
            headers.push(header);
        }
    }
    Ok(headers)
}

fn records(store: &Store, name: &str) -> Result<Vec<RunRecord>, CommandError> {
    let headers = headers(store, Some(name).filter(|name| *name != "last"))?;
    let record = |header: RunHeader| store.run(&RunSelector::from(header.run));
    let records: Vec<RunRecord> = headers.into_iter().map(record).collect::<Result<_, _>>()?;
    if records.is_empty() {
        let text = match name {
            "last" => "the store has no experiment".to_owned(),
            name => format!("the store has no experiment '{name}'"),
        };
        let hint = "an experiment is made by --vary, for example fslab compare ext4 xfs --venue \
                    sim --vary memory=512MiB,2GiB";
        return Err(Failure::new(FailureKind::BadInput, text).hint(hint).into());
    }
    Ok(records)
}

/// Prints the tables of an experiment, or its JSON, and writes its page.
pub(crate) fn show(
    experiment: &Experiment,
    records: &[RunRecord],
    json: bool,
    out: &Path,
) -> Result<(), CommandError> {
    let header = records.first().map(|record| &record.header);
    let study = header.map_or("", |header| header.plan.study.as_str());
    let condition = header.and_then(|header| header.plan.condition.as_ref());
    let name = condition.map_or("", |condition| condition.experiment.as_str());
    if json {
        screen::print_json(&Document::of(name, experiment))?;
    } else {
        if let Some(sentence) = model_sentence(experiment) {
            screen::print_styled(&format!("{sentence}\n\n"))?;
        }
        for table in tables::experiment(experiment) {
            screen::print_styled(&format!("{}\n", crate::terminal::table::render(&table)))?;
        }
    }
    let page = experiment_html(experiment, study)?;
    let file = format!("fslab-experiment-{name}.html");
    let path = OutputDirectory::create(out)?.write(&file, page.as_bytes())?;
    let line = format!("report: {}", path.display());
    if json {
        screen::say(&line);
    } else {
        screen::print(&format!("{line}\n"))?;
    }
    Ok(())
}

/// The output of `fslab experiment --json`.
#[derive(Serialize)]
struct Document<'a> {
    experiment: &'a str,
    factors: Vec<FactorDocument<'a>>,
    subjects: Vec<String>,
    /// The number of conditions of the complete plan.
    planned: usize,
    /// Null unless the disk is the only factor, drawn within the uncertainty of one profile.
    model: Option<ModelDocument>,
    conditions: Vec<ConditionDocument<'a>>,
    effects: Vec<EffectDocument>,
}

#[derive(Serialize)]
struct FactorDocument<'a> {
    name: &'a str,
    levels: &'a [String],
}

#[derive(Serialize)]
struct ModelDocument {
    disk: String,
    /// How many disks were drawn.
    draws: usize,
    subject: String,
    /// The drawn disks on which it is first.
    first_in: usize,
    /// Its speed relative to the best of the others, with the stated figures of the disk.
    stated_lead: f64,
    /// The least and the most of that over all disks.
    leads: [f64; 2],
}

#[derive(Serialize)]
struct ConditionDocument<'a> {
    run: String,
    levels: Vec<&'a str>,
    first: Vec<String>,
    is_certain: bool,
    /// Relative to the best; null for a subject that takes no part.
    speeds: &'a [Option<f64>],
}

#[derive(Serialize)]
struct EffectDocument {
    /// Null for the measure of the answer.
    phase: Option<String>,
    /// `repeats`, a factor, or factors with × between them.
    effect: String,
    share: f64,
    interval: Option<[f64; 2]>,
}

impl<'a> Document<'a> {
    fn of(name: &'a str, experiment: &'a Experiment) -> Self {
        let subject = |place: &usize| experiment.subjects[*place].subject.to_string();
        let conditions = experiment.conditions.iter().map(|condition| {
            let levels = condition.levels.iter().zip(&experiment.factors);
            ConditionDocument {
                run: condition.run.to_string(),
                levels: levels
                    .map(|(level, factor)| factor.levels[*level].as_str())
                    .collect(),
                first: condition.first.iter().map(subject).collect(),
                is_certain: condition.is_certain,
                speeds: &condition.speeds,
            }
        });
        let effects = experiment.effects.iter().flat_map(|effects| {
            effects.shares.iter().map(|share| EffectDocument {
                phase: effects.phase.clone(),
                effect: experiment.effect_text(share),
                share: share.share,
                interval: share.interval.map(|it| [it.low, it.high]),
            })
        });
        let factors = experiment.factors.iter().map(|factor| FactorDocument {
            name: &factor.name,
            levels: &factor.levels,
        });
        let subjects = experiment.subjects.iter();
        Self {
            experiment: name,
            factors: factors.collect(),
            subjects: subjects.map(|it| it.subject.to_string()).collect(),
            planned: experiment.planned,
            model: experiment.model_band().map(|band| ModelDocument {
                disk: band.disk,
                draws: band.draws,
                subject: subject(&band.subject),
                first_in: band.first_in,
                stated_lead: band.stated_lead,
                leads: band.leads.into(),
            }),
            conditions: conditions.collect(),
            effects: effects.collect(),
        }
    }
}
