//! The recommendation of a run in words. The judgement is [`fslab_compare::Recommendation`]; the
//! terminal and the page print the same sentences.

use std::collections::BTreeMap;

use fslab_compare::{
    Analysis, Choice, DISTURBED_MAX, Ground, GroundFigure, Lead, PassedOver, Recommendation,
    Shortfall, TOLERANCE, Threshold, Turn, Undecided, WORK_NS_MIN, WhyLeftOut, WhyNone,
};
use fslab_model::{Adaptive, AnswerMeasure, Reservation, VenueKind, format_ns};
use fslab_stats::{Estimate, Interval, REPEATS_MOST};

use crate::wording::{count, list, name, phase, ratio, ratio_interval, share};

/// Most phases named in a remark.
const PHASES_MAX: usize = 3;
/// Most subjects named in an answer.
const SUBJECTS_MAX: usize = 4;
/// The least share of weightings that is printed as a number.
const WEIGHTINGS_MIN: f64 = 0.005;
/// The repeats that are advised where there are too few for intervals.
const REPEATS_LEAST: usize = 3;

/// What speaks for or against each subject beside its speed, by the subject as written.
pub type Reservations = BTreeMap<String, Vec<Reservation>>;

/// A remark on an answer, in sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What it is about, one or two words.
    pub label: &'static str,
    /// Its sentences.
    pub text: String,
    /// The documents that it refers to.
    pub sources: Vec<String>,
}

/// The answer to the question of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The question; `None` if the study states none.
    pub question: Option<String>,
    /// The answer, in sentences.
    pub text: String,
    /// What qualifies it.
    pub remarks: Vec<Remark>,
}

/// The answer that a run gives; `None` if its study recommends nothing, or nothing was run.
pub fn answer(analysis: &Analysis, reservations: &Reservations) -> Option<Answer> {
    let recommendation = Recommendation::of(analysis)?;
    let question = analysis.run.header.plan.question.as_ref();
    let writer = Writer {
        analysis,
        names: analysis.run.header.plan.subjects.iter().map(name).collect(),
        recommendation: &recommendation,
    };
    Some(Answer {
        question: question.map(|question| question.text.clone()),
        text: writer.answer(),
        remarks: writer.remarks(reservations),
    })
}

fn remark(label: &'static str, sentences: &[String]) -> Option<Remark> {
    (!sentences.is_empty()).then(|| Remark {
        label,
        text: sentences.join(" "),
        sources: Vec::new(),
    })
}

/// A speed; near 1 to three digits, so that a small lead is not rounded to a larger one.
fn times(speed: f64) -> String {
    match (0.9..1.1).contains(&speed) {
        true => format!("{speed:.3}"),
        false => ratio(speed),
    }
}

fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(rest).collect()
}

struct Writer<'a> {
    analysis: &'a Analysis<'a>,
    names: Vec<String>,
    recommendation: &'a Recommendation<'a>,
}

impl Writer<'_> {
    fn answer(&self) -> String {
        match &self.recommendation.choice {
            Choice::Take { subject, leads } => self.take(*subject, leads),
            Choice::Either {
                subjects,
                leads,
                within,
            } => self.either(subjects, leads, *within),
            Choice::Depends { subject, leads, on } => self.depends(*subject, leads, on),
            Choice::Undecided(undecided) => self.undecided(undecided),
            Choice::None(why) => self.none(*why),
        }
    }

    /// " (95 % interval 1.12 to 1.31)"; in virtual time the interval is one of repeats of a model.
    fn interval(&self, speed: Estimate) -> String {
        let words = |it: Interval| match (0.9..1.1).contains(&speed.value) {
            true => format!("{:.3} to {:.3}", it.low, it.high),
            false => ratio_interval(it),
        };
        let interval = speed.interval.map(words);
        interval.map_or_else(String::new, |it| match self.recommendation.is_virtual {
            true => format!(" ({it} in repeats of this model)"),
            false => format!(" (95 % interval {it})"),
        })
    }

    /// "Take ext4 (3 of 80 measurements were disturbed)."
    fn with_disturbances(&self, words: &str) -> String {
        match self.recommendation.disturbed {
            (0, _) => format!("{words}."),
            (disturbed, all) => format!(
                "{words} ({disturbed} of {} disturbed).",
                count(all, "measurement").replace("measurements", "measurements were")
            ),
        }
    }

    /// "It depends on list: over 16 phases (geometric mean) ext4 is 1.26 times as fast as XFS;
    /// without it XFS is 1.08 times as fast as ext4."
    fn depends(&self, subject: usize, leads: &[Lead], on: &Turn) -> String {
        let than = |subject: usize, lead: &Lead| self.compared(&self.names[subject], lead);
        let with = leads.iter().find(|lead| lead.over == on.then);
        let with = with.map(|lead| format!("{}, {}", self.over(), than(subject, lead)));
        let with =
            with.unwrap_or_else(|| format!("{}, {} is first", self.over(), self.names[subject]));
        let without = than(on.then, &on.lead);
        let on = self.phase(on.phase);
        let answer = self.with_disturbances(&format!("It depends on {on}"));
        format!("{answer} {}; without {on}, {without}.", capitalised(&with))
    }

    fn take(&self, subject: usize, leads: &[Lead]) -> String {
        let mut text = self.with_disturbances(&format!("Take {}", self.names[subject]));
        text += &self.ahead("it", leads);
        let least = leads.first().map_or(f64::INFINITY, |lead| lead.speed.value);
        if least < 1.0 + TOLERANCE {
            text += &format!(
                " The difference is certain, but smaller than {}: other reasons may weigh more.",
                share(TOLERANCE)
            );
        }
        text
    }

    fn either(&self, subjects: &[usize], leads: &[Lead], within: f64) -> String {
        let names = self.names_of(subjects).replace(" and ", " or ");
        let mut text = self.with_disturbances(&format!("Take {names}"));
        text += &format!(
            " {}, they are the same within {}, and other reasons decide between them.",
            capitalised(&self.over()),
            share(within)
        );
        if let (Some(best), Some(next)) = (subjects.first(), leads.first()) {
            text += &format!(" {}.", self.compared(&self.names[*best], next));
        }
        text
    }

    fn undecided(&self, undecided: &Undecided) -> String {
        let between = &undecided.between;
        let mut text = format!("Not decided between {}", self.names_of(between));
        if let (Some(best), Some(lead)) = (between.first(), undecided.closest) {
            let than = self.compared(&self.names[*best], &lead);
            text += &format!(": {}, {than}", self.over());
        }
        text + "."
    }

    fn none(&self, why: WhyNone) -> String {
        let why = match why {
            WhyNone::OneSubject => "only one file system was measured".to_owned(),
            WhyNone::NoCandidate => "no file system was measured in full".to_owned(),
            WhyNone::OneCandidate(only) => format!(
                "only {} was measured in full, so that there is nothing to compare it with",
                self.names[only]
            ),
            WhyNone::NoPhase => "no phase was measured for all candidates".to_owned(),
            WhyNone::TooFewRepeats => "the repeats are too few for intervals".to_owned(),
            WhyNone::Disturbed => {
                let (disturbed, all) = self.recommendation.disturbed;
                let share = share(DISTURBED_MAX);
                format!(
                    "{disturbed} of {all} measurements were disturbed, and an answer needs one that \
                     holds without them and less than {share} of them"
                )
            }
        };
        format!("No recommendation: {why}.")
    }

    /// " Over 6 phases (geometric mean), it is 1.2 times as fast as XFS (95 % ...), the next, and
    /// 3.0 times as fast as Btrfs, the last."
    fn ahead(&self, it: &str, leads: &[Lead]) -> String {
        let (Some(next), Some(last)) = (leads.first(), leads.last()) else {
            return String::new();
        };
        let over = capitalised(&self.over());
        let mut text = format!(" {over}, {}", self.compared(it, next));
        if leads.len() > 1 {
            let speed = times(last.speed.value);
            let last = &self.names[last.over];
            text += &match self.is_by_disk_time() {
                true => format!(", the next, and {last}, the last, {speed} times"),
                false => format!(", the next, and {speed} times as fast as {last}, the last"),
            };
        }
        text + "."
    }

    /// "it is 1.2 times as fast as XFS (95 % interval 1.1 to 1.3)"; by disk time, "XFS needs 1.2
    /// times its disk time".
    fn compared(&self, it: &str, lead: &Lead) -> String {
        let (speed, other) = (times(lead.speed.value), &self.names[lead.over]);
        let interval = self.interval(lead.speed);
        match (self.is_by_disk_time(), it) {
            (false, _) => format!("{it} is {speed} times as fast as {other}{interval}"),
            (true, "it") => format!(
                "it needs less disk time than {other}, which needs {speed} times as much{interval}"
            ),
            (true, _) => {
                format!("{other} needs {speed} times the disk time of {it}{interval}")
            }
        }
    }

    /// "over 6 phases (geometric mean)", "in the time of 4 phases, sync and unmount included", "in
    /// read".
    fn over(&self) -> String {
        let grounds = self.recommendation.grounds.as_slice();
        let settled = if self.is_settled() {
            ", sync and unmount included"
        } else {
            ""
        };
        let counted = match grounds {
            [only] => self.phase(only.phase),
            all => self.phases_of_all(all.len()),
        };
        match (self.recommendation.measure, grounds) {
            (AnswerMeasure::Time, _) => format!("in the time of {counted}{settled}"),
            (AnswerMeasure::Score, _) => {
                let score = self.analysis.run.header.plan.score.as_ref();
                format!("by the {}", score.map_or("score", |score| &score.name))
            }
            (_, [_]) => format!("in {counted}"),
            (AnswerMeasure::Rate, _) => format!("over {counted} (geometric mean)"),
            (AnswerMeasure::DurableRate, _) => format!("over {counted} (geometric mean{settled})"),
        }
    }

    /// "4 phases", or of more that were measured "4 of 7 phases".
    fn phases_of_all(&self, counted: usize) -> String {
        match self.analysis.phases.len() {
            all if all == counted => count(all, "phase"),
            all => format!("{counted} of {}", count(all, "phase")),
        }
    }

    /// True if sync and unmount count in any phase.
    fn is_settled(&self) -> bool {
        let plan = &self.analysis.run.header.plan;
        let is_settled = |ground: &Ground| {
            let name = self.analysis.phases[ground.phase].name;
            let timed = |figure| matches!(figure, GroundFigure::Time | GroundFigure::Durable);
            let mut specs = plan.phases.iter().filter(|it| it.settle);
            timed(ground.figure) && specs.any(|spec| spec.study_phase() == name)
        };
        self.recommendation.grounds.iter().any(is_settled)
    }

    /// True if the disk worked for less than half of most of what is compared.
    fn is_by_disk_time(&self) -> bool {
        let weight = |wanted: GroundFigure| -> f64 {
            let grounds = self.recommendation.grounds.iter();
            let found = grounds.filter(|ground| ground.figure == wanted);
            found.map(|ground| ground.weight).sum()
        };
        weight(GroundFigure::DiskTime) > weight(GroundFigure::Headline)
    }

    fn remarks(&self, reservations: &Reservations) -> Vec<Remark> {
        let mut remarks: Vec<Remark> = self.counted().into_iter().collect();
        remarks.extend(self.hangs_on());
        remarks.extend(self.behind());
        remarks.extend(self.reserved(reservations));
        let others = [
            self.passed_over(),
            self.counted_less(),
            self.left_out(),
            self.model(),
            self.next(),
        ];
        remarks.extend(others.into_iter().flatten());
        remarks
    }

    /// What the study counts, and why.
    fn counted(&self) -> Option<Remark> {
        let spec = self.analysis.run.header.plan.answer.as_ref()?;
        let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut sentences = vec![line(&spec.reason)];
        let weighted = self.recommendation.grounds.iter().filter_map(|ground| {
            let name = self.analysis.phases[ground.phase].name;
            let weight = spec.weights.get(name).filter(|weight| **weight != 1.0)?;
            Some(match spec.measure {
                AnswerMeasure::Time => format!("{} {weight} times", self.phase(ground.phase)),
                _ => format!("{} with the weight {weight}", self.phase(ground.phase)),
            })
        });
        let weighted: Vec<String> = weighted.collect();
        if !weighted.is_empty() {
            let source = spec.source.as_deref().map(line);
            let source = source.map_or_else(String::new, |it| format!(" ({it})"));
            sentences.push(format!("It counts {}{source}.", list(&weighted)));
        }
        sentences.retain(|sentence| !sentence.is_empty());
        remark("Counts", &sentences)
    }

    /// The weights of the phases on which the answer hangs.
    fn hangs_on(&self) -> Option<Remark> {
        let dependence = &self.recommendation.dependence;
        let (first, others) = dependence.first.split_first()?;
        let percent = |share: f64| match share {
            few if few < WEIGHTINGS_MIN => "less than 1 %".to_owned(),
            nearly if (0.995..1.0).contains(&nearly) => "more than 99 %".to_owned(),
            share => format!("{:.0} %", 100.0 * share),
        };
        let name = |subject: usize| &self.names[subject];
        let others = others.iter().take(SUBJECTS_MAX - 1);
        let others: Vec<String> = others
            .map(|(subject, share)| format!("{} in {}", name(*subject), percent(*share)))
            .collect();
        let others = match others.is_empty() {
            true => String::new(),
            false => format!(", {}", list(&others)),
        };
        let mut sentences = vec![format!(
            "Of random weightings of the phases, {} is first in {}{others}.",
            name(first.0),
            percent(first.1)
        )];
        sentences.extend(dependence.thresholds.first().map(|it| self.threshold(it)));
        if dependence.turns.len() > 1 {
            let phases = dependence.turns.iter().take(PHASES_MAX);
            let mut phases: Vec<String> = phases.map(|turn| self.phase(turn.phase)).collect();
            if dependence.turns.len() > PHASES_MAX {
                phases.push(count(dependence.turns.len() - PHASES_MAX, "further phase"));
            }
            sentences.push(format!("It turns without any one of {}.", list(&phases)));
        }
        remark("Hangs on", &sentences)
    }

    /// "XFS is first where list counts less than 3 % (here 6 %)."
    fn threshold(&self, threshold: &Threshold) -> String {
        let percent = |share: f64| fslab_compare::wording::percent(share);
        let than = if threshold.at < threshold.own {
            "less"
        } else {
            "more"
        };
        let (counts, here) = match self.recommendation.measure {
            AnswerMeasure::Time => ("takes", "of the time"),
            _ => ("counts", "of all"),
        };
        format!(
            "{} is first where {} {counts} {than} than {} {here} (here {}).",
            self.names[threshold.then],
            self.phase(threshold.phase),
            percent(threshold.at),
            percent(threshold.own)
        )
    }

    /// The phases whose figures do not count.
    fn left_out(&self) -> Option<Remark> {
        let named = |wanted: WhyLeftOut| {
            let left_out = self.recommendation.left_out.iter();
            let found = left_out.filter(|(_, why)| *why == wanted);
            let phases: Vec<String> = found.map(|(phase, _)| self.phase(*phase)).collect();
            (!phases.is_empty()).then(|| list(&phases))
        };
        let mut sentences = Vec::new();
        sentences.extend(
            named(WhyLeftOut::PageCache)
                .map(|phases| format!("{phases}: the page cache served them, not the disk.")),
        );
        sentences.extend(named(WhyLeftOut::LittleWork).map(|phases| {
            let least = format_ns(WORK_NS_MIN);
            format!("{phases}: less than {least} of work for the slowest.")
        }));
        remark("Left out", &sentences)
    }

    /// What an interval of virtual time does not cover.
    fn model(&self) -> Option<Remark> {
        let is_decided = !matches!(self.recommendation.choice, Choice::None(_));
        let sentence = (self.recommendation.is_virtual && is_decided).then(|| {
            "The disk is a model with fixed parameters, in one lab. The intervals do not cover how \
             far these differ from a real disk or another kernel; --tolerance shows the former."
                .to_owned()
        });
        remark("Holds for", &sentence.into_iter().collect::<Vec<_>>())
    }

    /// The phases in which the choice is certainly behind.
    fn behind(&self) -> Option<Remark> {
        let sentences = self.recommendation.chosen().iter().filter_map(|subject| {
            let found = self.recommendation.drawbacks(*subject);
            let mut worst: Vec<String> = found
                .iter()
                .take(PHASES_MAX)
                .map(|(ground, lead)| self.drawback(ground, lead))
                .collect();
            if found.len() > PHASES_MAX {
                worst.push(count(found.len() - PHASES_MAX, "further phase"));
            }
            let subject = &self.names[*subject];
            (!worst.is_empty()).then(|| format!("{subject} is behind in {}.", list(&worst)))
        });
        remark("But", &sentences.collect::<Vec<_>>())
    }

    /// "stat (ext4 is 1.6 times as fast)"
    fn drawback(&self, ground: &Ground, lead: &Lead) -> String {
        let (phase, other) = (self.phase(ground.phase), &self.names[lead.over]);
        match ground.figure {
            GroundFigure::Headline | GroundFigure::Durable | GroundFigure::Time => {
                let speed = ratio(lead.speed.value);
                format!("{phase} ({other} is {speed} times as fast)")
            }
            GroundFigure::DiskTime => {
                let times = ratio(lead.speed.value);
                format!("{phase} (it needs {times} times the disk time of {other})")
            }
        }
    }

    /// What speaks for or against the choice, or those that it lies between.
    fn reserved(&self, reservations: &Reservations) -> Vec<Remark> {
        let both;
        let subjects = match &self.recommendation.choice {
            Choice::Undecided(undecided) => &undecided.between,
            Choice::Depends { subject, on, .. } => {
                both = [*subject, on.then];
                &both[..]
            }
            _ => self.recommendation.chosen(),
        };
        let of = |place: &usize| {
            let subject = self.analysis.subjects().nth(*place)?;
            let found = reservations.get(&subject.to_string())?;
            let sentences: Vec<&str> = found.iter().map(|it| it.text.as_ref()).collect();
            let sources = found.iter().filter_map(|it| it.source.as_deref());
            let mut sources: Vec<String> = sources.map(str::to_owned).collect();
            sources.dedup();
            (!sentences.is_empty()).then(|| Remark {
                label: "Reservations",
                text: format!("{}: {}", self.names[*place], sentences.join(" ")),
                sources,
            })
        };
        subjects.iter().take(SUBJECTS_MAX).filter_map(of).collect()
    }

    /// The subjects that take no part, with the reason.
    fn passed_over(&self) -> Option<Remark> {
        let sentences: Vec<String> = self
            .recommendation
            .passed_over
            .iter()
            .map(|passed| self.passed(passed))
            .collect();
        remark("Takes no part", &sentences)
    }

    fn passed(&self, passed: &PassedOver) -> String {
        let why = passed.shortfalls.iter().map(|it| self.shortfall(it));
        let subject = &self.names[passed.subject];
        let mut text = format!("{subject}: {}.", why.collect::<Vec<_>>().join("; "));
        if let Some((speed, phases)) = passed.ahead {
            text += &format!(
                " In what was measured it is ahead of the best candidate, {} times as fast over {}.",
                ratio(speed.value),
                count(phases, "phase")
            );
        }
        text
    }

    fn shortfall(&self, shortfall: &Shortfall) -> String {
        let in_phases = |first: usize, phases: usize| match phases {
            1 => self.phase(first),
            more => format!(
                "{} and {}",
                self.phase(first),
                count(more - 1, "other phase")
            ),
        };
        match shortfall {
            Shortfall::Failed { trials, of, reason } => {
                let reason = reason.trim_end_matches('.');
                format!("{trials} of {} failed ({reason})", count(*of, "trial"))
            }
            Shortfall::NotMeasured {
                phase,
                phases,
                reason,
            } => {
                let reason = reason.trim_end_matches('.');
                format!(
                    "it was not fully measured in {} ({reason})",
                    in_phases(*phase, *phases)
                )
            }
            Shortfall::NoFlush { phase, phases } => format!(
                "it does not flush: in {} its syncs sent no flush to the disk, and what they \
                 report as durable may be lost with the power",
                in_phases(*phase, *phases)
            ),
            Shortfall::BreaksPromise { states, of } => format!(
                "it does not keep what documents promise in {states} of {of} states after a power \
                 loss"
            ),
        }
    }

    /// The phases in which the disk worked for less than half of the time.
    fn counted_less(&self) -> Option<Remark> {
        let grounds = self.recommendation.grounds.iter();
        let waited = |ground: &&Ground| {
            let phase = &self.analysis.phases[ground.phase];
            ground.figure == GroundFigure::Time && !phase.is_disk_bound()
        };
        let waited: Vec<String> = grounds
            .filter(waited)
            .map(|ground| self.phase(ground.phase))
            .collect();
        if !waited.is_empty() {
            let sentence = format!(
                "The disk worked for less than half of {}, the rest is waiting for timers: there \
                 its time counts.",
                list(&waited)
            );
            return remark("Counts less", &[sentence]);
        }
        let by_disk = |ground: &&Ground| ground.figure == GroundFigure::DiskTime;
        let phases: Vec<String> = self
            .recommendation
            .grounds
            .iter()
            .filter(by_disk)
            .map(|ground| {
                let weight = fslab_compare::wording::percent(ground.weight);
                format!("{} ({weight})", self.phase(ground.phase))
            })
            .collect();
        let sentence = (!phases.is_empty()).then(|| {
            format!(
                "The disk worked for less than half of these phases, the rest is waiting for \
                 timers: there disk time is compared, and they count by twice its share: {}.",
                list(&phases)
            )
        });
        remark("Counts less", &sentence.into_iter().collect::<Vec<_>>())
    }

    /// How repeats are added to the run.
    fn continued_with(&self, repeats: usize) -> String {
        let plan = &self.analysis.run.header.plan;
        if plan.venue.kind() == VenueKind::Imported {
            return "import the outputs of that many executions in one command".to_owned();
        }
        let adaptive = plan.adaptive.as_ref();
        Adaptive::continued_with(adaptive, u32::try_from(repeats).unwrap_or(u32::MAX))
    }

    /// What to measure next, if the run leaves the question open.
    fn next(&self) -> Option<Remark> {
        let mut sentences = Vec::new();
        match &self.recommendation.choice {
            Choice::Undecided(Undecided {
                repeats: Some(repeats),
                ..
            }) => sentences.push(format!(
                "About {} of each file system would decide it in four of five cases, if the \
                 spread stays as it is: {}.",
                count(*repeats, "repeat"),
                self.continued_with(*repeats)
            )),
            Choice::Undecided(_) => sentences.push(format!(
                "With this spread, {} would not decide it: first look for what makes repeats \
                 differ.",
                count(REPEATS_MOST, "repeat")
            )),
            Choice::None(WhyNone::TooFewRepeats) => sentences.push(format!(
                "{REPEATS_LEAST} repeats or more give intervals: {}.",
                self.continued_with(REPEATS_LEAST)
            )),
            _ if self.recommendation.is_exact => sentences.push(format!(
                "The figures are one exact point; how sensitive they are, {REPEATS_LEAST} \
                 perturbed repeats show."
            )),
            _ => {}
        }
        if self.is_by_disk_time() && self.recommendation.is_virtual {
            let text = "In real time, processor and timers count too: --venue loop.";
            sentences.push(text.to_owned());
        }
        remark("Next", &sentences)
    }

    fn phase(&self, place: usize) -> String {
        phase(self.analysis.phases[place].name)
    }

    fn names_of(&self, subjects: &[usize]) -> String {
        let shown = match subjects.len() {
            more if more > SUBJECTS_MAX => SUBJECTS_MAX - 1,
            all => all,
        };
        let names = subjects.iter().take(shown);
        let mut names: Vec<String> = names.map(|it| self.names[*it].clone()).collect();
        if subjects.len() > shown {
            names.push(format!("{} others", subjects.len() - shown));
        }
        list(&names)
    }
}
