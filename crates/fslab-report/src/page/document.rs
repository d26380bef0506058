//! The HTML document: title, style, choice of subject, the runs, definitions.

use askama::Template;
use fslab_compare::Analysis;
use fslab_model::RunRecord;

use super::names::{Chip, SubjectNames};
use super::{definitions, run};
use crate::chart::shapes;
use crate::{Chapter, ReportError, palette, xml};

/// Renders the report of `runs` as one self-contained HTML document.
///
/// # Errors
/// [`ReportError::NoRun`] for an empty slice, [`ReportError::Template`] if a template fails.
pub fn html(runs: &[RunRecord]) -> Result<String, ReportError> {
    let chapters: Vec<Chapter> = runs.iter().map(Chapter::of).collect();
    html_of(&chapters)
}

/// Renders a report of `chapters` as one self-contained HTML document.
pub fn html_of(chapters: &[Chapter]) -> Result<String, ReportError> {
    let Some(first) = chapters.first() else {
        return Err(ReportError::NoRun);
    };
    let cast = SubjectNames::of(chapters.iter().map(|chapter| chapter.run));
    let parts = chapters
        .iter()
        .enumerate()
        .map(|(index, chapter)| run::Run::of(chapter, &Analysis::of(chapter.run), index, &cast))
        .collect::<Result<Vec<_>, _>>()?;
    let page = Page {
        title: match chapters.len() {
            1 => run::title(first.run),
            several => format!("{several} runs compared by fslab"),
        },
        style: include_str!("../../templates/report.css"),
        colours: palette::rules(cast.0.len()),
        script: concat!(
            "\"use strict\";\n",
            include_str!("../../templates/charts.js"),
            include_str!("../../templates/report.js")
        ),
        shapes: shapes(),
        chips: cast.chips(),
        runs: parts,
        definitions: definitions::parts(),
        version: env!("CARGO_PKG_VERSION"),
    };
    Ok(xml::document(page.render()?))
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    title: String,
    style: &'static str,
    colours: String,
    script: &'static str,
    /// JSON of the shapes that the script draws.
    shapes: String,
    chips: Vec<Chip>,
    runs: Vec<run::Run>,
    definitions: Vec<definitions::Part>,
    version: &'static str,
}
