//! The columns of `phases` and the record's field of each.
//!
//! A record is split and joined by its serialised form. Fields without a column are kept in `more`,
//! so that a new one needs neither a migration nor a change here.

use crate::codec::{integer, real, unreadable, unreadable_value, unstorable};
use crate::error::Fault;
use crate::sealing::Values;
use fslab_model::PhaseRecord;
use rusqlite::Row;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value};

/// The fields without a column, as a JSON object; NULL if there is none.
const MORE: PhaseColumn = PhaseColumn {
    what: "phases.more",
    path: &[],
    form: Form::Json,
};

/// Fields with separate tables.
const IN_TABLES: [&str; 2] = ["latencies", "series"];

/// A column and its field.
struct PhaseColumn {
    /// `phases.NAME`.
    what: &'static str,
    /// Names from the outermost to the field.
    path: &'static [&'static str],
    form: Form,
}

/// How SQLite stores a field.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Integer,
    Real,
    Json,
}

macro_rules! columns {
    ($($form:ident $name:ident = $($path:ident).+;)+) => {
        [$(PhaseColumn {
            what: concat!("phases.", stringify!($name)),
            path: &[$(stringify!($path)),+],
            form: Form::$form,
        }),+]
    };
}

static COLUMNS: [PhaseColumn; 44] = columns! {
    Text name = name;
    Text workload = workload;
    Text kind = kind;
    Text headline = headline;
    Text cache = cache;
    Json parameters = parameters;
    Text outcome = outcome;
    Text skip_reason = reason;
    Json failure = failure;
    Integer elapsed_ns = elapsed_ns;
    Integer operations = operations;
    Integer bytes = bytes;
    Integer cpu_user_ns = cpu.user_ns;
    Integer cpu_system_ns = cpu.system_ns;
    Integer cpu_voluntary_switches = cpu.voluntary_switches;
    Integer cpu_involuntary_switches = cpu.involuntary_switches;
    Integer device_reads = device.reads;
    Integer device_read_bytes = device.read_bytes;
    Integer device_writes = device.writes;
    Integer device_write_bytes = device.write_bytes;
    Integer device_discards = device.discards;
    Integer device_discard_bytes = device.discard_bytes;
    Integer device_flushes = device.flushes;
    Integer device_busy_ns = device.busy_ns;
    Integer settle_sync_ns = settled.sync_ns;
    Integer settle_unmount_ns = settled.unmount_ns;
    Json threads = threads;
    Integer first_done_ns = first_done_ns;
    Real harness_share = harness_share;
    Json notes = notes;
    Integer window_begin_ns = window.begin_ns;
    Integer window_end_ns = window.end_ns;
    Json insight = insight;
    Integer settle_window_begin_ns = settle_window.begin_ns;
    Integer settle_window_end_ns = settle_window.end_ns;
    Json settle_insight = settle_insight;
    Integer host_cpu_ns = host.cpu_ns;
    Integer host_real_ns = host.real_ns;
    Json swept = swept;
    Json figures = figures;
    Json lists = lists;
    Integer mount = round.mount;
    Integer iteration = round.iteration;
    Json disturbances = disturbances;
};

/// The values of a record, with the name of each one's column.
pub(crate) fn values(phase: &PhaseRecord) -> Result<Values, Fault> {
    let mut bare = phase.clone();
    bare.latencies.clear();
    bare.series = None;
    let names = COLUMNS.iter().chain([&MORE]).map(PhaseColumn::name);
    Ok(names.zip(values_of(fields(&bare))?).collect())
}

fn fields(phase: &PhaseRecord) -> Map<String, Value> {
    match serde_json::to_value(phase) {
        Ok(Value::Object(fields)) => fields,
        other => unreachable!("a record serialises to an object, and not to {other:?}"),
    }
}

fn values_of(mut fields: Map<String, Value>) -> Result<Vec<Sql>, Fault> {
    let columns = COLUMNS.iter();
    let mut values = columns
        .map(|column| column.value(taken(&mut fields, column.path)))
        .collect::<Result<Vec<_>, _>>()?;
    fields.retain(|name, _| !IN_TABLES.contains(&name.as_str()));
    // A structure whose fields all have columns remains as an empty object.
    fields.retain(|_, value| !value.is_null() && *value != Value::Object(Map::new()));
    let more = match fields.is_empty() {
        true => Value::Null,
        false => Value::Object(fields),
    };
    values.push(MORE.value(more)?);
    Ok(values)
}

/// Removes the field at `path` and returns it; null if missing.
fn taken(fields: &mut Map<String, Value>, path: &[&str]) -> Value {
    match path {
        [] => Value::Null,
        [name] => fields.remove(*name).unwrap_or_default(),
        [name, rest @ ..] => match fields.get_mut(*name) {
            Some(Value::Object(inner)) => taken(inner, rest),
            _ => Value::Null,
        },
    }
}

fn put(fields: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => drop(fields.insert((*name).to_owned(), value)),
        [name, rest @ ..] => {
            let inner = fields.entry(*name).or_insert_with(|| Map::new().into());
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// The indexes of the columns in a query's rows.
pub(crate) struct PhaseReader {
    columns: Vec<(usize, &'static PhaseColumn)>,
    more: usize,
}

impl PhaseReader {
    /// For rows of the query of `row`.
    pub(crate) fn of(row: &Row) -> Result<Self, Fault> {
        let place = |column: &PhaseColumn| row.as_ref().column_index(column.name());
        let columns = COLUMNS.iter();
        let columns = columns.map(|column| Ok((place(column)?, column)));
        Ok(Self {
            columns: columns.collect::<rusqlite::Result<_>>()?,
            more: place(&MORE)?,
        })
    }

    /// The record of `row`, without latencies and series.
    pub(crate) fn read(&self, row: &Row) -> Result<PhaseRecord, Fault> {
        let mut fields = match MORE.read(row, self.more)? {
            Some(Value::Object(fields)) => fields,
            Some(_) => return Err(unreadable_value(MORE.what)),
            None => Map::new(),
        };
        for (place, column) in &self.columns {
            if let Some(value) = column.read(row, *place)? {
                put(&mut fields, column.path, value);
            }
        }
        fields.insert("latencies".to_owned(), Value::Array(Vec::new()));
        let record = serde_json::from_value(Value::Object(fields));
        record.map_err(|error| unreadable("phases", error))
    }
}

impl PhaseColumn {
    fn name(&self) -> &'static str {
        self.what.trim_start_matches("phases.")
    }

    fn value(&self, value: Value) -> Result<Sql, Fault> {
        Ok(match (self.form, value) {
            (_, Value::Null) => Sql::Null,
            (Form::Text, Value::String(text)) => Sql::Text(text),
            (Form::Json, value) => Sql::Text(value.to_string()),
            (Form::Integer, Value::Number(number)) => match number.as_u64() {
                Some(number) => Sql::Integer(integer(self.what, number)?),
                None => return Err(unstorable(self.what)),
            },
            (Form::Real, Value::Number(number)) => number.as_f64().map_or(Sql::Null, real),
            (_, other) => unreachable!("{} does not hold {other}", self.what),
        })
    }

    /// `None` for NULL.
    fn read(&self, row: &Row, place: usize) -> Result<Option<Value>, Fault> {
        Ok(match self.form {
            Form::Text => row.get::<_, Option<String>>(place)?.map(Value::String),
            Form::Real => row.get::<_, Option<f64>>(place)?.map(Value::from),
            Form::Integer => match row.get::<_, Option<i64>>(place)? {
                Some(negative) if negative < 0 => {
                    return Err(unreadable_value(self.what));
                }
                number => number.map(Value::from),
            },
            Form::Json => {
                let text: Option<String> = row.get(place)?;
                let value = text.map(|text| serde_json::from_str(&text));
                value
                    .transpose()
                    .map_err(|error| unreadable(self.what, error))?
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::{Headline, Parameters, PhaseKind, PhaseOutcome, PhaseSpec};

    use super::*;

    fn record() -> PhaseRecord {
        let spec = PhaseSpec::new("write", "write", Parameters::new());
        let headline = Headline::Throughput;
        PhaseRecord::empty(&spec, PhaseKind::Write, headline, PhaseOutcome::Done)
    }

    #[test]
    fn what_was_not_measured_is_null() {
        let values = values(&record()).expect("storable");
        assert_eq!(values.len(), COLUMNS.len() + 1);
        assert_eq!(values.last(), Some(&("more", Sql::Null)));
        let nulls = values.iter().filter(|(_, value)| *value == Sql::Null);
        let nulls = nulls.count();
        // Name, workload, kind, headline, cache, parameters, outcome and notes are never NULL.
        assert_eq!(nulls, values.len() - 8);
    }

    /// Each new metric would have needed a migration.
    #[test]
    fn a_field_without_a_column_is_kept_in_more() {
        let mut fields = fields(&record());
        fields.insert("wear".into(), serde_json::json!({"erases": 5}));
        let values = values_of(fields).expect("storable");
        assert_eq!(
            values.last(),
            Some(&Sql::Text(r#"{"wear":{"erases":5}}"#.into()))
        );
    }
}
