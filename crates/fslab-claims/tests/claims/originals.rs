//! The claims of the five originals against runs built from their published values.

use fslab_claims::{ClaimOutcome, Claims, NamedText, Original, evaluate};
use fslab_model::RunRecord;

use crate::run_builder::{PhaseBuilder, RunBuilder};

macro_rules! original {
    ($name:literal) => {
        Original::read(
            NamedText {
                file: $name,
                text: include_str!(concat!("../../../../studies/", $name, "/claims.toml")),
            },
            NamedText {
                file: $name,
                text: include_str!(concat!("../../../../studies/", $name, "/published.csv")),
            },
        )
        .expect($name)
    };
}

/// Three repeats with the means and deviations of the table of home-usb.
fn home_usb(original: &Original) -> RunRecord {
    let mut builder = RunBuilder::real();
    for subject in ["udf", "btrfs", "nilfs2", "ext4"] {
        let figure = |phase: &str, part: &str, metric: &str| {
            let mut rows = original.published.of(subject, phase, metric);
            let row = rows.find(|row| row.part.as_deref() == Some(part));
            row.and_then(fslab_claims::PublishedRow::in_base_unit)
                .expect("a value")
                / 1e9
        };
        // The mean, and one deviation to either side, have exactly this mean and deviation.
        let repeat = |side: f64| {
            let phases = ["write-files", "hash", "fifo", "clear"];
            let phases = phases.iter().map(|phase| {
                let of = |part| {
                    let mean = figure(phase, part, "mean");
                    (mean + side * figure(phase, part, "sd")).max(1e-3)
                };
                PhaseBuilder::new(phase, of("run")).settled(of("unmount"))
            });
            phases.collect()
        };
        builder = builder.subject(subject, vec![repeat(-1.0), repeat(0.0), repeat(1.0)]);
    }
    builder.build()
}

/// The means alone, as one repeat in virtual time.
fn home_usb_exact(original: &Original) -> RunRecord {
    let mut run = home_usb(original);
    run.trials.retain(|trial| trial.trial.repeat == 1);
    run.header.plan = RunBuilder::virtual_time(2048)
        .times("x", &[("w", &[1.0])])
        .build()
        .header
        .plan;
    let real = home_usb(original).header.plan;
    run.header.plan.subjects = real.subjects;
    run.header.plan.phases = real.phases;
    run
}

#[test]
fn the_means_of_home_usb_confirm_its_claims_about_means() {
    let original = original!("home-usb");
    let card = evaluate(&original.claims, &home_usb_exact(&original), &[]);
    for verdict in &card.verdicts {
        let is_deviation = verdict
            .sentence
            .contains("in virtual time without perturbation");
        let expected = match verdict.contradicted {
            _ if is_deviation => ClaimOutcome::NotMeasured,
            true => ClaimOutcome::Fails,
            false => ClaimOutcome::Holds,
        };
        // The only claim about failures: no repeat of this run failed.
        if verdict.id != "nilfs2-fails" {
            assert_eq!(
                verdict.outcome, expected,
                "{}: {}",
                verdict.id, verdict.sentence
            );
        }
    }
    assert!(
        card.count(ClaimOutcome::Holds) >= 30,
        "{}",
        card.count(ClaimOutcome::Holds)
    );
    assert_eq!(card.broken().count(), 0);
}

#[test]
fn the_deviations_of_home_usb_contradict_none_of_its_claims() {
    let original = original!("home-usb");
    let card = evaluate(&original.claims, &home_usb(&original), &[]);
    for verdict in &card.verdicts {
        let may_fail = verdict.contradicted || verdict.id == "nilfs2-fails";
        assert!(
            may_fail || verdict.outcome != ClaimOutcome::Fails,
            "{}: {}",
            verdict.id,
            verdict.sentence
        );
        assert_ne!(
            verdict.outcome,
            ClaimOutcome::NotMeasured,
            "{}: {}",
            verdict.id,
            verdict.sentence
        );
    }
}

/// A run with the rates of the table of bonnie-2010.
fn bonnie(original: &Original) -> RunRecord {
    let mut builder = RunBuilder::virtual_time(1024);
    let mut subjects: Vec<&str> = Vec::new();
    for row in &original.published.rows {
        let of_table = row.metric.as_deref() == Some("latency");
        match row.subject.as_deref() {
            Some(subject) if of_table && !subjects.contains(&subject) => subjects.push(subject),
            _ => {}
        }
    }
    for subject in subjects {
        let rows = original.published.rows.iter().filter(|row| {
            row.subject.as_deref() == Some(subject)
                && ["rate", "operations"].contains(&row.metric.as_deref().unwrap_or_default())
        });
        let phases = rows.map(|row| match row.in_base_unit() {
            Some(rate) => PhaseBuilder::new(&row.phase, 1e6 / rate),
            None => PhaseBuilder::failed(&row.phase),
        });
        let phases: Vec<PhaseBuilder> = phases.collect();
        builder = builder.subject(subject, vec![phases]);
    }
    builder.build()
}

#[test]
fn the_table_of_bonnie_2010_contradicts_only_the_claims_marked_so() {
    let original = original!("bonnie-2010");
    let card = evaluate(&original.claims, &bonnie(&original), &[]);
    for verdict in &card.verdicts {
        let expected = if verdict.contradicted {
            ClaimOutcome::Fails
        } else {
            ClaimOutcome::Holds
        };
        assert_eq!(
            verdict.outcome, expected,
            "{}: {}",
            verdict.id, verdict.sentence
        );
    }
    let both = fslab_claims::then_and_now(&original, &bonnie(&original));
    let rates = both
        .groups
        .iter()
        .filter(|g| ["rate", "operations"].contains(&&*g.metric));
    for group in rates {
        let agreement = group.agreement.expect("many subjects");
        assert!(
            agreement.rho > 0.999_999,
            "{} {}",
            group.phase,
            group.metric
        );
    }
}

#[test]
fn a_reversed_claim_fails() {
    let text = include_str!("../../../../studies/bonnie-2010/claims.toml");
    let original = original!("bonnie-2010");
    let run = bonnie(&original);
    for (from, to, id) in [
        // The best as the worst.
        (
            "kind = \"best\"\nphase = \"read-rand\"",
            "kind = \"worst\"\nphase = \"read-rand\"",
            "read-files-ufs2-first",
        ),
        // A lower limit as an upper one.
        (
            "subject = \"ufs2\"\nthan = [\"ntfs-3g\"]\nat_least",
            "subject = \"ufs2\"\nthan = [\"ntfs-3g\"]\nat_most",
            "read-files-ntfs-3g-loses",
        ),
        // The two subjects swapped.
        (
            "subject = \"ext3\"\nthan = [\"ext2\"]",
            "subject = \"ext2\"\nthan = [\"ext3\"]",
            "read-files-ext3-over-ext2",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let claims = Claims::from_toml(&text.replacen(from, to, 1)).expect("claims");
        let card = evaluate(&claims, &run, &[]);
        let verdict = card
            .verdicts
            .iter()
            .find(|verdict| verdict.id == id)
            .expect(id);
        assert_eq!(
            verdict.outcome,
            ClaimOutcome::Fails,
            "{id}: {}",
            verdict.sentence
        );
    }
}
