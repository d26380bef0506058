//! Texts of a study in which `$NAME` stands for the value of a dimension: `"web-$file_size"`.
//! Only names of dimensions are special, `$$` is a `$`, and any other `$` stays: a shell's.

use fslab_model::Point;
use serde_json::Value;

/// Puts the point's values in the place of their names, however deep: the number where a text is
/// nothing else, its digits within a longer text. Gives the first text that is a single `$NAME` of
/// no dimension.
pub(crate) fn substitute(value: &mut Value, point: Option<&Point>) -> Option<String> {
    match value {
        Value::String(text) if text.contains('$') => {
            let name = text.strip_prefix('$').filter(|name| is_name(name));
            match (name, name.and_then(|name| point?.get(name))) {
                (Some(_), Some(number)) => *value = number.number().into(),
                (Some(_), None) => return Some(text.clone()),
                (None, _) => *value = substituted(text, point).into(),
            }
            None
        }
        Value::Array(values) => first(values.iter_mut(), point),
        Value::Object(map) => first(map.values_mut(), point),
        _ => None,
    }
}

fn first<'a>(values: impl Iterator<Item = &'a mut Value>, point: Option<&Point>) -> Option<String> {
    // All are substituted.
    let unknown: Vec<String> = values.filter_map(|it| substitute(it, point)).collect();
    unknown.into_iter().next()
}

fn substituted(text: &str, point: Option<&Point>) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        result.push_str(before);
        let name_end = after.find(|c| !is_part(c)).unwrap_or(after.len());
        let (name, behind) = after.split_at(name_end);
        rest = if let Some(number) = point.and_then(|point| point.get(name)) {
            result.push_str(&number.number().to_string());
            behind
        } else {
            result.push('$');
            after.strip_prefix('$').unwrap_or(after)
        };
    }
    result.push_str(rest);
    result
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part)
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use fslab_model::PointValue;
    use serde_json::json;

    use super::*;

    fn at_point(mut value: Value) -> (Value, Option<String>) {
        let point = Point::from([
            ("a".to_owned(), PointValue::Count(3)),
            ("ab".to_owned(), PointValue::Bytes(4096)),
        ]);
        let unknown = substitute(&mut value, Some(&point));
        (value, unknown)
    }

    #[test]
    fn names_of_dimensions_are_replaced_and_the_shells_are_not() {
        for (text, expected) in [
            ("f-$a-$ab", "f-3-4096"),
            (
                "for f in *; do echo $f; done",
                "for f in *; do echo $f; done",
            ),
            ("echo $abc ${a} $1", "echo $abc ${a} $1"),
            ("cost: $$a, $$", "cost: $a, $"),
        ] {
            assert_eq!(at_point(json!(text)), (json!(expected), None), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_a_name_becomes_the_number() {
        let given = json!({"size": "$ab", "jobs": [{"threads": "$a"}]});
        let expected = json!({"size": 4096, "jobs": [{"threads": 3}]});
        assert_eq!(at_point(given), (expected, None));
    }

    #[test]
    fn a_single_name_of_no_dimension_is_given_back() {
        let (value, unknown) = at_point(json!(["$x", "$a", "$y"]));
        assert_eq!(value, json!(["$x", 3, "$y"]));
        assert_eq!(unknown.as_deref(), Some("$x"));
    }
}
