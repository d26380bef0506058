//! docs/figures.md defines every figure.

use fslab_compare::Analysis;
use fslab_model::METRICS;
use fslab_report::{figures, tables};

use crate::disk_story::simulated;

#[test]
fn every_metric_is_defined_with_unit_formula_source_and_bias() {
    let figures = figures();
    for metric in METRICS {
        let found = figures.iter().find(|figure| figure.name == metric.name);
        let figure = found.unwrap_or_else(|| panic!("{} is not defined", metric.name));
        for label in ["Unit", "Formula", "Source", "Bias"] {
            let text = figure.line(label);
            assert!(
                text.is_some_and(|text| !text.is_empty()),
                "{label} of {}",
                metric.name
            );
        }
        let unit = figure.line("Unit").unwrap_or_default();
        assert!(
            unit.starts_with(metric.unit.symbol()),
            "{}: {unit}",
            metric.name
        );
    }
}

#[test]
fn every_figure_that_a_table_shows_is_defined() {
    let (figures, run) = (figures(), simulated());
    let analysis = Analysis::of(&run);
    let mut shown: Vec<&str> = Vec::new();
    for phase in &analysis.phases {
        let table = tables::phase(phase, analysis.subjects());
        let disk = tables::disk(phase, analysis.subjects()).expect("a simulated disk");
        let columns = table.columns.iter().chain(&disk.columns);
        shown.extend(columns.filter_map(|column| column.figure));
    }
    assert!(shown.len() > 20);
    for name in shown {
        assert!(figures.iter().any(|figure| figure.name == name), "{name}");
    }
}
