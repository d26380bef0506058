//! `compare --vary` and `run --vary`: one comparison in several conditions.

use std::time::{Duration, Instant};

use fslab_compare::Experiment;
use fslab_model::{
    Condition, DISK_DRAW, FactorLevel, Failure, FailureKind, Plan, RunHeader, RunRecord, VenuePlan,
};
use fslab_run::{RunLock, RunOutcome, condition_rounds};
use fslab_store::{RunSelector, Store};
use fslab_venue::Venue;

use super::execution::{ExecutionArgs, Prepared, venue_settings};
use crate::commands::report::experiment;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::screen;

/// Most conditions of an experiment.
const CONDITIONS_MAX: usize = 256;
/// Factors of `--vary` that are not options of a venue.
const OTHER_FACTORS: [&str; 5] = ["size", "full", "mount", "mkfs", "age"];

/// A factor as it is asked for: `disk=hdd,ssd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VaryArg {
    name: String,
    levels: Vec<String>,
}

impl std::str::FromStr for VaryArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The key of a study's value has no = sign.
        let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
        let (name, levels) = parts.ok_or_else(|| {
            format!("'{text}' is not FACTOR=LEVEL,LEVEL, for example memory=512MiB,2GiB")
        })?;
        let levels: Vec<String> = levels.split(',').map(|it| it.trim().to_owned()).collect();
        if levels.len() < 2 || levels.iter().any(String::is_empty) {
            return Err(format!(
                "{name} needs two levels or more, separated by commas"
            ));
        }
        let mut sorted = levels.clone();
        sorted.sort();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(format!("{name} has a level twice"));
        }
        Ok(Self {
            name: name.trim().to_owned(),
            levels,
        })
    }
}

/// A condition with its run.
struct Planned {
    prepared: Prepared,
    /// Options of this condition.
    args: ExecutionArgs,
}

/// Runs `study` in every condition, stores a run for each, and shows what they say together.
pub(super) fn exec(args: &ExecutionArgs, study: &str, subjects: &[String]) -> CommandResult {
    let subjects = args.subjects_of(study, subjects)?;
    let mut factors = args.vary.clone();
    if let Some(draws) = args.tolerance {
        factors.push(drawn_disks(args, study, &subjects, draws)?);
    }
    ensure_distinct(&factors)?;
    let mut conditions = Vec::new();
    for levels in combinations(&factors)? {
        conditions.push(planned(args, study, &subjects, &levels)?);
    }
    make_alike(&mut conditions);
    name_experiment(&factors, &mut conditions);
    let notices = conditions.iter().flat_map(|it| &it.prepared.notices);
    let notices: std::collections::BTreeSet<&String> = notices.collect();
    notices.iter().for_each(|notice| screen::notice(notice));
    if args.plan.dry_run {
        return dry_run(&conditions, args);
    }
    let mut store = args.open_output()?;
    let earlier = match args.plan.resume {
        true => experiment::headers(&store, Some(&name_of(&conditions)))?,
        false => Vec::new(),
    };
    let mut open = Vec::new();
    for condition in &conditions {
        open.push(OpenCondition::of(condition, &earlier, &mut store)?);
    }
    let outcome = conduct(args, &mut open, &mut store)?;
    store.ensure_in_place()?;
    let mut records = Vec::new();
    for condition in &open {
        records.push(store.run(&RunSelector::from(condition.header.run.clone()))?);
    }
    report(args, &records, outcome)
}

/// The factor of --tolerance: the disk of the plan, and `draws` within its uncertainty.
fn drawn_disks(
    args: &ExecutionArgs,
    study: &str,
    subjects: &[String],
    draws: u32,
) -> Result<VaryArg, CommandError> {
    let of_disk = ["disk", "machine"];
    if let Some(factor) = args
        .vary
        .iter()
        .find(|it| of_disk.contains(&it.name.as_str()))
    {
        let text = format!("--tolerance and --vary {} both set the disk", factor.name);
        return Err(Failure::bad_input(text)
            .hint("run --tolerance once for each disk")
            .into());
    }
    let plan = planned(args, study, subjects, &[])?.prepared.plan;
    let VenuePlan::Sim { disk, .. } = &plan.venue else {
        let text = "--tolerance needs the venue sim, whose disk has figures";
        return Err(Failure::bad_input(text).hint("add --venue sim").into());
    };
    let disk = args.venue.disk().unwrap_or(&disk.profile);
    let drawn = (1..=draws).map(|draw| format!("{disk}{DISK_DRAW}{draw}"));
    Ok(VaryArg {
        name: "disk".to_owned(),
        levels: std::iter::once(disk.to_owned()).chain(drawn).collect(),
    })
}

fn ensure_distinct(factors: &[VaryArg]) -> Result<(), Failure> {
    let twice = factors
        .iter()
        .enumerate()
        .find(|(place, factor)| factors[..*place].iter().any(|it| it.name == factor.name));
    match twice {
        None => Ok(()),
        Some((_, factor)) => {
            let text = format!("--vary {} is given twice", factor.name);
            Err(Failure::new(FailureKind::BadInput, text)
                .hint("give all levels at once, for example --vary memory=1GiB,2GiB"))
        }
    }
}

/// Every combination of levels, the last factor changing fastest.
fn combinations(factors: &[VaryArg]) -> Result<Vec<Vec<FactorLevel>>, Failure> {
    let count = factors
        .iter()
        .map(|factor| factor.levels.len())
        .product::<usize>();
    if count > CONDITIONS_MAX {
        let text = format!("{count} conditions; there may be at most {CONDITIONS_MAX}");
        return Err(Failure::new(FailureKind::BadInput, text).hint("vary fewer levels"));
    }
    let mut found: Vec<Vec<FactorLevel>> = vec![Vec::new()];
    for factor in factors {
        let level = |level| FactorLevel {
            name: factor.name.clone(),
            levels: factor.levels.clone(),
            level,
        };
        let longer = found.iter().flat_map(|before| {
            (0..factor.levels.len()).map(move |it| [before.clone(), vec![level(it)]].concat())
        });
        found = longer.collect();
    }
    Ok(found)
}

/// The plan of a condition, with its place in the experiment but for the experiment's name.
fn planned(
    args: &ExecutionArgs,
    study: &str,
    subjects: &[String],
    levels: &[FactorLevel],
) -> Result<Planned, CommandError> {
    let mut args = args.clone();
    args.vary.clear();
    if args.tolerance.take().is_some() {
        args.venue = args.venue.or_sim();
    }
    args.plan.repetition.fix();
    let mut subjects = subjects.to_vec();
    for factor in levels {
        let level = &factor.levels[factor.level];
        apply(&mut args, &mut subjects, &factor.name, level)?;
    }
    let (request, source) = args.request(study, &subjects, &args.venue, &[])?;
    let mut prepared = args.prepared(&request, &source, &args.venue, None)?;
    prepared.plan.condition = Some(Condition {
        experiment: String::new(),
        factors: levels.to_vec(),
    });
    Ok(Planned { prepared, args })
}

fn apply(
    args: &mut ExecutionArgs,
    subjects: &mut [String],
    factor: &str,
    level: &str,
) -> Result<(), Failure> {
    let failed = |why: String| {
        let text = format!("cannot use --vary {factor}={level}: {why}");
        Failure::new(FailureKind::BadInput, text)
    };
    let option = match (factor, level) {
        ("full", "0" | "0%") | ("mount" | "mkfs", "defaults") | ("age", "none") => return Ok(()),
        ("size", level) => {
            args.plan.size = Some(level.parse().map_err(|error| failed(format!("{error}")))?);
            return Ok(());
        }
        ("full", level) => format!("fill={level}"),
        ("age", level) => format!("age={level}"),
        ("mount", level) => level.to_owned(),
        ("mkfs", level) => format!("mkfs={level}"),
        (key, level) if key.contains('.') => {
            args.plan.settings.push(format!("{key}={level}"));
            return Ok(());
        }
        (name, level) => {
            return match args.venue.set(name, level).map_err(failed)? {
                true => Ok(()),
                false => Err(failed(format!("there is no factor '{name}'")).hint(format!(
                    "the factors are disk, memory, lab, machine, {}, and keys of --set such as \
                     phase.write.record",
                    OTHER_FACTORS.join(", ")
                ))),
            };
        }
    };
    for subject in subjects {
        *subject = format!("{subject}:{option}");
    }
    Ok(())
}

/// Gives all conditions the seed of the first: the same data in the same order.
fn make_alike(conditions: &mut [Planned]) {
    let seed = conditions.first().map(|it| it.prepared.plan.seed);
    for condition in conditions {
        condition.prepared.plan.seed = seed.unwrap_or_default();
    }
}

fn name_of(conditions: &[Planned]) -> String {
    let first = conditions
        .first()
        .and_then(|it| it.prepared.plan.condition.as_ref());
    first.map_or_else(String::new, |condition| condition.experiment.clone())
}

/// Names the experiment by all of its plans, so that the same command resumes it; the seed is not
/// in them, since in real time each command has another.
fn name_experiment(factors: &[VaryArg], conditions: &mut [Planned]) {
    let names = factors.iter().map(|factor| factor.name.clone());
    let hashes = conditions
        .iter()
        .map(|it| it.prepared.plan.hash().to_string());
    let words: Vec<String> = names.chain(hashes).collect();
    let digest = fslab_model::sha256(words.join("\n"));
    for condition in conditions {
        if let Some(own) = &mut condition.prepared.plan.condition {
            own.experiment = digest[..12].to_owned();
        }
    }
}

fn dry_run(conditions: &[Planned], args: &ExecutionArgs) -> CommandResult {
    for Planned { prepared, args } in conditions {
        args.ensure_runnable(&prepared.plan, prepared.jobs)?;
    }
    let plans: Vec<&Plan> = conditions.iter().map(|it| &it.prepared.plan).collect();
    if args.prints_json() {
        screen::print_json(&plans)?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for plan in &plans {
        let levels = plan.condition.iter().flat_map(|it| &it.factors);
        let levels: Vec<String> = levels
            .map(|it| format!("{} {}", it.name, it.levels[it.level]))
            .collect();
        let trials = screen::counted(plan.subjects.len() * plan.repeats as usize, "trial");
        text += &format!(
            "{}: {trials}, plan {}\n",
            levels.join(", "),
            plan.hash().short()
        );
    }
    text += &format!("{} in all\n", screen::counted(plans.len(), "condition"));
    screen::print(&text)?;
    Ok(Exit::Done)
}

/// A condition whose venue is open and whose run is in the store.
struct OpenCondition<'a> {
    planned: &'a Planned,
    venue: Venue,
    header: RunHeader,
    _lock: RunLock,
}

impl<'a> OpenCondition<'a> {
    /// Resumes the condition's run among `earlier`, or begins one.
    fn of(
        planned: &'a Planned,
        earlier: &[RunHeader],
        store: &mut Store,
    ) -> Result<Self, CommandError> {
        let Prepared { plan, jobs, .. } = &planned.prepared;
        let settings = venue_settings(plan, *jobs, None)?;
        let venue = Venue::open(&plan.venue, plan.size_bytes, settings)?;
        let mut earlier = earlier.iter();
        let resumed = earlier.find(|header| header.plan.condition == plan.condition);
        let resumed = resumed.map(|header| &header.run);
        let (header, lock) = planned.args.begin(plan.clone(), resumed, &venue, store)?;
        Ok(Self {
            planned,
            venue,
            header,
            _lock: lock,
        })
    }
}

/// Runs all trials: in virtual time one condition after the other, in real time a repeat of each
/// in turns, in a random order, so that what drifts with time does not look like a factor.
fn conduct(
    args: &ExecutionArgs,
    open: &mut [OpenCondition],
    store: &mut Store,
) -> Result<RunOutcome, CommandError> {
    let began = Instant::now();
    let repeats = open
        .iter()
        .map(|it| it.header.plan.repeats)
        .max()
        .unwrap_or(1);
    let is_virtual = open
        .iter()
        .all(|it| it.header.plan.venue.kind().is_virtual());
    let mut outcome = RunOutcome::default();
    let seed = open.first().map_or(0, |it| it.header.plan.seed);
    let rounds: Vec<u32> = match is_virtual {
        true => vec![repeats],
        false => (1..=repeats).collect(),
    };
    let mut longest = Duration::ZERO;
    for (upto, order) in rounds.into_iter().zip(condition_rounds(open.len(), seed)) {
        let budget = args
            .plan
            .repetition
            .budget()
            .map(|s| Duration::from_secs(s.into()));
        if upto > 1 && budget.is_some_and(|budget| began.elapsed() + longest > budget) {
            let done = screen::counted(upto as usize - 1, "repeat");
            screen::notice(&format!("the budget ends after {done} of each condition"));
            break;
        }
        let of_round = Instant::now();
        for place in order {
            let condition = &mut open[place];
            let asked = condition.header.plan.repeats;
            condition.header.plan.repeats = asked.min(upto);
            let part = condition.planned.args.conduct(
                &condition.header,
                store,
                &condition.venue,
                (condition.planned.prepared.jobs, began),
            )?;
            condition.header.plan.repeats = asked;
            outcome.done += part.done;
            outcome.failed += part.failed;
            outcome.missing += part.missing;
            if part.missing > 0 {
                return Ok(outcome);
            }
        }
        longest = longest.max(of_round.elapsed());
    }
    Ok(outcome)
}

fn report(args: &ExecutionArgs, records: &[RunRecord], outcome: RunOutcome) -> CommandResult {
    let experiment = Experiment::of(records)?;
    experiment::show(&experiment, records, args.prints_json(), args.out())?;
    if outcome.missing > 0 {
        screen::warn(&format!(
            "ended with {} missing; run the same command with --resume to run them",
            screen::counted(outcome.missing, "trial")
        ));
    }
    let is_complete = outcome.missing == 0
        && records
            .iter()
            .all(|run| run.trials_done() == run.trials_planned());
    Ok(if is_complete {
        Exit::Done
    } else {
        Exit::TrialsFailed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vary(text: &str) -> VaryArg {
        text.parse().expect("a factor")
    }

    #[test]
    fn a_factor_has_two_levels_or_more_each_once() {
        assert_eq!(vary("memory=512MiB, 2GiB").levels, ["512MiB", "2GiB"]);
        for bad in [
            "memory",
            "memory=1GiB",
            "memory=1GiB,",
            "memory=1GiB,1GiB",
            "=a,b",
        ] {
            assert!(bad.parse::<VaryArg>().is_err(), "{bad}");
        }
    }

    #[test]
    fn every_combination_is_a_condition_with_the_last_factor_fastest() {
        let found = combinations(&[vary("a=1,2"), vary("b=x,y,z")]).expect("few");
        let levels: Vec<(usize, usize)> =
            found.iter().map(|it| (it[0].level, it[1].level)).collect();
        assert_eq!(levels, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
        let many = [
            vary("a=1,2,3,4,5,6,7"),
            vary("b=1,2,3,4,5,6,7"),
            vary("c=1,2,3,4,5,6,7"),
        ];
        assert!(combinations(&many).is_err());
        assert!(ensure_distinct(&[vary("a=1,2"), vary("a=3,4")]).is_err());
    }
}
