//! The answer of a model, over the uncertainty of the model's figures.

use fslab_compare::{Experiment, TOLERANCE};

use crate::wording;

/// Whether the answer holds on every disk within the uncertainty of a profile; `None` for an
/// experiment over other conditions.
pub fn model_sentence(experiment: &Experiment) -> Option<String> {
    let band = experiment.model_band()?;
    let (least, most) = band.leads;
    let name = wording::name(&experiment.subjects[band.subject]);
    let draws = wording::count(band.draws, "disk");
    let disk = &band.disk;
    let begin = if least >= 1.0 + TOLERANCE {
        format!("Take {name}, whatever the disk within the uncertainty of {disk}.")
    } else if least > 1.0 {
        let within = wording::share(TOLERANCE);
        format!("{name} is first within the uncertainty of {disk}, but not always by {within}.")
    } else {
        format!(
            "The same within the model: who is first depends on figures of {disk} that are \
             uncertain."
        )
    };
    Some(format!(
        "{begin} {name} is {} times as fast as the best of the others with the stated figures; on \
         {draws} drawn within their uncertainty it is first on {}, and {} to {} times as fast over \
         all.",
        wording::ratio(band.stated_lead),
        match band.first_in == band.draws {
            true => "all".to_owned(),
            false => band.first_in.to_string(),
        },
        wording::ratio(least),
        wording::ratio(most),
    ))
}
