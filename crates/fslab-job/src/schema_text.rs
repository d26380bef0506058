//! The values that a JSON Schema accepts, in words: `integer, 1 to 1024`.

use serde_json::{Map, Value};

use crate::value_range::ValueRange;

/// A JSON Schema with its definitions, in words.
#[derive(Clone, Copy, Debug)]
pub struct SchemaText<'a> {
    root: &'a Value,
    named_table: Option<fn(&str) -> String>,
}

impl<'a> SchemaText<'a> {
    /// For the schemas in `root`, which has the definitions.
    pub fn of(root: &'a Value) -> Self {
        Self {
            root,
            named_table: None,
        }
    }

    /// With other words for a table that is a definition.
    pub fn with_named_table(self, named_table: fn(&str) -> String) -> Self {
        Self {
            named_table: Some(named_table),
            ..self
        }
    }

    /// True if a value is a size: bytes, or a share of the file system.
    pub fn is_size(schema: &Value) -> bool {
        matches!(Self::name(schema), Some("Bytes" | "Size"))
    }

    /// The name of the definition that `schema` refers to.
    pub fn name(schema: &Value) -> Option<&str> {
        definition_name(of_some(schema))
    }

    /// The schema that `schema` refers to, or itself.
    pub fn resolved(&self, schema: &'a Value) -> &'a Value {
        let schema = of_some(schema);
        match definition_name(schema) {
            Some(name) => &self.root["definitions"][name],
            None => schema,
        }
    }

    /// The type of a value with its range, its words, or an example.
    pub fn value(&self, schema: &'a Value) -> String {
        let range = ValueRange::of(schema).map_or(String::new(), |range| format!(", {range}"));
        if Self::is_size(schema) {
            return match Self::name(schema) {
                Some("Size") => format!("size or share{range}"),
                _ => format!("size{range}"),
            };
        }
        let name = Self::name(schema);
        let schema = self.resolved(schema);
        let is_table = schema["properties"].is_object();
        if let (Some(name), Some(named_table), true) = (name, self.named_table, is_table) {
            return named_table(name);
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
            kind => format!("{kind}{range}"),
        }
    }

    /// The words of an enumeration with their meanings, where it states any.
    pub fn words(&self, schema: &'a Value) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let words = self.resolved(schema)["oneOf"].as_array();
        words.into_iter().flatten().filter_map(|word| {
            let meaning = word["description"].as_str()?;
            Some((word["const"].as_str()?, meaning))
        })
    }

    /// A table without a name, with its keys.
    fn inline(&self, keys: &'a Map<String, Value>) -> String {
        let key = |(key, schema)| format!("{key} = {}", self.value(schema));
        let keys: Vec<_> = keys.iter().map(key).collect();
        format!("{{ {} }}", keys.join(", "))
    }
}

/// The name of the definition that a schema refers to.
fn definition_name(schema: &Value) -> Option<&str> {
    let direct = schema["$ref"].as_str();
    let reference = direct.or_else(|| schema["allOf"][0]["$ref"].as_str())?;
    reference.strip_prefix("#/definitions/")
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
