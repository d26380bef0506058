//! Claims about several platforms, with a run on each.

use fslab_claims::ClaimOutcome::{Fails, Holds, NotApplicable, NotMeasured};
use fslab_claims::{ClaimVerdict, Claims, FurtherRun, evaluate};
use fslab_model::RunRecord;

use crate::run_builder::{PhaseBuilder, RunBuilder};

const HEAD: &str = "study = 's'\n[stand_in]\nntfs = 'ntfs3'\n\
    [platforms]\next2 = 'linux'\nntfs = 'windows'\nfat32 = 'windows'\n\
    [memory]\ndimension = 'file_size'\noriginal = '512MiB'\nfrom = '256MiB'\n";

fn claims(platforms: &str, holds: &str) -> Claims {
    let text = format!(
        "{HEAD}[[claim]]\nid = 'c'\ntext = 't'\nsource = 'p'\nrequired = true\n{platforms}\n\
         [claim.holds]\n{holds}\n"
    );
    Claims::from_toml(&text).unwrap_or_else(|error| panic!("{holds}: {error:?}"))
}

const EXT2_NTFS: &str = "kind = 'faster'\nphase = 'w'\nsubject = 'ext2'\nthan = ['ntfs']";

fn across() -> Claims {
    claims("platforms = ['linux', 'windows']", EXT2_NTFS)
}

/// ext2, a stand-in for NTFS that is slower, and Linux' own FAT32, in 1, 2 and 9 seconds.
fn linux() -> RunRecord {
    let builder = RunBuilder::real().times("ext2", &[("w", &[1.0, 1.001, 0.999])]);
    let builder = builder.times("ntfs3", &[("w", &[2.0, 2.001, 1.999])]);
    let builder = builder.times("fat32", &[("w", &[9.0, 9.001, 8.999])]);
    builder.build()
}

/// NTFS and FAT32 in 0.5 and 0.6 seconds.
fn windows() -> RunBuilder {
    let builder = RunBuilder::imported().named("run-2");
    let builder = builder.times("ntfs", &[("w", &[0.5, 0.501, 0.499])]);
    builder.times("fat32", &[("w", &[0.6, 0.601, 0.599])])
}

fn of(claims: &Claims, run: &RunRecord, further: &[(&RunRecord, Option<&str>)]) -> ClaimVerdict {
    let further = further
        .iter()
        .map(|(run, platform)| FurtherRun {
            run,
            platform: *platform,
        })
        .collect::<Vec<_>>();
    evaluate(claims, run, &further).verdicts.remove(0)
}

#[test]
fn a_claim_about_another_platform_needs_a_run_on_it_and_accepts_no_stand_in() {
    let alone = of(&across(), &linux(), &[]);
    assert_eq!(alone.outcome, NotApplicable);
    assert_eq!(
        alone.sentence,
        "It needs a run on windows: --against RUN=windows adds one."
    );
    assert_eq!(alone.platforms, ["linux", "windows"]);
    assert_eq!(alone.stand_ins, []);
    // A claim that names no platform is decided in one run.
    let same_kernel = of(&claims("", EXT2_NTFS), &linux(), &[]);
    assert_eq!(same_kernel.outcome, Holds);
    assert!(
        same_kernel.sentence.contains("ntfs3 in place of ntfs"),
        "{}",
        same_kernel.sentence
    );
}

#[test]
fn two_runs_decide_a_claim_about_two_platforms() {
    let windows = windows().build();
    let both = of(&across(), &linux(), &[(&windows, Some("windows"))]);
    assert_eq!(both.outcome, Fails, "{}", both.sentence);
    assert!(
        both.sentence.starts_with("ext2 / ntfs by rate 0.5"),
        "{}",
        both.sentence
    );
    assert!(
        both.sentence.ends_with("by runs on linux, windows."),
        "{}",
        both.sentence
    );
    let reversed = "kind = 'faster'\nphase = 'w'\nsubject = 'ntfs'\nthan = ['ext2']";
    let reversed = claims("platforms = ['windows', 'linux']", reversed);
    let further: &[(&RunRecord, Option<&str>)] = &[(&windows, Some("windows"))];
    assert_eq!(of(&reversed, &linux(), further).outcome, Holds);
    // FAT32 is the one of Windows, although the run on Linux has one, too.
    let pair = "kind = 'faster'\nphase = 'w'\nsubject = 'ntfs'\nthan = ['fat32']\nat_most = 1.5";
    let pair = claims("platforms = ['windows']", pair);
    assert_eq!(of(&pair, &linux(), further).outcome, Holds);
    // A claim without platforms stays with the run that is checked.
    assert_eq!(of(&claims("", EXT2_NTFS), &linux(), further).outcome, Holds);
}

#[test]
fn the_checked_run_may_be_the_one_on_the_other_platform() {
    let windows = windows().build();
    let pair = "kind = 'faster'\nphase = 'w'\nsubject = 'ntfs'\nthan = ['fat32']";
    let pair = claims("platforms = ['windows']", pair);
    assert_eq!(of(&pair, &windows, &[]).outcome, NotApplicable);
    let stated = of(&pair, &windows, &[(&windows, Some("windows"))]);
    assert_eq!(stated.outcome, Holds, "{}", stated.sentence);
}

#[test]
fn a_subject_that_no_run_on_its_platform_has_is_named() {
    let other = RunBuilder::imported()
        .times("fat32", &[("w", &[0.6, 0.601])])
        .build();
    let result = of(&across(), &linux(), &[(&other, Some("windows"))]);
    assert_eq!(result.outcome, NotApplicable);
    assert!(
        result
            .sentence
            .contains("no run on windows has the subject ntfs"),
        "{}",
        result.sentence
    );
}

#[test]
fn runs_that_differ_in_scale_time_or_memory_are_not_joined() {
    let point = |seconds| vec![PhaseBuilder::new("w", seconds).at(&[("file_size", 1 << 20)])];
    let scaled = windows().scale("1/4").build();
    let virtual_time = RunBuilder::virtual_time(512)
        .times("ntfs", &[("w", &[1.0])])
        .build();
    let larger = RunBuilder::real()
        .machine_memory(512)
        .subject("ntfs", vec![point(0.5)])
        .build();
    for (other, reason) in [
        (&scaled, "at scale 1 and run-2 at 1/4"),
        (&virtual_time, "one is in virtual time"),
        (
            &larger,
            "has a memory of 8 GiB and that of run-1 of 512 MiB",
        ),
    ] {
        let result = of(&across(), &linux(), &[(other, Some("windows"))]);
        assert_eq!(result.outcome, NotMeasured, "{}", result.sentence);
        assert!(result.sentence.contains(reason), "{}", result.sentence);
    }
}

#[test]
fn the_platforms_of_a_claim_are_those_of_its_subjects() {
    let error = |platforms: &str, holds: &str| {
        let text = format!(
            "{HEAD}[[claim]]\nid = 'c'\ntext = 't'\nsource = 'p'\nrequired = true\n\
             {platforms}\n[claim.holds]\n{holds}\n"
        );
        Claims::from_toml(&text).expect_err(platforms).to_string()
    };
    let best = "kind = 'best'\nphase = 'w'\nsubject = 'ext2'";
    let xfs = "kind = 'faster'\nphase = 'w'\nsubject = 'ext2'\nthan = ['xfs']";
    for (platforms, holds, expected) in [
        ("platforms = []", EXT2_NTFS, "claim.c.platforms: is empty"),
        (
            "platforms = ['linux']",
            EXT2_NTFS,
            "lacks 'windows', the platform of 'ntfs'",
        ),
        (
            "platforms = ['linux', 'windows', 'os2']",
            EXT2_NTFS,
            "has 'os2', of which the claim has no subject",
        ),
        ("platforms = ['linux']", xfs, "needs the platform of 'xfs'"),
        ("platforms = ['linux']", best, "add 'among' to 'holds'"),
    ] {
        let error = error(platforms, holds);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn runs_on_several_platforms_decide_what_the_checked_one_lacks_a_subject_of() {
    let builder = RunBuilder::real().times("ext2", &[("w", &[1.0, 1.001, 0.999])]);
    let linux = builder.build();
    let both = windows().build();
    let further: &[(&RunRecord, Option<&str>)] = &[(&both, Some("windows"))];
    let plain = claims("", EXT2_NTFS);
    assert_eq!(of(&plain, &linux, &[]).outcome, NotApplicable);
    let joined = of(&plain, &linux, further);
    assert_eq!(joined.outcome, Fails, "{}", joined.sentence);
    assert!(
        joined.sentence.ends_with("by runs on linux, windows."),
        "{}",
        joined.sentence
    );
    assert_eq!(joined.platforms, ["linux", "windows"]);
    // The same from the other side.
    let swapped: &[(&RunRecord, Option<&str>)] = &[(&linux, None)];
    let from_windows = of(&plain, &both, swapped);
    assert_eq!(
        from_windows.outcome, NotApplicable,
        "an import says nothing"
    );
    // What compares all needs all subjects of the original.
    let best = claims("", "kind = 'best'\nphase = 'w'\nsubjects = ['ntfs']");
    assert_eq!(of(&best, &linux, further).outcome, Holds);
    let ntfs = RunBuilder::imported().times("ntfs", &[("w", &[0.5, 0.501, 0.499])]);
    let ntfs = ntfs.build();
    let further: &[(&RunRecord, Option<&str>)] = &[(&ntfs, Some("windows"))];
    assert_eq!(of(&best, &linux, further).outcome, NotApplicable);
}
