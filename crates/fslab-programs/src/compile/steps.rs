//! The steps of a build, each run with the usual programs and checked.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, RunError, input_or};
use fslab_sys::ResourceUse;

use super::parameters::{CompileParameters, Step, TOOLS};
use super::source::{self, PROGRAM};
use crate::error::ProgramError;
use crate::figures::{Account, synthetic_program};
use crate::links::ensure_links_stay_inside;
use crate::locate;
use crate::permission::Permission;
use crate::plain_text::plain_text;
use crate::private_folder::PrivateFolder;
use crate::session::{CompletedRun, Session};

/// Directories of the tree, temporary files and the installation, below the workload's directory.
const SOURCE: &str = "src";
const TEMPORARY: &str = "tmp";
const DESTINATION: &str = "dest";
/// Prefix of the installation, below the destination.
const PREFIX: &str = "/usr";
/// Synthetic duration of an operation.
const SYNTHETIC_NS: u64 = 60_000_000;

/// State of a step.
struct Build<'a> {
    parameters: &'a CompileParameters,
    context: &'a RunContext,
    session: Session,
}

/// Runs one step of a build.
pub(crate) fn run_compile(
    parameters: &CompileParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        return Ok(synthetic_step(parameters, context.seed));
    }
    let is_written = parameters.step == Step::Unpack && parameters.tarball.is_none();
    let tools: &[_] = match parameters.step {
        Step::Unpack if is_written => &[],
        Step::Unpack => &[("tar", "tar")],
        _ => &TOOLS,
    };
    if let Some(reason) = context.outside(|| locate::missing(tools)) {
        return Err(RunError::Impossible(reason));
    }
    let below = |name: &str| parameters.directory.join(name);
    let permission = Permission::of(parameters, context)?;
    let mut session = Session::open(context, permission, &below(SOURCE), &below(TEMPORARY))?;
    if let Some(flags) = &parameters.cflags {
        session.environment.insert("CFLAGS".into(), flags.clone());
    }
    let build = Build {
        parameters,
        context,
        session,
    };
    let needs_makefile = matches!(parameters.step, Step::Make | Step::Install | Step::Clean);
    // Looked at afterwards, since a look before would warm caches.
    build.run(is_written).map_err(|error| {
        if needs_makefile && !build.has_makefile() {
            let reason =
                "there is no Makefile: the configure phase was skipped, or the study has none";
            return RunError::Impossible(reason.to_owned());
        }
        error
    })
}

/// The result of the null engine.
fn synthetic_step(parameters: &CompileParameters, seed: u64) -> Finished {
    let units = u64::from(parameters.units) + 1;
    let files = units + u64::from(parameters.headers);
    match parameters.step {
        Step::Unpack => synthetic_program(seed, files, Some(files * 4_096), 50_000).into(),
        Step::Configure => synthetic_program(seed, 1, None, 30 * SYNTHETIC_NS).into(),
        Step::Make => synthetic_program(seed, units, None, SYNTHETIC_NS).into(),
        Step::Install => synthetic_program(seed, 1, None, SYNTHETIC_NS).into(),
        Step::Clean => synthetic_program(seed, 1, None, SYNTHETIC_NS / 4).into(),
    }
}

impl Build<'_> {
    fn run(&self, is_written: bool) -> Result<Finished, RunError> {
        Ok(match self.parameters.step {
            Step::Unpack if is_written => self.write()?,
            Step::Unpack => self.untar()?,
            Step::Configure => self.configure()?,
            Step::Make => self.make()?,
            Step::Install => self.install()?,
            Step::Clean => self.clean()?,
        })
    }

    /// Writes the generated tree.
    fn write(&self) -> Result<Finished, ProgramError> {
        let files = source::files(self.context.seed, self.parameters.size());
        let bytes = files.iter().map(|file| file.text.len() as u64).sum();
        let (start_ns, used) = (fslab_sys::monotonic_ns(), ResourceUse::of_process());
        let mut directory = PathBuf::new();
        for file in &files {
            if self.context.stop.is_raised() {
                return Err(ProgramError::interrupted("unpack"));
            }
            let path = self.session.directory.join(&file.path);
            if let Some(parent) = path.parent().filter(|parent| *parent != directory) {
                fs::create_dir_all(parent)
                    .map_err(|error| ProgramError::io("make the directory", parent, &error))?;
                parent.clone_into(&mut directory);
            }
            write_new(&path, file.text.as_bytes())
                .map_err(|error| ProgramError::io("write", &path, &error))?;
        }
        let account = Account {
            start_ns,
            elapsed_ns: fslab_sys::monotonic_ns() - start_ns,
            operations: files.len() as u64,
            bytes: Some(bytes),
            used: Some(ResourceUse::of_process().since(used)),
        };
        Ok(account.finished())
    }

    /// Unpacks the tarball with tar, without its top directory.
    fn untar(&self) -> Result<Finished, ProgramError> {
        let tarball = self.parameters.tarball.as_deref();
        let tarball = tarball.unwrap_or(Path::new(""));
        let sha256 = &self.parameters.sha256;
        let tarball = self.context.outside(|| input_or(tarball, sha256));
        // Opened here first, since the errno is clearer than tar's message.
        let opened = self.context.outside(|| fs::File::open(&tarball));
        opened.map_err(|error| ProgramError::io("open the tarball", &tarball, &error))?;
        let name = tarball.to_string_lossy();
        let words = [
            "tar",
            "--extract",
            "--strip-components=1",
            "--no-same-owner",
            "--no-same-permissions",
            "--file",
            &name,
        ];
        let ran = self.session.run_checked(&words.map(str::to_owned))?;
        let (files, bytes) = count(&self.session.directory)?;
        Ok(account(&ran, files, Some(bytes)).finished())
    }

    fn configure(&self) -> Result<Finished, ProgramError> {
        let script = self.session.directory.join("configure");
        if !script.exists() {
            let text = format!("there is no {} to run", script.display());
            return Err(ProgramError::other(text).hint("a phase with step = \"unpack\" makes it"));
        }
        // Run by sh, since some file systems have no execute permission.
        let mut words = vec!["sh".to_owned(), "./configure".to_owned()];
        words.push(format!("--prefix={PREFIX}"));
        words.extend_from_slice(&self.parameters.configure_arguments);
        let ran = self.session.run_checked(&words)?;
        let mut finished = account(&ran, 1, None).finished();
        if self.parameters.tarball.is_none() {
            finished.notes.extend(missing_features(&ran.end.output));
        }
        Ok(finished)
    }

    /// False only where there certainly is none.
    fn has_makefile(&self) -> bool {
        let folder = &self.session.directory;
        let mut names = ["Makefile", "makefile", "GNUmakefile"].iter();
        names.any(|name| folder.join(name).try_exists().unwrap_or(true))
    }

    fn make(&self) -> Result<Finished, ProgramError> {
        let ran = self.session.run_checked(&self.make_words(&[]))?;
        let units = match self.parameters.tarball {
            Some(_) => 1,
            None => u64::from(self.parameters.units) + 1,
        };
        let mut finished = account(&ran, units, None).finished();
        finished
            .notes
            .extend(self.check(&self.session.directory.join(PROGRAM))?);
        Ok(finished)
    }

    fn install(&self) -> Result<Finished, RunError> {
        let below = self.parameters.directory.join(DESTINATION);
        ensure_links_stay_inside(self.context, &below)?;
        let destination = self.context.root.join(below);
        let destdir = self.destdir(&self.context.outer_path(&destination))?;
        let ran = self
            .session
            .run_checked(&self.make_words(&["install", &destdir]))?;
        let (files, _) = count(&destination)?;
        if files == 0 {
            let text = format!("make install left nothing in {}", destination.display());
            return Err(ProgramError::other(text)
                .hint("the install target of the tarball must honour DESTDIR")
                .into());
        }
        let mut finished = account(&ran, files, None).finished();
        let bin = destination.join(&PREFIX[1..]).join("bin");
        finished.notes.extend(self.check(&bin.join(PROGRAM))?);
        Ok(finished)
    }

    /// The variable DESTDIR, which make and its shell interpret. For the generated program it is a
    /// relative path, without text of the study or the machine. A tarball may call make in other
    /// directories, so it gets an absolute path.
    fn destdir(&self, destination: &Path) -> Result<String, RunError> {
        if self.parameters.tarball.is_none() {
            return Ok(format!("DESTDIR=../{DESTINATION}"));
        }
        let path = plain_text(destination).map_err(RunError::Impossible)?;
        Ok(format!("DESTDIR={path}"))
    }

    fn clean(&self) -> Result<Finished, ProgramError> {
        let ran = self.session.run_checked(&self.make_words(&["clean"]))?;
        if self.parameters.tarball.is_none() && self.session.directory.join(PROGRAM).exists() {
            return Err(ProgramError::wrong(format!(
                "{PROGRAM} is still there after make clean"
            )));
        }
        Ok(account(&ran, 1, None).finished())
    }

    fn make_words(&self, goals: &[&str]) -> Vec<String> {
        let mut words = vec!["make".to_owned(), format!("-j{}", self.parameters.jobs)];
        words.extend(goals.iter().map(|goal| (*goal).to_owned()));
        words.extend_from_slice(&self.parameters.make_arguments);
        words
    }

    /// Runs the generated program, not timed, and checks its output; nothing for a tarball.
    fn check(&self, program: &Path) -> Result<Option<String>, ProgramError> {
        if self.parameters.tarball.is_some() {
            return Ok(None);
        }
        let expected = source::expected_output(self.context.seed, self.parameters.size());
        let run = |outer: &Path| {
            let words = [outer.to_string_lossy().into_owned()];
            self.session.run_checked(&words).map(|ran| ran.end.output)
        };
        let (printed, note) = match run(&self.context.outer_path(program)) {
            Err(error) if error.0.kind == fslab_model::FailureKind::Permission => {
                let failed = |operation| move |error| ProgramError::io(operation, program, &error);
                let bytes = fs::read(program).map_err(failed("read"))?;
                let copied = self.context.outside(|| copied(&bytes));
                let (folder, copy) = copied.map_err(failed("make a copy elsewhere of"))?;
                let note = "programs cannot be run on this file system: a copy elsewhere was run";
                let printed = run(&copy);
                self.context.outside(|| drop(folder));
                (printed?, Some(note.to_owned()))
            }
            printed => (printed?, None),
        };
        if printed == expected {
            return Ok(note);
        }
        let text = format!(
            "{} printed '{}' and not '{}'",
            program.display(),
            printed.trim_end(),
            expected.trim_end()
        );
        Err(ProgramError::wrong(text))
    }
}

/// A copy of a program, in a directory that is removed when dropped.
fn copied(program: &[u8]) -> io::Result<(PrivateFolder, PathBuf)> {
    let folder = PrivateFolder::make()?;
    let copy = folder.join(PROGRAM);
    write_new(&copy, program)?;
    fslab_sys::os::set_mode(&copy, 0o700)?;
    Ok((folder, copy))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::File::create_new(path)?.write_all(bytes)
}

fn account(ran: &CompletedRun, operations: u64, bytes: Option<u64>) -> Account {
    Account {
        start_ns: ran.start_ns,
        elapsed_ns: ran.elapsed_ns,
        operations,
        bytes,
        used: Some(ran.end.used),
    }
}

/// Notes features that configure did not find on this file system, which make the build smaller.
fn missing_features(output: &str) -> Option<String> {
    let lacks = |what: &str, answer: &str| output.contains(&format!("whether {what}... {answer}"));
    let found = [
        ("programs run here", "no", "programs cannot be run"),
        ("ln -s works", "no", "there are no symbolic links"),
        ("chmod works", "no", "modes cannot be changed"),
    ];
    let lacking: Vec<_> = found
        .iter()
        .filter(|(what, answer, _)| lacks(what, answer))
        .map(|(_, _, text)| *text)
        .collect();
    (!lacking.is_empty()).then(|| format!("configure found: {}", lacking.join("; ")))
}

/// Number of files below `directory`, links included, and their bytes.
fn count(directory: &Path) -> Result<(u64, u64), ProgramError> {
    let (mut files, mut bytes) = (0, 0);
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let failed = |error| ProgramError::io("list", &directory, &error);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let metadata = entry.metadata().map_err(failed)?;
            if metadata.is_dir() {
                open.push(entry.path());
            } else {
                files += 1;
                bytes += metadata.len();
            }
        }
    }
    Ok((files, bytes))
}

#[cfg(test)]
mod tests {
    use fslab_job::Job;
    use fslab_model::{Bytes, Failure, FailureKind};

    use super::*;

    fn run(root: &Path, given: serde_json::Value) -> Result<Finished, RunError> {
        let mut parameters: CompileParameters = serde_json::from_value(given).expect("parameters");
        parameters.resolve(Bytes::gib(1)).expect("resolves");
        // Tarballs of these tests are allowed.
        let mut context = RunContext::new(EngineKind::Psync, root, 5);
        context.allow_commands = parameters.tarball.is_some();
        run_compile(&parameters, &context)
    }

    fn step(step: &str) -> serde_json::Value {
        serde_json::json!({ "step": step, "units": 30, "headers": 6, "functions": 3, "jobs": 2 })
    }

    /// True if a build is possible here; prints the reason if not.
    fn can_build() -> bool {
        let missing = locate::missing(&TOOLS);
        if let Some(reason) = &missing {
            eprintln!("skipped: {reason}");
        }
        missing.is_none()
    }

    /// Where cold phases are skipped, `make clean` failed the trial.
    #[test]
    fn what_needs_a_skipped_configuration_is_skipped() {
        if !can_build() {
            return;
        }
        let folder = tempfile::tempdir().expect("a directory");
        run(folder.path(), step("unpack")).expect("is written");
        for later in ["make", "install", "clean"] {
            match run(folder.path(), step(later)) {
                Err(RunError::Impossible(reason)) => {
                    assert!(reason.starts_with("there is no Makefile"), "{reason}");
                }
                other => panic!("{later}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_program_is_unpacked_configured_built_installed_and_cleaned() {
        if !can_build() {
            return;
        }
        let folder = tempfile::tempdir().expect("a directory");
        let unpacked = run(folder.path(), step("unpack")).expect("is written");
        assert_eq!(unpacked.measured.operations, 30 + 6 + 5);
        assert!(unpacked.measured.bytes > Some(40_000));
        let configured = run(folder.path(), step("configure")).expect("is configured");
        assert_eq!(configured.notes, Vec::<String>::new());
        let config = fs::read_to_string(folder.path().join("compile/src/config.h"));
        let config = config.expect("is written");
        assert!(config.contains("#define HAVE_SYS_STAT_H 1\n"), "{config}");
        assert!(config.contains("#define SIZEOF_int 4\n"), "{config}");
        assert!(!config.to_lowercase().contains("no_such"), "{config}");
        let made = run(folder.path(), step("make")).expect("is made, and prints what it must");
        assert_eq!(made.measured.operations, 31);
        assert!(made.measured.cpu.is_some_and(|cpu| cpu.user_ns > 0));
        let installed = run(folder.path(), step("install")).expect("is installed");
        assert_eq!(
            installed.measured.operations,
            2 + 2 + 8,
            "bin, lib, include"
        );
        run(folder.path(), step("clean")).expect("is cleaned up");
        assert!(!folder.path().join("compile/src/d00.a").exists());
    }

    /// The directory was part of DESTDIR, which make's recipes pass to a shell.
    #[test]
    fn names_of_folders_are_not_interpreted_by_makes_shell() {
        if !can_build() {
            return;
        }
        let folder = tempfile::tempdir().expect("a directory");
        let root = folder.path().join("$(touch ran-by-make); `touch ran`");
        let directory = "x;touch ran;`touch ran` $(touch ran) $$(touch ran)'\"#";
        for name in ["unpack", "configure", "make", "install", "clean"] {
            let mut given = step(name);
            given["directory"] = directory.into();
            given["units"] = 2.into();
            let ended = run(&root, given).map_err(Failure::from);
            assert!(ended.is_ok(), "{name}: {ended:?}");
        }
        assert!(root.join(directory).join("dest/usr/bin/demo-1.0").exists());
        let listed = std::process::Command::new("find")
            .arg(folder.path())
            .args(["-name", "ran*"])
            .output()
            .expect("find starts");
        let found = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert_eq!(
            found.lines().filter(|it| !it.contains("/src/")).count(),
            0,
            "{found}"
        );
    }

    #[test]
    fn a_program_with_wrong_output_is_detected() {
        if !can_build() {
            return;
        }
        let folder = tempfile::tempdir().expect("a directory");
        run(folder.path(), step("unpack")).expect("is written");
        let unit = folder.path().join("compile/src/d01/u0027.c");
        let text = fs::read_to_string(&unit).expect("reads");
        let changed = text.replacen("return x;", "return x + 1;", 1);
        fs::write(&unit, changed).expect("writes");
        run(folder.path(), step("configure")).expect("is configured");
        let failure = Failure::from(run(folder.path(), step("make")).expect_err("is wrong"));
        assert_eq!(failure.kind, FailureKind::Corrupt, "{failure:?}");
    }

    #[test]
    fn a_failed_build_is_reported_with_the_compilers_output() {
        if !can_build() {
            return;
        }
        let folder = tempfile::tempdir().expect("a directory");
        let early = Failure::from(run(folder.path(), step("configure")).expect_err("nothing yet"));
        assert!(early.hint.is_some_and(|hint| hint.contains("unpack")));
        run(folder.path(), step("unpack")).expect("is written");
        run(folder.path(), step("configure")).expect("is configured");
        fs::write(folder.path().join("compile/src/d00/u0003.c"), "int x = ;\n").expect("writes");
        let failure = Failure::from(run(folder.path(), step("make")).expect_err("is broken"));
        assert!(failure.message.contains("status 2"), "{failure:?}");
        assert!(failure.causes[0].contains("u0003.c"), "{failure:?}");
    }

    #[test]
    fn a_tarball_is_built_by_its_own_rules() {
        if !can_build() || locate::missing(&[("tar", "tar"), ("gzip", "gzip")]).is_some() {
            return;
        }
        let folder = tempfile::tempdir().expect("a directory");
        let tree = folder.path().join("hello-1.0");
        fs::create_dir(&tree).expect("made");
        let configure = "#!/bin/sh\necho \"$1 $2 $CFLAGS\" >configured\n";
        fs::write(tree.join("configure"), configure).expect("written");
        fs::write(tree.join("hello.c"), "int main(void) { return 0; }\n").expect("written");
        let makefile = "hello: hello.c\n\tcc -o $@ hello.c\n\
                        install: hello\n\tmkdir -p $(DESTDIR)/bin\n\tcp hello $(DESTDIR)/bin\n";
        fs::write(tree.join("Makefile"), makefile).expect("written");
        let tarball = folder.path().join("hello.tar.gz");
        let tar = std::process::Command::new("tar")
            .args(["-czf", "hello.tar.gz", "hello-1.0"])
            .current_dir(folder.path())
            .status();
        assert!(tar.expect("tar starts").success());
        let root = folder.path().join("root");
        fs::create_dir(&root).expect("made");
        let given = |step: &str| {
            serde_json::json!({
                "step": step, "tarball": tarball, "cflags": "-O0", "configure_arguments": ["--x"],
            })
        };
        let unpacked = run(&root, given("unpack")).expect("is unpacked");
        assert_eq!(unpacked.measured.operations, 3);
        run(&root, given("configure")).expect("is configured");
        let arguments = fs::read_to_string(root.join("compile/src/configured")).expect("ran");
        assert_eq!(arguments, "--prefix=/usr --x -O0\n");
        run(&root, given("make")).expect("is made");
        let installed = run(&root, given("install")).expect("is installed");
        assert_eq!(installed.measured.operations, 1);
        let missing = serde_json::json!({ "step": "unpack", "tarball": "/no/such.tar" });
        let failure = Failure::from(run(&root, missing).expect_err("is missing"));
        assert_eq!(failure.errno, Some(2), "{failure:?}");
    }
}
