//! Repeats of a study: the study's numbers, the user's overrides, and their limits.

use std::fmt;
use std::str::FromStr;

use fslab_model::{
    Adaptive, Percent, PhaseSpec, Rounds, Study, VenueKind, did_you_mean, nearest_name,
};

/// Most repeats of a cell: a higher number is a typing error, and no interval needs it.
const REPEATS_MAX: u32 = 10_000;
/// Most mounts, and most iterations per mount.
const ROUNDS_MAX: u32 = 999;
/// In virtual time a second unperturbed repeat gives the same results.
const EXACT: Repeats = Repeats {
    least: 1,
    most: None,
};
/// Perturbed repeats of a study with a single repeat: the minimum for a spread.
const PERTURBED_REPEATS: u32 = 3;

/// Most repeats in real time of a study with a fixed number, where several subjects are compared:
/// further ones follow until the differences are decided, or the budget is used up.
const COMPARED_REPEATS_MAX: u32 = 30;

/// Repeats as typed: `5`, or `3..20` for 3 to 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// Exact number, or minimum.
    pub least: u32,
    /// Maximum for adaptive repeats.
    pub most: Option<u32>,
}

/// A text that is no number of repeats.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a number of repeats; write 5, or 3..20 for at least 3 and at most 20")]
pub struct ParseRepeatsError(String);

impl FromStr for Repeats {
    type Err = ParseRepeatsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.trim().parse().ok();
        let read = match text.split_once("..") {
            None => number(text).map(|least| Self { least, most: None }),
            Some((least, most)) => number(least).zip(number(most)).map(|(least, most)| Self {
                least,
                most: Some(most),
            }),
        };
        read.ok_or_else(|| ParseRepeatsError(text.to_owned()))
    }
}

impl fmt::Display for Repeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            None => self.least.fmt(f),
            Some(most) => write!(f, "{}..{most}", self.least),
        }
    }
}

/// Overrides of the study's repetition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repetition {
    /// Repeats of each cell.
    pub repeats: Option<Repeats>,
    /// Target precision of each cell.
    pub target: Option<Percent>,
    /// Key phases for the target; empty for the study's.
    pub key: Vec<String>,
    /// Time for further repeats, in seconds from the start of the run.
    pub budget_s: Option<u32>,
    /// Mounts in each repeat.
    pub mounts: Option<u32>,
    /// Iterations in each mount.
    pub iterations: Option<u32>,
    /// True to perturb repeats in virtual time; `None` for the default, which is true.
    pub perturb: Option<bool>,
}

/// Invalid repetition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepetitionError {
    /// Zero repeats.
    #[error("the number of repeats is 0; there must be at least one")]
    NoRepeat,
    #[error("the number of repeats is {0}; at most {REPEATS_MAX} are possible")]
    TooManyRepeats(u32),
    /// A maximum below the minimum.
    #[error("the maximum of {most} repeats is below the minimum of {least}")]
    Reversed {
        /// The minimum.
        least: u32,
        /// The maximum.
        most: u32,
    },
    /// Zero or too many mounts or iterations.
    #[error("the number of {what} is {found}; 1 to {ROUNDS_MAX} are possible")]
    Rounds {
        /// `mounts` or `iterations`.
        what: &'static str,
        /// The number requested.
        found: u32,
    },
    /// Several mounts in a venue that does not mount.
    #[error(
        "{mounts} mounts are not possible in the venue '{venue}', which does not mount anything"
    )]
    NothingMounted {
        /// The number requested.
        mounts: u32,
        venue: &'static str,
    },
    /// A target, a key or a budget without adaptive repeats.
    #[error("{what} needs a range of repeats, but the number of repeats is fixed")]
    NothingToEnd {
        /// The option.
        what: &'static str,
    },
    /// A target that cannot be reached.
    #[error("a target of {target} cannot be reached")]
    NoTarget {
        /// The target requested.
        target: String,
    },
    /// Adaptive repeats of exact results.
    #[error(
        "adaptive repeats in virtual time need perturbation: without it, every repeat yields the \
         same figures"
    )]
    Exact,
    /// A budget in virtual time.
    #[error(
        "a time budget needs real time: in virtual time, the number of repeats would depend on \
         this machine's speed"
    )]
    BudgetInVirtualTime,
    /// Perturbation in real time.
    #[error("repeats cannot be perturbed in the venue '{venue}': only repeats in virtual time can")]
    RealTime { venue: &'static str },
    /// An unknown key phase.
    #[error("the study has no key phase '{wanted}'")]
    UnknownKey {
        /// The name requested.
        wanted: String,
        /// The most similar phase name, if any.
        nearest: Option<String>,
    },
}

impl RepetitionError {
    /// A hint for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoRepeat | Self::TooManyRepeats(_) | Self::Rounds { .. } => None,
            Self::Reversed { least, most } => Some(did_you_mean(format_args!("{most}..{least}"))),
            Self::NothingMounted { .. } => Some(
                "leave out --mounts, or use another venue; --iterations works in this one".into(),
            ),
            Self::NoTarget { .. } => Some(
                "use for example --target 2%, or a fixed number of repeats: --repeats 20".into(),
            ),
            Self::NothingToEnd { .. } => Some("give a maximum of repeats: --repeats 3..20".into()),
            Self::Exact => Some("leave out --perturb off, or the range: --repeats 1".into()),
            Self::BudgetInVirtualTime => {
                Some("leave out --budget, or limit the repeats: --repeats 3..20".into())
            }
            Self::RealTime { .. } => {
                Some("leave out --perturb, or use virtual time: --venue sim".into())
            }
            Self::UnknownKey { nearest, .. } => nearest.as_ref().map(did_you_mean),
        }
    }
}

/// The resolved repetition, with a notice for the user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeated {
    pub(crate) repeats: u32,
    pub(crate) adaptive: Option<Adaptive>,
    /// True if repeats are perturbed.
    pub(crate) perturb: bool,
    pub(crate) rounds: Rounds,
    pub(crate) notice: Option<String>,
}

/// Resolves the repetition of `study` with the overrides in `asked`, for so many subjects.
pub(crate) fn repetition(
    study: &Study,
    asked: &Repetition,
    venue: VenueKind,
    subjects: usize,
) -> Result<Repeated, RepetitionError> {
    let is_virtual = venue == VenueKind::Sim;
    if asked.budget_s.is_some() && is_virtual {
        return Err(RepetitionError::BudgetInVirtualTime);
    }
    if asked.perturb == Some(true) && !is_virtual {
        let venue = venue.as_str();
        return Err(RepetitionError::RealTime { venue });
    }
    let perturb = is_virtual && asked.perturb != Some(false);
    let is_exact = is_virtual && !perturb;
    // The fake venue measures nothing.
    let is_real = !is_virtual && venue != VenueKind::Fake;
    // One subject has nothing to decide: a budget is the time in which its figures become known.
    let is_compared = subjects > 1;
    let is_open = is_real && (is_compared || asked.budget_s.is_some());
    let is_default = asked.repeats.is_none() && study.repeats_max.is_none() && is_open;
    let repeats = match asked.repeats {
        Some(repeats) => repeats,
        None if is_default => Repeats {
            least: study.repeats,
            most: Some(study.repeats.max(COMPARED_REPEATS_MAX)),
        },
        None => of_study(study, (is_exact, perturb)),
    };
    if is_exact && repeats.most.is_some() {
        return Err(RepetitionError::Exact);
    }
    let notice = (is_exact && study.repeats_max.is_some() && asked.repeats.is_none()).then(|| {
        "one repeat instead of adaptive repeats, because without perturbation every repeat yields \
         the same figures"
            .to_owned()
    });
    for number in [Some(repeats.least), repeats.most].into_iter().flatten() {
        match number {
            0 => return Err(RepetitionError::NoRepeat),
            many if many > REPEATS_MAX => return Err(RepetitionError::TooManyRepeats(many)),
            _ => {}
        }
    }
    let adaptive = match repeats.most {
        None => {
            ensure_nothing_to_end(asked)?;
            None
        }
        Some(most) if most < repeats.least => {
            let least = repeats.least;
            return Err(RepetitionError::Reversed { least, most });
        }
        Some(most) => Some(Adaptive {
            until_decided: is_default && is_compared && asked.target.or(study.target).is_none(),
            budget_s: asked.budget_s.or(is_default.then_some(Adaptive::BUDGET_S)),
            ..adaptive(study, asked, most)?
        }),
    };
    Ok(Repeated {
        repeats: repeats.least,
        adaptive,
        perturb,
        rounds: rounds(study, asked, venue)?,
        notice,
    })
}

/// The study's default. In virtual time a study of one repeat would not show the sensitivity of its
/// figures.
fn of_study(study: &Study, (is_exact, perturb): (bool, bool)) -> Repeats {
    match study.repeats {
        _ if is_exact => EXACT,
        1 if perturb => Repeats {
            least: PERTURBED_REPEATS,
            most: study.repeats_max.map(|most| most.max(PERTURBED_REPEATS)),
        },
        least => Repeats {
            least,
            most: study.repeats_max,
        },
    }
}

fn ensure_nothing_to_end(asked: &Repetition) -> Result<(), RepetitionError> {
    let what = match (asked.target, asked.key.is_empty(), asked.budget_s) {
        (Some(_), _, _) => "--target",
        (None, false, _) => "--key",
        (None, true, Some(_)) => "--budget",
        (None, true, None) => return Ok(()),
    };
    Err(RepetitionError::NothingToEnd { what })
}

fn adaptive(
    study: &Study,
    asked: &Repetition,
    repeats_max: u32,
) -> Result<Adaptive, RepetitionError> {
    let target = asked.target.or(study.target).unwrap_or(Adaptive::TARGET);
    if target.share() == 0.0 {
        let target = target.to_string();
        return Err(RepetitionError::NoTarget { target });
    }
    let key = if asked.key.is_empty() {
        &study.key
    } else {
        &asked.key
    };
    Ok(Adaptive {
        repeats_max,
        target,
        key: key.clone(),
        until_decided: false,
        budget_s: None,
    })
}

fn rounds(study: &Study, asked: &Repetition, venue: VenueKind) -> Result<Rounds, RepetitionError> {
    let rounds = Rounds {
        mounts: asked.mounts.unwrap_or(study.rounds.mounts),
        iterations: asked.iterations.unwrap_or(study.rounds.iterations),
    };
    let numbers = [("mounts", rounds.mounts), ("iterations", rounds.iterations)];
    for (what, found) in numbers {
        if !(1..=ROUNDS_MAX).contains(&found) {
            return Err(RepetitionError::Rounds { what, found });
        }
    }
    if venue == VenueKind::Dir && rounds.mounts > 1 {
        return Err(RepetitionError::NothingMounted {
            mounts: rounds.mounts,
            venue: venue.as_str(),
        });
    }
    Ok(rounds)
}

/// Checks that the key phases are among `phases`.
pub(crate) fn ensure_key(
    adaptive: Option<&Adaptive>,
    phases: &[PhaseSpec],
) -> Result<(), RepetitionError> {
    let name = |spec: &PhaseSpec| {
        let swept = spec.swept.as_ref().map(|swept| swept.phase.clone());
        swept.unwrap_or_else(|| spec.name.clone())
    };
    let names: Vec<String> = phases.iter().map(name).collect();
    let mut key = adaptive.iter().flat_map(|adaptive| &adaptive.key);
    match key.find(|wanted| !names.contains(wanted)) {
        None => Ok(()),
        Some(wanted) => {
            let nearest = nearest_name(wanted, names.iter().map(String::as_str));
            Err(RepetitionError::UnknownKey {
                wanted: wanted.clone(),
                nearest: nearest.map(str::to_owned),
            })
        }
    }
}

/// The study's time limit, scaled from its rounds to the actual ones.
pub(crate) fn trial_limit_s(study: &Study, rounds: Rounds) -> u32 {
    let count = |rounds: Rounds| u64::from(rounds.mounts) * u64::from(rounds.iterations);
    let limit_s = u64::from(study.trial_limit_s) * count(rounds);
    u32::try_from(limit_s.div_ceil(count(study.rounds).max(1))).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study() -> Study {
        crate::load_study("quick").expect("built in").0
    }

    fn asked(repeats: &str) -> Repetition {
        Repetition {
            repeats: Some(repeats.parse().expect("repeats")),
            ..Repetition::default()
        }
    }

    #[test]
    fn repeats_are_a_number_or_a_range_and_show_as_written() {
        for text in ["5", "3..20", "0"] {
            let repeats: Repeats = text.parse().expect("repeats");
            assert_eq!(repeats.to_string(), text);
        }
        for text in ["", "..", "3..", "..20", "3..=20", "-1", "3..20..30", "x"] {
            let error = text.parse::<Repeats>().expect_err("none");
            assert!(error.to_string().contains(&format!("'{text}'")), "{error}");
        }
    }

    #[test]
    fn options_take_precedence_over_the_study() {
        let study = Study {
            repeats_max: Some(9),
            target: Some(Percent::of_share(0.02)),
            key: vec!["write".into()],
            ..study()
        };
        let of =
            |asked: &Repetition| repetition(&study, asked, VenueKind::Loop, 1).expect("usable");
        let plain = of(&Repetition::default());
        assert_eq!(plain.repeats, study.repeats);
        let adaptive = plain.adaptive.expect("adaptive");
        assert_eq!((adaptive.repeats_max, adaptive.key), (9, study.key.clone()));
        assert_eq!(adaptive.target, Percent::of_share(0.02));
        assert_eq!(of(&asked("4")).adaptive, None);
        let other = of(&Repetition {
            target: Some(Percent::of_share(0.1)),
            key: vec!["read".into()],
            ..asked("4..30")
        });
        let adaptive = other.adaptive.expect("adaptive");
        assert_eq!((other.repeats, adaptive.repeats_max), (4, 30));
        assert_eq!(adaptive.key, ["read"]);
    }

    #[test]
    fn in_real_time_several_subjects_are_compared_until_it_is_decided_or_the_budget_is_used_up() {
        let of = |asked: &Repetition, subjects| {
            let repeated = repetition(&study(), asked, VenueKind::Loop, subjects);
            repeated.expect("usable").adaptive
        };
        let by_default = of(&Repetition::default(), 2).expect("adaptive");
        assert!(by_default.until_decided);
        assert_eq!(by_default.budget_s, Some(Adaptive::BUDGET_S));
        assert_eq!(by_default.repeats_max, COMPARED_REPEATS_MAX);
        assert_eq!(of(&Repetition::default(), 1), None);
        let budget = Repetition {
            budget_s: Some(60),
            ..Repetition::default()
        };
        let alone = of(&budget, 1).expect("adaptive");
        assert_eq!((alone.budget_s, alone.until_decided), (Some(60), false));
        assert_eq!(alone.repeats_max, COMPARED_REPEATS_MAX);
        assert_eq!(of(&asked("4"), 2), None);
        let range = of(&asked("4..30"), 2).expect("adaptive");
        assert_eq!((range.until_decided, range.budget_s), (false, None));
        let brief = Repetition {
            budget_s: Some(20),
            ..Repetition::default()
        };
        assert_eq!(of(&brief, 2).and_then(|it| it.budget_s), Some(20));
        let precise = Repetition {
            target: Some(Percent::of_share(0.01)),
            ..Repetition::default()
        };
        assert!(!of(&precise, 2).expect("adaptive").until_decided);
        // What depends on the speed of the machine is not exact.
        assert_eq!(
            repetition(&study(), &brief, VenueKind::Sim, 2),
            Err(RepetitionError::BudgetInVirtualTime)
        );
        let fixed = Repetition {
            budget_s: Some(20),
            ..asked("5")
        };
        assert_eq!(
            repetition(&study(), &fixed, VenueKind::Loop, 2),
            Err(RepetitionError::NothingToEnd { what: "--budget" })
        );
    }

    #[test]
    fn invalid_numbers_are_refused() {
        use RepetitionError as E;
        let of =
            |asked: &Repetition| repetition(&study(), asked, VenueKind::Loop, 1).expect_err("no");
        assert_eq!(of(&asked("0")), E::NoRepeat);
        assert_eq!(of(&asked("3..20000")), E::TooManyRepeats(20_000));
        assert_eq!(of(&asked("5..3")), E::Reversed { least: 5, most: 3 });
        let target = Repetition {
            target: Some(Adaptive::TARGET),
            ..asked("5")
        };
        assert_eq!(of(&target), E::NothingToEnd { what: "--target" });
        let nothing = of(&Repetition {
            target: Some(Percent::of_share(0.0)),
            ..asked("3..20")
        });
        assert_eq!(
            nothing,
            E::NoTarget {
                target: "0%".into()
            }
        );
        assert!(
            nothing
                .hint()
                .is_some_and(|hint| hint.contains("--target 2%"))
        );
        let mounts = Repetition {
            mounts: Some(0),
            ..Repetition::default()
        };
        let refused = E::Rounds {
            what: "mounts",
            found: 0,
        };
        assert_eq!(of(&mounts), refused);
    }

    #[test]
    fn in_virtual_time_repeats_are_perturbed_and_at_least_three() {
        let of = |repeats, repeats_max, asked: &Repetition| {
            let study = Study {
                repeats,
                repeats_max,
                ..study()
            };
            repetition(&study, asked, VenueKind::Sim, 1).expect("usable")
        };
        let by_default = Repetition::default();
        let numbers = |it: Repeated| {
            let most = it.adaptive.map(|adaptive| adaptive.repeats_max);
            (it.repeats, most, it.perturb, it.notice)
        };
        assert_eq!(numbers(of(1, None, &by_default)), (3, None, true, None));
        assert_eq!(numbers(of(9, None, &by_default)), (9, None, true, None));
        assert_eq!(
            numbers(of(1, Some(2), &by_default)),
            (3, Some(3), true, None)
        );
        assert_eq!(
            numbers(of(3, Some(9), &by_default)),
            (3, Some(9), true, None)
        );
        assert_eq!(numbers(of(3, None, &asked("5"))), (5, None, true, None));
        let range = of(3, None, &asked("3..20"));
        assert_eq!(numbers(range), (3, Some(20), true, None));
        // A single repeat: a run that may be resumed with more.
        assert_eq!(numbers(of(3, None, &asked("1"))), (1, None, true, None));
        let real = repetition(&study(), &by_default, VenueKind::Loop, 1).expect("usable");
        assert!(!real.perturb);
    }

    #[test]
    fn without_perturbation_there_is_one_repeat_and_a_notice() {
        let adaptive = Study {
            repeats_max: Some(9),
            ..study()
        };
        let sim = |asked: Repetition| {
            let asked = Repetition {
                perturb: Some(false),
                ..asked
            };
            repetition(&adaptive, &asked, VenueKind::Sim, 1)
        };
        let once = sim(Repetition::default()).expect("usable");
        assert_eq!(
            (once.repeats, once.adaptive, once.perturb),
            (1, None, false)
        );
        assert!(
            once.notice
                .is_some_and(|notice| notice.contains("one repeat"))
        );
        let refused = sim(asked("3..20")).expect_err("refused");
        assert_eq!(refused, RepetitionError::Exact);
        assert!(
            refused
                .hint()
                .is_some_and(|hint| hint.contains("--perturb off"))
        );
        let thrice = sim(asked("3")).expect("usable");
        assert_eq!(
            (thrice.repeats, thrice.perturb, thrice.notice),
            (3, false, None)
        );
    }

    #[test]
    fn real_time_cannot_be_perturbed() {
        let wanted = Repetition {
            perturb: Some(true),
            ..Repetition::default()
        };
        let refused = repetition(&study(), &wanted, VenueKind::Loop, 1).expect_err("refused");
        assert_eq!(refused, RepetitionError::RealTime { venue: "loop" });
    }

    #[test]
    fn a_directory_is_not_remounted() {
        let rounds = |mounts, iterations, venue| {
            let asked = Repetition {
                mounts: Some(mounts),
                iterations: Some(iterations),
                ..Repetition::default()
            };
            repetition(&study(), &asked, venue, 1).map(|repeated| repeated.rounds)
        };
        let refused = rounds(2, 1, VenueKind::Dir).expect_err("refused");
        assert!(matches!(refused, RepetitionError::NothingMounted { .. }));
        let six = Rounds {
            mounts: 2,
            iterations: 3,
        };
        assert_eq!(rounds(2, 3, VenueKind::Loop), Ok(six));
        assert!(rounds(1, 3, VenueKind::Dir).is_ok());
        assert_eq!(trial_limit_s(&study(), six), study().trial_limit_s * 6);
        let own = Study {
            rounds: six,
            ..study()
        };
        assert_eq!(trial_limit_s(&own, six), study().trial_limit_s);
    }
}
