//! Meetings in sentences: which phases meet, under which different conditions, and what is left.

use std::collections::BTreeMap;

use crate::meeting::{ComparedSide, ConditionDifference, Meeting, Meetings, PhaseName};
use crate::wording::list;

/// The names of the two runs.
#[derive(Clone, Copy, Debug)]
struct Names<'a> {
    base: &'a str,
    new: &'a str,
}

impl Names<'_> {
    fn of(&self, place: ComparedSide) -> &str {
        match place {
            ComparedSide::Base => self.base,
            ComparedSide::New => self.new,
        }
    }

    fn other(&self, place: ComparedSide) -> &str {
        match place {
            ComparedSide::Base => self.new,
            ComparedSide::New => self.base,
        }
    }
}

impl Meetings {
    /// What a reader of the comparison must know, for runs of these names.
    pub fn sentences(&self, base: &str, new: &str) -> Vec<String> {
        let names = Names { base, new };
        let mut sentences = Vec::new();
        sentences.extend(self.renamed(names));
        sentences.extend(self.unlike(names));
        sentences.extend(self.unknown(names));
        sentences.extend(self.left_over(names));
        sentences
    }

    fn renamed(&self, names: Names) -> Option<String> {
        let renamed = self.pairs.iter().filter_map(|pair| {
            let shared = pair.shared.study_phase();
            let places = [
                (ComparedSide::Base, &pair.base),
                (ComparedSide::New, &pair.new),
            ];
            let is_other = |(_, phase): &(ComparedSide, &PhaseName)| phase.study_phase != shared;
            let (place, phase) = places.into_iter().find(is_other)?;
            let theirs = format!("{} of {}", phase.study_phase, names.of(place));
            Some((shared.to_owned(), theirs))
        });
        let mut each: Vec<(String, Vec<String>)> = Vec::new();
        for (shared, theirs) in renamed {
            match each.iter_mut().find(|(known, _)| *known == shared) {
                Some((_, all)) if all.contains(&theirs) => {}
                Some((_, all)) => all.push(theirs),
                None => each.push((shared, vec![theirs])),
            }
        }
        let each = each.into_iter();
        let each = each.map(|(shared, theirs)| format!("{shared} is also {}", list(&theirs)));
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| format!("Phases meet by what they do: {}.", each.join("; ")))
    }

    /// Conditions that differ, phases with the same differences in one sentence.
    fn unlike(&self, names: Names) -> Vec<String> {
        let differing = |pair: &Meeting| {
            let both = pair
                .differences
                .iter()
                .filter(|it| it.base.is_some() && it.new.is_some());
            both.cloned().collect::<Vec<ConditionDifference>>()
        };
        let groups = grouped(&self.pairs, differing);
        let sentence = |(differences, phases): (Vec<ConditionDifference>, Vec<String>)| {
            let each = differences.iter().map(|it| {
                let value = |value: &Option<String>| value.clone().unwrap_or_default();
                format!(
                    "{}: {} against {}",
                    it.condition,
                    value(&it.new),
                    value(&it.base)
                )
            });
            let each: Vec<String> = each.collect();
            let (phases, new, base) = (list(&phases), names.new, names.base);
            format!(
                "In {phases} {new} differs from {base} in {}.",
                each.join("; ")
            )
        };
        groups.into_iter().map(sentence).collect()
    }

    /// Conditions known of one run alone, each with its values and how often they occur.
    fn unknown(&self, names: Names) -> Vec<String> {
        let of = |place: ComparedSide| {
            let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for difference in self.pairs.iter().flat_map(|pair| &pair.differences) {
                let (here, there) = match place {
                    ComparedSide::Base => (&difference.base, &difference.new),
                    ComparedSide::New => (&difference.new, &difference.base),
                };
                if let (None, Some(value)) = (here, there) {
                    let known = values.entry(difference.condition).or_default();
                    if !known.contains(value) {
                        known.push(value.clone());
                    }
                }
            }
            let each = values.iter();
            let each = each.map(|(condition, known)| format!("{condition} ({})", list(known)));
            let each: Vec<String> = each.collect();
            (!each.is_empty()).then(|| {
                let (of, other) = (names.of(place), names.other(place));
                format!(
                    "Not known of {of}, with the values of {other}: {}.",
                    each.join("; ")
                )
            })
        };
        [ComparedSide::Base, ComparedSide::New]
            .into_iter()
            .filter_map(of)
            .collect()
    }

    fn left_over(&self, names: Names) -> Vec<String> {
        let of = |place: ComparedSide| {
            let mut reasons: Vec<(&str, Vec<(&str, usize)>)> = Vec::new();
            for left in self.left.iter().filter(|left| left.place == place) {
                let at = reasons.iter().position(|(why, _)| *why == left.why);
                let at = at.unwrap_or_else(|| {
                    reasons.push((&left.why, Vec::new()));
                    reasons.len() - 1
                });
                let phases = &mut reasons[at].1;
                let name = left.phase.study_phase.as_str();
                match phases.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, points)) => *points += 1,
                    None => phases.push((name, 1)),
                }
            }
            let each = reasons.iter().map(|(why, phases)| {
                let phases = phases.iter().map(|(name, points)| match points {
                    1 => (*name).to_owned(),
                    several => format!("{name} at {several} points"),
                });
                format!("{} ({why})", list(&phases.collect::<Vec<_>>()))
            });
            let each: Vec<String> = each.collect();
            (!each.is_empty()).then(|| {
                let (of, with) = (names.of(place), names.other(place));
                format!("Of {of} not compared with {with}: {}.", each.join("; "))
            })
        };
        [ComparedSide::Base, ComparedSide::New]
            .into_iter()
            .filter_map(of)
            .collect()
    }
}

/// The phases of pairs with the same, non-empty differences, in their order.
fn grouped(
    pairs: &[Meeting],
    of: impl Fn(&Meeting) -> Vec<ConditionDifference>,
) -> Vec<(Vec<ConditionDifference>, Vec<String>)> {
    let mut groups: Vec<(Vec<ConditionDifference>, Vec<String>)> = Vec::new();
    for pair in pairs {
        let differences = of(pair);
        if differences.is_empty() {
            continue;
        }
        let name = pair.shared.study_phase().to_owned();
        match groups.iter_mut().find(|(known, _)| *known == differences) {
            Some((_, phases)) if phases.contains(&name) => {}
            Some((_, phases)) => phases.push(name),
            None => groups.push((differences, vec![name])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use fslab_model::{Headline, PhaseSpec};

    use super::*;
    use crate::meeting::LeftOver;

    fn difference(
        condition: &'static str,
        base: Option<&str>,
        new: Option<&str>,
    ) -> ConditionDifference {
        ConditionDifference {
            condition,
            base: base.map(str::to_owned),
            new: new.map(str::to_owned),
        }
    }

    fn phase_name(name: &str, study_phase: &str) -> PhaseName {
        PhaseName {
            name: name.to_owned(),
            study_phase: study_phase.to_owned(),
        }
    }

    fn pair(base: &str, new: &str, differences: Vec<ConditionDifference>) -> Meeting {
        Meeting {
            base: phase_name(base, base),
            new: phase_name(new, new),
            does: None,
            differences,
            shared: PhaseSpec::new(new, "write", Default::default()),
            headline: Headline::Throughput,
        }
    }

    fn left(phase: &str, study_phase: &str, why: &str) -> LeftOver {
        LeftOver {
            place: ComparedSide::Base,
            phase: phase_name(phase, study_phase),
            does: None,
            why: why.to_owned(),
        }
    }

    #[test]
    fn each_difference_is_one_sentence_for_all_phases_that_have_it() {
        let size = || difference("file size", Some("300 MiB"), Some("64 MiB"));
        let cache = || difference("cache before it", None, Some("dropped"));
        let meetings = Meetings {
            pairs: vec![
                pair("block-write", "write", vec![size()]),
                pair("block-read", "read", vec![size(), cache()]),
                pair("stat", "stat", Vec::new()),
            ],
            left: Vec::new(),
        };
        assert_eq!(
            meetings.sentences("bonnie", "mine"),
            [
                "Phases meet by what they do: write is also block-write of bonnie; read is also \
                 block-read of bonnie.",
                "In write and read mine differs from bonnie in file size: 64 MiB against 300 MiB.",
                "Not known of bonnie, with the values of mine: cache before it (dropped).",
            ]
        );
    }

    #[test]
    fn what_is_left_over_is_named_by_its_reason_and_points_are_counted() {
        let meetings = Meetings {
            pairs: Vec::new(),
            left: vec![
                left("write 1", "write", "no point"),
                left("write 2", "write", "no point"),
                left("stat", "stat", "no point"),
                left("seeks", "seeks", "no seeks"),
            ],
        };
        assert_eq!(
            meetings.sentences("bonnie", "mine"),
            [
                "Of bonnie not compared with mine: write at 2 points and stat (no point); seeks (no seeks)."
            ]
        );
    }
}
