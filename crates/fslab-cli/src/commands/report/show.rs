//! `fslab show`: shows one run.

use clap::Args;
use fslab_compare::Analysis;
use fslab_model::RunRecord;
use fslab_report::{Table, exhibits, sentences, tables};

use crate::commands::report::answer_args::AnswerArgs;
use crate::commands::report::{answer, figure_files};
use crate::commands::store::args::{StoreArgs, load};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::screen::{self, Lines};
use crate::terminal::{bars, table};

/// The most subjects as columns; more are rows.
const SUBJECT_COLUMNS_MAX: usize = 6;
/// The most phases as columns then.
const PHASE_COLUMNS_MAX: usize = 8;

/// Arguments of `fslab show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Run: a name or a unique prefix, `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    run: String,
    /// Show every figure of every phase
    #[arg(long)]
    all: bool,
    /// Show the figures and tables that the study defines
    #[arg(long)]
    figures: bool,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["all", "figures"])]
    json: bool,
    #[command(flatten)]
    answer: AnswerArgs,
    #[command(flatten)]
    store: StoreArgs,
}

impl ShowArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let mut record = load(&self.store.open_read_only()?, &self.run)?;
        self.answer.apply_to_run(&mut record)?;
        if self.json {
            screen::print(&fslab_report::json(&record)?)?;
            return Ok(Exit::Done);
        }
        if self.figures && !self.all {
            return print_figures(&record);
        }
        print_summary(&record)?;
        if self.figures {
            print_figures(&record)?;
        }
        if self.all {
            let analysis = Analysis::of(&record);
            let drivers = tables::ForeignDrivers::of(&analysis);
            let print = |table: Table| {
                screen::print_styled(&format!("\n{}", table::render(&drivers.noted(table))))
            };
            let subjects = || record.header.plan.subjects.iter().map(|plan| &plan.subject);
            for phase in &analysis.phases {
                let figures = tables::sweep(phase, subjects());
                let figures = figures.unwrap_or_else(|| tables::phase(phase, subjects()));
                let certainty = tables::certainty(phase, subjects(), analysis.family);
                let disk = tables::disk(phase, subjects());
                for table in [Some(figures), certainty, disk].into_iter().flatten() {
                    print(table)?;
                }
            }
            let of_run = [
                tables::sensitivity(&analysis),
                tables::spread(&analysis),
                tables::components(&analysis),
            ];
            let details = tables::survival_tables(&analysis).into_iter();
            let mut details = details.filter(|(kind, _)| *kind == "survival-details");
            let details = details.next().map(|(_, table)| table);
            for table in of_run.into_iter().chain([details]).flatten() {
                print(table)?;
            }
            print(tables::trials(&analysis))?;
        }
        Ok(Exit::Done)
    }
}

/// Prints the figures of the study as text.
fn print_figures(record: &RunRecord) -> CommandResult {
    let original = fslab_run::original(&record.header.plan.study);
    let exhibits = exhibits(&Analysis::of(record), original.as_ref());
    if exhibits.is_empty() {
        screen::notice("the study of this run defines no figures");
    }
    for exhibit in &exhibits {
        screen::print_styled(&format!(
            "\n{}",
            figure_files::text(exhibit, Lines::of_output())
        ))?;
    }
    Ok(Exit::Done)
}

/// Prints the tables and sentences that summarise a run.
pub(crate) fn print_summary(record: &RunRecord) -> Result<(), CommandError> {
    let analysis = Analysis::of(record);
    let header = &record.header;
    let lines = Lines::of_output();
    let paragraph = |words: &str| lines.wrap(&screen::plain(words));
    let mut text = paragraph(&format!(
        "{} ({}), run {}, venue {}, {} of {} done",
        header.plan.title,
        header.plan.study,
        header.run,
        header.plan.venue.kind().as_str(),
        record.trials_done(),
        screen::counted(record.trials_planned(), "trial")
    ));
    text.push('\n');
    text.push_str(&screen::plain(&answer::answer_text(
        &analysis,
        lines.columns,
    )));
    let layers = header.plan.venue.layers().iter().map(ToString::to_string);
    let layers: Vec<_> = layers.collect();
    if !layers.is_empty() {
        let layers = layers.join(", ");
        text.push_str(&paragraph(&format!(
            "Layers over the guest's root: {layers}"
        )));
        text.push('\n');
    }
    let mut shown = if header.plan.subjects.len() > SUBJECT_COLUMNS_MAX {
        tables::overview_by_subject(&analysis, PHASE_COLUMNS_MAX)
    } else {
        vec![tables::overview(&analysis)]
    };
    shown.extend(tables::overall(&analysis));
    let bars_after = shown.len();
    shown.extend(tables::aged(&analysis));
    shown.extend(tables::diagnosis(&analysis));
    shown.extend(tables::durable(&analysis));
    let survival = tables::survival_tables(&analysis).into_iter();
    let survival = survival.filter(|(kind, _)| *kind != "survival-details");
    shown.extend(survival.map(|(_, table)| table));
    shown.extend(tables::steps(&analysis));
    shown.extend(tables::failures(&analysis));
    shown.extend(tables::ranks(&analysis));
    shown.extend(tables::disturbances(&analysis));
    shown.extend(tables::kernel_log(&analysis));
    let drivers = tables::ForeignDrivers::of(&analysis);
    for (index, table) in shown.into_iter().enumerate() {
        text.push_str(&table::render_within(&drivers.noted(table), lines));
        text.push('\n');
        let bars = (index + 1 == bars_after).then(|| bars::overall(&analysis, lines));
        if let Some(bars) = bars.flatten() {
            text.push_str(&bars);
            text.push('\n');
        }
    }
    for sentence in sentences(&analysis) {
        text.push_str(&paragraph(&sentence.to_string()));
    }
    // The fingerprint of an incomplete run is not comparable.
    let is_complete = record.trials.len() == record.trials_planned();
    if let Some(fingerprint) = record.fingerprint().filter(|_| is_complete) {
        text.push_str(&paragraph(&fingerprint_line(record, &fingerprint)));
    }
    screen::print_styled(&text)
}

/// The fingerprint of a run in virtual time, with the lab, plan and seed that it depends on.
fn fingerprint_line(record: &RunRecord, fingerprint: &str) -> String {
    let plan = &record.header.plan;
    let repeats = plan
        .cells()
        .map(|cell| record.cell(cell.id).count())
        .max()
        .unwrap_or(0);
    let repeats = match (plan.perturb, repeats) {
        (_, 1) => "1 repeat".to_owned(),
        (true, many) => format!("{many} repeats, perturbed"),
        (false, many) => format!("{many} repeats, not perturbed"),
    };
    let labs = record.labs();
    let noun = if labs.len() == 1 { "lab" } else { "labs" };
    format!(
        "Fingerprint {fingerprint}: these records belong to the {noun} {} and the plan {} with \
         the seed {} and {repeats}.",
        labs.join(", "),
        record.header.plan_hash.short(),
        plan.seed
    )
}
