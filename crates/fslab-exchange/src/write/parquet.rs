//! The long table as Parquet: the columns of the CSV, typed.

use fslab_compare::{DIMENSIONS, Observation, PLACES, observations};
use fslab_model::{Failure, RunRecord};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// Rows per row group.
const GROUP_ROWS: usize = 1 << 16;

fn column_type(name: &str) -> &'static str {
    match name {
        "size_bytes" => "optional int64",
        "cell" | "repeat" | "position" => "required int32",
        "mount" | "iteration" => "optional int32",
        "value" | "sensitivity" => "optional double",
        _ => "required binary",
    }
}

/// The columns of the long CSV, in its order.
fn names() -> Vec<&'static str> {
    let mut names = DIMENSIONS.to_vec();
    names.extend(["metric", "value", "unit"]);
    names.extend(PLACES);
    names
}

fn schema() -> String {
    let column = |name: &&str| {
        let is_text = column_type(name).ends_with("binary");
        let text = if is_text { " (UTF8)" } else { "" };
        format!("  {} {name}{text};\n", column_type(name))
    };
    format!(
        "message fslab {{\n{}}}",
        names().iter().map(column).collect::<String>()
    )
}

/// The run as a Parquet file: the rows of the long CSV.
pub fn parquet(run: &RunRecord) -> Result<Vec<u8>, Failure> {
    written(run)
        .map_err(|error| Failure::bad_input("cannot write the run as Parquet").because(&error))
}

fn written(run: &RunRecord) -> parquet::errors::Result<Vec<u8>> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("fslab {}", run.header.fslab))
        .build();
    let schema = Arc::new(parse_message_type(&schema())?);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let observations = observations(run);
    for rows in observations.chunks(GROUP_ROWS) {
        let mut group = writer.next_row_group()?;
        for (column, name) in names().into_iter().enumerate() {
            write_column(&mut group, (column, name), run, rows)?;
        }
        group.close()?;
    }
    writer.into_inner()
}

/// The rows with a number in the column `name`, and these numbers.
fn doubles(name: &str, rows: &[Observation]) -> (Vec<i16>, Vec<f64>) {
    let number = |row: &Observation| match name {
        "value" => row.value,
        _ => row.sensitivity,
    };
    let numbers: Vec<Option<f64>> = rows.iter().map(number).collect();
    let levels = numbers.iter().map(|it| it.is_some().into()).collect();
    (levels, numbers.into_iter().flatten().collect())
}

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    (column, name): (usize, &str),
    run: &RunRecord,
    rows: &[Observation],
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General(format!(
            "there is no column for {name}"
        )));
    };
    let number = |row: &Observation| row.dimensions(run)[column].clone();
    let place = PLACES.iter().position(|known| *known == name);
    match name {
        "value" | "sensitivity" => {
            let (levels, values) = doubles(name, rows);
            writer
                .typed::<DoubleType>()
                .write_batch(&values, Some(&levels), None)?;
        }
        "size_bytes" => {
            let sizes: Vec<Option<i64>> = rows.iter().map(|row| number(row).parse().ok()).collect();
            let levels: Vec<i16> = sizes.iter().map(|size| size.is_some().into()).collect();
            let values: Vec<i64> = sizes.into_iter().flatten().collect();
            writer
                .typed::<Int64Type>()
                .write_batch(&values, Some(&levels), None)?;
        }
        "cell" | "repeat" | "position" => {
            let value = |row: &Observation| match name {
                "cell" => row.trial.trial.cell.0,
                "repeat" => row.trial.trial.repeat,
                _ => row.trial.position,
            };
            // Parquet stores unsigned numbers in two's complement; none here is so large.
            let values: Vec<i32> = rows.iter().map(|row| value(row).cast_signed()).collect();
            writer
                .typed::<Int32Type>()
                .write_batch(&values, None, None)?;
        }
        "mount" | "iteration" => {
            let value = |row: &Observation| {
                let number = match name {
                    "mount" => row.round?.mount,
                    _ => row.round?.iteration,
                };
                Some(number.cast_signed())
            };
            let numbers: Vec<Option<i32>> = rows.iter().map(value).collect();
            let levels: Vec<i16> = numbers.iter().map(|it| it.is_some().into()).collect();
            let values: Vec<i32> = numbers.into_iter().flatten().collect();
            writer
                .typed::<Int32Type>()
                .write_batch(&values, Some(&levels), None)?;
        }
        _ => {
            let text = |row: &Observation| match (place, name) {
                (Some(place), _) => row.places()[place].clone(),
                (None, "metric") => row.metric.name.to_owned(),
                (None, "unit") => row.metric.unit.symbol().to_owned(),
                (None, _) => number(row),
            };
            let values: Vec<ByteArray> = rows
                .iter()
                .map(|row| ByteArray::from(text(row).into_bytes()))
                .collect();
            writer
                .typed::<ByteArrayType>()
                .write_batch(&values, None, None)?;
        }
    }
    writer.close()
}
