//! An original's figures against a run's: a picture for each table of the original, a panel for
//! each of its columns, with the line of the best single factor.

use fslab_claims::{Agreement, OneFactor, Original, ThenAndNow, ThenAndNowGroup, ThenAndNowRow};
use fslab_compare::Analysis;
use fslab_model::{MetricDefinition, Unit, definitions};

use super::content::{Value, phase_title};
use super::exhibited::Exhibit;
use crate::chart::{Label, Scatter, ScatterPoint};
use crate::tables::{POINTS_LEAST, left_out};
use crate::{Column, Table, TableCell, Tone, wording};

/// A number in percent.
const PERCENT: MetricDefinition = MetricDefinition {
    unit: Unit::Count,
    ..definitions::OPERATIONS
};

/// The figures that one picture shows.
#[derive(Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
enum Kind {
    #[strum(serialize = "rates")]
    Speeds,
    Times,
    Latencies,
    #[strum(serialize = "processor")]
    Shares,
}

/// The columns of one table of the original.
struct Picture<'a> {
    table: &'a str,
    kind: Kind,
    /// True if the table has an earlier picture, of other figures.
    is_further: bool,
    groups: Vec<&'a ThenAndNowGroup>,
}

/// The pictures of a run of a published study, in the order of the original's tables; none if the
/// original printed nothing that the run measured.
pub fn then_and_now_pictures(analysis: &Analysis, original: &Original) -> Vec<Exhibit> {
    let both = fslab_claims::then_and_now(original, analysis.run);
    pictures(analysis, &both, &super::content::plain_labels(analysis))
}

/// As [`then_and_now_pictures`], with the subjects' looks on a page.
pub(crate) fn pictures(analysis: &Analysis, both: &ThenAndNow, labels: &[Label]) -> Vec<Exhibit> {
    let mut found: Vec<Picture<'_>> = Vec::new();
    for group in both.groups.iter().filter(is_measured) {
        let kind = Kind::of(group);
        let known =
            |picture: &&mut Picture<'_>| picture.table == group.table && picture.kind == kind;
        match found.iter_mut().find(known) {
            Some(picture) => picture.groups.push(group),
            None => found.push(Picture {
                table: &group.table,
                kind,
                is_further: found.iter().any(|picture| picture.table == group.table),
                groups: vec![group],
            }),
        }
    }
    for picture in &mut found {
        // Means of all parts stand before their deviations.
        picture.groups.sort_by_key(|group| group.metric == "sd");
    }
    let pictures = found.iter();
    pictures
        .map(|picture| picture.exhibit(analysis, both, labels))
        .collect()
}

fn is_measured(group: &&ThenAndNowGroup) -> bool {
    group.rows.iter().any(|row| row.now.is_some())
}

fn has_panel(group: &ThenAndNowGroup) -> bool {
    points_of(group) >= POINTS_LEAST
}

fn points_of(group: &ThenAndNowGroup) -> usize {
    group.one_factor.as_ref().map_or(0, |found| found.n)
}

impl Kind {
    fn of(group: &ThenAndNowGroup) -> Self {
        match group.metric.as_str() {
            "rate" | "operations" => Self::Speeds,
            "elapsed" | "mean" | "sd" => Self::Times,
            "latency" => Self::Latencies,
            _ => Self::Shares,
        }
    }

    fn name(self) -> &'static str {
        self.into()
    }

    /// What it means that a subject is above the line.
    fn above(self) -> &'static str {
        match self {
            Self::Speeds => "faster",
            Self::Times | Self::Latencies => "slower",
            Self::Shares => "busier",
        }
    }
}

impl Picture<'_> {
    fn exhibit(&self, analysis: &Analysis, both: &ThenAndNow, labels: &[Label]) -> Exhibit {
        let drawn = self.groups.iter().filter(|group| has_panel(group));
        let panels: Vec<Scatter<'_>> = drawn
            .map(|group| self.panel(group, analysis, labels))
            .collect();
        let (table, kind) = (self.table, self.kind.name());
        let further = match self.is_further {
            true => (format!("-{kind}"), format!(", {kind}")),
            false => (String::new(), String::new()),
        };
        let absence = panels.is_empty().then(|| self.absence());
        Exhibit {
            id: format!("then-and-now-{}{}", file_words(table), further.0),
            title: format!(
                "Then and now: {table} of {}{}, scale {}",
                both.study, further.1, both.scale
            ),
            tables: self
                .groups
                .iter()
                .map(|group| self.tabulate(group))
                .collect(),
            notes: match absence {
                None => self.notes(),
                Some(_) => Vec::new(),
            },
            absence,
            values: self.groups.iter().flat_map(|group| values(group)).collect(),
            drawing: Scatter::sheet(&panels),
            labels: labels.to_vec(),
            needs_legend: true,
            is_table: false,
        }
    }

    fn panel<'s>(
        &'s self,
        group: &'s ThenAndNowGroup,
        analysis: &Analysis,
        labels: &[Label],
    ) -> Scatter<'s> {
        let found = group.one_factor.as_ref();
        let points = group.rows.iter().filter_map(|row| {
            let is_outlier = |found: &&OneFactor| {
                let mut outliers = found.outliers.iter();
                outliers.any(|outlier| outlier.subject == row.subject)
            };
            row.residual?;
            Some(ScatterPoint {
                name: &row.subject,
                look: look_of(row, analysis, labels)?,
                x: row.then,
                y: row.now?,
                is_named: found.filter(is_outlier).is_some(),
            })
        });
        let (metric, unit) = metric_of(group);
        Scatter {
            title: self.title_of(group),
            metric,
            unit,
            axes: ("then", "now"),
            factor: found.map_or(1.0, |found| found.factor),
            band: None,
            corner: corner(found),
            points: points.collect(),
        }
    }

    /// What distinguishes a panel from the others of the picture.
    fn title_of(&self, group: &ThenAndNowGroup) -> String {
        let phase = phase_title(&group.phase);
        let is_one_phase = self.groups.iter().all(|other| other.phase == group.phase);
        let of_phase = self
            .groups
            .iter()
            .filter(|other| other.phase == group.phase);
        match (of_phase.count(), is_one_phase) {
            (1, _) => phase,
            (_, true) => wording::heading(&figure_of(group)),
            (_, false) => format!("{phase}, {}", figure_of(group)),
        }
    }

    fn absence(&self) -> String {
        let groups = self.groups.iter();
        let counts: Vec<String> = groups
            .map(|group| format!("{} has {}", self.title_of(group), points_of(group)))
            .collect();
        format!(
            "a panel needs {POINTS_LEAST} subjects that were measured then and now; {}",
            counts.join(", ")
        )
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            format!(
                "A point is a subject: across the original's figure, upwards this run's. A decade \
                 is as long on both axes. The broken line is the best single factor, the geometric \
                 mean of now / then; above it a subject is {} than the others suggest. ρ is \
                 Spearman's rank correlation of the points drawn, with its 95 % interval.",
                self.kind.above()
            ),
            "Named are the outliers: farther from the median ratio than three scaled median \
             absolute deviations of the logarithms, and than a factor of 2."
                .to_owned(),
        ];
        let missing = self.groups.iter().filter(|group| !has_panel(group));
        let missing: Vec<String> = missing
            .map(|group| {
                let count = wording::count(points_of(group), "point");
                let why = left_out(group).map_or_else(String::new, |why| format!(", {why}"));
                format!("{} ({count}{why})", self.title_of(group))
            })
            .collect();
        if !missing.is_empty() {
            notes.push(format!(
                "Not drawn, with fewer than {POINTS_LEAST} points: {}.",
                missing.join("; ")
            ));
        }
        let partly = self.groups.iter().filter(|group| has_panel(group));
        let partly: Vec<String> = partly
            .filter_map(|group| Some(format!("{}: {}", self.title_of(group), left_out(group)?)))
            .collect();
        if !partly.is_empty() {
            notes.push(format!("Left out: {}.", partly.join("; ")));
        }
        notes
    }

    /// The points of a panel, and why a subject has none.
    fn tabulate(&self, group: &ThenAndNowGroup) -> Table {
        let (metric, unit) = metric_of(group);
        let figure = |value: f64| {
            let text = wording::figure(metric, value);
            TableCell::new(format!("{text} {unit}").trim_end())
        };
        let row = |row: &ThenAndNowRow| {
            let out = group.left_out.iter().find(|out| out.subject == row.subject);
            let mut outliers = group.one_factor.iter().flat_map(|found| &found.outliers);
            let tone = match outliers.any(|outlier| outlier.subject == row.subject) {
                true => Tone::Strong,
                false => Tone::Plain,
            };
            let now = row.now.filter(|now| now.is_finite());
            let residual = match (row.residual, out) {
                (Some(residual), _) => {
                    TableCell::new(format!("{}×", wording::ratio(residual))).tone(tone)
                }
                (None, Some(out)) => TableCell::new(out.reason.as_str()).tone(Tone::Weak),
                (None, None) => TableCell::nothing(),
            };
            vec![
                TableCell::new(&row.subject),
                figure(row.then),
                now.map_or_else(TableCell::nothing, figure),
                residual,
            ]
        };
        let found = group.one_factor.as_ref();
        let corner = corner(found).join(", ");
        Table {
            caption: format!("{}: {corner}", self.title_of(group)),
            columns: vec![
                Column::left("Subject"),
                Column::right("Then"),
                Column::right("Now"),
                Column::right("Now / (factor × then)"),
            ],
            rows: group.rows.iter().map(row).collect(),
            notes: Vec::new(),
        }
    }
}

/// The subject's colour and shape.
fn look_of(row: &ThenAndNowRow, analysis: &Analysis, labels: &[Label]) -> Option<usize> {
    let name = row.measured_as.as_deref()?;
    let mut subjects = analysis.subjects().zip(labels);
    let is_it = |(subject, _): &(&fslab_model::Subject, &Label)| {
        subject.to_string() == name || subject.fs() == name
    };
    subjects.find(is_it).map(|(_, label)| label.look)
}

/// The metric of a group's figures, and the unit if the metric has none.
fn metric_of(group: &ThenAndNowGroup) -> (&'static MetricDefinition, &'static str) {
    match (Kind::of(group), group.metric.as_str()) {
        (Kind::Speeds, "rate") => (&definitions::THROUGHPUT, ""),
        (Kind::Speeds, _) => (&definitions::OPERATION_RATE, ""),
        (Kind::Times, _) => (&definitions::ELAPSED, ""),
        (Kind::Latencies, _) => (&definitions::LATENCY_MAX, ""),
        (Kind::Shares, _) => (&PERCENT, "%"),
    }
}

/// `unmount`, `deviation of the unmount`, `latency`.
fn figure_of(group: &ThenAndNowGroup) -> String {
    match (group.metric.as_str(), &group.part) {
        ("mean", Some(part)) => part.clone(),
        ("sd", Some(part)) => format!("deviation of the {part}"),
        (metric, Some(part)) => format!("{metric}, {part}"),
        (metric, None) => metric.to_owned(),
    }
}

/// The rank correlation with its interval; the number of points and the factor.
fn corner(found: Option<&OneFactor>) -> [String; 2] {
    let Some(found) = found else {
        return ["no point".to_owned(), String::new()];
    };
    let order = match found.agreement.filter(|_| found.n >= POINTS_LEAST) {
        None => "ρ –".to_owned(),
        Some(Agreement {
            rho,
            interval: Some([low, high]),
            ..
        }) => format!("ρ {} ({} to {})", signed(rho), signed(low), signed(high)),
        Some(Agreement { rho, .. }) => format!("ρ {}", signed(rho)),
    };
    let factor = wording::ratio(found.factor);
    [order, format!("n {}, now = {factor} × then", found.n)]
}

/// Two decimals with a minus sign as wide as a digit.
fn signed(value: f64) -> String {
    let text = format!("{value:.2}");
    match text.strip_prefix('-') {
        Some("0.00") => "0.00".to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// The words of a table's name, for a file's.
fn file_words(table: &str) -> String {
    let words = table.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

/// The numbers of a group: each point, then what was computed from them.
fn values(group: &ThenAndNowGroup) -> Vec<Value> {
    let (metric, unit) = metric_of(group);
    let unit = match unit {
        "" => metric.unit.symbol(),
        unit => unit,
    };
    let value = |subject: &str, what: &str, value: Option<f64>, unit| Value {
        phase: group.phase.clone(),
        subject: subject.to_owned(),
        x: group.part.clone().unwrap_or_default(),
        what: format!("{}_{what}", group.metric),
        value: value.filter(|value| value.is_finite()),
        unit,
    };
    let rows = group.rows.iter().flat_map(|row| {
        [
            value(&row.subject, "then", Some(row.then), unit),
            value(&row.subject, "now", row.now, unit),
            value(&row.subject, "residual", row.residual, ""),
        ]
    });
    let mut all: Vec<Value> = rows.collect();
    if let Some(found) = &group.one_factor {
        let interval = found.agreement.and_then(|agreement| agreement.interval);
        let computed = [
            ("points", Some(found.n as f64)),
            ("factor", Some(found.factor)),
            ("spread", Some(found.spread)),
            ("outlier_limit", Some(found.limit)),
            ("rho", found.agreement.map(|agreement| agreement.rho)),
            ("rho_low", interval.map(|[low, _]| low)),
            ("rho_high", interval.map(|[_, high]| high)),
        ];
        let computed = computed.into_iter();
        all.extend(computed.map(|(what, number)| value("", what, number, "")));
    }
    all
}
