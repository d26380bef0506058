//! docs/reference.md and docs/jobs.md: every key of the files that users write, and every parameter
//! of a job, from their schemas.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::expect_file;
use crate::commands::FORMATS;

const INTRODUCTION: &str = "\
# Reference of the files

Every key of the files that users write: its value with range and unit, its default, its meaning.
`fslab schema NAME` prints the same as a JSON Schema for editors, which a TOML file names in its
first line: `#:schema ../../schemas/study.json`.

Generated: see crates/fslab-cli/src/reference/parameters.rs.
";

/// The formats in the document, with their files.
const FILES: [(&str, &str); 3] = [
    ("study", "study.toml"),
    ("disk", "disks/NAME.toml"),
    ("claims", "claims.toml"),
];

#[test]
fn the_reference_has_every_key_of_the_schemas() {
    let mut text = INTRODUCTION.to_owned();
    for (name, file) in FILES {
        let format = FORMATS
            .iter()
            .find(|format| format.name == name)
            .expect(name);
        let schema = (format.schema)().to_value();
        let _ = write!(text, "\n## {name}: `{file}`\n");
        Writer {
            root: &schema,
            text: &mut text,
            done: BTreeSet::new(),
        }
        .table(&schema);
    }
    expect_file("docs/reference.md", &text);
}

const JOBS_INTRODUCTION: &str = "\
# Jobs and their parameters

A [workload](workloads.md#a-workload-of-your-own) is a kind of job with values for its parameters.
`fslab workload jobs NAME` shows the parameters of one job. A default is that of the job; a workload
may have another.

Generated: see crates/fslab-cli/src/reference/parameters.rs.
";

#[test]
fn every_job_is_documented_with_its_parameters() {
    let mut text = JOBS_INTRODUCTION.to_owned();
    for job in fslab_workload::job_infos() {
        let _ = write!(text, "\n## {}\n", job.name);
        let schema = job.schema.to_value();
        let mut writer = Writer {
            root: &schema,
            text: &mut text,
            done: BTreeSet::new(),
        };
        writer.table(&schema);
    }
    expect_file("docs/jobs.md", &text);
}

/// Writes the tables of a schema.
struct Writer<'a> {
    root: &'a Value,
    text: &'a mut String,
    /// Names of the definitions whose tables are written.
    done: BTreeSet<String>,
}

impl Writer<'_> {
    /// Writes the table of an object's keys, then those of nested objects.
    fn table(&mut self, schema: &Value) {
        let about = one_line(schema["description"].as_str().unwrap_or_default());
        let Some(properties) = schema["properties"].as_object() else {
            let _ = write!(self.text, "\n{about}\n");
            return;
        };
        let _ = write!(
            self.text,
            "\n{about}\n\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n"
        );
        let required = schema["required"].as_array();
        for (key, property) in properties {
            let is_required = required.is_some_and(|keys| keys.contains(&Value::from(&**key)));
            self.row(key, property, is_required);
        }
        let others = &schema["additionalProperties"];
        if others.is_object() {
            let line = format!("| any other name | {} |  |  |\n", self.value(others));
            self.text.push_str(&line);
        }
        self.tables_in(schema);
    }

    /// Writes the tables of the objects that a schema refers to, directly or through definitions.
    fn tables_in(&mut self, schema: &Value) {
        let mut names = Vec::new();
        collect(schema, &mut names);
        for name in names {
            let schema = &self.root["definitions"][&name];
            if !self.done.insert(name.clone()) {
                continue;
            }
            if schema["properties"].is_object() {
                let _ = write!(self.text, "\n### {name}\n");
                self.table(schema);
            } else {
                self.tables_in(schema);
            }
        }
    }

    fn row(&mut self, key: &str, property: &Value, is_required: bool) {
        let default = match &property["default"] {
            _ if is_required => "required".to_owned(),
            Value::Null => String::new(),
            Value::Array(list) if list.is_empty() => String::new(),
            Value::Object(keys) if keys.is_empty() => String::new(),
            value => format!("`{value}`"),
        };
        let meaning = one_line(property["description"].as_str().unwrap_or_default());
        let descriptions = self.descriptions(property);
        let value = self.value(property);
        let line = format!("| `{key}` | {value} | {default} | {meaning}{descriptions} |\n");
        self.text.push_str(&line);
    }

    /// The schema that a property refers to, or itself.
    fn resolved<'b>(&'b self, schema: &'b Value) -> (&'b Value, Option<&'b str>) {
        let reference = schema["$ref"]
            .as_str()
            .or_else(|| schema["allOf"][0]["$ref"].as_str());
        match reference.and_then(|reference| reference.strip_prefix("#/definitions/")) {
            Some(name) => (&self.root["definitions"][name], Some(name)),
            None => (schema, None),
        }
    }

    /// The descriptions of an enumeration's values.
    fn descriptions(&self, schema: &Value) -> String {
        let schema = of_some(schema);
        let (schema, _) = self.resolved(schema);
        let words = schema["oneOf"].as_array().into_iter().flatten();
        words
            .filter_map(|word| {
                let name = word["const"].as_str()?;
                let about = one_line(word["description"].as_str()?);
                Some(format!("<br>`{name}`: {about}"))
            })
            .collect()
    }

    /// The type of a value, with its range or an example.
    fn value(&self, schema: &Value) -> String {
        let schema = of_some(schema);
        let (schema, name) = self.resolved(schema);
        if let (Some(name), true) = (name, schema["properties"].is_object()) {
            return format!("table [{name}](#{})", name.to_lowercase());
        }
        if let Some(word) = schema["const"].as_str() {
            return format!("`\"{word}\"`");
        }
        if let Some(words) = alternatives(schema) {
            return words;
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(several) = schema[key].as_array() {
                let mut each: Vec<_> = several.iter().map(|schema| self.value(schema)).collect();
                each.dedup();
                return each.join("; or ");
            }
        }
        match of_type(schema) {
            "array" => format!("list of: {}", self.value(&schema["items"])),
            "object" => match (&schema["properties"], &schema["additionalProperties"]) {
                (Value::Object(keys), _) => self.inline(keys),
                (_, inner @ Value::Object(_)) => format!("table of names: {}", self.value(inner)),
                _ => "table".to_owned(),
            },
            "boolean" => "`true` or `false`".to_owned(),
            "string" => match schema["examples"][0].as_str() {
                Some(example) => format!("text, like `\"{example}\"`"),
                None => "text".to_owned(),
            },
            kind => format!("{kind}{}", range(schema)),
        }
    }

    /// A table without a name, with its keys.
    fn inline(&self, keys: &serde_json::Map<String, Value>) -> String {
        let key = |(key, schema)| format!("{key} = {}", self.value(schema));
        let keys: Vec<_> = keys.iter().map(key).collect();
        format!("{{ {} }}", keys.join(", "))
    }
}

/// The names of the definitions that a schema refers to, in order.
fn collect(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            let reference = map.get("$ref").and_then(Value::as_str);
            let name = reference.and_then(|it| it.strip_prefix("#/definitions/"));
            names.extend(name.map(str::to_owned));
            let inner = map.iter().filter(|(key, _)| *key != "definitions");
            inner.for_each(|(_, inner)| collect(inner, names));
        }
        Value::Array(list) => list.iter().for_each(|inner| collect(inner, names)),
        _ => {}
    }
}

/// The schema of an optional value, without null.
fn of_some(schema: &Value) -> &Value {
    let several = schema["anyOf"].as_array().into_iter().flatten();
    let is_null = |schema: &&Value| schema["type"] == "null";
    let null = several.clone().find(is_null);
    let some = several.clone().find(|schema| !is_null(schema));
    null.and(some).unwrap_or(schema)
}

fn of_type(schema: &Value) -> &str {
    let list = schema["type"].as_array().into_iter().flatten();
    let mut named = list
        .filter_map(Value::as_str)
        .filter(|name| *name != "null");
    let first = schema["type"].as_str().or_else(|| named.next());
    first.unwrap_or("any value")
}

/// The values of an enumeration.
fn alternatives(schema: &Value) -> Option<String> {
    let quoted = |word: &Value| Some(format!("`{}`", word.as_str()?));
    let words: Option<Vec<_>> = match (&schema["enum"], &schema["oneOf"]) {
        (Value::Array(words), _) => words.iter().map(quoted).collect(),
        (_, Value::Array(several)) => several.iter().map(|one| quoted(&one["const"])).collect(),
        _ => None,
    };
    words.map(|words| words.join(", "))
}

fn range(schema: &Value) -> String {
    match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, Value::Null) => String::new(),
        (least, Value::Null) => format!(", {least} or more"),
        (Value::Null, most) => format!(", up to {most}"),
        (least, most) => format!(", {least} to {most}"),
    }
}

/// The text before an example in code, as one line for a table.
fn one_line(text: &str) -> String {
    let text = text.split("```").next().unwrap_or_default();
    let words: Vec<_> = text.split_whitespace().collect();
    let line = words.join(" ").replace('|', "\\|");
    // Links of rustdoc lead nowhere here.
    line.replace("[`", "`").replace("`]", "`")
}
