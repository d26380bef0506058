//! The answer of a model, over the uncertainty of the model's figures.

use fslab_compare::{Experiment, TOLERANCE};

use crate::wording;

/// What an answer is worth that a model of a disk gave: "Take ext4 on any such disk: ...". `None`
/// for an experiment over other conditions.
pub fn model_sentence(experiment: &Experiment) -> Option<String> {
    let band = experiment.model_band()?;
    let (least, most) = band.leads;
    let name = wording::name(&experiment.subjects[band.subject]);
    let draws = wording::count(band.draws, "disk");
    let disk = &band.disk;
    let begin = match () {
        () if least >= 1.0 + TOLERANCE => {
            format!("Take {name}, whatever the disk within the uncertainty of {disk}.")
        }
        () if least > 1.0 => {
            let within = wording::share(TOLERANCE);
            format!("{name} is first within the uncertainty of {disk}, but not always by {within}.")
        }
        () => format!(
            "The same within the model: who is first depends on figures of {disk} that \
                       are uncertain."
        ),
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
