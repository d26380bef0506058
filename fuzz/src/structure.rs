//! Mutations of a text's structure: a value of a JSON or TOML document is replaced by another one,
//! from the same document, from another, or from the awkward ones; keys go, come and are renamed.
//! The result is a document again, so that what reads it gets beyond the syntax.

use serde_json::{Map, Value};

use crate::chance::Chance;
use crate::disk_log;
use crate::mutator::AWKWARD;
use crate::target::Syntax;

/// A changed `input`, with parts of `other`; `None` where it has no structure.
pub(crate) fn change(
    syntax: Syntax,
    input: &[u8],
    other: &[u8],
    chance: &mut Chance,
) -> Option<Vec<u8>> {
    if let Syntax::DiskLog = syntax {
        return disk_log::change(input, other, chance);
    }
    let (input, other) = (
        std::str::from_utf8(input).ok()?,
        std::str::from_utf8(other).ok()?,
    );
    match syntax {
        Syntax::Text | Syntax::DiskLog => None,
        Syntax::Json => {
            let mut value = serde_json::from_str(input).ok()?;
            let donor = serde_json::from_str(other).unwrap_or(Value::Null);
            mutate(&mut value, &donor, chance);
            Some(value.to_string().into_bytes())
        }
        Syntax::Toml => {
            let mut value = serde_json::to_value(input.parse::<toml::Table>().ok()?).ok()?;
            let donor = other.parse::<toml::Table>().ok();
            let donor = donor.and_then(|it| serde_json::to_value(it).ok());
            mutate(&mut value, &donor.unwrap_or(Value::Null), chance);
            let table = toml::Table::try_from(value).ok()?;
            Some(table.to_string().into_bytes())
        }
        Syntax::JsonLines => {
            let mut lines: Vec<String> = input.lines().map(Into::into).collect();
            let donors: Vec<&str> = other.lines().collect();
            if lines.is_empty() || donors.is_empty() {
                return None;
            }
            for _ in 0..=chance.below(2) {
                let at = chance.below(lines.len());
                let mut value = serde_json::from_str(&lines[at]).ok()?;
                let donor =
                    serde_json::from_str(chance.one::<&str>(&donors)).unwrap_or(Value::Null);
                mutate(&mut value, &donor, chance);
                lines[at] = value.to_string();
            }
            Some((lines.join("\n") + "\n").into_bytes())
        }
    }
}

pub(crate) fn mutate(value: &mut Value, donor: &Value, chance: &mut Chance) {
    for _ in 0..=chance.below(3) {
        let (foreign_places, places) = (places(donor), places(value));
        let place = chance.one::<String>(&places).clone();
        let (own, foreign) = (
            value.pointer(chance.one::<String>(&places)).cloned(),
            donor
                .pointer(chance.one::<String>(&foreign_places))
                .cloned(),
        );
        let Some(target) = value.pointer_mut(&place) else {
            continue;
        };
        match chance.below(6) {
            0 => *target = own.unwrap_or(Value::Null),
            1 => *target = foreign.unwrap_or(Value::Null),
            2 => change_inside(target, foreign, chance),
            _ => *target = awkward(chance, target),
        }
    }
}

/// Entries of a list or a map go, come or change their names.
fn change_inside(target: &mut Value, foreign: Option<Value>, chance: &mut Chance) {
    match target {
        Value::Array(items) => match (items.is_empty(), chance.below(3)) {
            (false, 0) => {
                items.remove(chance.below(items.len()));
            }
            (false, 1) => {
                let copy = chance.one(items).clone();
                items.extend(std::iter::repeat_n(copy, [1, 2, 50][chance.below(3)]));
            }
            _ => items.extend(foreign),
        },
        Value::Object(map) => {
            let keys: Vec<String> = map.keys().cloned().collect();
            if keys.is_empty() {
                return;
            }
            let taken = map
                .remove(chance.one::<String>(&keys))
                .unwrap_or(Value::Null);
            match (chance.below(3), foreign) {
                (0, _) => {}
                (1, Some(Value::Object(others))) => merge(map, others),
                _ => {
                    map.insert(chance.one::<String>(&keys).clone(), taken);
                }
            }
        }
        _ => *target = awkward(chance, target),
    }
}

fn merge(map: &mut Map<String, Value>, others: Map<String, Value>) {
    for (key, value) in others {
        map.insert(key, value);
    }
}

/// Something of the same kind as `instead_of`, mostly.
fn awkward(chance: &mut Chance, instead_of: &Value) -> Value {
    let text = *chance.one(AWKWARD);
    let number = text
        .parse::<u64>()
        .map(Value::from)
        .or_else(|_| text.parse::<i64>().map(Value::from))
        .or_else(|_| text.parse::<f64>().map(Value::from));
    match (chance.below(8), instead_of) {
        (0, _) => Value::Array(vec![instead_of.clone(); 2]),
        (1, _) | (_, Value::String(_)) => Value::String(text.into()),
        (2, Value::Number(number)) => {
            let near = number.as_u64().unwrap_or(0);
            near.wrapping_add([1, 2, u64::MAX][chance.below(3)]).into()
        }
        _ => number.unwrap_or_else(|_| Value::String(text.into())),
    }
}

/// Pointers to everything in `value`, itself first.
fn places(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    collect(value, "", &mut found);
    found
}

fn collect(value: &Value, at: &str, into: &mut Vec<String>) {
    let mut add = |key: &str, inner: &Value| {
        let place = format!("{at}/{key}");
        into.push(place.clone());
        collect(inner, &place, into);
    };
    match value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, inner)| add(&index.to_string(), inner));
        }
        Value::Object(map) => map
            .iter()
            .for_each(|(key, inner)| add(&key.replace('~', "~0").replace('/', "~1"), inner)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_is_a_document_again() {
        let input = b"a = 1\n[b]\nc = ['x', 'y']\nd = { e = 2.5 }\n";
        let mut chance = Chance::new(1);
        let mut changed = 0;
        for _ in 0..500 {
            let Some(text) = change(Syntax::Toml, input, input, &mut chance) else {
                continue;
            };
            let text = String::from_utf8(text).expect("text");
            text.parse::<toml::Table>().expect(&text);
            changed += 1;
        }
        assert!(changed > 250, "{changed}");
        let json = br#"{"a":[1,{"b":null}],"c":"d"}"#;
        for _ in 0..500 {
            let text = change(Syntax::Json, json, json, &mut chance).expect("has a structure");
            serde_json::from_slice::<Value>(&text).expect("JSON");
        }
    }
}
