//! `fslab platform`: what fslab can do on each platform.

use clap::Args;
use fslab_model::{Failure, FailureKind};
use fslab_report::{Column, Table, TableCell};
use fslab_sys::{Ability, Platform, abilities};
use serde_json::{Value, json};

use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::{screen, table};

/// Arguments of `fslab platform`.
#[derive(Debug, Args)]
pub(crate) struct PlatformArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Refuses what this platform lacks.
pub(crate) fn demand(ability: Ability) -> Result<(), CommandError> {
    ability.demand().map_err(|reason| {
        let hint = "see `fslab platform` for what each platform supports";
        Failure::new(FailureKind::Unsupported, reason)
            .hint(hint)
            .into()
    })
}

impl PlatformArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match self.json {
            true => screen::print_json(&document())?,
            false => screen::print_styled(&table::render(&table()))?,
        }
        Ok(Exit::Done)
    }
}

fn document() -> Value {
    let rows = abilities().iter().map(|row| {
        let on = Platform::ALL.map(|platform| {
            let value = match row.on(platform) {
                Ok(way) => json!({"has": true, "how": way}),
                Err(reason) => json!({"has": false, "why": reason}),
            };
            (platform.name().to_owned(), value)
        });
        json!({"name": row.name, "on": Value::Object(on.into_iter().collect())})
    });
    json!({"here": Platform::here().name(), "abilities": rows.collect::<Vec<_>>()})
}

fn table() -> Table {
    let rows = abilities().iter().map(|row| {
        let cell = |platform| match row.on(platform) {
            Ok(way) => TableCell::new(way),
            Err(reason) => TableCell::new(format!("no: {reason}")),
        };
        let mut cells = vec![TableCell::new(row.name)];
        cells.extend(Platform::ALL.map(cell));
        cells
    });
    let mut columns = vec![Column::left("What")];
    columns.extend(Platform::ALL.map(|platform| Column::left(platform.name())));
    Table {
        caption: format!(
            "What fslab supports; this platform is {}",
            Platform::here().name()
        ),
        columns,
        rows: rows.collect(),
        notes: vec![
            "fslab was tested on Linux, and on Windows under Wine. It was not tested on macOS and \
             FreeBSD; their columns show what it calls there."
                .into(),
        ],
    }
}
