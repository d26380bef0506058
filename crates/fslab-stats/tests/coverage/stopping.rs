//! Coverage of intervals after the stopping rule.

use fslab_stats::{Stopping, location, ratio, relative_half_widths, stopping};

use crate::chance::{Chance, Kind};

const EXPERIMENTS: u32 = 10_000;
const TARGET: f64 = 0.05;

/// The minimum and maximum number of repeats.
type Range = (usize, usize);

const RANGES: [Range; 4] = [(3, 10), (3, 20), (5, 10), (5, 20)];

/// The required coverage.
const GOOD: [f64; 2] = [0.93, 0.97];

/// The number of repeats that a run would make of figures with these values, look by look.
fn repeats_of(figures: &[Vec<f64>], (least, most): Range) -> usize {
    let looks: Vec<Vec<Option<f64>>> = figures
        .iter()
        .map(|values| relative_half_widths(&values.iter().map(|it| Some(*it)).collect::<Vec<_>>()))
        .collect();
    let widest = |place: usize| {
        let each = looks.iter().map(|figure| figure[place]);
        each.reduce(|a, b| Some(a?.max(b?))).flatten()
    };
    let all: Vec<Option<f64>> = (least - 1..most).map(widest).collect();
    let ends = |count: &usize| stopping(&all[..=count - least], TARGET) == Stopping::Known;
    (least..most).find(ends).unwrap_or(most)
}

/// A subject of `phases` figures, repeated until all are known. Half of the variance of a logarithm
/// is that of its trial where there are several.
fn subject(chance: &mut Chance, kind: Kind, phases: usize, range: Range) -> Vec<Vec<f64>> {
    let mut figures = vec![Vec::new(); phases];
    for _ in 0..range.1 {
        let half = 0.5_f64.sqrt();
        let trial = if phases > 1 {
            kind.value(chance).powf(half)
        } else {
            1.0
        };
        for figure in &mut figures {
            let own = kind.value(chance);
            figure.push(if phases > 1 {
                trial * own.powf(half)
            } else {
                own
            });
        }
    }
    let made = repeats_of(&figures, range);
    figures.iter_mut().for_each(|figure| figure.truncate(made));
    figures
}

/// Shares of experiments whose intervals contain the truth, and the mean number of repeats.
struct Found {
    location: f64,
    ratio: f64,
    repeats: f64,
}

fn found(kind: Kind, phases: usize, range: Range) -> Found {
    let truth = match phases {
        1 => kind.mean_log(),
        _ => kind.mean_log() * 2.0_f64.sqrt(),
    };
    let mut chance = Chance::of((range.0 * 100 + range.1) as u64);
    let (mut located, mut compared, mut repeats) = (0_u32, 0_u32, 0_usize);
    for _ in 0..EXPERIMENTS {
        let a = subject(&mut chance, kind, phases, range);
        let b = subject(&mut chance, kind, phases, range);
        repeats += a[0].len();
        // All values of a coarse clock may be equal, as in `intervals.rs`.
        let holds = |low: f64, high: f64, truth: f64| {
            low <= truth * (1.0 + 1e-12) && truth <= high * (1.0 + 1e-12)
        };
        let own = location(&a[0]).and_then(|it| it.interval).expect("repeats");
        located += u32::from(holds(own.low, own.high, truth.exp()));
        let both = ratio(&a[0], &b[0])
            .and_then(|it| it.interval)
            .expect("repeats");
        compared += u32::from(holds(both.low, both.high, 1.0));
    }
    let share = |count: u32| f64::from(count) / f64::from(EXPERIMENTS);
    Found {
        location: share(located),
        ratio: share(compared),
        repeats: repeats as f64 / f64::from(EXPERIMENTS),
    }
}

/// Prints a row of the table in docs/statistics.md and checks each figure's range.
fn row(kind: Kind, phases: usize, own: [f64; 2], compared: [f64; 2]) {
    let mut line = format!("{kind:?}, {phases} key phases");
    let mut wrong = Vec::new();
    for range in RANGES {
        let found = found(kind, phases, range);
        line += &format!(
            "  {}..{}: {:.1} {:.1} ({:.1})",
            range.0,
            range.1,
            100.0 * found.location,
            100.0 * found.ratio,
            found.repeats
        );
        let within = |[low, high]: [f64; 2], share: f64| (low..=high).contains(&share);
        if !within(own, found.location) || !within(compared, found.ratio) {
            wrong.push(range);
        }
    }
    println!("{line}");
    assert!(wrong.is_empty(), "{kind:?} {phases}: {wrong:?}");
}

#[test]
fn log_normal_values_are_covered_whatever_their_spread() {
    for spread in [0.01, 0.03, 0.05, 0.08, 0.10] {
        row(Kind::LogNormal(spread), 1, GOOD, GOOD);
    }
}

#[test]
fn figures_are_covered_where_several_must_be_known() {
    for (phases, spread) in [(3, 0.03), (3, 0.08), (9, 0.03)] {
        row(Kind::LogNormal(spread), phases, GOOD, GOOD);
    }
}

#[test]
fn other_values_are_covered_as_by_a_fixed_number() {
    for kind in [Kind::Normal, Kind::Coarse, Kind::HeavyTails] {
        row(kind, 1, GOOD, GOOD);
    }
}

#[test]
fn skewed_and_bimodal_values_are_covered_less() {
    // As with fixed numbers of repeats, so stopping is not the cause.
    for kind in [
        Kind::Skewed,
        Kind::Bimodal(0.5),
        Kind::Bimodal(0.25),
        Kind::VeryCoarse,
    ] {
        let mut line = format!("{kind:?}, as many each time");
        for repeats in [5, 10, 16] {
            let fixed = found(kind, 1, (repeats, repeats));
            let (own, compared) = (100.0 * fixed.location, 100.0 * fixed.ratio);
            line += &format!("  {repeats}: {own:.1} {compared:.1}");
        }
        println!("{line}");
    }
    row(Kind::Skewed, 1, [0.90, 0.97], [0.91, 0.97]);
    row(Kind::Bimodal(0.5), 1, [0.92, 0.97], [0.915, 0.97]);
    row(Kind::Bimodal(0.25), 1, [0.88, 0.97], [0.88, 0.97]);
    row(Kind::VeryCoarse, 1, [0.79, 0.97], [0.90, 0.99]);
}

/// The bug: stopping at the first look with a narrow interval.
#[test]
fn stopping_at_the_first_narrow_interval_covers_too_little() {
    let first = |values: &[f64]| {
        let values: Vec<Option<f64>> = values.iter().map(|it| Some(*it)).collect();
        let looks = relative_half_widths(&values);
        let narrow = |count: &usize| looks[count - 1].is_some_and(|reach| reach <= TARGET);
        (3..20).find(narrow).unwrap_or(20)
    };
    for spread in [0.01, 0.03, 0.05, 0.08, 0.10] {
        let mut chance = Chance::of(320);
        let (mut located, mut compared, mut repeats) = (0_u32, 0_u32, 0_usize);
        for _ in 0..EXPERIMENTS {
            let mut stopped = || {
                let mut values = Kind::LogNormal(spread).sample(&mut chance, 20);
                values.truncate(first(&values));
                values
            };
            let (a, b) = (stopped(), stopped());
            repeats += a.len();
            let own = location(&a).and_then(|it| it.interval);
            located += u32::from(own.is_some_and(|it| it.contains(1.0)));
            let both = ratio(&a, &b).and_then(|it| it.interval);
            compared += u32::from(both.is_some_and(|it| it.contains(1.0)));
        }
        let percent = |count: u32| 100.0 * f64::from(count) / f64::from(EXPERIMENTS);
        println!(
            "first narrow interval, 3..20, {spread}: {:.1} {:.1} ({:.1})",
            percent(located),
            percent(compared),
            repeats as f64 / f64::from(EXPERIMENTS)
        );
        if spread == 0.08 {
            assert!(percent(compared) < 90.0, "{compared}");
        }
    }
}
