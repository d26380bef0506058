//! fio's job files become studies by the rules of their options.

use std::collections::{BTreeMap, BTreeSet};

use fslab_jobfile::{
    FioRule, JobFileError, JobFileKind, JobFileReader, TranslatedStudy, fio_options,
};
use proptest::prelude::*;

fn read(text: &str) -> Result<TranslatedStudy, JobFileError> {
    let variables = BTreeMap::new();
    let reader = JobFileReader {
        kind: JobFileKind::Fio,
        file: "sample.fio",
        variables: &variables,
        include: &|_| Err("nothing is included here".to_owned()),
    };
    reader.read(text)
}

fn study(text: &str) -> TranslatedStudy {
    read(text).unwrap_or_else(|error| panic!("{text}\n{:?}", error.problems))
}

/// The only problem of a job file.
fn refusal(text: &str) -> String {
    let error = read(text).map(|made| made.toml).expect_err(text);
    let problems: Vec<_> = error.problems.iter().map(ToString::to_string).collect();
    problems.join("\n")
}

/// A job of 1 MiB with these lines.
fn job(lines: &str) -> String {
    format!("[j]\nsize=1m\n{lines}\n")
}

/// Lines of a job, and what its study then has.
const TRANSLATED: &[(&str, &str)] = &[
    ("rw=randread", "access = \"random-once\""),
    ("rw=write", "direction = \"write\""),
    ("rw=read:-8k", "access = \"reverse\""),
    ("rw=read:8k", "stride_records = 3"),
    ("rw=rw\nrwmixread=70", "read_percent = 70"),
    ("rw=rw\nrwmixwrite=70", "read_percent = 30"),
    ("bs=16k", "record = \"16KiB\""),
    ("rw=write\nbs=4k,64k", "record = \"64KiB\""),
    ("bsrange=4k-8k", "percent = 50"),
    ("bssplit=4k/10:64k/", "percent = 90"),
    ("blockalign=4k", "record = \"4KiB\""),
    ("rw=randread\nnorandommap", "access = \"random-uniform\""),
    ("rw=randread\nrandom_distribution=zipf:1.2", "theta = 1.2"),
    ("rw=randread\nrandom_distribution=pareto:0.2", "h = 0.2"),
    (
        "rw=randread\nrandom_distribution=zoned:80/20:/",
        "space_percent = 80",
    ),
    ("size=8m", "file_size = \"8MiB\""),
    ("size=25%", "file_size = \"25/100\""),
    ("io_size=64k", "bytes = 65536"),
    ("number_ios=7", "operations = 7"),
    ("loops=3", "bytes = 3145728"),
    ("offset=4k", "offset = 4096"),
    ("numjobs=2\noffset_increment=8k", "offset = 8192"),
    ("runtime=5", "time_limit_ns = \"5s\""),
    ("runtime=5\ntime_based", "time = \"5s\""),
    ("ramp_time=2s", "ramp_up_ns = \"2s\""),
    ("filename=/mnt/x/data", "file = \"data\""),
    ("filename_format=f.$jobnum.$filenum", "file = \"j.0.0\""),
    ("filesize=512k", "file_size = \"512KiB\""),
    (
        "nrfiles=4\nfile_service_type=sequential",
        "segment = \"256KiB\"",
    ),
    ("rw=randread\nnrfiles=2", "segment = \"512KiB\""),
    ("rw=write", "preparation = \"allocate\""),
    ("rw=write\nfallocate=truncate", "preparation = \"truncate\""),
    ("rw=write\noverwrite=1", "name = \"lay out j\""),
    ("rw=write\ncreate_on_open=1", "advice = \"sequential\""),
    ("ioengine=sync", "positioned = false"),
    ("ioengine=mmap", "engine = \"mmap\""),
    ("ioengine=libaio\ndirect=1\niodepth=16", "queue_depth = 16"),
    ("ioengine=io_uring\niodepth=8\niodepth_batch=4", "batch = 4"),
    (
        "ioengine=io_uring\niodepth=8\niodepth_batch_complete=2",
        "batch = 2",
    ),
    ("direct=1", "direct = true"),
    ("buffered=0", "direct = true"),
    (
        "ioengine=io_uring\ndirect=1\nhipri",
        "completion_poll = true",
    ),
    ("ioengine=io_uring\nfixedbufs", "registered_buffers = true"),
    ("ioengine=io_uring\nregisterfiles", "registered_file = true"),
    (
        "ioengine=io_uring\nsqthread_poll",
        "submission_poll_ms = 1000",
    ),
    ("fadvise_hint=noreuse", "advice = \"no-reuse\""),
    ("invalidate=1", "cache = \"cold\""),
    ("pre_read=1", "cache = \"warm\""),
    ("rw=write\nfsync=4", "operations = 4"),
    ("rw=write\nfdatasync=4", "call = \"fdatasync\""),
    ("rw=write\nend_fsync=1", "closing = \"fsync\""),
    ("rw=write\nfsync_on_close=1", "closing = \"fsync\""),
    ("rw=write\nsync=dsync", "open_sync = \"data\""),
    ("rw=write\nzero_buffers", "compressible_percent = 100"),
    (
        "rw=write\nbuffer_compress_percentage=30",
        "compressible_percent = 30",
    ),
    ("rw=write\ndedupe_percentage=40", "duplicate_percent = 40"),
    ("rw=write\nverify=crc32c", "name = \"j verify\""),
    ("verify=md5\ndo_verify=1", "verify = true"),
    ("rate=40k", "per_second = 10.0"),
    ("rate_iops=1000", "per_second = 1000.0"),
    ("rate_iops=50\nrate_process=poisson", "[phase.pace.poisson]"),
    ("thinktime=2000\nthinktime_blocks=4", "pause_ns = 2000000"),
    ("startdelay=4", "start_delay_ns = \"4s\""),
    ("numjobs=4", "threads = 4"),
    ("numjobs=4\nfilename=x", "stream = 3"),
    ("numjobs=4\nthread", "threads = 4"),
    ("numjobs=4", "workers = \"processes\""),
    ("exitall", "name = \"j\""),
    ("kb_base=1000\nbs=4k", "record = \"4000B\""),
    ("rw=write\n[k]\nsize=1m\nstonewall", "name = \"k\""),
    ("rw=write\n[k]\nsize=1m\nwait_for=j", "name = \"k\""),
];

#[test]
fn each_option_that_is_translated_becomes_what_it_means() {
    for (lines, wanted) in TRANSLATED {
        let made = study(&job(lines));
        assert!(
            made.toml.contains(wanted),
            "{lines}: {wanted}\n{}",
            made.toml
        );
    }
    let used: BTreeSet<&str> = TRANSLATED
        .iter()
        .flat_map(|(lines, _)| lines.lines())
        .map(|line| line.split('=').next().unwrap_or(line))
        .collect();
    for option in fio_options() {
        if matches!(option.rule, FioRule::Translated(_)) {
            let is_used = used.contains(option.name) || used.contains(option.alias);
            assert!(is_used, "{} is not tried here", option.name);
        }
    }
}

#[test]
fn each_other_option_is_left_out_or_refused_with_its_reason() {
    for option in fio_options() {
        let names = [option.name, option.alias];
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            let text = job(&format!("{name}=7x"));
            match option.rule {
                FioRule::Translated(_) => {}
                FioRule::Ignored(why) => {
                    let wanted = format!("[j] {name}=7x: {why}");
                    assert!(study(&text).notes.contains(&wanted), "{name}");
                }
                FioRule::Neutral(values, why) => {
                    assert!(refusal(&text).contains(why), "{name}");
                    for value in values {
                        study(&job(&format!("{name}={value}")));
                    }
                }
                FioRule::Refused(why) => assert!(refusal(&text).contains(why), "{name}"),
            }
        }
    }
}

#[test]
fn what_a_study_cannot_say_is_refused_with_line_section_and_cause() {
    for (lines, words) in [
        (
            "rw=randtrim",
            "line 3: [j] rw=randtrim: fslab's jobs read and write",
        ),
        ("rw=randread:8", "8 sequential records"),
        ("rw=read:-4k", "a gap of -4096 bytes"),
        ("rw=rw\nbs=4k,8k", "records of reads and others of writes"),
        ("bssplit=4k/60:8k/60", "shares of 120 %"),
        ("bssplit=4k/50:6k/50", "no multiple of the shortest"),
        ("bsrange=8k-4k", "a range of 8192 to 4096 bytes"),
        ("blockalign=8k", "other multiples"),
        (
            "rw=randread\nrandom_distribution=normal:5",
            "no distribution 'normal'",
        ),
        ("filename=/dev/null", "stores nothing"),
        ("filename=a:b", "several files"),
        ("ioengine=rdma", "over a network"),
        ("ioengine=exec", "would run a command"),
        ("ioengine=external:./x.so", "would load a library"),
        ("ioengine=posixaio\niodepth=4", "no POSIX AIO"),
        ("ioengine=mmap\ndirect=1", "neither O_DIRECT"),
        ("ioengine=io_uring\nthinktime=5", "pauses only"),
        ("rw=rw\nrate=1m", "a rate of reads and another of writes"),
        ("rate=1m\nthinktime=5", "a pause and a rate"),
        ("rw=write\nfsync=1\nfdatasync=1", "fsync and fdatasync"),
        ("nrfiles=4", "file_service_type=sequential"),
        ("size=2k", "shorter than a record"),
        ("time_based", "no runtime"),
        ("numjobs=2\nexitall", "would end the others"),
        ("numjobs=65\nfilename=x", "up to 64"),
        (
            "rw=randwrite\nnorandommap\nverify=md5",
            "writes its whole file",
        ),
        ("bs=1k\nverify=md5", "a multiple of 4 KiB"),
        ("startdelay=1-5", "a random time"),
        ("recrod=1", "no option that fslab knows of fio"),
        ("exec_prerun=rm -rf /", "a job file starts no program"),
    ] {
        let refused = refusal(&job(lines));
        assert!(refused.contains(words), "{lines}: {refused}");
    }
    let unsized_job = refusal("[j]\nrw=read\n");
    assert!(
        unsized_job.starts_with("line 1: [j] size: no size"),
        "{unsized_job}"
    );
}

#[test]
fn an_option_of_a_section_replaces_a_refused_one_of_global() {
    let made = study("[global]\nioengine=rbd\nrw=trim\nsize=1m\n[a]\nioengine=psync\nrw=read\n");
    assert_eq!(made.study.phases.len(), 1);
}

#[test]
fn sections_run_together_until_a_stonewall() {
    let made = study("[global]\nsize=1m\n[a]\n[b]\nrw=write\n[c]\nstonewall\n");
    let names: Vec<_> = made
        .study
        .phases
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["a+b", "c"]);
    assert_eq!(made.study.phases[0].workload, "parallel");
    assert_eq!(made.study.phases[1].workload, "io");
    let question = made.study.question.expect("a question");
    assert_eq!(
        question.phases.as_deref(),
        Some(&["a+b".to_owned(), "c".to_owned()][..])
    );
}

#[test]
fn a_job_that_waits_for_one_of_several_is_refused() {
    let chain = study("[global]\nsize=1m\n[a]\n[b]\nwait_for=a\n[c]\nwait_for=a\n[d]\nstonewall\n");
    let names: Vec<_> = chain
        .study
        .phases
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b+c", "d"]);
    let several = refusal("[global]\nsize=1m\n[a]\n[b]\n[c]\nwait_for=a\n");
    assert!(several.contains("other jobs still run"), "{several}");
    let early = refusal("[global]\nsize=1m\n[a]\n[b]\nwait_for=a\n[c]\n");
    assert!(early.contains("would start before"), "{early}");
}

#[test]
fn files_of_other_directories_and_devices_become_files_of_the_measured_file_system() {
    let made = study("[a]\nfilename=/dev/sdq\nrw=randread\n[b]\nfilename=/dev/sdr\n");
    assert!(made.toml.contains("file = \"sdq\"") && made.toml.contains("file_size = \"1/4\""));
    assert!(
        made.notes
            .iter()
            .any(|note| note.contains("the file is sdq in the measured"))
    );
    let twice = refusal("[global]\nsize=1m\n[a]\nfilename=/x/f\n[b]\nfilename=/y/f\n");
    assert!(
        twice.contains("another file of the job file is also 'f'"),
        "{twice}"
    );
}

#[test]
fn names_are_made_in_one_directory_after_a_phase_that_prepares_them() {
    let made = study("[global]\nioengine=filestat\nfilesize=4k\nnrfiles=50\n[a]\n[b]\n");
    let phases = &made.study.phases;
    assert_eq!(
        (phases[0].name.as_str(), phases[1].name.as_str()),
        ("lay out a", "a+b")
    );
    assert_eq!(phases[0].parameters["operation"], "create");
    assert_eq!(phases[0].parameters["file_size"], "4KiB");
    assert_eq!(phases[1].parameters["operation"], "stat");
    assert_eq!(
        (
            &phases[1].parameters["files"],
            &phases[1].parameters["threads"]
        ),
        (&100.into(), &2.into())
    );
    let mixed = refusal("[a]\nioengine=filestat\nnrfiles=5\n[b]\nsize=1m\n");
    assert!(mixed.contains("give it stonewall"), "{mixed}");
}

#[test]
fn the_file_system_has_room_and_a_trial_has_time() {
    let made = study("[a]\nsize=8g\nnumjobs=4\ntime_based\nruntime=2h\n");
    let size: fslab_model::Bytes = made.study.size.parse().expect("a size");
    assert!(size >= fslab_model::Bytes::gib(40), "{size}");
    assert!(
        made.study.trial_limit_s >= 14_400,
        "{}",
        made.study.trial_limit_s
    );
}

#[test]
fn a_file_with_too_much_ends_with_an_error() {
    let sections: String = (0..2_000)
        .map(|number| format!("[j{number}]\nsize=1m\n"))
        .collect();
    assert!(refusal(&sections).contains("more than 1000 sections"));
    let options = "bs=4k\n".repeat(5_000);
    assert!(refusal(&job(&options)).contains("more than 1000 options"));
}

proptest! {
    #[test]
    fn any_text_gives_a_study_or_problems(
        text in "(\\[[a-z]{0,3}\\]|[a-z_]{0,9}=?[-0-9a-z/:,.%${}]{0,9}|\n){0,40}",
    ) {
        if let Err(error) = read(&text) {
            prop_assert!(!error.problems.is_empty());
        }
    }

    #[test]
    fn any_value_of_an_option_gives_a_study_or_problems(
        option in 0_usize..400, value in "[-0-9a-zA-Z/:,.%$ ]{0,24}",
    ) {
        let count = fio_options().count();
        let option = fio_options().nth(option % count).expect("an option").name;
        if let Err(error) = read(&job(&format!("{option}={value}"))) {
            prop_assert!(!error.problems.is_empty());
        }
    }
}

/// docs/fio-options.md has the rule of every option; `UPDATE_DOCS=1` writes it.
#[test]
fn the_documentation_has_the_rule_of_every_option() {
    let mut text = "# The options of fio\n\nWhat fslab does with each option of a \
                    [job file](job-files.md).\n\nGenerated: see \
                    crates/fslab-jobfile/tests/fio.rs.\n"
        .to_owned();
    let mut table = |title: &str, rule: &dyn Fn(&FioRule) -> Option<String>| {
        text += &format!("\n## {title}\n\n| option | |\n|---|---|\n");
        for option in fio_options() {
            let Some(what) = rule(&option.rule) else {
                continue;
            };
            let names = [option.name, option.alias].map(|name| format!("`{name}`"));
            let count = 2 - usize::from(option.alias.is_empty());
            text += &format!("| {} | {what} |\n", names[..count].join(", "));
        }
    };
    table("Translated", &|rule| match rule {
        FioRule::Translated(translation) => Some(translation.to.to_owned()),
        _ => None,
    });
    table(
        "Left out: nothing that is measured changes",
        &|rule| match rule {
            FioRule::Ignored(why) => Some((*why).to_owned()),
            _ => None,
        },
    );
    table(
        "Refused, except with the values listed",
        &|rule| match rule {
            FioRule::Neutral(values, why) => Some(format!("`{}`; {why}", values.join("`, `"))),
            _ => None,
        },
    );
    table("Refused", &|rule| match rule {
        FioRule::Refused(why) => Some((*why).to_owned()),
        _ => None,
    });
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fio-options.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &text).expect("written");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, text, "run UPDATE_DOCS=1 cargo test -p fslab-jobfile");
}
