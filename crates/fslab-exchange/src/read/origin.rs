//! What an export of fslab adds to the form of mdtest or IO500: its subject, and phases of rows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::json_documents::Fields;
use crate::error::Fault;

/// The subject of what was measured together, and the phase of each row by its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(super) subject: String,
    pub(super) phases: BTreeMap<String, String>,
}

impl Origin {
    /// The beginning of its line.
    pub(super) const MARK: &str = "fslab: ";

    /// Reads what follows the mark.
    pub(super) fn of(place: String, text: &str) -> Result<Self, Fault> {
        let wrong = || Fault::value(&*place, text, "JSON");
        let value: Value = serde_json::from_str(text).map_err(|_| wrong())?;
        let fields = Fields::of(place, &value)?;
        let subject = fields.text("subject")?;
        let subject = subject.ok_or_else(|| Fault::missing(&*fields.place, "subject"))?;
        let mut phases = BTreeMap::new();
        if let Some(names) = fields.object("phases")? {
            for (title, _) in names.iter() {
                let name = names.text(title)?.unwrap_or_default();
                if phases.values().any(|known| known == name) {
                    return Err(Fault::value(names.path(title), name, "a phase of one row"));
                }
                phases.insert(title.clone(), name.to_owned());
            }
        }
        Ok(Self {
            subject: subject.to_owned(),
            phases,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_an_export_names_the_phases_of_rows() {
        let line = r#"{"subject": "ext4", "phases": {"File stat": "own-stat"}}"#;
        let origin = Origin::of("line 5".into(), line).expect("an origin");
        assert_eq!(origin.subject, "ext4");
        assert_eq!(origin.phases["File stat"], "own-stat");
    }

    #[test]
    fn a_line_that_is_no_such_object_is_refused_by_its_number() {
        for (line, expected) in [
            ("{", "line 5: \"{\" is not JSON"),
            ("[]", "line 5: \"[]\" is not an object"),
            ("{}", "line 5: 'subject' is missing"),
            (
                r#"{"subject": "a", "phases": {"x": "p", "y": "p"}}"#,
                "line 5, phases, y: \"p\" is not a phase of one row",
            ),
        ] {
            let fault = Origin::of("line 5".into(), line).expect_err(line);
            assert_eq!(fault.to_string(), expected);
        }
    }
}
