//! Reads a `claims.toml`.

use std::collections::BTreeMap;

use fslab_model::{Better, Bytes, Subject, TomlError, VenueKind};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use toml::Table;

use crate::holds_schema::HoldsSchema;
use crate::keys::{Keys, Problem};
use crate::{
    Among, Claim, ClaimKind, Claims, Holds, MemoryRule, Position, Score, Shape, SubjectThen,
};

/// Claims of the publication that a study repeats. The file `claims.toml` beside its `study.toml`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Claims")]
struct ClaimsFile {
    /// Name of the study.
    study: String,
    /// Stand-ins: the subject that is measured, by the original's name for the one it replaces.
    #[serde(default)]
    stand_in: BTreeMap<String, String>,
    /// Defaults of the time: the subject with the options that the original's kernel had by
    /// default, by the original's name. A run that has it is judged by it, and by the plain one
    /// besides.
    #[serde(default)]
    then: BTreeMap<String, SubjectThen>,
    /// Platforms: the system under which the original measured a subject, by the original's name.
    #[serde(default)]
    platforms: BTreeMap<String, String>,
    /// Sizes that stand for a multiple of the machine's memory.
    memory: Option<MemoryTable>,
    /// The claims.
    #[serde(default, rename = "claim")]
    claims: Vec<ClaimTable>,
}

/// Sizes that stand for a multiple of the machine's memory: in a run with other memory they are
/// multiplied by the ratio of the two, rounded to a power of two.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ClaimsMemory")]
struct MemoryTable {
    /// Dimension of the sweep that has the sizes.
    dimension: String,
    /// Memory of the original's machine, with its unit: `"512MiB"`.
    original: String,
    /// Sizes from here on are multiplied: `"256MiB"`.
    from: String,
}

/// One claim of the original.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Claim")]
struct ClaimTable {
    /// Short name, unique in the file.
    #[schemars(length(min = 1))]
    id: String,
    /// The claim as a sentence.
    #[schemars(length(min = 1))]
    text: String,
    /// Page, figure or table of the original.
    #[schemars(length(min = 1))]
    source: String,
    /// Whether `fslab study check` exits with 1 if the claim fails.
    required: bool,
    /// `"contradicts"` if the original's own numbers contradict the claim.
    #[schemars(regex(pattern = "^contradicts$"))]
    original: Option<String>,
    /// Platforms that the claim compares or is about: each of its subjects must come from a run on
    /// its own. Default: one run decides, whatever its platform.
    platforms: Option<Vec<String>>,
    /// Processors that the machine of the run must have at least, for claims about processes that
    /// wait for each other. Default: one.
    #[schemars(range(min = 2))]
    processors: Option<u32>,
    /// Venues in which it is checked. Default: all.
    venues: Option<Vec<VenueKind>>,
    /// The condition.
    #[schemars(with = "HoldsSchema")]
    holds: Table,
}

impl Claims {
    /// Reads a `claims.toml`.
    pub fn from_toml(text: &str) -> Result<Self, TomlError> {
        let parsed: ClaimsFile = fslab_model::from_toml(text)?;
        Self::from_file(parsed).map_err(|error| error.located(text))
    }

    fn from_file(file: ClaimsFile) -> Result<Self, TomlError> {
        let memory = file.memory.map(read_memory).transpose();
        let memory = memory.map_err(|(key, problem)| TomlError::new(["memory", &key], problem))?;
        for (name, then) in &file.then {
            ensure_then(name, then)?;
        }
        let mut claims: Vec<Claim> = Vec::new();
        for table in file.claims {
            let id = table.id.clone();
            if claims.iter().any(|claim| claim.id == id) {
                return Err(TomlError::new(["claim", &id], "two claims have this id"));
            }
            claims.push(read_claim(table, &file.platforms)?);
        }
        Ok(Self {
            study: file.study,
            stand_in: file.stand_in,
            then: file.then,
            platforms: file.platforms,
            memory,
            claims,
        })
    }

    /// The JSON Schema of a `claims.toml`.
    pub fn schema(generator: SchemaGenerator) -> Schema {
        generator.into_root_schema_for::<ClaimsFile>()
    }

    /// The number of required claims.
    pub fn required(&self) -> usize {
        self.claims.iter().filter(|claim| claim.required).count()
    }
}

/// Refuses defaults of another file system, or without a source.
fn ensure_then(name: &str, then: &SubjectThen) -> Result<(), TomlError> {
    let wrong = |key: &str, problem: String| TomlError::new(["then", name, key], problem);
    if then.source.trim().is_empty() {
        return Err(wrong("source", "is empty".to_owned()));
    }
    let subject: Result<Subject, _> = then.subject.parse();
    match subject {
        Ok(subject) if subject.fs() == name && subject.to_string() != name => Ok(()),
        Ok(_) => Err(wrong("subject", format!("is not {name} with options"))),
        Err(error) => Err(wrong("subject", error.to_string())),
    }
}

fn read_memory(table: MemoryTable) -> Result<MemoryRule, Problem> {
    let size = |key: &str, text: &str| {
        let size: Result<Bytes, _> = text.parse();
        match size {
            Ok(Bytes(0)) => Err((key.to_owned(), "is zero".to_owned())),
            Ok(Bytes(bytes)) => Ok(bytes),
            Err(error) => Err((key.to_owned(), format!("is wrong: {error}"))),
        }
    };
    Ok(MemoryRule {
        original: size("original", &table.original)?,
        from: size("from", &table.from)?,
        dimension: table.dimension,
    })
}

fn read_claim(table: ClaimTable, platforms: &BTreeMap<String, String>) -> Result<Claim, TomlError> {
    let id = table.id.clone();
    let wrong = |key: &str, problem: String| TomlError::new(["claim", &id, key], problem);
    for (key, text) in [
        ("id", &table.id),
        ("text", &table.text),
        ("source", &table.source),
    ] {
        if text.trim().is_empty() {
            return Err(wrong(key, "is empty".to_owned()));
        }
    }
    let contradicted = match table.original.as_deref() {
        None => false,
        Some("contradicts") => true,
        Some(other) => {
            let text = format!("is '{other}'; it may only be \"contradicts\"");
            return Err(wrong("original", text));
        }
    };
    if table.processors.is_some_and(|least| least < 2) {
        let text = "must be 2 or more; leave it out for a claim that one processor decides";
        return Err(wrong("processors", text.to_owned()));
    }
    let holds = read_holds(table.holds)
        .map_err(|(key, problem)| TomlError::new(["claim", &id, "holds", &key], problem))?;
    if let Some(own) = &table.platforms {
        check_platforms(own, &holds.kind, platforms)
            .map_err(|problem| wrong("platforms", problem))?;
    }
    Ok(Claim {
        id: table.id,
        text: table.text,
        source: table.source,
        required: table.required,
        contradicted,
        platforms: table.platforms.unwrap_or_default(),
        processors: table.processors,
        venues: table.venues,
        holds,
    })
}

/// The platforms of a claim are those of its subjects, neither more nor less.
fn check_platforms(
    own: &[String],
    kind: &ClaimKind,
    platforms: &BTreeMap<String, String>,
) -> Result<(), String> {
    if own.is_empty() {
        return Err("is empty".to_owned());
    }
    if kind.compares_all() {
        return Err("needs the subjects that are compared: add 'among' to 'holds'".to_owned());
    }
    let subjects = kind.subjects();
    for subject in &subjects {
        match platforms.get(*subject) {
            None => {
                return Err(format!(
                    "needs the platform of '{subject}': add it to the table [platforms]"
                ));
            }
            Some(platform) if !own.contains(platform) => {
                return Err(format!("lacks '{platform}', the platform of '{subject}'"));
            }
            Some(_) => {}
        }
    }
    let is_of = |platform: &&String| {
        subjects
            .iter()
            .any(|it| platforms.get(*it) == Some(*platform))
    };
    match own.iter().find(|platform| !is_of(platform)) {
        Some(idle) => Err(format!("has '{idle}', of which the claim has no subject")),
        None => Ok(()),
    }
}

fn read_holds(table: Table) -> Result<Holds, Problem> {
    let mut keys = Keys::of(table);
    let kind = keys.text("kind")?;
    let score = keys.score()?;
    let condition = keys.condition()?;
    let read = read_kind(&kind, &mut keys, score)?;
    keys.finish(&kind)?;
    check_score(&read, score)?;
    Ok(Holds {
        score,
        condition,
        kind: read,
    })
}

fn read_kind(kind: &str, keys: &mut Keys, score: Score) -> Result<ClaimKind, Problem> {
    Ok(match kind {
        "faster" => ClaimKind::Faster {
            phases: keys.phases()?,
            subjects: keys.subjects()?,
            than: keys.list("than")?,
            limits: keys.ratio_limits()?,
        },
        "best" => ClaimKind::Best(read_among(keys)?),
        "worst" => ClaimKind::Worst(read_among(keys)?),
        "order" => ClaimKind::Order {
            phases: keys.phases()?,
            subjects: two_or_more("subjects", keys.list("subjects")?)?,
        },
        "phases" => ClaimKind::Phases {
            pair: keys.pair()?,
            subjects: keys.subjects()?,
            limits: keys.ratio_limits()?,
        },
        "gain" => ClaimKind::Gain {
            pair: keys.pair()?,
            against: keys.against()?,
            subjects: keys.subjects()?,
            limits: keys.ratio_limits()?,
        },
        "trend" => read_trend(keys)?,
        "value" => {
            let (limits, written) = keys.value_limits(score.measure())?;
            ClaimKind::Value {
                phases: keys.phases()?,
                subjects: keys.subjects()?,
                limits,
                written,
            }
        }
        "sequence" => ClaimKind::Sequence {
            phase: keys.text("phase")?,
            subjects: keys.subjects()?,
            values: keys.numbers("values")?,
        },
        "wins" => {
            let phases = keys.list("phases")?;
            ClaimKind::Wins {
                subject: keys.text("subject")?,
                among: keys.optional_list("among")?,
                position: read_position(keys)?,
                at_least: keys.count("at_least", phases.len())?,
                phases,
            }
        }
        "rank" => {
            let among = two_or_more("among", keys.list("among")?)?;
            ClaimKind::Rank {
                phases: keys.phases()?,
                subjects: keys.subjects()?,
                at_most: keys.count("at_most", among.len() - 1)?,
                among,
            }
        }
        "spread" => read_spread(keys)?,
        "fails" => ClaimKind::Fails {
            phase: keys.text("phase")?,
            subjects: keys.subjects()?,
        },
        other => {
            let text = format!("is '{other}', which is unknown; docs/claims.md lists the kinds");
            return Err(("kind".to_owned(), text));
        }
    })
}

fn two_or_more(key: &str, names: Vec<String>) -> Result<Vec<String>, Problem> {
    if names.len() < 2 {
        return Err((key.to_owned(), "needs two names or more".to_owned()));
    }
    Ok(names)
}

fn read_among(keys: &mut Keys) -> Result<Among, Problem> {
    Ok(Among {
        phases: keys.phases()?,
        subjects: keys.subjects()?,
        among: keys.optional_list("among")?,
        within: keys.optional_number("within")?,
    })
}

fn read_position(keys: &mut Keys) -> Result<Position, Problem> {
    match keys.optional_text("position")?.as_deref() {
        None | Some("first") => Ok(Position::First),
        Some("last") => Ok(Position::Last),
        Some(other) => {
            let text = format!("is '{other}'; it must be \"first\" or \"last\"");
            Err(("position".to_owned(), text))
        }
    }
}

fn read_trend(keys: &mut Keys) -> Result<ClaimKind, Problem> {
    let shape = match keys.text("shape")?.as_str() {
        "rises" => Shape::Rises,
        "falls" => Shape::Falls,
        "does-not-rise" => Shape::DoesNotRise,
        "levels" => Shape::Levels,
        "rises-then-levels" => Shape::RisesThenLevels,
        "rises-then-falls" => Shape::RisesThenFalls,
        "cliff" => Shape::Cliff,
        other => {
            let text = format!("is '{other}', which is unknown; docs/claims.md lists the shapes");
            return Err(("shape".to_owned(), text));
        }
    };
    let at = keys.optional_point("at")?;
    match (shape, at) {
        (Shape::Cliff, None) => return Err(("at".to_owned(), "is missing".to_owned())),
        (Shape::DoesNotRise | Shape::RisesThenLevels | Shape::RisesThenFalls, Some(_)) => {
            return Err(("at".to_owned(), "does not belong to this shape".to_owned()));
        }
        _ => {}
    }
    Ok(ClaimKind::Trend {
        phases: keys.phases()?,
        subjects: keys.subjects()?,
        over: keys.text("over")?,
        relative_to: keys.optional_list("relative_to")?.unwrap_or_default(),
        shape,
        at,
    })
}

fn read_spread(keys: &mut Keys) -> Result<ClaimKind, Problem> {
    let phases = keys.phases()?;
    let groups = keys.groups("groups")?;
    let disks = keys.optional_list("venue_disks")?;
    let disks = disks.map(<[String; 2]>::try_from).transpose();
    let disks = disks.map_err(|_| ("venue_disks".to_owned(), "needs two disks".to_owned()))?;
    if disks.is_some() != (groups.len() == 1) {
        let text = "needs several groups, or one group and 'venue_disks'";
        return Err(("groups".to_owned(), text.to_owned()));
    }
    Ok(ClaimKind::Spread {
        phases,
        groups,
        disks,
        at_least: keys.number("at_least")?,
    })
}

/// A score that is compared must have a good direction; `sequence`, and no other kind, needs a
/// list.
fn check_score(kind: &ClaimKind, score: Score) -> Result<(), Problem> {
    let problem = |text: &str| Err(("metric".to_owned(), text.to_owned()));
    let is_list = matches!(score, Score::List(_));
    match kind {
        ClaimKind::Sequence { .. } if !is_list => {
            problem("is not a list, which the kind 'sequence' needs")
        }
        ClaimKind::Sequence { .. } => Ok(()),
        _ if is_list => problem("is a list, which only the kind 'sequence' accepts"),
        ClaimKind::Value { .. } => Ok(()),
        ClaimKind::Fails { .. } if score != Score::Headline => {
            problem("does not belong to the kind 'fails'")
        }
        _ if score.better() == Better::Neither => {
            problem("has no good direction; only the kind 'value' accepts it")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn read(holds: &str) -> Result<Claims, TomlError> {
        let text = format!(
            "study = 's'\n\n[[claim]]\nid = 'c'\ntext = 't'\nsource = 'p'\nrequired = true\n\
             [claim.holds]\n{holds}\n"
        );
        Claims::from_toml(&text)
    }

    fn kind(holds: &str) -> ClaimKind {
        read(holds).expect(holds).claims.remove(0).holds.kind
    }

    #[test]
    fn the_default_limit_of_faster_is_more_than_one() {
        let text = "kind = 'faster'\nphase = 'make'\nsubject = 'ext4'\nthan = ['ntfs']";
        let ClaimKind::Faster { limits, .. } = kind(text) else {
            panic!("must be faster")
        };
        assert!(!limits.admit(1.0) && limits.admit(1.001));
        let ClaimKind::Faster { limits, .. } = kind(&format!("{text}\nat_least = 1")) else {
            panic!("must be faster")
        };
        assert_eq!(
            limits,
            Limits {
                at_least: Some(1.0),
                ..Limits::default()
            }
        );
        assert!(limits.admit(1.0));
    }

    #[test]
    fn an_error_names_line_claim_and_key() {
        let same = "phase = 'w'\nsubject = 'a'\n";
        for (holds, expected) in [
            (
                "kind = 'faster'\nphase = 'w'\nsubject = 'a'\nthen = ['b']".to_owned(),
                "line 8, column 8: claim.c.holds.than: is missing",
            ),
            (format!("kind = 'fastest'\n{same}"), "kind: is 'fastest'"),
            (
                format!("kind = 'best'\n{same}withn = 0.1"),
                "withn: does not belong to the kind 'best'; did you mean 'within'?",
            ),
            (
                format!("kind = 'value'\n{same}metric = 'total'\nat_most = 1"),
                "at_most: has '1'; it must be a time like 2 min",
            ),
            (
                format!("kind = 'value'\n{same}metric = 'total'"),
                "at_least: is missing",
            ),
            (
                format!("kind = 'best'\n{same}metric = 'total_s'"),
                "did you mean 'total",
            ),
            (
                format!("kind = 'best'\n{same}metric = 'operations'"),
                "metric: has no good direction",
            ),
            (
                format!("kind = 'sequence'\n{same}values = [1]"),
                "metric: is not a list",
            ),
            (
                format!("kind = 'trend'\n{same}over = 'x'\nshape = 'cliff'"),
                "at: is missing",
            ),
            (
                format!("kind = 'faster'\n{same}than = ['b']\nat_least = 2\nat_most = 1"),
                "at_most: is below 'at_least'",
            ),
            (
                format!("kind = 'best'\n{same}where = {{ record = '8 furlongs' }}"),
                "where: has for 'record'",
            ),
            (
                "kind = 'wins'\nsubject = 'a'\nphases = ['x']\nat_least = 2".to_owned(),
                "at_least: is not within 1 and 1",
            ),
            (
                "kind = 'spread'\nphase = 'x'\ngroups = [['a']]\nat_least = 2".to_owned(),
                "groups: needs several groups",
            ),
        ] {
            let error = read(&holds).expect_err(&holds).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn repeated_ids_and_unknown_keys_and_values_are_refused() {
        let claim = "[[claim]]\nid = 'c'\ntext = 't'\nsource = 'p'\nrequired = true\n\
                     [claim.holds]\nkind = 'fails'\nphase = 'w'\nsubject = 'a'\n";
        let repeated = Claims::from_toml(&format!("study = 's'\n{claim}{claim}"));
        let error = repeated.expect_err("two ids").to_string();
        assert_eq!(error, "line 11, column 1: claim.c: two claims have this id");
        let word = Claims::from_toml(&format!("studdy = 's'\n{claim}"));
        let error = word.expect_err("misspelt");
        assert_eq!(error.to_string(), "line 1, column 1: studdy: unknown key");
        let original = claim.replace("required = true", "required = true\noriginal = 'agrees'");
        let original = Claims::from_toml(&format!("study = 's'\n{original}"));
        let error = original.expect_err("original").to_string();
        assert!(error.contains("original: is 'agrees'"), "{error}");
    }

    #[test]
    fn the_memory_rule_has_sizes() {
        let read = |original: &str| {
            let text = format!(
                "study = 's'\n[memory]\ndimension = 'file_size'\noriginal = '{original}'\n\
                 from = '256MiB'\n"
            );
            Claims::from_toml(&text)
        };
        let rule = read("512MiB").expect("a rule").memory.expect("a rule");
        assert_eq!((rule.original, rule.from), (512 << 20, 256 << 20));
        let error = read("512").expect_err("no unit").to_string();
        assert!(
            error.starts_with("line 4, column 1: memory.original: is wrong"),
            "{error}"
        );
    }
}
