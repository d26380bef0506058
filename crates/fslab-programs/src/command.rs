//! The job `command`: any program, with an untimed preparation and clean-up.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, Job, RunError, ensure_inside};
use fslab_model::{Brings, Bytes, InputPlace, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ProgramError;
use super::figures::{Account, synthetic_program};
use super::locate;
use super::permission::{Permission, ProgramParameters};
use super::session::{CompletedRun, Session};
use super::shell_script::Script;

/// Synthetic duration: about that of starting a program.
const SYNTHETIC_NS: u64 = 1_000_000;

/// Runs a program, timed from its start to its end, with an untimed preparation and clean-up.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CommandParameters {
    /// The timed program: a list of words, or a text for the shell.
    argv: Script,
    /// Its working directory and home, below the root; created if missing.
    directory: PathBuf,
    /// Its directory for temporary files, below the root; created if missing.
    temporary: PathBuf,
    /// Environment variables besides PATH, HOME, TMPDIR and LC_ALL=C.
    environment: BTreeMap<String, String>,
    /// A command to run before it, not timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    prepare: Option<Script>,
    /// A command to run after it, also after a failure, not timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    cleanup: Option<Script>,
    /// The required exit status.
    #[schemars(range(min = 0, max = 255))]
    expect_exit: i32,
    /// Time limit in seconds; 0 for that of the trial.
    limit_s: u32,
    /// Upper bound of the bytes of its files at its end, or a share of the file system.
    room: Size,
    /// Keep its output in the record also on success.
    keep_output: bool,
    /// Programs that it starts but does not name in its texts: names or absolute paths. A guest has
    /// only these and those of the texts.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    programs: BTreeSet<String>,
    /// Files of the machine that it reads, as absolute paths; the same paths in a guest.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    inputs: BTreeSet<PathBuf>,
}

impl Default for CommandParameters {
    fn default() -> Self {
        Self {
            argv: Script::nothing(),
            directory: "command".into(),
            temporary: "tmp".into(),
            environment: BTreeMap::new(),
            prepare: None,
            cleanup: None,
            expect_exit: 0,
            limit_s: 0,
            room: Size::Bytes(0),
            keep_output: false,
            programs: BTreeSet::new(),
            inputs: BTreeSet::new(),
        }
    }
}

impl Job for CommandParameters {
    const NAME: &'static str = "command";

    fn resolve(&mut self, size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)?;
        ensure_inside(&self.temporary)?;
        self.argv.validate("argv")?;
        for (name, script) in [("prepare", &self.prepare), ("cleanup", &self.cleanup)] {
            script.as_ref().map_or(Ok(()), |it| it.validate(name))?;
        }
        let is_bad = |name: &str| name.is_empty() || name.contains(['=', '\0']);
        if let Some((name, _)) = self.environment.iter().find(|(_, it)| it.contains('\0')) {
            return Err(format!("a NUL character in {name:?} of environment"));
        }
        if let Some(name) = self.environment.keys().find(|name| is_bad(name)) {
            return Err(format!("the name {name:?} of a variable in environment"));
        }
        if let Some(path) = self.inputs.iter().find(|path| !is_plain_absolute(path)) {
            return Err(format!(
                "inputs with {path:?}; a path must be absolute, without '..'"
            ));
        }
        if let Some(name) = self
            .programs
            .iter()
            .find(|it| it.is_empty() || it.contains('\0'))
        {
            return Err(format!("programs with {name:?}; it names no program"));
        }
        self.room = Size::Bytes(self.room.resolve(size)?);
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        Bytes(self.room.bytes())
    }

    /// The program itself, `programs`, and each word of the texts that names a program of the
    /// machine, since a shell might start it.
    fn brings(&self) -> Brings {
        let named = self.programs.iter().map(|name| (name.as_str(), ""));
        let scripts = [
            Some(&self.argv),
            self.prepare.as_ref(),
            self.cleanup.as_ref(),
        ];
        let scripts: Vec<_> = scripts.into_iter().flatten().map(Script::words).collect();
        let firsts = scripts.iter().filter_map(|words| words.first());
        let firsts = firsts.filter(|first| is_brought(first));
        let required: Vec<_> = named.chain(firsts.map(|it| (it.as_str(), ""))).collect();
        let words = scripts.iter().flatten().flat_map(|text| named_in(text));
        let helpful = words.filter(|word| is_brought(word) && locate::program(word).is_some());
        let mut brings = Brings::default()
            .with_helpful(helpful)
            .with_required(&required);
        for path in &self.inputs {
            brings = brings.with_file(path.clone(), InputPlace::SamePath);
        }
        brings
    }

    fn foreign(&self) -> Option<String> {
        ProgramParameters::foreign(self)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        run_command(self, context)
    }
}

impl ProgramParameters for CommandParameters {
    /// All of it, even if harmless.
    fn foreign(&self) -> Option<String> {
        let Self {
            argv,
            directory: _,
            temporary: _,
            environment,
            prepare,
            cleanup,
            expect_exit: _,
            limit_s: _,
            room: _,
            keep_output: _,
            programs,
            inputs,
        } = self;
        let scripts = [Some(argv), prepare.as_ref(), cleanup.as_ref()];
        let scripts = scripts.into_iter().flatten().map(Script::to_string);
        let variables = environment.iter();
        let variables = variables.map(|(name, value)| format!("with {name}={value}"));
        let programs = programs
            .iter()
            .map(|name| format!("with the program {name}"));
        let inputs = inputs
            .iter()
            .map(|path| format!("with the file {}", path.display()));
        let texts: Vec<_> = scripts
            .chain(variables)
            .chain(programs)
            .chain(inputs)
            .collect();
        Some(texts.join("; "))
    }
}

/// True if `name` is a program of the machine: a name, or an existing absolute path. Other paths
/// may be on the measured file system.
fn is_brought(name: &str) -> bool {
    let path = Path::new(name);
    !name.contains('/') || is_plain_absolute(path) && path.is_file()
}

fn is_plain_absolute(path: &Path) -> bool {
    let mut parts = path.components();
    path.is_absolute()
        && !path.as_os_str().as_encoded_bytes().contains(&0)
        && parts.all(|part| !matches!(part, Component::ParentDir))
}

/// The words of a text that may be names of programs.
fn named_in(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |c: char| c.is_alphanumeric() || "+-./_[@,:".contains(c);
    text.split(move |c: char| !is_of_name(c))
        .filter(|word| !word.is_empty())
}

/// Runs preparation, program and clean-up.
pub(crate) fn run_command(
    parameters: &CommandParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        return Ok(synthetic_program(context.seed, 1, None, SYNTHETIC_NS).into());
    }
    let permission = Permission::of(parameters, context)?;
    let mut session = Session::open(
        context,
        permission,
        &parameters.directory,
        &parameters.temporary,
    )?;
    session.environment = parameters.environment.clone();
    if let Some(script) = &parameters.prepare {
        session.run_checked(&script.words())?;
    }
    let ran = timed(parameters, &session);
    // After an interruption no further program is started.
    let cleaned = match &parameters.cleanup {
        Some(script) if !context.stop.is_raised() => session.run_checked(&script.words()).map(drop),
        _ => Ok(()),
    };
    // The first error is reported.
    let ran = ran?;
    cleaned?;
    let account = Account {
        start_ns: ran.start_ns,
        elapsed_ns: ran.elapsed_ns,
        operations: 1,
        bytes: None,
        used: Some(ran.end.used),
    };
    let mut finished = account.finished();
    if parameters.keep_output {
        finished.notes.push(shown(&ran));
    }
    Ok(finished)
}

fn timed(parameters: &CommandParameters, session: &Session) -> Result<CompletedRun, ProgramError> {
    let ran = session.run(&parameters.argv.words(), parameters.limit_s)?;
    if ran.end.code == Some(parameters.expect_exit) {
        return Ok(ran);
    }
    let shown = parameters.argv.to_string();
    Err(ProgramError::ended(
        &shown,
        &ran.end,
        parameters.expect_exit,
    ))
}

fn shown(ran: &CompletedRun) -> String {
    let text = ran.end.output.trim_end();
    match ran.end.output_cut_bytes {
        0 if text.is_empty() => "it printed nothing".to_owned(),
        0 => format!("it printed: {text}"),
        cut => format!("it printed {} and then: {text}", Bytes(cut)),
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::{Failure, FailureKind};

    use super::*;
    use crate::resolved::resolved;

    fn run(root: &Path, parameters: serde_json::Value) -> Result<Finished, RunError> {
        let mut parameters: CommandParameters =
            serde_json::from_value(parameters).expect("parameters");
        parameters.resolve(Bytes::mib(64)).expect("resolves");
        let mut context = RunContext::new(EngineKind::Psync, root, 1);
        context.allow_commands = true;
        run_command(&parameters, &context)
    }

    #[test]
    fn only_the_command_is_timed_and_its_output_can_be_kept() {
        let folder = tempfile::tempdir().expect("a directory");
        let finished = run(
            folder.path(),
            serde_json::json!({
                "prepare": "sleep 0.5; echo made >input",
                "argv": ["cat", "input"],
                "cleanup": ["rm", "input"],
                "keep_output": true,
            }),
        )
        .expect("runs");
        assert_eq!(finished.notes, ["it printed: made"]);
        assert_eq!(finished.measured.operations, 1);
        assert!(finished.measured.elapsed_ns < 400_000_000, "{finished:?}");
        assert!(!folder.path().join("command/input").exists());
    }

    #[test]
    fn processor_time_includes_that_of_child_processes() {
        let folder = tempfile::tempdir().expect("a directory");
        let burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let argv = format!("sh -c '{burn}'; true");
        let finished = run(folder.path(), serde_json::json!({ "argv": argv })).expect("runs");
        let cpu = finished.measured.cpu.expect("real time");
        assert!(cpu.user_ns + cpu.system_ns > 10_000_000, "{cpu:?}");
    }

    #[test]
    fn a_command_must_end_as_expected_and_the_clean_up_runs_in_any_case() {
        let folder = tempfile::tempdir().expect("a directory");
        let given = |expect_exit: i32| {
            serde_json::json!({
                "argv": "echo no such thing; exit 2",
                "cleanup": "echo x >>cleaned",
                "expect_exit": expect_exit,
            })
        };
        run(folder.path(), given(2)).expect("as expected");
        let failure = Failure::from(run(folder.path(), given(0)).expect_err("not as expected"));
        assert_eq!(failure.kind, FailureKind::Io);
        assert!(failure.message.ends_with("status 2"), "{failure:?}");
        assert_eq!(failure.causes, ["it printed: no such thing"]);
        let cleaned = std::fs::read_to_string(folder.path().join("command/cleaned"));
        assert_eq!(cleaned.expect("was cleaned up"), "x\nx\n");
    }

    #[test]
    fn a_command_brings_the_programs_and_files_that_it_names_but_none_of_the_file_system() {
        let brings = |given: serde_json::Value| {
            let mut parameters: CommandParameters =
                serde_json::from_value(given).expect("parameters");
            parameters.resolve(Bytes::mib(64)).expect("resolves");
            parameters.brings()
        };
        let names = |brings: &Brings| brings.programs.keys().cloned().collect::<Vec<_>>();
        let words = brings(serde_json::json!({ "argv": ["no-such", "cat", "-n", "x"] }));
        assert_eq!(names(&words), ["cat", "no-such"]);
        assert!(words.programs["no-such"].is_required);
        assert!(!words.programs["cat"].is_required);
        let text = brings(serde_json::json!({
            "argv": "sleep 1;printf x|tr a-z A-Z >out && $(cat y)",
            "programs": ["env"],
            "inputs": ["/srv/x"],
        }));
        assert_eq!(
            names(&text),
            ["/bin/sh", "cat", "env", "printf", "sleep", "tr"]
        );
        assert_eq!(text.files[Path::new("/srv/x")], InputPlace::SamePath);
        let own = brings(serde_json::json!({ "argv": ["./built", "../x", "/no/such/program"] }));
        assert!(own.is_empty(), "{own:?}");
    }

    #[test]
    fn invalid_parameters_are_refused_by_name() {
        for (given, word) in [
            (serde_json::json!({ "argv": [] }), "argv"),
            (serde_json::json!({ "prepare": " " }), "prepare"),
            (serde_json::json!({ "directory": "../x" }), "path"),
            (serde_json::json!({ "expect_exit": 256 }), "expect_exit"),
            (serde_json::json!({ "environment": { "A=B": "" } }), "A=B"),
            (serde_json::json!({ "inputs": ["x"] }), "inputs"),
            (serde_json::json!({ "inputs": ["/x/../y"] }), "inputs"),
            (serde_json::json!({ "programs": [""] }), "programs"),
        ] {
            let problem = resolved::<CommandParameters>(&given).expect_err(word);
            assert!(problem.contains(word), "{problem}");
        }
    }
}
