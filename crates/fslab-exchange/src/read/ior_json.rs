//! The JSON of IOR. Lines of its log between those of the document are passed over: without
//! `-O summaryFile=FILE` both go to the standard output.

use serde_json::Value;

use super::ior_options::{Printed, settings};
use super::ior_test::{Access, Execution, Origin, Row, Test};
use super::json_documents::{Document, Fields, as_count, documents};
use crate::error::Fault;

/// How IOR writes JSON.
const HINT: &str = "run IOR with -O summaryFormat=JSON and -O summaryFile=FILE";
/// Beginnings of lines of the log.
const LOG: [&str; 6] = [
    "stonewalling pairs",
    "Pairs deadline",
    "WARNING:",
    "Using Time Stamp",
    "Commencing ",
    "task ",
];

/// Figures of a result that have no place among those of fslab.
const BESIDES: [(&str, &str); 5] = [
    ("iops", "IOPS"),
    ("latency", "Latency(s)"),
    ("openTime", "open(s)"),
    ("wrRdTime", "wr/rd(s)"),
    ("closeTime", "close(s)"),
];

/// Every execution in the text.
pub(super) fn executions(text: &str) -> Result<Vec<Execution>, Fault> {
    let documents = documents(&without_log(text), HINT).map_err(|fault| fault.hint(HINT))?;
    let is_ior = |document: &&Document| document.value.get("tests").is_some();
    let found = documents.iter().filter(is_ior).map(execution);
    let found: Vec<Execution> = found.collect::<Result<_, _>>()?;
    match found.is_empty() {
        true => Err(Fault::missing("line 1", "tests").hint(HINT)),
        false => Ok(found),
    }
}

/// The text with an empty line for each line of the log, so that lines keep their numbers.
fn without_log(text: &str) -> String {
    let is_log = |line: &str| LOG.iter().any(|start| line.trim_start().starts_with(start));
    let kept = text
        .lines()
        .map(|line| if is_log(line) { "" } else { line });
    kept.collect::<Vec<&str>>().join("\n")
}

fn execution(document: &Document) -> Result<Execution, Fault> {
    let place = format!("line {}", document.line);
    let fields = Fields::of(place, &document.value)?;
    let command = fields.text("Command line")?.unwrap_or_default();
    let mut execution = Execution {
        place: fields.place.clone(),
        version: fields.text("Version")?.unwrap_or_default().to_owned(),
        began: fields.text("Began")?.map(str::to_owned),
        has_end: true,
        ..Execution::default()
    };
    let mut facts = vec![("ior", execution.tool())];
    for (key, fact) in [("Command line", "ior command"), ("Machine", "ior machine")] {
        facts.extend(fields.text(key)?.map(|value| (fact, value.to_owned())));
    }
    for value in fields.list("tests")?.unwrap_or_default() {
        let number = execution.tests.len();
        let fields = Fields::of(format!("{}, test {number}", fields.place), value)?;
        execution.tests.push(test(&fields, command)?);
        let options = fields.object("Options")?;
        let file = options.and_then(|it| it.get("test filename")?.as_str());
        if let Some(file) = file.filter(|_| number == 0) {
            facts.push(("ior file", file.to_owned()));
        }
    }
    let facts = facts.into_iter();
    execution.facts = facts.map(|(key, value)| (key.to_owned(), value)).collect();
    Ok(execution)
}

fn test(fields: &Fields, command: &str) -> Result<Test, Fault> {
    let id = fields.count("TestID")?;
    let id = id.ok_or_else(|| Fault::missing(&*fields.place, "TestID"))?;
    let mut printed = Printed::new();
    for section in ["Options", "Parameters"] {
        if let Some(section) = fields.object(section)? {
            printed.extend(section.iter().filter_map(|(key, value)| {
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(number) => number.to_string(),
                    _ => return None,
                };
                Some((key.clone(), text))
            }));
        }
    }
    let settings = settings(&fields.place, &printed, command)?;
    let list = fields.list("Results")?;
    let list = list.ok_or_else(|| Fault::missing(&*fields.place, "Results"))?;
    // Up to 3.3 each repetition is a separate list.
    let mut values: Vec<&Value> = Vec::new();
    for value in list {
        match value {
            Value::Array(inner) => values.extend(inner),
            other => values.push(other),
        }
    }
    let rows = values.iter().enumerate().map(|(at, value)| {
        row(&Fields::of(
            format!("{}, result {at}", fields.place),
            value,
        )?)
    });
    let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
    let own = fields.object("fslab")?;
    Ok(Test {
        place: fields.place.clone(),
        id: id.to_string(),
        origin: own.map(|own| origin(&own, rows.len())).transpose()?,
        parameters: settings.parameters,
        repetitions: settings.repetitions,
        asked: settings.asked,
        rows,
    })
}

/// What an export of fslab says of a test.
fn origin(fields: &Fields, rows: usize) -> Result<Origin, Fault> {
    let text = |name: &str| -> Result<String, Fault> {
        let text = fields.text(name)?;
        let text = text.ok_or_else(|| Fault::missing(&*fields.place, name))?;
        Ok(text.to_owned())
    };
    let repeats = fields.list("repeats")?.unwrap_or_default();
    let repeat = |value: &Value| as_count(value).and_then(|count| u32::try_from(count).ok());
    let read: Option<Vec<u32>> = repeats.iter().map(repeat).collect();
    let read = read.filter(|read| read.len() == rows);
    let wanted = format!("the repeats of its {rows} results");
    let wrong = || {
        Fault::value(
            fields.path("repeats"),
            Value::from(repeats).to_string(),
            wanted,
        )
    };
    Ok(Origin {
        subject: text("subject")?,
        phase: text("phase")?,
        repeats: read.ok_or_else(wrong)?,
    })
}

fn row(fields: &Fields) -> Result<Row, Fault> {
    let name = fields.text("access")?;
    let name = name.ok_or_else(|| Fault::missing(&*fields.place, "access"))?;
    let wrong = || Fault::value(fields.path("access"), name, "write, read or remove");
    let access = Access::named(name).ok_or_else(wrong)?;
    if access != Access::Remove && fields.get("bwMiB").is_none() {
        return Err(Fault::missing(&*fields.place, "bwMiB"));
    }
    let mut besides: Vec<String> = Vec::new();
    for (key, title) in BESIDES {
        // It has four decimals, which leaves nothing of short times.
        if let Some(value) = figure(fields, key)?.filter(|value| *value > 0.0) {
            besides.push(format!("{title} {value}"));
        }
    }
    let besides = (!besides.is_empty()).then(|| besides.join(", "));
    Ok(Row {
        access,
        bandwidth_mib: figure(fields, "bwMiB")?,
        total_s: figure(fields, "totalTime")?,
        notes: besides
            .map(|besides| format!("IOR gives besides: {besides}."))
            .into_iter()
            .collect(),
    })
}

/// A figure; `None` for what is not given, and for what took no time of IOR's clock (`"inf"`).
fn figure(fields: &Fields, name: &str) -> Result<Option<f64>, Fault> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim() == "inf" => Ok(None),
        Some(_) => fields.number(name),
    }
}
