//! JSON of which the bins of histograms stay text until they are read: as objects they would take
//! most of the memory of a large output.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The member that stays text.
pub(super) const BINS: &str = "bins";

/// A value in which each [`BINS`] is a string of JSON.
pub(super) struct Packed(pub(super) Value);

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Packing).map(Self)
    }
}

struct Packing;

impl<'de> Visitor<'de> for Packing {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Packed(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = match name == BINS {
                true => members.next_value::<&RawValue>()?.get().into(),
                false => members.next_value::<Packed>()?.0,
            };
            object.insert(name, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_bins_is_read_as_ever() {
        let text = r#"{"a": [1, -2, 3.5, "x\n", null, true, {"b": {}}], "bins": {"7": 1}}"#;
        let Packed(packed) = serde_json::from_str(text).expect("JSON");
        let mut whole: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(packed[BINS], r#"{"7": 1}"#);
        whole[BINS] = r#"{"7": 1}"#.into();
        assert_eq!(packed, whole);
    }

    #[test]
    fn bins_that_are_no_json_are_refused() {
        for text in [r#"{"bins": {"7": }}"#, r#"{"bins": "#] {
            assert!(serde_json::from_str::<Packed>(text).is_err(), "{text}");
        }
    }
}
