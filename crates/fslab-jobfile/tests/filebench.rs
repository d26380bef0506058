//! filebench's personalities become studies.

use std::collections::BTreeMap;

use fslab_jobfile::{JobFileError, JobFileKind, JobFileReader, TranslatedStudy};
use proptest::prelude::*;

fn read_with(text: &str, given: &[(&str, &str)]) -> Result<TranslatedStudy, JobFileError> {
    let given = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let variables: BTreeMap<_, _> = given.collect();
    let reader = JobFileReader {
        kind: JobFileKind::Filebench,
        file: "sample.f",
        variables: &variables,
        include: &|_| Err("nothing is included here".to_owned()),
    };
    reader.read(text)
}

fn study(text: &str) -> TranslatedStudy {
    read_with(text, &[]).unwrap_or_else(|error| panic!("{:?}", error.problems))
}

fn refusal(text: &str) -> String {
    let error = read_with(text, &[]).map(|made| made.toml).expect_err(text);
    let problems: Vec<_> = error.problems.iter().map(ToString::to_string).collect();
    problems.join("\n")
}

/// A personality of a set `mails` whose thread has these operations.
fn looped(operations: &str) -> String {
    format!(
        "set $count=500\nset $size=cvar(type=cvar-gamma,parameters=mean:8192;gamma:1.5)\n\
         define fileset name=mails,path=/somewhere,size=$size,entries=$count,dirwidth=100,\
         prealloc=80\n\
         define fileset name=logs,path=/somewhere,size=1k,entries=1,prealloc\n\
         define process name=worker,instances=1\n{{\n\
         thread name=user,memsize=10m,instances=4\n{{\n{operations}\n}}\n}}\nrun 30\n"
    )
}

/// A personality whose thread does this to a file of 64 MiB.
fn streamed(operations: &str) -> String {
    format!(
        "define file name=big,path=/somewhere,size=64m,prealloc,reuse\n\
         define process name=worker\n{{\nthread name=user,instances=2\n{{\n{operations}\n}}\n}}\n"
    )
}

#[test]
fn a_loop_over_a_set_of_files_is_a_personality() {
    let made = study(&looped(
        "flowop deletefile name=d,filesetname=mails\n\
         flowop createfile name=c,filesetname=mails,fd=1\n\
         flowop appendfilerand name=a,iosize=4k,fd=1\n\
         flowop fsync name=f,fd=1\n\
         flowop closefile name=k,fd=1\n\
         flowop openfile name=o,filesetname=mails,fd=1\n\
         flowop readwholefile name=r,fd=1,iosize=1m\n\
         flowop closefile name=l,fd=1\n\
         flowop opslimit name=limit\n",
    ));
    let phase = &made.study.phases[0];
    assert_eq!(phase.workload, "personality");
    let wanted = serde_json::json!([
        { "file": "removed", "operations": ["unlink"] },
        { "file": "new", "operations": ["create", "append", "fsync", "close"] },
        { "file": "any", "operations": ["open", "read", "close"] },
    ]);
    assert_eq!(phase.parameters["loop"], wanted);
    let of = |name: &str| phase.parameters[name].clone();
    assert_eq!(
        (of("files"), of("present_percent"), of("threads_max")),
        (500.into(), 80.into(), 4.into())
    );
    assert_eq!(
        (of("mean_size"), of("append"), of("seconds")),
        ("8KiB".into(), "4KiB".into(), 30.into())
    );
    assert!(!phase.parameters.contains_key("sizes"));
}

#[test]
fn repeated_reads_are_one_step_of_shared_files_and_the_log_is_another() {
    let read = "flowop openfile name=o,filesetname=mails,fd=1\n\
                flowop readwholefile name=r,fd=1,iosize=1m\nflowop closefile name=k,fd=1\n";
    let log = "flowop appendfilerand name=a,filesetname=logs,iosize=16k,fd=2";
    let made = study(&looped(&format!("{}{log}", read.repeat(3))));
    let wanted = serde_json::json!([
        { "file": "shared", "operations": ["open", "read", "close"], "times": 3 },
        { "file": "log", "operations": ["append"] },
    ]);
    assert_eq!(made.study.phases[0].parameters["loop"], wanted);
}

#[test]
fn files_of_one_size_are_made_until_the_set_is_complete() {
    let text = "set mode quit firstdone\n\
        define fileset name=s,path=/x,size=16k,entries=200,dirwidth=20\n\
        define process name=p\n{\nthread name=t,instances=2\n{\n\
        flowop createfile name=c,filesetname=s,fd=1\n\
        flowop writewholefile name=w,fd=1,iosize=1m\nflowop closefile name=k,fd=1\n}\n}\n";
    let made = study(text);
    let parameters = &made.study.phases[0].parameters;
    assert_eq!(
        (&parameters["operations"], &parameters["seconds"]),
        (&200.into(), &0.into())
    );
    assert_eq!(
        (&parameters["sizes"], &parameters["mean_size"]),
        (&"fixed".into(), &"16KiB".into())
    );
}

#[test]
fn streams_are_jobs_that_run_together() {
    let made = study(&streamed(
        "flowop read name=r,filename=big,iosize=8k,random,directio=0",
    ));
    let phase = &made.study.phases[0];
    assert_eq!(
        (phase.workload.as_str(), phase.cache),
        ("parallel", fslab_model::CachePolicy::Cold)
    );
    let jobs = phase.parameters["jobs"].as_array().expect("jobs");
    assert_eq!((jobs.len(), &jobs[1]["stream"]), (2, &1.into()));
    assert_eq!(jobs[0]["access"], "random-uniform");
    assert_eq!(jobs[0]["amount"]["time"], "60s");
    let made = study(&streamed(
        "flowop write name=w,filename=big,iosize=1m,directio",
    ));
    assert_eq!(made.study.phases[0].name, "lay out big");
    assert_eq!(made.study.phases[1].parameters["jobs"][0]["direct"], true);
}

#[test]
fn counted_writes_end_by_their_number_and_sync_after_their_iterations() {
    let made = study(&streamed(
        "flowop write name=w,filename=big,random,dsync,iosize=8k,iters=16\n\
         flowop fsync name=s\nflowop finishoncount name=f,value=4,target=s",
    ));
    let job = &made.study.phases[1].parameters["jobs"][0];
    assert_eq!(job["amount"]["bytes"], 4 * 16 * 8192);
    assert_eq!(
        job["sync"]["every"],
        serde_json::json!({ "operations": 16, "call": "fsync" })
    );
    assert_eq!(job["open_sync"], "data");
}

#[test]
fn readers_writers_and_a_log_are_a_database() {
    let made = study(
        "define fileset name=d,path=/x,size=4m,entries=3,prealloc=100\n\
         define fileset name=l,path=/x,size=2m,entries=1,prealloc=100\n\
         define process name=log {\nthread name=log,useism {\n\
         flowop aiowrite name=w,filesetname=l,iosize=64k,random,dsync\n\
         flowop aiowait name=x\nflowop semblock name=b,value=320,highwater=100\n}}\n\
         define process name=writer,instances=5 {\nthread name=t {\n\
         flowop aiowrite name=w2,filesetname=d,iosize=4k,random,iters=10,dsync\n\
         flowop hog name=h,value=1\nflowop semblock name=c,value=100,highwater=200\n\
         flowop aiowait name=y\n}}\n\
         define process name=reader,instances=20 {\nthread name=t {\n\
         flowop read name=r,filesetname=d,iosize=4k,random\nflowop hog name=h2,value=1\n\
         flowop sempost name=p,target=b\nflowop sempost name=q,target=c\n\
         flowop eventlimit name=e\n}}\nrun 10\n",
    );
    let phase = &made.study.phases[0];
    assert_eq!(phase.workload, "fb-oltp");
    let of = |name: &str| phase.parameters[name].as_u64();
    assert_eq!(
        (of("readers"), of("writers"), of("data_files")),
        (Some(20), Some(5), Some(3))
    );
    assert_eq!(
        (of("reads_per_batch"), of("reads_per_log")),
        (Some(100), Some(320))
    );
}

#[test]
fn variables_are_set_in_the_file_or_by_the_user() {
    let text = streamed("flowop read name=r,filename=big,iosize=$io");
    assert!(refusal(&text).contains("--set env.io=VALUE"));
    let made = read_with(&format!("set $io=4k\n{text}"), &[("io", "8k")]).expect("a study");
    assert!(made.toml.contains("record = \"8KiB\""), "{}", made.toml);
}

#[test]
fn what_a_study_cannot_say_is_refused_by_its_name() {
    for (text, words) in [
        ("system \"rm -rf /\"\n", "starts no program"),
        (
            "eventgen rate=10\ndefine process name=p\n{\n}\n",
            "no rate of events",
        ),
        (
            "define flowop name=x {\nflowop read name=r\n}\n",
            "composes",
        ),
        ("set $a=4 * 5\n", "no expressions"),
        ("frobnicate\n", "no statement"),
        ("run 10\n", "it has no process"),
        (
            "define process name=p {\nthread name=t {\nflowop read",
            "'}'",
        ),
        ("echo \"x\n", "without its closing quote"),
    ] {
        let refused = refusal(text);
        assert!(
            refused.starts_with("line ") || refused.contains("no process"),
            "{refused}"
        );
        let is_it = refused.contains(words) || words == "'}'";
        assert!(is_it, "{text}: {refused}");
    }
    for (operations, words) in [
        (
            "flowop openfile name=o,filesetname=mails,fd=1",
            "leaves a file open",
        ),
        ("flowop listdir name=l,filesetname=mails", "no operation"),
        ("flowop closefile name=k,fd=1", "no file is open"),
        ("flowop delay name=d,value=1", "no operation"),
        ("flowop statfile name=s,filesetname=mails,iters=4", "iters"),
    ] {
        let refused = refusal(&looped(operations));
        assert!(refused.contains(words), "{operations}: {refused}");
    }
}

proptest! {
    #[test]
    fn any_text_gives_a_study_or_problems(
        text in "((set|define|run|process|thread|flowop|fileset|name|read|[=,{}()\"#4\n]) ?){0,60}",
    ) {
        if let Err(error) = read_with(&text, &[]) {
            prop_assert!(!error.problems.is_empty());
        }
    }
}
