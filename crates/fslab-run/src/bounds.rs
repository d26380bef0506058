//! Limits of products in a plan, such as trials and records. Each single number has a limit where
//! it is parsed; the products are not visible in a study.

use fslab_model::Plan;

/// Far above the number of file systems in the catalogue.
const SUBJECTS_MAX: u64 = 1_000;
/// Trials of a run: subjects times repeats.
const TRIALS_MAX: u64 = 1_000_000;
/// Records of a trial: phases times mounts times iterations.
const RECORDS_MAX: u64 = 2_000_000;

/// A plan with too many subjects, trials or records.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the study asks for {found} {what}; at most {max} are possible")]
pub struct TooMuchError {
    what: &'static str,
    found: u64,
    max: u64,
    hint: &'static str,
}

impl TooMuchError {
    /// A hint for the user.
    pub fn hint(&self) -> String {
        self.hint.to_owned()
    }
}

/// Checks the number of subjects before they are parsed.
pub(crate) fn ensure_subjects(words: usize) -> Result<(), TooMuchError> {
    ensure_at_most(TooMuchError {
        what: "subjects",
        found: words as u64,
        max: SUBJECTS_MAX,
        hint: "name fewer subjects",
    })
}

/// Checks the number of trials and of records per trial.
pub(crate) fn demand(plan: &Plan) -> Result<(), TooMuchError> {
    let repeats = plan.adaptive.as_ref().map(|it| it.repeats_max);
    let repeats = repeats.unwrap_or(plan.repeats).max(plan.repeats);
    let rounds = u64::from(plan.rounds.mounts).saturating_mul(plan.rounds.iterations.into());
    ensure_at_most(TooMuchError {
        what: "trials (subjects times repeats)",
        found: (plan.subjects.len() as u64).saturating_mul(repeats.into()),
        max: TRIALS_MAX,
        hint: "name fewer subjects, or fewer repeats: --repeats 5",
    })?;
    ensure_at_most(TooMuchError {
        what: "records in each trial (phases times mounts times iterations)",
        found: (plan.phases.len() as u64).saturating_mul(rounds),
        max: RECORDS_MAX,
        hint: "use fewer mounts or iterations, or sweeps with fewer points",
    })
}

fn ensure_at_most(error: TooMuchError) -> Result<(), TooMuchError> {
    if error.found <= error.max {
        return Ok(());
    }
    Err(error)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use fslab_model::{Study, VenuePlan};

    use crate::{Request, VenueChoice, resolve};

    const HEAD: &str = "format = 1\nname = 's'\ntitle = 't'\ntrial_limit_s = 60\n";

    /// The error of a study, which must be immediate.
    fn refused(text: &str) -> String {
        let study = Study::from_toml(&format!("{HEAD}{text}")).expect("a study");
        let folder = "/var/tmp".into();
        let venue = VenueChoice::Named(VenuePlan::Loop { folder });
        let request = Request::new(study, &[], venue, 1);
        let began = Instant::now();
        let error = resolve(&request).expect_err("is too much");
        assert!(began.elapsed() < Duration::from_secs(60), "{error}");
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        text
    }

    /// Each number of a study had a limit, but their products had none.
    #[test]
    fn a_plan_above_a_limit_is_refused_at_once_with_the_limit() {
        let phase = "[[phase]]\nname = 'p'\nworkload = 'write'\n";
        let many: Vec<_> = (0..1_001).map(|it| format!("'ext4:commit={it}'")).collect();
        let subjects = format!(
            "size = '1GiB'\nrepeats = 1\nsubjects = [{}]\n{phase}",
            many.join(",")
        );
        assert!(refused(&subjects).contains("1001 subjects"));
        let trials = format!(
            "size = '1GiB'\nrepeats = 10000\nsubjects = [{}]\n{phase}",
            many[..200].join(",")
        );
        assert!(refused(&trials).contains("2000000 trials"));
        let rounds = format!(
            "size = '1GiB'\nrepeats = 1\nrounds = {{ mounts = 999, iterations = 999 }}\nsubjects = ['ext4']\n\
             {phase}{}{}",
            phase.replace("'p'", "'q'"),
            phase.replace("'p'", "'r'"),
        );
        assert!(refused(&rounds).contains("2994003 records"));
    }

    #[test]
    fn the_points_of_a_sweep_are_counted_before_they_are_made() {
        let numbers: Vec<_> = (1..=9_000).map(|it| it.to_string()).collect();
        let list = numbers.join(",");
        let head = "size = '1GiB'\nrepeats = 1\nsubjects = ['ext4']\n";
        let phase =
            |name: &str| format!("[[phase]]\nname = '{name}'\nworkload = 'write'\nsweep = 'w'\n");
        let squared = format!(
            "{head}{}[sweep.w]\na = [{list}]\nb = [{list}]\n",
            phase("p")
        );
        assert!(refused(&squared).contains("more than 10000 points"));
        let thrice = ["p", "q", "r"].map(phase).concat();
        let together = format!("{head}{thrice}[sweep.w]\na = [{list}]\n");
        assert!(refused(&together).contains("more than 20000 phases"));
    }

    /// The hint of a sufficient size had overflowed 2^64, and so had the sum of the phases'
    /// footprints.
    #[test]
    fn files_beyond_any_size_are_refused_without_overflow() {
        let head = "size = '1GiB'\nrepeats = 1\nsubjects = ['ext4']\n";
        let phase = |name: &str| {
            format!(
                "[[phase]]\nname = '{name}'\nworkload = 'write'\nfile = '{name}'\n\
                 file_size = '4096PiB'\nthreads = 4\n"
            )
        };
        let text = refused(&format!("{head}{}{}", phase("p"), phase("q")));
        assert!(text.contains("take 16383.9 PiB"), "{text}");
    }
}
