//! The charts and tables of a report as separate files.
//!
//! Page and files have the same content: both use the same parts and the same functions for tables.

use fslab_compare::Analysis;

use super::names::SubjectNames;
use super::panel::Panel;
use super::run::{Run, confidence, winners_first};
use crate::chart::Label;
use crate::{Chapter, ReportError, Table, exhibit, tables, wording};

/// A chart of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartFile {
    /// Its phase; `None` if it is about the run.
    pub phase: Option<String>,
    /// Its kind in a word: `rate`, `latency`, `series`.
    pub kind: String,
    pub title: String,
    /// An SVG document on white paper.
    pub svg: String,
}

/// A table of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct TableFile {
    /// Its phase; `None` if it is about the run.
    pub phase: Option<String>,
    /// Its kind in a word: `overview`, `figures`, `trials`.
    pub kind: String,
    pub table: Table,
}

/// All charts of a run, in the order of the page.
///
/// # Errors
/// [`ReportError::Picture`] if the picture of a disk is damaged.
pub fn charts(chapter: &Chapter) -> Result<Vec<ChartFile>, ReportError> {
    let analysis = Analysis::of(chapter.run);
    let cast = SubjectNames::of(std::iter::once(chapter.run));
    let labels: Vec<Label> = analysis.subjects().map(|s| cast.label(s)).collect();
    let run = Run::of(chapter, &analysis, 0, &cast)?;
    let file = |phase: Option<&str>, panel: &Panel| {
        let title = match phase {
            Some(phase) => format!("{}: {}", wording::heading(phase), panel.title),
            None => panel.title.clone(),
        };
        ChartFile {
            phase: phase.map(str::to_owned),
            kind: panel.kind.clone(),
            svg: panel.document(&title, &labels),
            title,
        }
    };
    let mut files: Vec<ChartFile> = run.ratios.iter().map(|panel| file(None, panel)).collect();
    files.extend(run.scaling_panels.iter().map(|panel| file(None, panel)));
    let pictures = pictures(chapter, &analysis, &labels);
    let exhibits = exhibit::with_looks(&analysis, chapter.original, &labels);
    for exhibit in exhibits.into_iter().chain(pictures) {
        files.extend(exhibit.svg_on_white().map(|svg| ChartFile {
            phase: None,
            kind: format!("figure-{}", exhibit.id),
            title: exhibit.title.clone(),
            svg,
        }));
    }
    for part in &run.phases {
        let of_phase = Some(part.name.as_str());
        files.extend(part.charts().map(|panel| file(of_phase, panel)));
        let durable = run.durable.iter().find(|panel| panel.owner() == part.id);
        files.extend(durable.map(|panel| {
            let mut chart = file(of_phase, panel);
            chart.title = format!("{}: until the data is durable", part.title);
            chart.svg = panel.document(&chart.title, &labels);
            chart
        }));
    }
    let of_run = run.disk.iter().flat_map(super::disk::DiskPart::charts);
    files.extend(of_run.map(|panel| file(None, panel)));
    files.extend(run.steps.iter().map(|panel| {
        let title = wording::heading(&panel.title);
        ChartFile {
            phase: None,
            kind: format!("step-{}", panel.kind),
            svg: panel.document(&title, &labels),
            title,
        }
    }));
    Ok(files)
}

/// The original's tables against the run, a picture each.
fn pictures(chapter: &Chapter, analysis: &Analysis, labels: &[Label]) -> Vec<exhibit::Exhibit> {
    let Some(original) = chapter.original else {
        return Vec::new();
    };
    let both = fslab_claims::then_and_now(original, chapter.run);
    exhibit::pictures(analysis, &both, labels)
}

/// All tables of a run, in the order of the page.
pub fn table_files(chapter: &Chapter) -> Vec<TableFile> {
    let analysis = &Analysis::of(chapter.run);
    let of_run = |kind: &str, table: Table| TableFile {
        phase: None,
        kind: kind.to_owned(),
        table,
    };
    let mut files = vec![of_run(
        "overview",
        winners_first(tables::overview(analysis)),
    )];
    files.extend((chapter.scaling).map(|scaling| of_run("scaling", tables::scaling(scaling))));
    files.extend(tables::score(analysis).map(|table| of_run("score", table)));
    files.extend(tables::overall(analysis).map(|table| of_run("overall", table)));
    files.extend(
        confidence(analysis)
            .into_iter()
            .map(|(kind, table)| of_run(kind, table)),
    );
    files.extend(tables::aged(analysis).map(|table| of_run("aged", table)));
    for exhibit in exhibit::exhibits(analysis, chapter.original) {
        for (index, table) in exhibit.tables.into_iter().enumerate() {
            files.push(of_run(
                &format!("figure-{}-{}", exhibit.id, index + 1),
                table,
            ));
        }
    }
    files.extend(
        of_claims(chapter, analysis)
            .into_iter()
            .map(|(kind, table)| of_run(&kind, table)),
    );
    files.extend(tables::failures(analysis).map(|table| of_run("failures", table)));
    for phase in &analysis.phases {
        let mut of_phase = |kind: &str, table: Table| {
            files.push(TableFile {
                phase: Some(phase.name.to_owned()),
                kind: kind.to_owned(),
                table,
            });
        };
        match tables::sweep(phase, analysis.subjects()) {
            Some(table) => of_phase("points", table),
            None => of_phase("figures", tables::phase(phase, analysis.subjects())),
        }
        if let Some(table) = tables::certainty(phase, analysis.subjects(), analysis.family) {
            of_phase("certainty", table);
        }
        if let Some(table) = tables::disk(phase, analysis.subjects()) {
            of_phase("disk", table);
        }
    }
    files.extend(tables::durable(analysis).map(|table| of_run("durable", table)));
    let survival = tables::survival_tables(analysis).into_iter();
    files.extend(survival.map(|(kind, table)| of_run(kind, table)));
    files.extend(tables::steps(analysis).map(|table| of_run("steps", table)));
    files.push(of_run("commands", tables::commands(analysis)));
    files.push(of_run("trials", tables::trials(analysis)));
    let drivers = tables::ForeignDrivers::of(analysis);
    for file in &mut files {
        file.table.notes.extend(drivers.notes(&file.table));
    }
    files
}

/// The scorecard of an original's claims, and its figures beside the run's.
fn of_claims(chapter: &Chapter, analysis: &Analysis) -> Vec<(String, Table)> {
    let Some(original) = chapter.original else {
        return Vec::new();
    };
    let card = fslab_claims::evaluate(&original.claims, chapter.run, &[]);
    let mut found = Vec::new();
    if !card.verdicts.is_empty() {
        found.push(("claims".to_owned(), tables::claims(&card)));
    }
    let both = fslab_claims::then_and_now(original, chapter.run);
    let beside = tables::then_and_now(&both);
    if !beside.is_empty() {
        found.push(("agreement".to_owned(), tables::agreement(&both)));
        found.push(("factor".to_owned(), tables::one_factor(&both)));
    }
    for picture in exhibit::then_and_now_pictures(analysis, original) {
        for (index, table) in picture.tables.into_iter().enumerate() {
            found.push((format!("figure-{}-{}", picture.id, index + 1), table));
        }
    }
    let numbered = beside.into_iter().enumerate();
    found.extend(numbered.map(|(index, table)| (format!("then-and-now-{}", index + 1), table)));
    found
}
