//! The studies that come with the program, and those of the user's in files.

use std::path::PathBuf;

use fslab_model::{Failure, FailureKind, Study, nearest_name};

/// The text of every study that is built in: a new one is a folder below studies/ and a line here.
const BUILT_IN: [(&str, &str); 2] = [
    (
        "conformance",
        include_str!("../../../studies/conformance/study.toml"),
    ),
    ("quick", include_str!("../../../studies/quick/study.toml")),
];

/// Where a study came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StudySource {
    /// It comes with the program.
    BuiltIn(&'static str),
    /// The user's file.
    File(PathBuf),
}

/// The names of the studies that are built in.
pub fn studies() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The study of that name, or in that file.
///
/// # Errors
/// Of kind `BadInput`: an unknown name, with the nearest known one, or a file that is no study.
pub fn load_study(name_or_file: &str) -> Result<(Study, StudySource), Failure> {
    if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == name_or_file) {
        return Ok((parse(name_or_file, text)?, StudySource::BuiltIn(name)));
    }
    let is_file = name_or_file.contains('/') || name_or_file.ends_with(".toml");
    if is_file {
        let text = std::fs::read_to_string(name_or_file).map_err(|error| {
            let text = format!("cannot read the study {name_or_file}");
            Failure::new(FailureKind::BadInput, text).because(&error)
        })?;
        return Ok((
            parse(name_or_file, &text)?,
            StudySource::File(name_or_file.into()),
        ));
    }
    let failure = Failure::new(
        FailureKind::BadInput,
        format!("there is no study '{name_or_file}'"),
    );
    Err(match nearest_name(name_or_file, studies()) {
        Some(nearest) => failure.hint(format!("did you mean '{nearest}'?")),
        None => failure.hint("a file is named with its folder, like ./my-study.toml"),
    })
}

fn parse(origin: &str, text: &str) -> Result<Study, Failure> {
    Study::from_toml(text).map_err(|error| {
        Failure::new(
            FailureKind::BadInput,
            format!("cannot use the study {origin}"),
        )
        .because(&error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_that_is_built_in_reads_and_has_its_own_name() {
        for name in studies() {
            assert_eq!(load_study(name).expect(name).0.name, name);
        }
    }

    #[test]
    fn an_unknown_study_suggests_the_nearest_and_a_missing_file_says_so() {
        let unknown = load_study("quik").expect_err("unknown");
        assert_eq!(unknown.hint.as_deref(), Some("did you mean 'quick'?"));
        assert_eq!(
            load_study("./missing.toml").expect_err("missing").errno,
            Some(2)
        );
    }
}
