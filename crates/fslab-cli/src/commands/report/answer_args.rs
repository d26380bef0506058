//! Options of what an answer counts.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use fslab_model::{
    AnswerMeasure, AnswerSpec, Failure, FailureKind, PhaseSpec, RunRecord, Study, did_you_mean,
    nearest_name,
};

/// Options of the answer.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Answer")]
pub(crate) struct AnswerArgs {
    /// Measure by which the file systems are compared over phases (see docs/figures.md)
    /// [default: the study's, or rate]
    #[arg(long, value_name = "MEASURE", value_enum)]
    measure: Option<MeasureName>,
    /// Weights of phases in the answer, for example list=0.2,read=3: how often each is done, with
    /// the measure time, otherwise its weight in the mean; 0 leaves a phase out [default: the
    /// study's, or 1]
    #[arg(long, value_name = "PHASE=WEIGHT,...", value_delimiter = ',')]
    weights: Vec<Weight>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasureName {
    /// Sum of the times of the phases, sync and unmount included
    Time,
    /// Geometric mean of the rates, sync and unmount included
    DurableRate,
    /// Geometric mean of the headline figures
    Rate,
    /// The score of the study
    Score,
}

impl From<MeasureName> for AnswerMeasure {
    fn from(name: MeasureName) -> Self {
        match name {
            MeasureName::Time => Self::Time,
            MeasureName::DurableRate => Self::DurableRate,
            MeasureName::Rate => Self::Rate,
            MeasureName::Score => Self::Score,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Weight {
    phase: String,
    weight: f64,
}

impl FromStr for Weight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.rsplit_once('=').filter(|(phase, _)| !phase.is_empty());
        let (phase, weight) =
            parts.ok_or_else(|| format!("'{text}' is not PHASE=WEIGHT, for example list=0.2"))?;
        let weight = weight.trim().parse();
        Ok(Self {
            phase: phase.trim().to_owned(),
            weight: weight.map_err(|_| format!("'{text}': the weight is not a number"))?,
        })
    }
}

impl AnswerArgs {
    /// Changes what the answer of a study counts.
    pub(crate) fn apply_to_study(&self, study: &mut Study) -> Result<(), Failure> {
        let phases = study.phases.iter().map(|phase| phase.name.as_str());
        let phases: Vec<&str> = phases.collect();
        self.apply(&mut study.answer, &phases, study.score.is_some())
    }

    /// Changes what the answer of a run counts.
    pub(crate) fn apply_to_run(&self, run: &mut RunRecord) -> Result<(), Failure> {
        let plan = &mut run.header.plan;
        let phases: Vec<&str> = plan.phases.iter().map(PhaseSpec::study_phase).collect();
        self.apply(&mut plan.answer, &phases, plan.score.is_some())
    }

    fn apply(
        &self,
        answer: &mut Option<AnswerSpec>,
        phases: &[&str],
        has_score: bool,
    ) -> Result<(), Failure> {
        if self.measure.is_none() && self.weights.is_empty() {
            return Ok(());
        }
        let mut changed = answer.clone().unwrap_or_default();
        if let Some(measure) = self.measure {
            changed.measure = measure.into();
        }
        if changed.measure == AnswerMeasure::Score && !has_score {
            let text = "cannot use --measure score: the study has no score";
            return Err(Failure::new(FailureKind::BadInput, text));
        }
        for Weight { phase, weight } in &self.weights {
            if !phases.contains(&phase.as_str()) {
                let text = format!("cannot use --weights: there is no phase '{phase}'");
                let hint = nearest_name(phase, phases.iter().copied()).map(did_you_mean);
                let hint = hint.unwrap_or_else(|| format!("the phases are {}", phases.join(", ")));
                return Err(Failure::new(FailureKind::BadInput, text).hint(hint));
            }
            changed.weights.insert(phase.clone(), *weight);
        }
        if let Some((phase, weight)) = changed.invalid_weight() {
            let text = format!("cannot use --weights {phase}={weight}");
            let hint = "a weight is 0 or more, and at most 1e9";
            return Err(Failure::new(FailureKind::BadInput, text).hint(hint));
        }
        *answer = Some(changed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(measure: Option<MeasureName>, weights: &[&str]) -> AnswerArgs {
        let read = |text: &&str| text.parse().expect("a weight");
        AnswerArgs {
            measure,
            weights: weights.iter().map(read).collect(),
        }
    }

    #[test]
    fn weights_are_added_to_those_of_the_study() {
        let mut answer = Some(AnswerSpec {
            weights: [("read".to_owned(), 2.0), ("list".to_owned(), 5.0)].into(),
            ..AnswerSpec::default()
        });
        let given = args(Some(MeasureName::Time), &["list=0"]);
        given
            .apply(&mut answer, &["read", "list"], false)
            .expect("valid");
        let answer = answer.expect("changed");
        assert_eq!((answer.weight("read"), answer.weight("list")), (2.0, 0.0));
        assert_eq!(answer.measure, AnswerMeasure::Time);
    }

    #[test]
    fn what_cannot_be_counted_is_refused_by_name() {
        let refused = |given: AnswerArgs| {
            let mut answer = None;
            given
                .apply(&mut answer, &["read", "list"], false)
                .expect_err("refused")
        };
        let unknown = refused(args(None, &["lsit=1"]));
        assert!(unknown.message.contains("'lsit'"), "{unknown}");
        assert_eq!(unknown.hint.as_deref(), Some("did you mean 'list'?"));
        assert!(
            refused(args(None, &["list=-1"]))
                .message
                .contains("list=-1")
        );
        assert!(
            refused(args(Some(MeasureName::Score), &[]))
                .message
                .contains("no score")
        );
        assert!("list".parse::<Weight>().is_err() && "list=x".parse::<Weight>().is_err());
    }
}
