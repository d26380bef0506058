//! Reads the keys of one claim's condition; a key that no reader took is an error.

use std::collections::BTreeMap;

use fslab_model::{PointValue, nearest_name, suggestion};
use toml::{Table, Value};

use crate::range::read_value;
use crate::{Limits, Measure, PhasePair, PointRange, Score};

/// The key, and the error as a fragment that follows it.
pub(crate) type Problem = (String, String);

/// The keys of a table that were not read yet.
pub(crate) struct Keys {
    table: Table,
    /// The keys that the kind accepts, for "did you mean".
    known: Vec<&'static str>,
}

fn problem<T>(key: &str, text: impl Into<String>) -> Result<T, Problem> {
    Err((key.to_owned(), text.into()))
}

impl Keys {
    pub(crate) fn of(table: Table) -> Self {
        Self {
            table,
            known: Vec::new(),
        }
    }

    fn take(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.table.remove(key)
    }

    /// Refuses keys that were not read.
    pub(crate) fn finish(self, kind: &str) -> Result<(), Problem> {
        let Some(key) = self.table.keys().next() else {
            return Ok(());
        };
        let nearest = suggestion(nearest_name(key, self.known.iter().copied()));
        problem(
            key,
            format!("does not belong to the kind '{kind}'{nearest}"),
        )
    }

    pub(crate) fn optional_text(&mut self, key: &'static str) -> Result<Option<String>, Problem> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text)),
            Some(_) => problem(key, "is not a string or is empty"),
        }
    }

    pub(crate) fn text(&mut self, key: &'static str) -> Result<String, Problem> {
        let text = self.optional_text(key)?;
        text.ok_or_else(|| (key.to_owned(), "is missing".to_owned()))
    }

    fn names(&self, key: &'static str, value: Value) -> Result<Vec<String>, Problem> {
        let Value::Array(values) = value else {
            return problem(key, "is not a list of names");
        };
        let mut names = Vec::new();
        for value in values {
            let Value::String(name) = value else {
                return problem(key, "has an element that is not a name");
            };
            if names.contains(&name) {
                return problem(key, format!("has '{name}' twice"));
            }
            names.push(name);
        }
        if names.is_empty() {
            return problem(key, "is empty");
        }
        Ok(names)
    }

    pub(crate) fn optional_list(
        &mut self,
        key: &'static str,
    ) -> Result<Option<Vec<String>>, Problem> {
        let value = self.take(key);
        value.map(|value| self.names(key, value)).transpose()
    }

    pub(crate) fn list(&mut self, key: &'static str) -> Result<Vec<String>, Problem> {
        let list = self.optional_list(key)?;
        list.ok_or_else(|| (key.to_owned(), "is missing".to_owned()))
    }

    /// `subject = "ext4"`, or `subjects = [..]`.
    pub(crate) fn subjects(&mut self) -> Result<Vec<String>, Problem> {
        match (
            self.optional_text("subject")?,
            self.optional_list("subjects")?,
        ) {
            (Some(subject), None) => Ok(vec![subject]),
            (None, Some(subjects)) => Ok(subjects),
            (Some(_), Some(_)) => problem("subjects", "cannot be combined with 'subject'"),
            (None, None) => problem("subject", "is missing, and so is 'subjects'"),
        }
    }

    /// `phase = "read"`, or `phase = [..]`.
    pub(crate) fn phases(&mut self) -> Result<Vec<String>, Problem> {
        match self.take("phase") {
            None => problem("phase", "is missing"),
            Some(Value::String(phase)) => Ok(vec![phase]),
            Some(list) => self.names("phase", list),
        }
    }

    /// `phase` and `than`, one name each.
    pub(crate) fn pair(&mut self) -> Result<PhasePair, Problem> {
        Ok(PhasePair {
            phase: self.text("phase")?,
            than: self.text("than")?,
        })
    }

    /// `against = { phase = .., than = .. }`.
    pub(crate) fn against(&mut self) -> Result<PhasePair, Problem> {
        let Some(Value::Table(table)) = self.take("against") else {
            return problem("against", "is not a table with 'phase' and 'than'");
        };
        let mut keys = Self::of(table);
        let pair = keys.pair()?;
        keys.finish("against")?;
        Ok(pair)
    }

    pub(crate) fn optional_number(&mut self, key: &'static str) -> Result<Option<f64>, Problem> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Integer(number)) if number >= 0 => Ok(Some(number as f64)),
            Some(Value::Float(number)) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
            Some(_) => problem(key, "is not a number of 0 or more"),
        }
    }

    pub(crate) fn number(&mut self, key: &'static str) -> Result<f64, Problem> {
        let number = self.optional_number(key)?;
        number.ok_or_else(|| (key.to_owned(), "is missing".to_owned()))
    }

    /// An integer from 1 to `most`.
    pub(crate) fn count(&mut self, key: &'static str, most: usize) -> Result<usize, Problem> {
        match self.take(key) {
            Some(Value::Integer(number)) => match usize::try_from(number) {
                Ok(count) if (1..=most).contains(&count) => Ok(count),
                _ => problem(key, format!("is not within 1 and {most}")),
            },
            _ => problem(key, "is not an integer"),
        }
    }

    pub(crate) fn numbers(&mut self, key: &'static str) -> Result<Vec<f64>, Problem> {
        let Some(Value::Array(values)) = self.take(key) else {
            return problem(key, "is not a list of numbers");
        };
        let number = |value: &Value| match value {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        };
        let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
        match numbers {
            Some(numbers) if !numbers.is_empty() => Ok(numbers),
            _ => problem(key, "is not a list of numbers"),
        }
    }

    /// Limits of a ratio; without any, more than 1.
    pub(crate) fn ratio_limits(&mut self) -> Result<Limits, Problem> {
        let at_least = self.optional_number("at_least")?;
        let at_most = self.optional_number("at_most")?;
        let strict = at_least.is_none() && at_most.is_none();
        ordered(Limits {
            at_least: if strict { Some(1.0) } else { at_least },
            at_most,
            strict,
        })
    }

    /// Limits of a figure in the measure's base unit, and their text.
    pub(crate) fn value_limits(&mut self, measure: Measure) -> Result<(Limits, String), Problem> {
        let mut written = Vec::new();
        let mut limit = |keys: &mut Self, key: &'static str, words: &str| {
            let Some(value) = keys.take(key) else {
                return Ok(None);
            };
            let text = match value {
                Value::String(text) => text,
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                _ => return problem(key, "is not a number with its unit"),
            };
            written.push(format!("{words} {text}"));
            measure
                .read(&text)
                .map(Some)
                .or_else(|text| problem(key, text))
        };
        let at_least = limit(self, "at_least", "at least")?;
        let at_most = limit(self, "at_most", "at most")?;
        if at_least.is_none() && at_most.is_none() {
            return problem("at_least", "is missing, and so is 'at_most'");
        }
        let limits = ordered(Limits {
            at_least,
            at_most,
            strict: false,
        })?;
        Ok((limits, written.join(" and ")))
    }

    pub(crate) fn score(&mut self) -> Result<Score, Problem> {
        match self.optional_text("metric")? {
            None => Ok(Score::Headline),
            Some(name) => Score::named(&name).or_else(|text| problem("metric", text)),
        }
    }

    /// Lists of names; no name may occur twice.
    pub(crate) fn groups(&mut self, key: &'static str) -> Result<Vec<Vec<String>>, Problem> {
        let Some(Value::Array(values)) = self.take(key) else {
            return problem(key, "is not a list of lists of names");
        };
        let mut groups: Vec<Vec<String>> = Vec::new();
        for value in values {
            let group = self.names(key, value)?;
            if let Some(name) = group
                .iter()
                .find(|name| groups.iter().flatten().any(|n| n == *name))
            {
                return problem(key, format!("has '{name}' twice"));
            }
            groups.push(group);
        }
        Ok(groups)
    }

    /// A value of a dimension.
    pub(crate) fn optional_point(
        &mut self,
        key: &'static str,
    ) -> Result<Option<PointValue>, Problem> {
        let text = match self.take(key) {
            None => return Ok(None),
            Some(Value::String(text)) => text,
            Some(Value::Integer(number)) => number.to_string(),
            Some(_) => return problem(key, "is not a size or a number"),
        };
        match read_value(&text) {
            Some(value) => Ok(Some(value)),
            None => problem(
                key,
                format!("has '{text}', which is not a size or a number"),
            ),
        }
    }

    /// `where = { file_size = "2GiB" }`.
    pub(crate) fn condition(&mut self) -> Result<BTreeMap<String, PointRange>, Problem> {
        let table = match self.take("where") {
            None => return Ok(BTreeMap::new()),
            Some(Value::Table(table)) => table,
            Some(_) => return problem("where", "is not a table of dimensions"),
        };
        let mut ranges = BTreeMap::new();
        for (name, value) in table {
            let text = match value {
                Value::String(text) => text,
                Value::Integer(number) => number.to_string(),
                _ => return problem("where", format!("has no text for '{name}'")),
            };
            match text.parse() {
                Ok(range) => ranges.insert(name, range),
                Err(error) => return problem("where", format!("has for '{name}': {error}")),
            };
        }
        Ok(ranges)
    }
}

fn ordered(limits: Limits) -> Result<Limits, Problem> {
    match (limits.at_least, limits.at_most) {
        (Some(least), Some(most)) if least > most => problem("at_most", "is below 'at_least'"),
        _ => Ok(limits),
    }
}
