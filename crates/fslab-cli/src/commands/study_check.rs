//! `fslab study check`: checks an original's claims for a run, and shows its figures beside the
//! run's.

use std::path::PathBuf;

use clap::Args;
use fslab_claims::{ClaimOutcome, Original, Scorecard, evaluate, then_and_now};
use fslab_model::{Failure, FailureKind, RunRecord};
use fslab_report::tables;
use fslab_run::{load_claims, load_original, original};

use super::store_args::{StoreArgs, load};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::screen;

/// Arguments of `fslab study check`.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Run: its name or a unique prefix of it, `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    run: String,
    /// Study whose claims are checked, by name or file; a file has claims.toml and published.csv
    /// beside it [default: that of the run]
    #[arg(long, value_name = "STUDY")]
    study: Option<String>,
    /// Check the claims of this file instead
    #[arg(long, value_name = "FILE")]
    claims: Option<PathBuf>,
    /// A run of the same study on another disk, for claims about two disks
    #[arg(long, value_name = "RUN")]
    against: Option<String>,
    /// Show the original's figures beside the run's, and how well the rankings agree
    #[arg(long)]
    published: bool,
    /// Print CSV
    #[arg(long)]
    csv: bool,
    /// Print JSON, with every number that a claim is judged by
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl CheckArgs {
    pub(super) fn exec(&self) -> CommandResult {
        let store = self.store.open_read_only()?;
        let record = load(&store, &self.run)?;
        let other = self
            .against
            .as_ref()
            .map(|run| load(&store, run))
            .transpose()?;
        let original = self.original(&record)?;
        if self.published {
            return self.show_published(&original, &record);
        }
        if original.claims.claims.is_empty() {
            return Err(nothing(&record, "has no claims"));
        }
        let card = evaluate(&original.claims, &record, other.as_ref());
        if self.json {
            screen::print_json(&document(&card))?;
        } else if self.csv {
            screen::print(&tables::claims(&card).to_csv()?)?;
        } else {
            screen::print_styled(&screen::render(&tables::claims(&card)))?;
        }
        Ok(match card.broken().next() {
            Some(_) => Exit::GateFailed,
            None => Exit::Done,
        })
    }

    /// The original whose claims are checked.
    fn original(&self, record: &RunRecord) -> Result<Original, CommandError> {
        let original = match &self.study {
            Some(study) => load_original(study)?,
            None => original(&record.header.plan.study),
        };
        match &self.claims {
            None => original.ok_or_else(|| nothing(record, "repeats no original")),
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
            screen::print(&tables::then_and_now_list(&both).to_csv()?)?;
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
                text.push_str(&format!("{}\n", screen::render(&table)));
            }
            text.push_str(&screen::render(&tables::agreement(&both)));
            screen::print_styled(&text)?;
        }
        Ok(Exit::Done)
    }
}

/// The scorecard with its counts.
fn document(card: &Scorecard) -> serde_json::Value {
    let counts = ClaimOutcome::ALL.map(|outcome| (outcome.as_str(), card.count(outcome)));
    let counts: serde_json::Map<String, serde_json::Value> = counts
        .into_iter()
        .map(|(name, count)| (name.replace(' ', "-"), count.into()))
        .collect();
    serde_json::json!({
        "study": card.study,
        "run": card.run,
        "counts": counts,
        "required_failed": card.broken().map(|verdict| &verdict.id).collect::<Vec<_>>(),
        "claims": card.verdicts,
    })
}

fn nothing(record: &RunRecord, what: &str) -> CommandError {
    let text = format!("the study '{}' {what}", record.header.plan.study);
    let hint = "name another study with --study, or a file of claims with --claims";
    Failure::new(FailureKind::BadInput, text).hint(hint).into()
}
