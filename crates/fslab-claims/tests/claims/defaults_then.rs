//! Claims about subjects that ran with the mount defaults of the original's kernel and of today.

use fslab_claims::ClaimOutcome::{Fails, Holds};
use fslab_claims::{ClaimVerdict, Claims, evaluate};
use fslab_model::RunRecord;

use crate::run_builder::{RunBuilder, claim};

const HEAD: &str = "[then.ext3]\nsubject = 'ext3:barrier=0'\nsource = 'a document'\n";
const EXT3_FIRST: &str = "kind = 'faster'\nphase = 'w'\nsubject = 'ext3'\nthan = ['xfs']";

/// ext3 in 4 seconds, with the option in 1, XFS in 2.
fn both() -> RunRecord {
    let builder = RunBuilder::virtual_time(1024).times("ext3", &[("w", &[4.0])]);
    let builder = builder.times("ext3:barrier=0", &[("w", &[1.0])]);
    builder.times("xfs", &[("w", &[2.0])]).build()
}

fn verdict(claims: &Claims, run: &RunRecord) -> ClaimVerdict {
    evaluate(claims, run, &[]).verdicts.remove(0)
}

#[test]
fn a_claim_is_judged_by_the_defaults_of_the_time_and_states_the_outcome_with_todays() {
    let found = verdict(&claim(HEAD, EXT3_FIRST), &both());
    assert_eq!(found.outcome, Holds);
    assert_eq!(found.with_todays_defaults, Some(Fails));
    assert!(found.sentence.contains("2.00"), "{}", found.sentence);
    let end = "with today's mount defaults: fails.";
    assert!(found.sentence.ends_with(end), "{}", found.sentence);
    let reverse = "kind = 'faster'\nphase = 'w'\nsubject = 'xfs'\nthan = ['ext3']";
    let found = verdict(&claim(HEAD, reverse), &both());
    assert_eq!(
        (found.outcome, found.with_todays_defaults),
        (Fails, Some(Holds))
    );
}

#[test]
fn of_the_two_only_one_is_compared_where_a_claim_names_no_subjects() {
    let second = "kind = 'worst'\nphase = 'w'\nsubjects = ['xfs']";
    let found = verdict(&claim(HEAD, second), &both());
    assert_eq!(
        (found.outcome, found.with_todays_defaults),
        (Holds, Some(Fails))
    );
    assert_eq!(verdict(&claim("", second), &both()).outcome, Fails);
}

#[test]
fn a_run_with_one_of_the_two_is_judged_by_that_one() {
    let with = |name: &str, seconds: f64| {
        let builder = RunBuilder::virtual_time(1024).times(name, &[("w", &[seconds])]);
        builder.times("xfs", &[("w", &[2.0])]).build()
    };
    let then = verdict(&claim(HEAD, EXT3_FIRST), &with("ext3:barrier=0", 1.0));
    assert_eq!((then.outcome, then.with_todays_defaults), (Holds, None));
    let today = verdict(&claim(HEAD, EXT3_FIRST), &with("ext3:noatime", 4.0));
    assert_eq!((today.outcome, today.with_todays_defaults), (Fails, None));
}

#[test]
fn options_that_every_subject_has_do_not_hide_the_plain_one() {
    let head = HEAD.replace("ext3:barrier=0", "ext3:noatime,barrier=0");
    let builder = RunBuilder::virtual_time(1024).times("ext3:noatime", &[("w", &[4.0])]);
    let builder = builder.times("ext3:noatime,barrier=0", &[("w", &[1.0])]);
    let run = builder.times("xfs:noatime", &[("w", &[2.0])]).build();
    let found = verdict(&claim(&head, EXT3_FIRST), &run);
    assert_eq!(
        (found.outcome, found.with_todays_defaults),
        (Holds, Some(Fails))
    );
}

#[test]
fn defaults_of_another_file_system_or_without_source_are_refused() {
    for (then, problem) in [
        (
            "subject = 'ext2:barrier=0'\nsource = 'd'",
            "is not ext3 with options",
        ),
        ("subject = 'ext3'\nsource = 'd'", "is not ext3 with options"),
        ("subject = 'ext3:barrier=0'\nsource = ' '", "is empty"),
    ] {
        let text = format!("study = 's'\n[then.ext3]\n{then}\n");
        let error = Claims::from_toml(&text).expect_err(then).to_string();
        assert!(
            error.contains("then.ext3") && error.ends_with(problem),
            "{error}"
        );
    }
}
