//! The claims of the five originals on their own published values.

use fslab_claims::{ClaimOutcome, Claims, NamedText, Original, evaluate, evaluate_original};
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

/// Claims that an original's printed figures do not decide.
struct Undecidable {
    study: &'static str,
    why: &'static str,
    /// What their sentences say.
    sentence: &'static str,
    /// Empty: every other claim of the study.
    ids: &'static [&'static str],
}

const NOT_PRINTED: &str = "original prints no";

const UNDECIDABLE: [Undecidable; 8] = [
    Undecidable {
        study: "home-usb",
        why: "it advises to format anew, and did not time that",
        sentence: NOT_PRINTED,
        ids: &["udf-reformat-quicker-than-clear"],
    },
    Undecidable {
        study: "ntfs-ext4",
        why: "it asks which is faster with files inside the MFT, and did not measure it",
        sentence: NOT_PRINTED,
        ids: &[
            "mft-files-created-faster-on-ntfs",
            "mft-files-read-faster-on-ntfs",
        ],
    },
    Undecidable {
        study: "iozone-2003",
        why: "it prints one factor for three file systems against three others",
        sentence: NOT_PRINTED,
        ids: &["linux-half-as-fast-random-read"],
    },
    Undecidable {
        study: "iozone-2003",
        why: "its nine figures have no numbers in the text",
        sentence: NOT_PRINTED,
        ids: &[],
    },
    Undecidable {
        study: "ntfs-ext4",
        why: "of the web server it prints a factor, and not the curve",
        sentence: "was not swept over file_size",
        ids: &["web-rises-with-file-size"],
    },
    Undecidable {
        study: "ntfs-ext4",
        why: "the charts of the microbenchmarks have no numbers in the text",
        sentence: NOT_PRINTED,
        ids: &[
            "sequential-read-faster-on-ext4",
            "sequential-write-faster-on-ext4",
            "ext4-wins-most",
            "write-drops-beyond-memory",
            "read-far-below-write",
            "first-read-from-device",
            "random-write-like-sequential",
            "random-read-far-below-sequential",
            "ext4-inodes-together",
        ],
    },
    Undecidable {
        study: "small-files",
        why: "it did not measure an SSD",
        sentence: "none of them is on the disk",
        ids: &["ssd-evens-out"],
    },
    Undecidable {
        study: "small-files",
        why: "its chart and its CSV file are not in the text; of JFS it prints a range of factors",
        sentence: NOT_PRINTED,
        ids: &[],
    },
];

#[test]
fn every_claim_holds_on_the_originals_own_figures_but_those_that_it_contradicts_itself() {
    let mut counts = Vec::new();
    for (name, original) in [
        ("bonnie-2010", original!("bonnie-2010")),
        ("home-usb", original!("home-usb")),
        ("iozone-2003", original!("iozone-2003")),
        ("ntfs-ext4", original!("ntfs-ext4")),
        ("small-files", original!("small-files")),
    ] {
        let card = evaluate_original(&original);
        for verdict in &card.verdicts {
            let is_listed = |it: &&Undecidable| {
                it.study == name && (it.ids.is_empty() || it.ids.contains(&&*verdict.id))
            };
            let listed = UNDECIDABLE.iter().find(is_listed);
            let expected = match listed {
                Some(_) => ClaimOutcome::NotMeasured,
                None if verdict.contradicted => ClaimOutcome::Fails,
                None => ClaimOutcome::Holds,
            };
            let why = listed.map_or("the figures are printed", |it| it.why);
            let text = format!("{name} {}: {} ({why})", verdict.id, verdict.sentence);
            assert_eq!(verdict.outcome, expected, "{text}");
            let said = listed.is_none_or(|it| verdict.sentence.contains(it.sentence));
            assert!(said, "{text}");
        }
        let of = |outcome| card.count(outcome);
        counts.push([
            of(ClaimOutcome::Holds),
            of(ClaimOutcome::Fails),
            of(ClaimOutcome::NotMeasured),
        ]);
    }
    assert_eq!(
        counts,
        [[27, 1, 0], [58, 2, 1], [0, 0, 44], [8, 0, 12], [0, 0, 10]]
    );
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
        if verdict.id == "udf-reformat-quicker-than-clear" {
            // The built run has no step of mkfs.
            continue;
        }
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
fn a_run_with_the_rates_of_bonnie_2010_agrees_with_them() {
    let original = original!("bonnie-2010");
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
fn printed_figures_are_exact_and_rows_without_a_value_are_failures() {
    let published = "place,subject,phase,parameter,value,metric,unit,note\n\
        t,a,w,,100,rate,K/sec,\nt,b,w,,90,rate,K/sec,\nt,c,w,,,rate,K/sec,\n\
        t,a,x,over=b,3,speedup,,\n\
        t,a,u,unmount,00:10.00,mean,mm:ss,\nt,a,u,unmount,00:01.00,sd,mm:ss,\n\
        t,a,all,,3,failed-runs,,\nt,a,all,,4,runs,,\n\
        t,a,p,,2,window-first,blocks,\nt,a,p,,8,window-max,blocks,\n\
        t,a,p,,2,window-growth,blocks,\n";
    let outcome = |holds: &str| {
        let original = Original::read(
            NamedText {
                file: "c",
                text: &format!(
                    "study = 's'\n[[claim]]\nid = 'c'\ntext = 't'\nsource = 'p'\n\
                     required = true\nvenues = ['sim']\n[claim.holds]\n{holds}\n"
                ),
            },
            NamedText {
                file: "p",
                text: published,
            },
        );
        let card = evaluate_original(&original.expect(holds));
        card.verdicts[0].outcome
    };
    let a = |rest: &str| format!("subject = 'a'\n{rest}");
    let holds = ClaimOutcome::Holds;
    for (condition, expected) in [
        (a("kind = 'faster'\nphase = 'w'\nthan = ['b']"), holds),
        (
            a("kind = 'faster'\nphase = 'w'\nthan = ['b']\nat_least = 1.2"),
            ClaimOutcome::Fails,
        ),
        (
            a("kind = 'faster'\nphase = 'x'\nthan = ['b']\nat_least = 3"),
            holds,
        ),
        ("kind = 'fails'\nphase = 'w'\nsubject = 'c'".into(), holds),
        (
            "kind = 'fails'\nphase = 'w'\nsubject = 'b'".into(),
            ClaimOutcome::Fails,
        ),
        (
            a("kind = 'value'\nphase = 'u'\nmetric = 'unmount-sd-of-mean'\nat_most = '10 %'"),
            holds,
        ),
        (
            a("kind = 'value'\nphase = 'u'\nmetric = 'failed-percent'\nat_least = '75 %'"),
            holds,
        ),
        (
            a("kind = 'sequence'\nphase = 'p'\nmetric = 'window-blocks'\nvalues = [2, 4, 8]"),
            holds,
        ),
        (
            a("kind = 'faster'\nphase = 'w'\nthan = ['b']\nmetric = 'elapsed'"),
            ClaimOutcome::NotMeasured,
        ),
    ] {
        assert_eq!(outcome(&condition), expected, "{condition}");
    }
}

#[test]
fn a_reversed_claim_fails() {
    let text = include_str!("../../../../studies/bonnie-2010/claims.toml");
    let original = original!("bonnie-2010");
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
        let card = evaluate_original(&Original {
            claims,
            published: original.published.clone(),
        });
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
