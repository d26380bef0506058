//! The picture of an agreement.

use fslab_report::{PairedPanel, PairedPhases, PairedPoint};

use super::Findings;
use super::agreement::{PhaseAgreement, Rates};

/// A ratio that differs by less is in the band.
const BAND: f64 = 1.25;

/// Counted rates against real ones, a panel for each phase, as SVG; `None` if too few were
/// measured.
pub(crate) fn picture(findings: &Findings) -> Option<String> {
    let panels = findings.agreement.phases.iter().map(panel);
    let picture = PairedPhases {
        id: "processor".to_owned(),
        title: "Counted rates against real ones, relative to the mean of their phase".to_owned(),
        axes: ("real", "counted"),
        band: BAND,
        panels: panels.collect(),
        notes: vec![
            "A point is a file system: across its real rate, upwards its counted one, both relative \
             to the geometric mean of the phase. On the broken line the two are equal; in the band \
             they differ by less than 25 %. ρ is Spearman's rank correlation of the points, \
             \"itself\" that between odd and even repeats of the real run. Points that differ \
             by more than a factor of 2 have names."
                .to_owned(),
        ],
    };
    picture.exhibit().svg()
}

fn panel(phase: &PhaseAgreement) -> PairedPanel {
    let mean = |of: fn(&Rates) -> f64| {
        let logs = phase.rates.iter().map(|it| of(it).ln());
        (logs.sum::<f64>() / phase.rates.len() as f64).exp()
    };
    let (real, counted) = (mean(|it| it.real), mean(|it| it.counted));
    let points = phase.rates.iter().map(|it| PairedPoint {
        subject: it.subject.clone(),
        across: it.real / real,
        upwards: it.counted / counted,
    });
    PairedPanel {
        title: phase.name.clone(),
        corner: [
            format!(
                "ρ {}, itself {}",
                coefficient(phase.correlation.map(|it| it.rho)),
                coefficient(phase.own_order)
            ),
            phase
                .median_ratio_error()
                .map_or_else(String::new, |error| {
                    format!("ratios differ by {:.0} %", 100.0 * error)
                }),
        ],
        points: points.collect(),
    }
}

fn coefficient(rho: Option<f64>) -> String {
    // A minus sign as wide as a digit.
    rho.map_or_else(
        || "–".to_owned(),
        |rho| format!("{rho:.2}").replace('-', "−"),
    )
}
