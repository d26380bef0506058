//! CSV with a row for each trial, round and phase, and a column for each metric.
use fslab_compare::{DIMENSIONS, Observation, PLACES, observations};
use fslab_model::{Failure, METRICS, RunRecord};
use fslab_report::Cells;

/// A row for each trial, round and phase, with all dimensions of the result and a column for each
/// metric, in its unit and with all digits; empty if not measured. Figures of a trial outside its
/// phases are in a row with an empty phase.
pub fn csv_wide(run: &RunRecord, cells: Cells) -> Result<String, Failure> {
    table(run, cells)
        .map_err(|error| Failure::bad_input("cannot write the table as CSV").because(&error))
}

fn table(run: &RunRecord, cells: Cells) -> csv::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let metrics = METRICS.iter().map(|metric| metric.name);
    writer.write_record(DIMENSIONS.into_iter().chain(metrics).chain(PLACES))?;
    let observations = observations(run);
    for row in observations.chunk_by(Observation::is_of_same_row) {
        let Some(first) = row.first() else { continue };
        let mut fields: Vec<String> = first.dimensions(run).into();
        fields.extend(METRICS.iter().map(|metric| {
            let found = row.iter().find(|observation| observation.metric == metric);
            let value = found.and_then(|observation| observation.value);
            value.map_or_else(String::new, |value| value.to_string())
        }));
        fields.extend(first.places());
        writer.write_record(cells.row(fields))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8(bytes).expect("rows of strings are UTF-8"))
}
