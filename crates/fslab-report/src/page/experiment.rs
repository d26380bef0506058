//! The page of an experiment.

use askama::Template;
use fslab_compare::Experiment;

use super::names::slug;
use super::tables::{Looks, Style, render};
use crate::{ReportError, model_sentence, palette, tables, wording, xml};

/// Renders what the runs of an experiment say together as one self-contained HTML document.
pub fn experiment_html(experiment: &Experiment, study: &str) -> Result<String, ReportError> {
    let names: Vec<String> = experiment
        .factors
        .iter()
        .map(|it| it.name.clone())
        .collect();
    let looks = Looks::by_index();
    let tables = tables::experiment(experiment)
        .iter()
        .map(|table| render(table, Style::Sheet, &looks, &slug(&table.caption)))
        .collect::<Result<Vec<String>, _>>()?;
    let run = |place: usize| {
        format!(
            "{}: {}",
            experiment.conditions[place].run,
            experiment.condition_text(place)
        )
    };
    let subjects: Vec<String> = experiment.subjects.iter().map(wording::name).collect();
    let page = Page {
        title: format!("{study}: experiment over {}", wording::list(&names)),
        answer: model_sentence(experiment),
        about: format!(
            "{} in {}.",
            wording::list(&subjects),
            wording::count(experiment.planned, "condition")
        ),
        style: include_str!("../../templates/report.css"),
        colours: palette::rules(experiment.subjects.len()),
        tables,
        runs: (0..experiment.conditions.len()).map(run).collect(),
        version: env!("CARGO_PKG_VERSION"),
    };
    Ok(xml::document(page.render()?))
}

#[derive(Template)]
#[template(path = "experiment.html")]
struct Page {
    title: String,
    answer: Option<String>,
    about: String,
    style: &'static str,
    colours: String,
    tables: Vec<String>,
    runs: Vec<String>,
    version: &'static str,
}
