//! Names of subjects and of places in a page.

use fslab_model::{RunRecord, Subject};

use crate::chart::Label;
use crate::{palette, wording};

/// All subjects of a report in the order of their first appearance, so that a subject has the same
/// look in every run.
pub(super) struct SubjectNames<'a>(pub(super) Vec<&'a Subject>);

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

    pub(super) fn chips(&self) -> Vec<Chip> {
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

/// A subject in the bar of subjects.
pub(super) struct Chip {
    pub(super) class: String,
    pub(super) name: String,
}

/// A sentence with no-break spaces before percent signs.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}
