//! Reads the range of a parameter from its JSON Schema, and checks values against it.

use std::fmt;

use fslab_model::{Bytes, Parameters};
use serde_json::Value;

use crate::schema_text::SchemaText;

/// The smallest and the largest value of a number or a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ValueRange {
    least: Option<f64>,
    most: Option<f64>,
    is_size: bool,
}

impl ValueRange {
    /// The range that `schema` states; `None` if it states none.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        let bound = |key: &str| schema[key].as_f64();
        let range = Self {
            least: bound("minimum"),
            most: bound("maximum"),
            is_size: SchemaText::is_size(schema),
        };
        (range.least.is_some() || range.most.is_some()).then_some(range)
    }

    fn contains(self, value: f64) -> bool {
        self.least.is_none_or(|least| value >= least) && self.most.is_none_or(|most| value <= most)
    }

    /// A number in the unit of the range.
    fn number(self, value: f64) -> String {
        match self.is_size {
            true => Bytes(value as u64).to_string(),
            false => value.to_string(),
        }
    }
}

/// `1 to 1024`
impl fmt::Display for ValueRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bound| self.number(bound);
        match (self.least.map(text), self.most.map(text)) {
            (Some(least), Some(most)) if least == most => write!(f, "{least}"),
            (Some(least), Some(most)) => write!(f, "{least} to {most}"),
            (Some(least), None) => write!(f, "{least} or more"),
            (None, Some(most)) => write!(f, "at most {most}"),
            (None, None) => Ok(()),
        }
    }
}

/// Checks each number and size of `parameters` against the range that `root`, their schema, states
/// for it.
pub(crate) fn check_ranges(root: &Value, parameters: &Parameters) -> Result<(), String> {
    let mut values = parameters.iter();
    values.try_for_each(|(name, value)| check(root, property(root, root, name), value, name))
}

/// Checks `value` and what is in it; `path` is its name in an error.
fn check(root: &Value, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    let text = SchemaText::of(root);
    match value {
        Value::Number(number) => {
            let stated = ValueRange::of(schema).or_else(|| ValueRange::of(text.resolved(schema)));
            let (Some(range), Some(value)) = (stated, number.as_f64()) else {
                return Ok(());
            };
            match range.contains(value) {
                true => Ok(()),
                false => {
                    let value = match number.as_u64().filter(|_| range.is_size) {
                        Some(bytes) => Bytes(bytes).to_string(),
                        None => number.to_string(),
                    };
                    Err(format!("{path} = {value}; it must be {range}"))
                }
            }
        }
        Value::Object(map) => map.iter().try_for_each(|(name, value)| {
            let schema = property(root, text.resolved(schema), name);
            check(root, schema, value, &format!("{path}.{name}"))
        }),
        Value::Array(list) => {
            let items = &text.resolved(schema)["items"];
            let mut values = list.iter().enumerate();
            values.try_for_each(|(index, value)| {
                check(root, items, value, &format!("{path}[{index}]"))
            })
        }
        _ => Ok(()),
    }
}

/// The schema of a key of a table, which may be one of several alternatives.
fn property<'a>(root: &'a Value, table: &'a Value, name: &str) -> &'a Value {
    let text = SchemaText::of(root);
    let alternatives = ["oneOf", "anyOf"]
        .into_iter()
        .filter_map(|key| table[key].as_array());
    let tables = alternatives.flatten().map(|it| text.resolved(it));
    let mut schemas = std::iter::once(table)
        .chain(tables)
        .map(|table| &table["properties"][name]);
    schemas
        .find(|schema| !schema.is_null())
        .unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Job {
        #[schemars(range(min = 1, max = 1024))]
        threads: u32,
        #[schemars(extend("minimum" = 1, "maximum" = 128 << 20))]
        record: Bytes,
        #[schemars(extend("minimum" = 512))]
        segment: Option<Bytes>,
        #[schemars(range(max = 100))]
        percent: Option<u8>,
        files: u64,
        access: Option<Access>,
        content: Vec<Content>,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Access {
        Sequential,
        HotCold {
            #[schemars(range(min = 1, max = 100))]
            space_percent: u8,
        },
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Content {
        #[schemars(range(max = 100))]
        zeros_percent: u8,
    }

    fn problem(parameters: &Value) -> Option<String> {
        let generator = SchemaSettings::draft07().into_generator();
        let schema = generator.into_root_schema_for::<Job>().to_value();
        let parameters = parameters.as_object().expect("a map");
        check_ranges(&schema, parameters).err()
    }

    #[test]
    fn a_value_outside_its_range_is_named_with_the_range_in_its_unit() {
        for (parameters, expected) in [
            (json!({ "threads": 0 }), "threads = 0; it must be 1 to 1024"),
            (
                json!({ "threads": 1025 }),
                "threads = 1025; it must be 1 to 1024",
            ),
            (
                json!({ "record": 0 }),
                "record = 0 B; it must be 1 B to 128 MiB",
            ),
            (
                json!({ "segment": 4 }),
                "segment = 4 B; it must be 512 B or more",
            ),
            (
                json!({ "percent": 101 }),
                "percent = 101; it must be 0 to 100",
            ),
            (json!({ "files": -1 }), "files = -1; it must be 0 or more"),
            (
                json!({ "threads": u64::MAX }),
                "threads = 18446744073709551615; it must be 1 to 1024",
            ),
            (
                json!({ "access": { "hot-cold": { "space_percent": 101 } } }),
                "access.hot-cold.space_percent = 101; it must be 1 to 100",
            ),
            (
                json!({ "content": [{ "zeros_percent": 5 }, { "zeros_percent": 101 }] }),
                "content[1].zeros_percent = 101; it must be 0 to 100",
            ),
        ] {
            assert_eq!(problem(&parameters).as_deref(), Some(expected));
        }
    }

    #[test]
    fn the_bounds_and_what_is_not_set_are_inside() {
        for parameters in [
            json!({ "threads": 1, "record": 1, "percent": 0, "files": 0 }),
            json!({ "threads": 1024, "record": 134_217_728, "percent": 100, "files": u64::MAX }),
            json!({ "segment": null, "percent": null, "access": "sequential", "unknown": 1 }),
        ] {
            assert_eq!(problem(&parameters), None, "{parameters}");
        }
    }
}
