//! Times in a study's parameters: `ramp_up = "2s"` is `ramp_up_ns = 2000000000`, and so is
//! `ramp_up_ns = "2s"`; `{ time = "10s" }` is `{ time-ns = 10000000000 }`.

use fslab_model::{Parameters, parse_duration, parse_duration_in};
use serde_json::{Map, Value};

/// Endings of names, and the unit of the number.
const UNITS: [(&str, u64, &str); 4] = [
    ("_ns", 1, "nanoseconds"),
    ("-ns", 1, "nanoseconds"),
    ("_ms", 1_000_000, "milliseconds"),
    ("_s", 1_000_000_000, "seconds"),
];

/// The parameters with numbers in the place of times. A parameter is renamed only where its name is
/// not known and that with a unit is.
pub(crate) fn as_numbers(
    given: &Parameters,
    is_known: &dyn Fn(&str) -> bool,
) -> Result<Parameters, String> {
    let mut parameters = Parameters::new();
    for (name, value) in given {
        let mut value = value.clone();
        let name = renamed(name, &value, is_known);
        convert(&name, &mut value)?;
        parameters.insert(name, value);
    }
    Ok(parameters)
}

fn renamed(name: &str, value: &Value, is_known: &dyn Fn(&str) -> bool) -> String {
    if !is_time(value) || is_known(name) {
        return name.to_owned();
    }
    let mut with_units = UNITS.iter().map(|(ending, ..)| format!("{name}{ending}"));
    let known = with_units.find(|candidate| is_known(candidate));
    known.unwrap_or_else(|| name.to_owned())
}

fn convert(name: &str, value: &mut Value) -> Result<(), String> {
    match value {
        Value::String(text) => {
            let unit = UNITS.iter().find(|(ending, ..)| name.ends_with(ending));
            if let Some((_, unit_ns, unit)) = unit {
                let number = parse_duration_in(text, *unit_ns, unit);
                *value = number.map_err(|error| format!("{name}: {error}"))?.into();
            }
            Ok(())
        }
        Value::Array(values) => values.iter_mut().try_for_each(|it| convert(name, it)),
        Value::Object(map) => convert_table(name, map),
        _ => Ok(()),
    }
}

/// Tables within parameters have nanoseconds alone; names of other tables are the user's.
fn convert_table(table: &str, map: &mut Map<String, Value>) -> Result<(), String> {
    if table == "amount"
        && map.get("time").is_some_and(is_time)
        && let Some(time) = map.remove("time")
    {
        map.insert("time-ns".to_owned(), time);
    }
    for (name, value) in map {
        // Jobs of a phase have parameters of their own.
        let is_time_of_job = table == "jobs" && name.ends_with("_ns");
        if value.is_array() || value.is_object() || name.ends_with("-ns") || is_time_of_job {
            convert(name, value)?;
        }
    }
    Ok(())
}

fn is_time(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| parse_duration(text).is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn converted(value: Value) -> Result<Value, String> {
        let given: Parameters = serde_json::from_value(value).expect("a table");
        let known =
            |name: &str| ["amount", "ramp_up_ns", "limit_s", "file", "text"].contains(&name);
        as_numbers(&given, &known).map(|parameters| json!(parameters))
    }

    #[test]
    fn times_become_numbers_of_their_unit() {
        assert_eq!(
            converted(json!({"amount": {"time": "10s"}, "ramp_up": "500ms", "limit_s": "2min"})),
            Ok(json!({
                "amount": {"time-ns": 10_000_000_000_u64},
                "ramp_up_ns": 500_000_000,
                "limit_s": 120,
            }))
        );
        assert_eq!(
            converted(json!({"jobs": [{"time_limit_ns": "5s", "file": "5s"}]})),
            Ok(json!({"jobs": [{"time_limit_ns": 5_000_000_000_u64, "file": "5s"}]}))
        );
        let numbers = json!({
            "amount": {"time-ns": 5}, "ramp_up_ns": 7, "file": "10s",
            "text": {"wait_s": "10s", "time": "10s"},
        });
        assert_eq!(converted(numbers.clone()), Ok(numbers));
    }

    #[test]
    fn a_time_that_is_none_is_refused_with_its_name() {
        let error = converted(json!({"limit_s": "soon"})).expect_err("no time");
        assert!(
            error.starts_with("limit_s: 'soon' is not a time"),
            "{error}"
        );
        assert!(converted(json!({"limit_s": "1500ms"})).is_err());
    }
}
