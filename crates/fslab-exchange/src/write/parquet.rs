//! The long table as Parquet: the columns of the CSV, typed.

use fslab_compare::{DIMENSIONS, FIGURE, Observation, PLACES, observations};
use fslab_model::{Failure, RunRecord};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::data_type::{DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::parser::parse_message_type;
use std::str::FromStr;
use std::sync::Arc;

/// Rows per row group.
const GROUP_ROWS: usize = 1 << 16;

/// What a column holds. Text is never null: it is empty where there is none.
#[derive(Clone, Copy)]
enum Column {
    Text,
    Int32,
    Int64,
    Double,
}

impl Column {
    fn of(name: &str) -> Self {
        match name {
            "size_bytes" | "memory_bytes" | "started_unix_s" => Self::Int64,
            "cell" | "repeat" | "position" | "mount" | "iteration" => Self::Int32,
            "value" | "sensitivity" => Self::Double,
            _ => Self::Text,
        }
    }

    fn declaration(self, name: &str) -> String {
        match self {
            Self::Text => format!("required binary {name} (UTF8)"),
            Self::Int32 => format!("optional int32 {name}"),
            Self::Int64 => format!("optional int64 {name}"),
            Self::Double => format!("optional double {name}"),
        }
    }
}

/// The columns of the long CSV, in its order.
fn names() -> impl Iterator<Item = &'static str> {
    DIMENSIONS.into_iter().chain(FIGURE).chain(PLACES)
}

fn schema() -> String {
    let declarations = names().map(|name| Column::of(name).declaration(name));
    let lines: String = declarations.map(|line| format!("  {line};\n")).collect();
    format!("message fslab {{\n{lines}}}")
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
        let rows = Rows::of(run, rows);
        for (index, name) in names().enumerate() {
            write_column(&mut group, name, rows.column(index))?;
        }
        group.close()?;
    }
    writer.into_inner()
}

/// The texts of a row group.
struct Rows {
    /// Of each round of a phase: its dimensions, its place, and the figures of its metrics.
    rounds: Vec<Round>,
}

struct Round {
    dimensions: [String; DIMENSIONS.len()],
    figures: Vec<[String; FIGURE.len()]>,
    places: [String; PLACES.len()],
}

impl Rows {
    fn of(run: &RunRecord, rows: &[Observation<'_>]) -> Self {
        let rounds = rows
            .chunk_by(Observation::is_of_same_row)
            .filter_map(|rows| {
                let first = rows.first()?;
                Some(Round {
                    dimensions: first.dimensions(run),
                    figures: rows.iter().map(Observation::figure).collect(),
                    places: first.places(),
                })
            });
        Self {
            rounds: rounds.collect(),
        }
    }

    /// The texts of a column, from the first row to the last.
    fn column(&self, index: usize) -> impl Iterator<Item = &str> {
        self.rounds.iter().flat_map(move |round| {
            round.figures.iter().map(move |figure| {
                let of_figure = index.checked_sub(DIMENSIONS.len());
                match of_figure {
                    None => round.dimensions[index].as_str(),
                    Some(index) if index < FIGURE.len() => &figure[index],
                    Some(index) => &round.places[index - FIGURE.len()],
                }
            })
        })
    }
}

fn write_column<'a>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    name: &str,
    texts: impl Iterator<Item = &'a str>,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General(format!(
            "there is no column for {name}"
        )));
    };
    match Column::of(name) {
        Column::Text => {
            let values: Vec<ByteArray> = texts.map(ByteArray::from).collect();
            writer
                .typed::<ByteArrayType>()
                .write_batch(&values, None, None)?;
        }
        Column::Int32 => write_numbers::<Int32Type>(&mut writer, texts)?,
        Column::Int64 => write_numbers::<Int64Type>(&mut writer, texts)?,
        Column::Double => write_numbers::<DoubleType>(&mut writer, texts)?,
    }
    writer.close()
}

/// Writes numbers, and null for an empty text. Text gives every digit of a float back.
fn write_numbers<'a, T>(
    writer: &mut SerializedColumnWriter<'_>,
    texts: impl Iterator<Item = &'a str>,
) -> Result<(), ParquetError>
where
    T: DataType<T: FromStr>,
{
    let numbers: Vec<Option<T::T>> = texts.map(|text| text.parse().ok()).collect();
    let levels: Vec<i16> = numbers.iter().map(|it| it.is_some().into()).collect();
    let values: Vec<T::T> = numbers.into_iter().flatten().collect();
    writer
        .typed::<T>()
        .write_batch(&values, Some(&levels), None)?;
    Ok(())
}
