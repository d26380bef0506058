//! docs/reference.md and docs/jobs.md: every key of the files that users write, and every parameter
//! of a job, from their schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fslab_model::Bytes;
use fslab_workload::SchemaText;
use serde_json::Value;

use super::expect_file;
use crate::commands::FORMATS;

const INTRODUCTION: &str = "\
# Reference of the files

Every key of the files that users write: its value with range and unit, its default, its meaning.
`fslab schema NAME` prints the same as a JSON Schema for editors, which a TOML file names in its
first line: `#:schema ../../schemas/study.json`. A size is a string with its unit, for example
`\"4KiB\"`, or a number of bytes.

Generated: see crates/fslab-cli/src/reference/parameters.rs.
";

/// The formats in the document, with their files.
const FILES: [(&str, &str); 5] = [
    ("study", "study.toml"),
    ("workload", "workloads/NAME.toml"),
    ("machine", "machines/NAME.toml"),
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
        let mut words = Enumerations::new();
        Writer {
            root: &schema,
            text: &mut text,
            done: BTreeSet::new(),
            words: &mut words,
        }
        .table(&schema);
        write_enumerations(&mut text, &words);
    }
    expect_file("docs/reference.md", &text);
}

const JOBS_INTRODUCTION: &str = "\
# Jobs and their parameters

A [workload](workloads.md#a-workload-of-your-own) is a kind of job with values for its parameters.
`fslab workload jobs NAME` shows the parameters of one job. A default is that of the job; a workload
may have another. A size is a string with its unit, for example `\"4KiB\"`, or a number of bytes; a
share is a part of the file system, for example `\"1/4\"`.

Generated: see crates/fslab-cli/src/reference/parameters.rs.
";

#[test]
fn every_job_is_documented_with_its_parameters() {
    let mut text = JOBS_INTRODUCTION.to_owned();
    let mut words = Enumerations::new();
    for job in fslab_workload::job_infos() {
        let _ = write!(text, "\n## {}\n", job.name);
        let schema = job.schema.to_value();
        let mut writer = Writer {
            root: &schema,
            text: &mut text,
            done: BTreeSet::new(),
            words: &mut words,
        };
        writer.table(&schema);
    }
    write_enumerations(&mut text, &words);
    expect_file("docs/jobs.md", &text);
}

/// Number of values from which on an enumeration has its own table.
const MANY_WORDS: usize = 7;

/// Words and meanings of the enumerations with a table, by name.
type Enumerations = BTreeMap<String, Vec<(String, String)>>;

fn write_enumerations(text: &mut String, enumerations: &Enumerations) {
    if !enumerations.is_empty() {
        text.push_str("\n## Values of enumerations\n");
    }
    for (name, words) in enumerations {
        let _ = write!(text, "\n### {name}\n\n| Value | Meaning |\n|---|---|\n");
        for (word, meaning) in words {
            let _ = writeln!(text, "| `{word}` | {meaning} |");
        }
    }
}

/// Writes the tables of a schema.
struct Writer<'a> {
    root: &'a Value,
    text: &'a mut String,
    /// Names of the definitions whose tables are written.
    done: BTreeSet<String>,
    /// Enumerations that are to be written behind the tables.
    words: &'a mut Enumerations,
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
            let line = format!(
                "| any other name | {} |  |  |\n",
                self.schema_text().value(others)
            );
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
            value => match SchemaText::is_size(property)
                .then(|| value.as_u64())
                .flatten()
            {
                Some(bytes) if bytes > 0 => format!("`\"{}\"`", Bytes(bytes)),
                _ => format!("`{value}`"),
            },
        };
        let meaning = one_line(property["description"].as_str().unwrap_or_default());
        let link = |name: String| format!("[{name}](#{})", name.to_lowercase());
        let one = self.many_words(property).map(link);
        let list = self.many_words(&property["items"]).map(link);
        let link = one.or_else(|| list.map(|link| format!("list of: {link}")));
        let (value, words) = match link {
            Some(link) => (link, String::new()),
            None => (self.schema_text().value(property), self.meanings(property)),
        };
        let line = format!("| `{key}` | {value} | {default} | {meaning}{words} |\n");
        self.text.push_str(&line);
    }

    /// The name of an enumeration that gets a table.
    fn many_words(&mut self, property: &Value) -> Option<String> {
        let text = SchemaText::of(self.root);
        let words = text.words(property);
        let line = |(word, meaning): (&str, &str)| (word.to_owned(), one_line(meaning));
        let words: Vec<_> = words.map(line).collect();
        if words.len() < MANY_WORDS {
            return None;
        }
        let name = SchemaText::name(property)?.to_owned();
        let known = self
            .words
            .entry(name.clone())
            .or_insert_with(|| words.clone());
        assert_eq!(*known, words, "two enumerations have the name {name}");
        Some(name)
    }

    fn schema_text(&self) -> SchemaText<'_> {
        let linked = |name: &str| format!("table [{name}](#{})", name.to_lowercase());
        SchemaText::of(self.root).with_named_table(linked)
    }

    /// The meanings of an enumeration's words.
    fn meanings(&self, schema: &Value) -> String {
        let text = self.schema_text();
        let words = text.words(schema);
        words
            .map(|(word, meaning)| format!("<br>`{word}`: {}", one_line(meaning)))
            .collect()
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

/// The text before an example in code, as one line for a table.
fn one_line(text: &str) -> String {
    let text = text.split("```").next().unwrap_or_default();
    let words: Vec<_> = text.split_whitespace().collect();
    let line = words.join(" ").replace('|', "\\|");
    // Links of rustdoc lead nowhere here.
    line.replace("[`", "`").replace("`]", "`")
}
