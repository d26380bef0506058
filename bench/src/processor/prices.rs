//! What prices of system calls and of copied bytes would bring.
//!
//! A counted processor takes the same time for every instruction. A real one takes longer to enter
//! and leave the kernel, and moves data at another rate. Here the time of an operation is its
//! instructions, a price for each of its calls and a price for each byte that it copies; prices are
//! in instructions. Ratios and orders do not depend on how many instructions pass in a second, so
//! that there is no third price. All subjects of a phase pay the same, so that prices make them
//! more alike and never change their order. Prices are found on one half of the phases and tested
//! on the other, since two numbers that are fitted to what they are judged by always bring
//! something.
//!
//! Page faults have no price: these phases have none to pay for. Buffers of reads and the data of
//! writes are filled before the measurement (`PageBuffer`, `DataPool` of fslab-engine); the first
//! listing touches two new pages.

use fslab_model::{PhaseKind, PhaseRecord};
use fslab_stats::rank_correlation;

use super::agreement::{PhaseAgreement, median, ratio_errors};

/// The exponents of ten of the lowest and highest price above 0 that are tried, and how many are
/// tried in a decade.
const CALL_POWERS: (i32, i32) = (1, 5);
const BYTE_POWERS: (i32, i32) = (-3, 1);
const STEPS: i32 = 8;

/// Prices in instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Prices {
    pub(crate) per_call: f64,
    pub(crate) per_byte: f64,
}

/// What has a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priced {
    Nothing,
    Bytes,
    Calls,
    Both,
}

/// What an operation asks of the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) calls: f64,
    pub(crate) bytes: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct PricedPhase {
    pub(crate) name: String,
    pub(crate) request: Request,
    /// The subjects' real rates, in any unit, and instructions of an operation.
    pub(crate) subjects: Vec<(f64, f64)>,
}

/// Prices of one kind, found on each half of the phases and tested on the other.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) priced: Priced,
    /// Found on the first, third, ... phase; and on the second, fourth, ...
    pub(crate) prices: [Prices; 2],
    /// The median ratio error of the phases on which the prices were not found.
    pub(crate) tested: [Option<f64>; 2],
    /// The same of all phases, each with the prices found without it.
    pub(crate) ratio_error: Option<f64>,
    /// The median rank correlation of all phases, each with the prices found without it.
    pub(crate) correlation: Option<f64>,
}

impl Priced {
    /// In the order of the table.
    pub(crate) const ALL: [Self; 4] = [Self::Nothing, Self::Bytes, Self::Calls, Self::Both];

    fn grid(self) -> Vec<Prices> {
        let calls = match self {
            Self::Calls | Self::Both => steps(CALL_POWERS),
            Self::Nothing | Self::Bytes => vec![0.0],
        };
        let bytes = match self {
            Self::Bytes | Self::Both => steps(BYTE_POWERS),
            Self::Nothing | Self::Calls => vec![0.0],
        };
        let of_call = |per_call: &f64| {
            let per_call = *per_call;
            let each = bytes.iter().map(move |per_byte| Prices {
                per_call,
                per_byte: *per_byte,
            });
            each.collect::<Vec<_>>()
        };
        calls.iter().flat_map(of_call).collect()
    }
}

impl Request {
    /// That of a phase of the study; `None` for an operation whose calls are not known.
    ///
    /// A read or write of a record is one call. Of names, by `fslab-engine/src/engines/names.rs`:
    /// creating a file is openat(2), pwrite(2) if it has data, and close(2); listing a directory is
    /// openat(2), getdents64(2) with its entries, getdents64(2) without any, and close(2): the 202
    /// entries of 200 files take 6,448 bytes of a buffer of 32 KiB. What is done once in a phase
    /// (fsync, syncfs) is left out, as are the names and entries that the kernel copies.
    pub(crate) fn of(phase: &PhaseRecord) -> Option<Self> {
        let operations = phase.operations.filter(|count| *count > 0)? as f64;
        let bytes = phase.bytes.unwrap_or(0) as f64 / operations;
        let operation = phase.parameters.get("operation");
        let operation = operation.and_then(|it| it.as_str());
        let calls = match (phase.kind, operation.unwrap_or(&phase.workload)) {
            (PhaseKind::Read | PhaseKind::Write, _) => 1.0,
            (PhaseKind::Metadata, "create") if bytes > 0.0 => 3.0,
            (PhaseKind::Metadata, "create") => 2.0,
            (PhaseKind::Metadata, "list") => 4.0,
            (PhaseKind::Metadata, "stat" | "chmod" | "rename" | "unlink") => 1.0,
            (PhaseKind::Metadata | PhaseKind::Mixed, _) => return None,
        };
        Some(Self { calls, bytes })
    }
}

impl PricedPhase {
    /// A phase of an agreement whose counted processor makes so many instructions in a second.
    /// `is_of_bytes` says that the rates are bytes and not operations in a second.
    pub(crate) fn of(
        phase: &PhaseAgreement,
        request: Request,
        is_of_bytes: bool,
        instructions_per_s: f64,
    ) -> Self {
        let rate_of_one = if is_of_bytes { request.bytes } else { 1.0 };
        let subjects = phase.rates.iter();
        let subjects =
            subjects.map(|it| (it.real, instructions_per_s / (it.counted / rate_of_one)));
        Self {
            name: phase.name.clone(),
            request,
            subjects: subjects.collect(),
        }
    }

    /// The subjects' real rates, and those that follow from instructions and prices.
    fn rates(&self, prices: Prices) -> (Vec<f64>, Vec<f64>) {
        let Request { calls, bytes } = self.request;
        let price = calls * prices.per_call + bytes * prices.per_byte;
        let subjects = self.subjects.iter();
        subjects
            .map(|(real, instructions)| (real, 1.0 / (instructions + price)))
            .unzip()
    }

    fn ratio_errors(&self, prices: Prices) -> Vec<f64> {
        let (real, priced) = self.rates(prices);
        ratio_errors(&real, &priced)
    }

    fn correlation(&self, prices: Prices) -> Option<f64> {
        let (real, priced) = self.rates(prices);
        Some(rank_correlation(&real, &priced)?.rho)
    }
}

/// All kinds of prices, found and tested on `phases`, which are in the study's order.
pub(crate) fn trials(phases: &[PricedPhase]) -> Vec<Trial> {
    let half = |from: usize| phases.iter().skip(from).step_by(2).collect::<Vec<_>>();
    let halves = [half(0), half(1)];
    let trial = |priced: Priced| {
        let prices = [find(&halves[0], priced), find(&halves[1], priced)];
        let tested = [
            median_ratio_error(&halves[1], prices[0]),
            median_ratio_error(&halves[0], prices[1]),
        ];
        // A phase of one half has the prices of the other.
        let all = || {
            let first = halves[0].iter().map(|phase| (phase, prices[1]));
            first.chain(halves[1].iter().map(|phase| (phase, prices[0])))
        };
        let errors = all().flat_map(|(phase, prices)| phase.ratio_errors(prices));
        let correlations = all().filter_map(|(phase, prices)| phase.correlation(prices));
        Trial {
            priced,
            prices,
            tested,
            ratio_error: median(errors.collect()),
            correlation: median(correlations.collect()),
        }
    };
    Priced::ALL.into_iter().map(trial).collect()
}

/// The prices with the least median ratio error; of equal ones the lowest.
fn find(phases: &[&PricedPhase], priced: Priced) -> Prices {
    let mut best = (f64::INFINITY, Prices::default());
    for prices in priced.grid() {
        if let Some(error) = median_ratio_error(phases, prices)
            && error < best.0
        {
            best = (error, prices);
        }
    }
    best.1
}

fn median_ratio_error(phases: &[&PricedPhase], prices: Prices) -> Option<f64> {
    let errors = phases.iter().flat_map(|phase| phase.ratio_errors(prices));
    median(errors.collect())
}

/// 0, and so many steps in each decade between two powers of ten.
fn steps((low, high): (i32, i32)) -> Vec<f64> {
    let powers = (low * STEPS..=high * STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let above = powers.map(|power| 10_f64.powf(power));
    std::iter::once(0.0).chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::super::agreement::Rates;
    use super::*;

    /// Phases of a processor with these prices, whose subjects differ in instructions.
    fn phases(prices: Prices) -> Vec<PricedPhase> {
        let requests = [
            (1.0, 65_536.0),
            (1.0, 4096.0),
            (1.0, 16_384.0),
            (1.0, 0.0),
            (4.0, 0.0),
            (3.0, 4096.0),
            (1.0, 65_536.0),
            (1.0, 4096.0),
        ];
        let phase = |(number, (calls, bytes)): (usize, (f64, f64))| {
            let instructions = [900.0, 2500.0, 4100.0, 30_000.0].map(|base| base + number as f64);
            let time = |it: f64| it + calls * prices.per_call + bytes * prices.per_byte;
            PricedPhase {
                name: format!("p{number}"),
                request: Request { calls, bytes },
                subjects: instructions.map(|it| (7e9 / time(it), it)).to_vec(),
            }
        };
        requests.into_iter().enumerate().map(phase).collect()
    }

    fn near(found: f64, expected: f64) {
        let limit = 1e-9 * expected.abs().max(1.0);
        assert!(
            (found - expected).abs() < limit,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn known_prices_are_found_on_either_half() {
        let expected = Prices {
            per_call: 1000.0,
            per_byte: 0.1,
        };
        let trials = trials(&phases(expected));
        let both = trials.last().expect("four kinds");
        assert_eq!(both.priced, Priced::Both);
        for found in both.prices {
            near(found.per_call, expected.per_call);
            near(found.per_byte, expected.per_byte);
        }
        near(both.ratio_error.expect("pairs"), 0.0);
        assert_eq!(both.correlation, Some(1.0));
        // Each price alone explains less.
        for trial in &trials[..3] {
            assert!(trial.ratio_error > Some(0.01), "{trial:?}");
        }
    }

    #[test]
    fn where_instructions_explain_all_prices_are_0() {
        for trial in trials(&phases(Prices::default())) {
            assert_eq!(trial.prices, [Prices::default(); 2]);
            near(trial.ratio_error.expect("pairs"), 0.0);
        }
    }

    #[test]
    fn without_prices_the_agreement_is_the_plain_one() {
        let rates = [("a", 5e6, 1e6), ("b", 4e6, 1.5e6), ("c", 3e6, 2e5)];
        let rates = rates.map(|(subject, real, counted)| Rates {
            subject: subject.to_owned(),
            real,
            counted,
        });
        let plain = PhaseAgreement::of("p", rates.to_vec(), None).expect("three subjects");
        let request = Request {
            calls: 1.0,
            bytes: 4096.0,
        };
        for is_of_bytes in [false, true] {
            let phase = PricedPhase::of(&plain, request, is_of_bytes, 1e9);
            let found = phase.ratio_errors(Prices::default());
            for (found, expected) in found.iter().zip(&plain.ratio_errors) {
                near(*found, *expected);
            }
            let rho = plain.correlation.map(|it| it.rho);
            assert_eq!(phase.correlation(Prices::default()), rho);
        }
        let phase = PricedPhase::of(&plain, request, true, 1e9);
        near(phase.subjects[0].1, 1e9 / 1e6 * 4096.0);
    }

    #[test]
    fn calls_and_bytes_are_those_of_an_operation() {
        let record = |workload: &str, kind, operations, bytes, operation: Option<&str>| {
            let mut parameters = fslab_model::Parameters::new();
            if let Some(operation) = operation {
                parameters.insert("operation".into(), operation.into());
            }
            let spec = fslab_model::PhaseSpec::new("p", workload, parameters);
            let headline = fslab_model::Headline::OperationRate;
            let done = fslab_model::PhaseOutcome::Done;
            let mut record = PhaseRecord::empty(&spec, kind, headline, done);
            (record.operations, record.bytes) = (Some(operations), bytes);
            Request::of(&record).map(|it| (it.calls, it.bytes))
        };
        let of_names = |workload, bytes, operation| {
            record(workload, PhaseKind::Metadata, 10, bytes, operation)
        };
        assert_eq!(
            record("read", PhaseKind::Read, 4, Some(16_384), None),
            Some((1.0, 4096.0))
        );
        assert_eq!(of_names("create", Some(40_960), None), Some((3.0, 4096.0)));
        assert_eq!(of_names("create", None, None), Some((2.0, 0.0)));
        assert_eq!(of_names("list", None, None), Some((4.0, 0.0)));
        assert_eq!(of_names("files", None, Some("unlink")), Some((1.0, 0.0)));
        assert_eq!(of_names("files", None, Some("turnover")), None);
        assert_eq!(record("read", PhaseKind::Read, 0, None, None), None);
    }
}
