//! `fslab disk fit`: fits a hard disk to the rates that an original printed.

use std::path::PathBuf;

use clap::Args;
use fslab_claims::{PublishedRow, PublishedValue};
use fslab_disk::bench::{self, FitAlternative, FitResidual, FitTargets, FittedDisk};
use fslab_model::{Bytes, Failure, PhaseEntry, Rate, Study};
use fslab_report::{Column, Table, TableCell};
use fslab_run::{load_original, load_study};
use schemars::JsonSchema;
use serde::Serialize;

use super::profiles;
use crate::exit::CommandError;
use crate::terminal::output_file::put_file;
use crate::terminal::{screen, table};

/// Arguments of `fslab disk fit`.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Study whose original's table to fit: a name, or a file with published.csv in the same
    /// directory
    study: String,
    /// Profile of the hard disk to begin with: a name or a file [default: the study's]
    #[arg(long, value_name = "PROFILE")]
    disk: Option<String>,
    /// Write the fitted profile to this file, as TOML
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The output of `fslab disk fit --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FitDocument<'a> {
    study: &'a str,
    /// The profile with which the fit began.
    disk: &'a str,
    parameters: &'a [bench::FittedParameter],
    /// The best first.
    alternatives: &'a [FitAlternative],
}

impl FitArgs {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let (study, _) = load_study(&self.study)?;
        let rows = load_original(&self.study)?.map(|original| original.published.rows);
        let rows = rows.unwrap_or_default();
        let named = self.disk.as_deref().or(study.disk.as_deref());
        let name = named.ok_or_else(|| {
            let text = format!("the study {} names no disk to begin with", study.name);
            Failure::bad_input(text).hint("name one with --disk")
        })?;
        let disk = profiles::find(name)?;
        let found = bench::fit(&disk, targets(&study, &rows)?)?;
        if let Some(file) = &self.output {
            put_file(found.profile.to_toml().as_bytes(), file)?;
        }
        if self.json {
            return screen::print_json(&FitDocument {
                study: &study.name,
                disk: &disk.name,
                parameters: &found.parameters,
                alternatives: &found.alternatives,
            });
        }
        screen::print_styled(&text(&found))?;
        if let Some(file) = &self.output {
            screen::notice(&format!("fitted profile written to {}", file.display()));
        }
        Ok(())
    }
}

/// The rates of the disk by the table: the upper quartile of each column.
fn targets(study: &Study, rows: &[PublishedRow]) -> Result<FitTargets, Failure> {
    let setup = study.original.as_ref().ok_or_else(|| {
        let text = format!(
            "the study {} says nothing of an original's data",
            study.name
        );
        Failure::bad_input(text).hint("its table [original] must have data and memory")
    })?;
    let seeks = phase(study, "seeks")?;
    let number = |key: &str, default: u64| {
        let value = seeks.parameters.get(key);
        value.and_then(serde_json::Value::as_u64).unwrap_or(default)
    };
    let record = seeks.parameters.get("record");
    let record = record.and_then(|it| it.as_str()?.parse::<Bytes>().ok());
    // Of random reads within the data, memory answers the share that fits into it.
    let in_memory = setup.memory.0 as f64 / setup.data.0 as f64;
    Ok(FitTargets {
        read: upper_quartile(rows, &phase(study, "read")?.name)?,
        write: upper_quartile(rows, &phase(study, "write")?.name)?,
        random: upper_quartile(rows, &seeks.name)? * (1.0 - in_memory.min(1.0)),
        random_bytes: record.unwrap_or(Bytes(4096)),
        random_depth: u32::try_from(number("threads", 1)).unwrap_or(1),
        span: setup.data,
    })
}

/// The phase of that workload.
fn phase<'s>(study: &'s Study, workload: &str) -> Result<&'s PhaseEntry, Failure> {
    let found = study.phases.iter().find(|phase| phase.workload == workload);
    found.ok_or_else(|| {
        let text = format!(
            "cannot fit a disk to {}: no phase has the workload '{workload}'",
            study.name
        );
        Failure::bad_input(text)
            .hint("a fit needs the workloads write, read and seeks, as in bonnie-2010")
    })
}

fn upper_quartile(rows: &[PublishedRow], phase: &str) -> Result<f64, Failure> {
    let is_rate = |row: &&PublishedRow| {
        let metric = row.metric.as_deref();
        row.phase == phase && matches!(metric, Some("rate" | "operations"))
    };
    let rate = |row: &PublishedRow| match row.value {
        PublishedValue::Number(_) => row.in_base_unit(),
        PublishedValue::Missing | PublishedValue::Text(_) => None,
    };
    let rates: Vec<f64> = rows.iter().filter(is_rate).filter_map(rate).collect();
    bench::rate_of_disk(&rates).ok_or_else(|| {
        let text = format!("the original printed no rate of the phase '{phase}'");
        Failure::bad_input(text).hint("fslab study show NAME says what a study has published")
    })
}

fn rate(residual: &FitResidual, value: f64) -> String {
    match residual.is_of_bytes {
        true => Rate::Bytes(value).to_string(),
        false => Rate::Operations(value).to_string(),
    }
}

fn text(found: &FittedDisk) -> String {
    let parameters = Table {
        caption: "Parameters".to_owned(),
        columns: vec![
            Column::left("Key"),
            Column::right("Before"),
            Column::right("Fitted"),
        ],
        rows: found
            .parameters
            .iter()
            .map(|it| [it.key, &it.before, &it.after].map(TableCell::new).to_vec())
            .collect(),
        notes: Vec::new(),
    };
    let rows = found.alternatives.iter().flat_map(|alternative| {
        let cache = if alternative.write_cache { "on" } else { "off" };
        let name = format!("write cache {cache}, queue of {}", alternative.queue_depth);
        alternative.residuals.iter().map(move |residual| {
            vec![
                TableCell::new(&name),
                TableCell::new(residual.name),
                TableCell::new(rate(residual, residual.published)),
                TableCell::new(rate(residual, residual.model)),
                TableCell::new(format!("{:+.1} %", residual.error() * 100.0)),
            ]
        })
    });
    let residuals = Table {
        caption: "Residuals, the best alternative first".to_owned(),
        columns: vec![
            Column::left("Alternative"),
            Column::left("Rate"),
            Column::right("Published"),
            Column::right("Model"),
            Column::right("Error"),
        ],
        rows: rows.collect(),
        notes: vec![
            "Published is the upper quartile of the file systems; of random reads, the part that \
             memory cannot hold."
                .to_owned(),
        ],
    };
    format!(
        "{}\n{}",
        table::render(&parameters),
        table::render(&residuals)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rates_of_a_table_are_its_upper_quartiles_without_what_memory_holds() {
        let (study, _) = load_study("bonnie-2010").expect("built in");
        let rows = load_original("bonnie-2010").expect("readable");
        let rows = rows.expect("an original").published.rows;
        let found = targets(&study, &rows).expect("targets");
        // Between the median and the best of the table, in KiB.
        assert!(
            (57_000.0..60_000.0).contains(&(found.read / 1024.0)),
            "{found:?}"
        );
        assert!(
            (28_000.0..29_600.0).contains(&(found.write / 1024.0)),
            "{found:?}"
        );
        assert!((150.0..300.0).contains(&found.random), "{found:?}");
        assert_eq!((found.random_bytes, found.random_depth), (Bytes(8192), 5));
        let (other, _) = load_study("home-usb").expect("built in");
        let error = targets(&other, &rows).expect_err("no seeks");
        assert!(
            error.message.contains("no phase has the workload 'seeks'"),
            "{error}"
        );
    }
}
