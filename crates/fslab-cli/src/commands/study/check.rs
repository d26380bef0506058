//! `fslab study check`: checks an original's claims for a run, and shows its figures beside the
//! run's.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use fslab_claims::{
    ClaimOutcome, ClaimVerdict, Claims, FurtherRun, Original, Scorecard, evaluate,
    evaluate_original, then_and_now,
};
use fslab_model::{Failure, FailureKind, RunRecord, VenueKind, nearest_name, suggestion};
use fslab_report::tables;
use fslab_run::{load_claims, load_original, original};
use fslab_store::Store;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::store::args::{StoreArgs, load_metrics};
use crate::commands::store::csv_args::CsvArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::{screen, table};

/// Arguments of `fslab study check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Run: a name or a unique prefix, `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    run: String,
    /// Study whose claims to check: a name, or a file with claims.toml and published.csv in the
    /// same directory [default: the run's]
    #[arg(long, value_name = "STUDY")]
    study: Option<String>,
    /// Check the claims in this file instead
    #[arg(long, value_name = "FILE")]
    claims: Option<PathBuf>,
    /// Another run of the same study, for claims about several platforms or disks; may be repeated.
    /// For an import, add the platform by its name in the claims, for example RUN=windows
    #[arg(long, value_name = "RUN[=PLATFORM]", conflicts_with = "published")]
    against: Vec<Against>,
    /// Check the claims of --study against the original's own published figures
    #[arg(
        long,
        requires = "study",
        conflicts_with_all = ["run", "claims", "against", "published"]
    )]
    original: bool,
    /// Show the original's figures next to the run's, how well the rankings agree, and the single
    /// factor that best converts one into the other
    #[arg(long)]
    published: bool,
    /// Print CSV
    #[arg(long)]
    csv: bool,
    /// Print JSON, with all numbers by which each claim is judged
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    #[command(flatten)]
    csv_cells: CsvArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// A further run, with its platform.
#[derive(Clone, Debug)]
struct Against {
    run: String,
    platform: Option<String>,
}

impl FromStr for Against {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (run, platform) = match text.split_once('=') {
            Some((run, platform)) => (run, Some(platform)),
            None => (text, None),
        };
        if run.is_empty() || platform == Some("") {
            return Err(format!(
                "'{text}' is not RUN or RUN=PLATFORM, for example last=windows"
            ));
        }
        Ok(Self {
            run: run.to_owned(),
            platform: platform.map(str::to_owned),
        })
    }
}

impl CheckArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        if let (true, Some(study)) = (self.original, &self.study) {
            let original = load_original(study)?;
            let original = original.ok_or_else(|| nothing(study, "has no published original"))?;
            return self.show(&evaluate_original(&original));
        }
        let store = self.store.open_read_only()?;
        let record = load_metrics(&store, &self.run)?;
        let original = self.original(&record)?;
        if self.published {
            return self.show_published(&original, &record);
        }
        if original.claims.claims.is_empty() {
            return Err(nothing(&record.header.plan.study, "has no claims"));
        }
        self.show(&self.evaluate(&store, &original, &record)?)
    }

    fn show(&self, card: &Scorecard) -> CommandResult {
        if self.json {
            screen::print_json(&ScorecardDocument::of(card))?;
        } else if self.csv {
            screen::print(&tables::claims(card).to_csv(self.csv_cells.cells())?)?;
        } else {
            screen::print_styled(&table::render(&tables::claims(card)))?;
        }
        Ok(match card.broken().next() {
            Some(_) => Exit::GateFailed,
            None => Exit::Done,
        })
    }

    /// The claims for `record` and the further runs.
    fn evaluate(
        &self,
        store: &Store,
        original: &Original,
        record: &RunRecord,
    ) -> Result<Scorecard, CommandError> {
        let mut further = Vec::new();
        for against in &self.against {
            ensure_known(against.platform.as_deref(), &original.claims)?;
            let run = load_metrics(store, &against.run)?;
            if against.platform.is_none() && run.header.plan.venue.kind() == VenueKind::Imported {
                let name = &against.run;
                let text = format!("the import {name} of --against does not name its platform");
                let hint = format!("name it, for example --against {name}=windows");
                return Err(Failure::new(FailureKind::BadInput, text).hint(hint).into());
            }
            further.push((run, against.platform.as_deref()));
        }
        let further = further.iter().map(|(run, platform)| FurtherRun {
            run,
            platform: *platform,
        });
        let further: Vec<FurtherRun<'_>> = further.collect();
        Ok(evaluate(&original.claims, record, &further))
    }

    /// The original whose claims are checked.
    fn original(&self, record: &RunRecord) -> Result<Original, CommandError> {
        let original = match &self.study {
            Some(study) => load_original(study)?,
            None => original(&record.header.plan.study),
        };
        match &self.claims {
            None => original
                .ok_or_else(|| nothing(&record.header.plan.study, "has no published original")),
            Some(file) => {
                let claims = load_claims(file)?.ok_or_else(|| {
                    let text = format!("there is no file {}", file.display());
                    CommandError::from(Failure::new(FailureKind::BadInput, text))
                })?;
                let published = original.map(|original| original.published);
                Ok(Original {
                    claims,
                    published: published.unwrap_or_default(),
                })
            }
        }
    }

    fn show_published(&self, original: &Original, record: &RunRecord) -> CommandResult {
        let both = then_and_now(original, record);
        if self.json {
            screen::print_json(&both)?;
        } else if self.csv {
            screen::print(&tables::then_and_now_list(&both).to_csv(self.csv_cells.cells())?)?;
        } else if both.groups.is_empty() {
            screen::notice("the original and this run have no figure in common");
        } else {
            let mut text = format!(
                "{} figures of {} and of run {}, scale {}\n\n",
                both.compared(),
                screen::plain(&both.study),
                both.run,
                both.scale
            );
            for table in tables::then_and_now(&both) {
                text.push_str(&format!("{}\n", table::render(&table)));
            }
            text.push_str(&format!("{}\n", table::render(&tables::agreement(&both))));
            text.push_str(&table::render(&tables::one_factor(&both)));
            screen::print_styled(&text)?;
        }
        Ok(Exit::Done)
    }
}

/// Refuses a platform that no claim names.
fn ensure_known(platform: Option<&str>, claims: &Claims) -> Result<(), CommandError> {
    let known: BTreeSet<&str> = claims.platforms.values().map(String::as_str).collect();
    let Some(unknown) = platform.filter(|platform| !known.contains(platform)) else {
        return Ok(());
    };
    let study = &claims.study;
    let text = format!("'{unknown}' of --against is not a platform of the claims of {study}");
    let hint = match known.is_empty() {
        true => {
            "the claims name no platform; use --against RUN for a run on another disk".to_owned()
        }
        false => {
            let nearest = suggestion(nearest_name(unknown, known.iter().copied()));
            let known: Vec<&str> = known.into_iter().collect();
            format!("the claims name {}{nearest}", known.join(", "))
        }
    };
    let failure = Failure::new(FailureKind::BadInput, text).hint(hint);
    Err(failure.into())
}

/// The scorecard with its counts.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ScorecardDocument<'a> {
    study: &'a str,
    run: &'a str,
    counts: OutcomeCounts,
    /// The names of the required claims that fail.
    required_failed: Vec<&'a str>,
    claims: &'a [ClaimVerdict],
}

/// How many claims have which outcome.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
struct OutcomeCounts {
    holds: usize,
    fails: usize,
    undecided: usize,
    not_measured: usize,
    not_applicable: usize,
}

impl<'a> ScorecardDocument<'a> {
    fn of(card: &'a Scorecard) -> Self {
        Self {
            study: &card.study,
            run: &card.run,
            counts: OutcomeCounts {
                holds: card.count(ClaimOutcome::Holds),
                fails: card.count(ClaimOutcome::Fails),
                undecided: card.count(ClaimOutcome::Undecided),
                not_measured: card.count(ClaimOutcome::NotMeasured),
                not_applicable: card.count(ClaimOutcome::NotApplicable),
            },
            required_failed: card.broken().map(|verdict| verdict.id.as_str()).collect(),
            claims: &card.verdicts,
        }
    }
}

fn nothing(study: &str, what: &str) -> CommandError {
    let text = format!("the study '{study}' {what}");
    let hint = "name another study with --study, or a file of claims with --claims";
    Failure::new(FailureKind::BadInput, text).hint(hint).into()
}
