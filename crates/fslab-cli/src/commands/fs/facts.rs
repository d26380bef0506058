//! `fslab fs facts`: what file systems do, as measured, and how that differs between kernels.

use std::path::PathBuf;

use clap::Args;
use fslab_fs::{FactDifference, FactsTable};
use fslab_model::{Bytes, Failure, RunRecord};
use fslab_report::{Column, Table, TableCell};

use super::command::facts_under;
use crate::commands::measure::guest_lab;
use crate::commands::store::args::{StoreArgs, load_metrics};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::output_file::OutputDirectory;
use crate::terminal::{screen, table};

/// Arguments of `fslab fs facts`.
#[derive(Debug, Args)]
pub(crate) struct FactsArgs {
    /// File systems [default: all]
    names: Vec<String>,
    /// Show the facts under this kernel, a version or a lab; given twice, what differs between them
    /// [default: the kernel of the default lab]
    #[arg(long, value_name = "VERSION|LAB", conflicts_with = "run")]
    kernel: Vec<String>,
    /// Show how the facts that this run of the study conformance measured differ from fslab's; may
    /// be repeated for runs of one lab
    #[arg(long, value_name = "RUN")]
    run: Vec<String>,
    /// Write the facts of --run to KERNEL.toml in this directory
    #[arg(long, value_name = "DIR", requires = "run")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl FactsArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let names = self.names.iter().map(|name| fslab_fs::find(name));
        let names: Vec<&str> = names
            .map(|it| it.map(|it| it.name))
            .collect::<Result<_, _>>()?;
        let is_asked = |name: &str| names.is_empty() || names.contains(&name);
        match self.run.split_first() {
            None => match self.kernel.as_slice() {
                [] => self.show(FactsTable::measured(), &is_asked)?,
                [kernel] => self.show(facts_under(kernel)?, &is_asked)?,
                [base, new] => {
                    self.compare([facts_under(base)?, facts_under(new)?], &is_asked)?;
                }
                _ => {
                    let text = "--kernel is given more than twice";
                    return Err(Failure::bad_input(text).hint("compare two kernels").into());
                }
            },
            Some((first, others)) => {
                let store = self.store.open_read_only()?;
                let of = |run: &str| -> Result<FactsTable, CommandError> {
                    let run: RunRecord = load_metrics(&store, run)?;
                    let mut facts = FactsTable::of_run(&run)?;
                    for lab in run.header.plan.labs() {
                        // The lab of a stranger's run is not here.
                        if let Ok(lab) = guest_lab::find(Some(&lab.digest)) {
                            facts.add_maintenance(&lab.kernel.facts.maintenance);
                        }
                    }
                    Ok(facts)
                };
                let mut found = of(first)?;
                for run in others {
                    found.join(of(run)?)?;
                }
                match &self.out {
                    Some(folder) => write(&found, folder)?,
                    None => self.compare([FactsTable::measured(), &found], &is_asked)?,
                }
            }
        }
        Ok(Exit::Done)
    }

    fn show(
        &self,
        facts: &FactsTable,
        is_asked: &dyn Fn(&str) -> bool,
    ) -> Result<(), CommandError> {
        if self.json {
            let mut facts = facts.clone();
            facts.facts.retain(|name, _| is_asked(name));
            return screen::print_json(&facts);
        }
        let mut text = String::new();
        for name in facts.facts.keys().filter(|name| is_asked(name)) {
            text.push_str(&format!("{}\n", table::render(&table_of(facts, name))));
        }
        screen::print_styled(&text)
    }

    /// Shows the facts that differ.
    fn compare(
        &self,
        [own, found]: [&FactsTable; 2],
        is_asked: &dyn Fn(&str) -> bool,
    ) -> Result<(), CommandError> {
        let mut differences = own.differences(found);
        differences.retain(|it| is_asked(&it.file_system));
        if self.json {
            let documents: Vec<DifferenceDocument<'_>> =
                differences.iter().map(DifferenceDocument::of).collect();
            return screen::print_json(&documents);
        }
        if differences.is_empty() {
            let text = format!(
                "no fact under Linux {} differs from those under Linux {}\n",
                found.kernel, own.kernel
            );
            return screen::print(&text);
        }
        screen::print_styled(&table::render(&difference_table(own, found, &differences)))
    }
}

fn write(found: &FactsTable, folder: &std::path::Path) -> Result<(), CommandError> {
    // The release is a kernel's own text.
    let kernel: String = found.kernel.replace(['/', '\0'], "-");
    let text = found.to_toml();
    let path =
        OutputDirectory::create(folder)?.write(&format!("{kernel}.toml"), text.as_bytes())?;
    screen::print(&format!("facts: {}\n", path.display()))
}

/// The facts of one file system.
fn table_of(facts: &FactsTable, name: &str) -> Table {
    let rows = facts.of(name).into_iter();
    Table {
        caption: format!(
            "{name} under Linux {}, on {}",
            facts.kernel,
            Bytes(facts.size)
        ),
        columns: ["Fact", "Value"].map(Column::left).into(),
        rows: rows
            .map(|(fact, value)| vec![TableCell::new(fact.about), TableCell::new(value)])
            .collect(),
        notes: Vec::new(),
    }
}

fn difference_table(own: &FactsTable, found: &FactsTable, differences: &[FactDifference]) -> Table {
    let rows = differences.iter().map(|it| {
        let value =
            |value: &Option<String>| TableCell::new(value.as_deref().unwrap_or("not measured"));
        vec![
            TableCell::new(&it.file_system),
            TableCell::new(it.fact.about),
            value(&it.values[0]),
            value(&it.values[1]),
        ]
    });
    let columns = [
        "Name".to_owned(),
        "Fact".to_owned(),
        format!("Linux {}", own.kernel),
        format!("Linux {}", found.kernel),
    ];
    Table {
        caption: "Facts that differ".into(),
        columns: columns.map(Column::left).into(),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// A difference in the output of `fslab fs facts --run RUN --json`, or of two kernels.
#[derive(serde::Serialize)]
struct DifferenceDocument<'a> {
    file_system: &'a str,
    fact: &'a str,
    /// As in fslab's table, or under the first kernel; null if it was not measured there.
    own: Option<&'a str>,
    /// As the run found it, or under the second kernel.
    found: Option<&'a str>,
}

impl<'a> DifferenceDocument<'a> {
    fn of(difference: &'a FactDifference) -> Self {
        Self {
            file_system: &difference.file_system,
            fact: difference.fact.name,
            own: difference.values[0].as_deref(),
            found: difference.values[1].as_deref(),
        }
    }
}
