//! Which runs and phases are compared.

use fslab_compare::{Diff, Dimension, Question};
use fslab_model::{
    Bytes, DiskQueue, FEATURES_FACT, Failure, RunRecord, SimulatedDisk, VenuePlan, definitions,
};

use crate::story::run;

fn pair() -> (RunRecord, RunRecord) {
    let rates = || vec![4e8, 4.1e8, 4.2e8];
    let subjects = || {
        vec![
            ("ext4", vec![("read", rates()), ("write", rates())]),
            ("xfs", vec![("read", rates()), ("write", rates())]),
        ]
    };
    (run("base", &subjects()), run("new", &subjects()))
}

fn diff(base: &RunRecord, new: &RunRecord) -> Result<Diff, Failure> {
    Diff::of(base, new, &Question::default())
}

#[test]
fn one_dimension_may_differ_and_is_named_and_two_are_refused_unless_waived() {
    let (base, mut new) = pair();
    new.header.machine.kernel = Some("6.13".into());
    let of_kernels = diff(&base, &new).expect("one dimension");
    assert_eq!(of_kernels.differences.len(), 1);
    assert_eq!(
        of_kernels.differences[0].to_string(),
        "kernel: 6.13 against 6.12"
    );
    new.header.plan.size_bytes = Bytes::gib(2);
    let error = diff(&base, &new).expect_err("two dimensions");
    assert!(
        error.to_string().contains("kernel (6.13 against 6.12)"),
        "{error}"
    );
    assert!(
        error
            .hint
            .is_some_and(|hint| hint.contains("--across kernel,size"))
    );
    let waived = Question {
        waived: vec![Dimension::Size],
        ..Question::default()
    };
    assert!(Diff::of(&base, &new, &waived).is_ok());
}

#[test]
fn virtual_and_real_time_never_compare() {
    let (base, new) = pair();
    let mut simulated = new.clone();
    simulated.header.plan.venue = VenuePlan::Sim {
        folder: "/var/tmp".into(),
        kernel: "6.12".into(),
        lab: "0123456789ab".into(),
        memory_bytes: Bytes::gib(1),
        layers: Vec::new(),
        disk: SimulatedDisk {
            profile: "hdd".into(),
            model: String::new(),
            emptied_by: None,
            queue: DiskQueue {
                max_request_bytes: 1 << 20,
                physical_block_bytes: 512,
                discard_bytes: 0,
                write_cache: true,
                fua: false,
                rotational: true,
                scheduler: true,
            },
        },
        machine: None,
    };
    let everything = Question {
        waived: Dimension::ALL.to_vec(),
        ..Question::default()
    };
    let error = Diff::of(&base, &simulated, &everything).expect_err("two kinds of time");
    assert!(error.message.contains(" do not compare: "), "{error}");
}

/// Two runs with different compilers were compared as if only the file system had changed.
#[test]
fn another_layer_over_a_guests_root_is_another_tool_where_the_lab_is_the_same() {
    let (mut base, mut new) = pair();
    let guest = |lab: &str, digit: &str| VenuePlan::Guest {
        folder: "/var/tmp".into(),
        kernel: "6.12@k".into(),
        lab: lab.into(),
        memory_bytes: Bytes::gib(1),
        layers: vec![fslab_model::LayerPlan {
            name: "compile".into(),
            digest: digit.repeat(64),
        }],
    };
    base.header.plan.venue = guest("one", "a");
    new.header.plan.venue = guest("one", "a");
    let dimensions = |new: &RunRecord| {
        let found = fslab_compare::unlike(&base, new, &[]);
        found.map(|it| (it.dimension, it.base, it.new))
    };
    assert_eq!(dimensions(&new), None);
    new.header.plan.venue = guest("one", "b");
    let compile = |digit: &str| format!("compile {}", digit.repeat(12));
    assert_eq!(
        dimensions(&new),
        Some((Dimension::Tools, compile("a"), compile("b")))
    );
    // A layer lacks what its lab has, so with another lab only the lab counts as different.
    new.header.plan.venue = guest("two", "b");
    let differs = dimensions(&new).expect("another lab");
    assert_eq!(differs.0, Dimension::Lab);
}

#[test]
fn subjects_of_one_name_are_paired_and_the_rest_is_named() {
    let (base, mut new) = pair();
    let f2fs = run("f", &[("f2fs", vec![("read", vec![1e8; 3])])]);
    new.header.plan.subjects[1] = f2fs.header.plan.subjects[0].clone();
    let diff = diff(&base, &new).expect("ext4 is in both");
    assert!(
        diff.contrasts
            .iter()
            .all(|contrast| contrast.subject == "ext4")
    );
    assert_eq!(
        diff.unpaired,
        ["xfs is in base alone", "f2fs is in new alone"]
    );
}

#[test]
fn two_subjects_are_compared_where_they_are_named() {
    let (base, new) = pair();
    let named = |base: &str, new: &str| Question {
        pairs: vec![(base.parse().expect("one"), new.parse().expect("one"))],
        ..Question::default()
    };
    let found = Diff::of(&base, &new, &named("ext4", "xfs")).expect("both are there");
    assert_eq!(found.contrasts[0].subject, "xfs against ext4");
    let error = Diff::of(&base, &new, &named("ext4", "jfs")).expect_err("no jfs");
    assert_eq!(
        error.to_string(),
        "new has no subject 'jfs'; it has ext4 and xfs"
    );
}

/// The dimensions in which two subjects differ, or why they are not compared.
fn between(base: (&RunRecord, &str), new: (&RunRecord, &str)) -> Result<Vec<Dimension>, String> {
    let subject = |name: &str| name.parse().expect("a subject");
    let question = Question {
        pairs: vec![(subject(base.1), subject(new.1))],
        ..Question::default()
    };
    let diff = Diff::of(base.0, new.0, &question).map_err(|error| error.to_string())?;
    Ok(diff.differences.iter().map(|it| it.dimension).collect())
}

/// A run of these directories, with what is mounted there.
fn of_directories(name: &str, subjects: &[&str]) -> RunRecord {
    let phases = || vec![("read", vec![4e8, 4.1e8, 4.2e8])];
    let named: Vec<_> = subjects.iter().map(|name| (*name, phases())).collect();
    let mut run = run(name, &named);
    let dir = |name: &&str| name.split_once(':').expect("a directory").1.into();
    let dirs: Vec<std::path::PathBuf> = subjects.iter().map(dir).collect();
    run.header.plan.venue = VenuePlan::Dir { dir: dirs.into() };
    run
}

#[test]
fn a_directory_is_the_device_of_its_subject_and_of_no_other() {
    let one = of_directories("one", &["ext4:/a", "ext4:/b", "xfs:/c"]);
    let of_one = |base, new| between((&one, base), (&one, new));
    assert_eq!(of_one("ext4:/a", "ext4:/a"), Ok(vec![]));
    assert_eq!(of_one("ext4:/a", "ext4:/b"), Ok(vec![Dimension::Device]));
    let two = of_one("ext4:/a", "xfs:/c").expect_err("file system and device");
    for part in ["subject (xfs:/c against ext4:/a)", "device (/c against /a)"] {
        assert!(two.contains(part), "{two}");
    }
    // The other directories of another run change nothing for the one that both have.
    let other = of_directories("other", &["ext4:/a", "ext4:/d"]);
    assert_eq!(between((&one, "ext4:/a"), (&other, "ext4:/a")), Ok(vec![]));
}

/// A run of a network mount at one directory.
fn of_mount(name: &str, fs: &str, mount: Option<fslab_model::NetworkMount>) -> RunRecord {
    let mut run = of_directories(name, &[&format!("{fs}:/mnt")]);
    run.header.plan.subjects[0].network_mount = mount;
    run
}

fn nfs(version: &str, server: &str, options: &[&str]) -> fslab_model::NetworkMount {
    fslab_model::NetworkMount {
        protocol: "NFS".into(),
        version: Some(version.into()),
        transport: Some("tcp".into()),
        server: Some(server.into()),
        address: None,
        export: Some("/e".into()),
        options: options.iter().map(|it| (*it).to_owned()).collect(),
        by_process: false,
    }
}

/// What was mounted from a server was one subject, whatever the server, the version and the
/// options.
#[test]
fn mounts_of_other_servers_versions_or_options_are_compared_by_that_dimension() {
    let plain = || Some(nfs("4.2", "nas", &["hard", "rsize=1048576", "rw"]));
    let base = of_mount("base", "nfs4", plain());
    let found = |fs: &str, mount| {
        let new = of_mount("new", fs, mount);
        let diff = diff(&base, &new).map_err(|error| error.to_string())?;
        let texts = diff.differences.iter().map(ToString::to_string);
        Ok::<Vec<String>, String>(texts.collect())
    };
    let is = |text: &str| Ok(vec![text.to_owned()]);
    assert_eq!(found("nfs4", plain()), Ok(Vec::new()));
    assert_eq!(
        found(
            "nfs4",
            Some(nfs("4.2", "other", &["hard", "rsize=1048576", "rw"]))
        ),
        is("server: other:/e against nas:/e")
    );
    assert_eq!(
        found(
            "nfs4",
            Some(nfs("4.2", "nas", &["rsize=4096", "rw", "soft"]))
        ),
        is("options: rsize=4096,soft against hard,rsize=1048576")
    );
    // The kernel calls version 3 `nfs`, and later ones `nfs4`.
    assert_eq!(
        found(
            "nfs",
            Some(nfs("3", "nas", &["hard", "rsize=1048576", "rw"]))
        ),
        is("protocol: NFS 3 over tcp against NFS 4.2 over tcp")
    );
    let two = found("nfs", Some(nfs("3", "nas", &["rw", "soft"])));
    let two = two.expect_err("protocol and options");
    for part in [
        "protocol (NFS 3",
        "options (soft against hard,rsize=1048576)",
    ] {
        assert!(two.contains(part), "{two}");
    }
    // A local file system differs in the subject alone.
    assert_eq!(
        found("ext4", None),
        is("subject: ext4:/mnt against nfs4:/mnt")
    );
    // A run of an earlier version does not say what was mounted.
    let older = found("nfs4", None).expect_err("server, protocol and options");
    assert!(
        older.contains("server (not recorded against nas:/e)"),
        "{older}"
    );
}

/// A run in guests: each subject with its lab, of that digest and with a kernel of the first digit.
fn of_labs(name: &str, subjects: &[(&str, &str)]) -> RunRecord {
    let lab = |digest: &str| fslab_model::LabPlan {
        kernel: format!("6.12@{}", &digest[..1]),
        digest: digest.to_owned(),
    };
    let phases = || vec![("read", vec![4e8, 4.1e8, 4.2e8])];
    let named: Vec<_> = subjects.iter().map(|(name, _)| (*name, phases())).collect();
    let mut run = run(name, &named);
    run.header.plan.venue = VenuePlan::Guest {
        folder: "/var/tmp".into(),
        kernel: "6.12@0".into(),
        lab: "00".into(),
        memory_bytes: Bytes::gib(1),
        layers: Vec::new(),
    };
    for (planned, (name, digest)) in run.header.plan.subjects.iter_mut().zip(subjects) {
        planned.lab = name.contains('@').then(|| lab(digest));
    }
    run
}

#[test]
fn subjects_that_differ_in_the_kernel_alone_are_compared_by_it() {
    let subjects = [
        ("ext4", "00"),
        ("ext4@a", "1a"),
        ("ext4@b", "2b"),
        ("xfs@b", "2b"),
    ];
    let one = of_labs("one", &subjects);
    let of_one = |base, new| between((&one, base), (&one, new));
    assert_eq!(of_one("ext4@a", "ext4@b"), Ok(vec![Dimension::Kernel]));
    assert_eq!(of_one("ext4", "ext4@b"), Ok(vec![Dimension::Kernel]));
    assert_eq!(of_one("ext4@b", "xfs@b"), Ok(vec![Dimension::Subject]));
    let two = of_one("ext4@a", "xfs@b").expect_err("file system and kernel");
    for part in [
        "subject (xfs@b against ext4@a)",
        "kernel (6.12@2 against 6.12@1)",
    ] {
        assert!(two.contains(part), "{two}");
    }
    // A name may lead to another kernel, or another root image, than in an earlier run.
    let later = |digest| of_labs("later", &[("ext4@a", digest), ("ext4@b", "2b")]);
    let in_time = |digest| between((&one, "ext4@a"), (&later(digest), "ext4@a"));
    assert_eq!(in_time("1a"), Ok(vec![]));
    assert_eq!(in_time("3a"), Ok(vec![Dimension::Kernel]));
    assert_eq!(in_time("1c"), Ok(vec![Dimension::Lab]));
    // Two names of one lab differ in nothing.
    let twins = of_labs("twins", &[("ext4@a", "1a"), ("ext4@c", "1a")]);
    assert_eq!(between((&twins, "ext4@a"), (&twins, "ext4@c")), Ok(vec![]));
}

#[test]
fn features_that_another_mkfs_chose_are_a_dimension() {
    let with = |name: &str, subject: &str, features: Option<&str>| {
        let mut run = run(name, &[(subject, vec![("read", vec![4e8, 4.1e8, 4.2e8])])]);
        for trial in &mut run.trials {
            let fact = features.map(|text| (FEATURES_FACT.to_owned(), text.to_owned()));
            trial.facts.extend(fact);
        }
        run
    };
    let older = with("older", "xfs", Some("reflink rmapbt inode_size=512"));
    let newer = with(
        "newer",
        "xfs",
        Some("reflink rmapbt exchange parent inode_size=512"),
    );
    let found = diff(&older, &newer).expect("one dimension").differences;
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["features: exchange parent against none"]);
    // A run of an earlier version did not record them; of two subjects they are a part of the
    // dimension studied.
    let unknown = with("unknown", "xfs", None);
    assert_eq!(diff(&unknown, &newer).expect("none").differences, []);
    let other = with("other", "ext4", Some("extent 64bit"));
    assert_eq!(
        between((&older, "xfs"), (&other, "ext4")),
        Ok(vec![Dimension::Subject])
    );
}

#[test]
fn a_phase_that_was_asked_otherwise_is_not_compared_and_says_why() {
    let (base, mut new) = pair();
    let parameters = &mut new.header.plan.phases[1].parameters;
    parameters.insert("record".into(), "64 KiB".into());
    let found = diff(&base, &new).expect("read is the same");
    assert!(
        found
            .contrasts
            .iter()
            .all(|contrast| contrast.phase == "read")
    );
    let reason = "record: \"64 KiB\" against nothing";
    assert_eq!(found.others, [("write".to_owned(), reason.to_owned())]);
    new.header.plan.phases[0].workload = "seek".into();
    let error = diff(&base, &new).expect_err("nothing is left");
    assert!(
        error.to_string().contains("workload seek against read"),
        "{error}"
    );
}

#[test]
fn any_metric_may_be_asked_for_and_less_time_is_faster() {
    let (mut base, mut new) = pair();
    for (run, ns) in [(&mut base, 1000.0), (&mut new, 500.0)] {
        let phases = run.trials.iter_mut().flat_map(|trial| &mut trial.phases);
        phases.for_each(|phase| {
            phase.figures.insert("latency_ns_p99".into(), ns);
        });
    }
    let latency = Question {
        metrics: vec![&definitions::LATENCY_P99],
        ..Question::default()
    };
    let found = Diff::of(&base, &new, &latency).expect("comparable");
    assert_eq!(found.contrasts.len(), 4);
    let speed = found.contrasts[0].speed.expect("values").value;
    assert!((speed - 2.0).abs() < 1e-9, "{speed}");
}
