//! The HTML document: title, style, choice of subject, the runs, definitions.

use askama::Template;
use fslab_model::{RunRecord, Subject};

use super::{definitions, run};
use crate::chart::{Label, shapes};
use crate::{Chapter, ReportError, palette, wording, xml};
use fslab_compare::Analysis;

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

/// A subject in the bar of subjects.
struct Chip {
    class: String,
    name: String,
}

/// All subjects of a report in the order of their first appearance, so that a subject has the same
/// look in every run.
pub(super) struct SubjectNames<'a>(Vec<&'a Subject>);

impl<'a> SubjectNames<'a> {
    pub(super) fn of(runs: impl Iterator<Item = &'a RunRecord>) -> Self {
        let mut subjects: Vec<&Subject> = Vec::new();
        for subject in runs.flat_map(|run| &run.header.plan.subjects) {
            if !subjects.contains(&&subject.subject) {
                subjects.push(&subject.subject);
            }
        }
        Self(subjects)
    }

    /// The subject's number, which selects its look.
    pub(super) fn number(&self, subject: &Subject) -> usize {
        let found = self.0.iter().position(|known| *known == subject);
        found.unwrap_or_default()
    }

    pub(super) fn label(&self, subject: &Subject) -> Label {
        Label {
            name: subject.to_string(),
            look: self.number(subject),
        }
    }

    fn chips(&self) -> Vec<Chip> {
        let chip = |(number, subject): (usize, &&Subject)| Chip {
            class: palette::class(number),
            name: subject.to_string(),
        };
        self.0.iter().enumerate().map(chip).collect()
    }
}

/// Converts any text to an id: letters, digits and hyphens stay, other characters are encoded.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || letter == '-' {
            slug.push(letter);
        } else {
            slug.push_str(&format!("_{:x}", u32::from(letter)));
        }
    }
    slug
}

/// The subjects of a run as a title: "ext4, XFS and Btrfs"; their number if they are many.
pub(super) fn subjects_in_words(run: &RunRecord) -> String {
    let names: Vec<String> = run.header.plan.subjects.iter().map(wording::name).collect();
    match names.len() {
        0 => "No subject".to_owned(),
        1..=6 => wording::list(&names),
        many => format!("{many} file systems"),
    }
}
