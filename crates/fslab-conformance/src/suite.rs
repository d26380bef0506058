//! The two passes over the conformance tree: creation and verification.

use std::path::PathBuf;

use fslab_engine::{EngineKind, Measured, RunContext, cpu_use};
use fslab_job::{Finished, RunError, SyntheticCost, measured, synthetic_result};
use fslab_model::Bytes;
use fslab_sys::{FileSystemRoom, ResourceUse, sync_file_system};

use super::abilities::Abilities;
use super::audit::{Audit, SpecialBits};
use super::check_context::CheckContext;
use super::data_script;
use super::executor::Executor;
use super::failure::ConformanceFailure;
use super::name_script::NameScript;
use super::parameters::TreeParameters;
use super::scale::Scale;
use super::semantics::Semantics;
use super::survey::Survey;
use super::tree::Tree;
use fslab_stats::{CounterRandom, mix};

/// Creates the tree with all capabilities of the file system, and compares it once.
pub(crate) fn exercise(
    parameters: &TreeParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        return Ok(synthetic_suite(context.seed, parameters));
    }
    let room = FileSystemRoom::of(&context.root)
        .map_err(|error| ConformanceFailure::io("ask for the room of", &context.root, &error))?;
    let scale = Scale::fitting(parameters, room).map_err(|needed| no_room(room, needed))?;
    let pass = Pass {
        context,
        base: context.root.join(&parameters.directory),
        scale,
    };
    Ok(timed(context, |checker| pass.exercise(checker))?)
}

/// Compares the tree of [`exercise`] with its expected state.
pub(crate) fn verify(
    parameters: &TreeParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        return Ok(synthetic_suite(context.seed, parameters));
    }
    let base = context.root.join(&parameters.directory);
    // Skipped like `exercise` if there is no space for any tree.
    if let (false, Ok(room)) = (base.exists(), FileSystemRoom::of(&context.root)) {
        Scale::fitting(parameters, room).map_err(|needed| no_room(room, needed))?;
    }
    Ok(timed(context, |checker| {
        let pass = Pass {
            context,
            scale: Scale::read(parameters, &base, checker)?,
            base,
        };
        pass.verify(checker)
    })?)
}

fn no_room(room: FileSystemRoom, needed: Bytes) -> RunError {
    RunError::Impossible(format!(
        "{} are free, and the smallest tree takes about {needed}",
        Bytes(room.available_bytes)
    ))
}

/// One pass over the tree.
struct Pass<'a> {
    context: &'a RunContext,
    base: PathBuf,
    scale: Scale,
}

impl Pass<'_> {
    fn exercise(&self, checker: &mut CheckContext) -> Result<(), ConformanceFailure> {
        let abilities = self.survey(checker)?;
        add_notes(&abilities, checker);
        self.scale.note(checker);
        let made = std::fs::create_dir(&self.base);
        checker.must("create", &self.base, made)?;
        let tree = self.play(&abilities, Some(checker))?;
        Semantics {
            folder: &sibling(&self.base, "manners"),
            abilities: &abilities,
            files: self.scale.files,
            bytes: self.scale.largest,
            checker,
        }
        .run()?;
        checker.must("sync", &self.base, sync_file_system(&self.base))?;
        self.audit(&tree, &abilities, checker)
    }

    fn verify(&self, checker: &mut CheckContext) -> Result<(), ConformanceFailure> {
        let abilities = self.survey(checker)?;
        let tree = self.play(&abilities, None)?;
        self.audit(&tree, &abilities, checker)
    }

    fn survey(&self, checker: &mut CheckContext) -> Result<Abilities, ConformanceFailure> {
        let folder = sibling(&self.base, "survey");
        Survey::run(&folder, self.context.promises.as_ref(), checker)
    }

    /// Executes the script, on the disk if there is a checker for it.
    fn play(
        &self,
        abilities: &Abilities,
        disk: Option<&mut CheckContext>,
    ) -> Result<Tree, ConformanceFailure> {
        let (scale, seed) = (self.scale, self.context.seed);
        let mut executor = Executor::new(self.base.clone(), seed, disk);
        executor.make_directory(&scale.marker())?;
        let data = PathBuf::from("data");
        executor.make_directory(&data)?;
        executor.write(data_script::plans(&data, scale, seed, abilities))?;
        NameScript {
            executor: &mut executor,
            abilities,
            scale,
            draw: CounterRandom::counter(seed, 3_000),
        }
        .play()?;
        Ok(executor.into_tree())
    }

    fn audit(
        &self,
        tree: &Tree,
        abilities: &Abilities,
        checker: &mut CheckContext,
    ) -> Result<(), ConformanceFailure> {
        Audit {
            base: &self.base,
            tree,
            abilities,
            checker,
            special: SpecialBits::default(),
        }
        .run()
    }
}

/// Notes the capabilities that are missing and thus not exercised.
fn add_notes(abilities: &Abilities, checker: &mut CheckContext) {
    if !abilities.wide_names {
        checker.note("names beyond ASCII are not kept byte for byte: only ASCII names were made");
    }
    let without = [
        (abilities.permissions, "permissions"),
        (abilities.symlinks, "symbolic links"),
        (abilities.hard_links, "hard links"),
        (abilities.attributes, "extended attributes"),
    ];
    let missing: Vec<_> = without
        .iter()
        .filter(|(has, _)| !has)
        .map(|(_, what)| *what)
        .collect();
    if !missing.is_empty() {
        checker.note(format!(
            "it has no {}: not exercised",
            missing.join(", no ")
        ));
    }
}

fn sibling(base: &std::path::Path, what: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(".");
    name.push(what);
    name.into()
}

/// Runs and times `work`.
pub(crate) fn timed(
    context: &RunContext,
    work: impl FnOnce(&mut CheckContext) -> Result<(), ConformanceFailure>,
) -> Result<Finished, ConformanceFailure> {
    let mut checker = CheckContext::new(context.stop.clone());
    let (start_ns, used) = (fslab_sys::monotonic_ns(), ResourceUse::of_process());
    work(&mut checker)?;
    let elapsed_ns = fslab_sys::monotonic_ns() - start_ns;
    let used = ResourceUse::of_process().since(used);
    let measured = Measured {
        start_ns,
        cpu: Some(cpu_use(used)),
        ..measured(elapsed_ns, checker.checks, Some(checker.bytes))
    };
    Ok(Finished {
        notes: checker.notes,
        ..measured.into()
    })
}

pub(crate) fn synthetic_suite(seed: u64, parameters: &TreeParameters) -> Finished {
    let checks = 10 * parameters.files.max(1);
    synthetic(seed, checks, 4 * parameters.largest.bytes().max(1))
}

/// The result of the null engine.
pub(crate) fn synthetic(seed: u64, checks: u64, bytes: u64) -> Finished {
    let draw = mix(seed, checks);
    synthetic_result(draw, SyntheticCost::CALL, checks, Some(bytes)).into()
}

#[cfg(test)]
mod tests {
    use fslab_sys::os::PermissionsExt;
    use std::fs;
    use std::path::Path;

    use fslab_job::Job;
    use fslab_model::{Capabilities, CaseRule, Failure, FailureKind};

    use super::*;

    fn parameters() -> TreeParameters {
        let mut parameters = TreeParameters {
            files: 40,
            ..TreeParameters::default()
        };
        parameters.resolve(Bytes::mib(4)).expect("resolves");
        parameters
    }

    fn context(root: &Path, seed: u64) -> RunContext {
        RunContext::new(EngineKind::Psync, root, seed)
    }

    fn failure(error: RunError) -> Failure {
        error.into()
    }

    /// The failure of `verify` after `change` of an intact tree.
    fn found_after(change: impl FnOnce(&Path)) -> (FailureKind, String) {
        let folder = tempfile::tempdir().expect("a directory");
        let context = context(folder.path(), 7);
        exercise(&parameters(), &context).expect("the machine's own file system passes");
        verify(&parameters(), &context).expect("and is the same afterwards");
        change(&folder.path().join("conformance"));
        let failure = failure(verify(&parameters(), &context).expect_err("must be found"));
        (failure.kind, failure.message)
    }

    #[test]
    fn a_changed_byte_is_found_with_its_offset() {
        let (kind, text) = found_after(|base| {
            let path = base.join("data/largest");
            let mut data = fs::read(&path).expect("reads");
            data[70_001] ^= 1;
            fs::write(&path, data).expect("writes");
        });
        assert_eq!(kind, FailureKind::Corrupt);
        assert!(
            text.contains("data/largest") && text.contains("70001"),
            "{text}"
        );
    }

    #[test]
    fn a_lost_tail_a_lost_name_and_an_unexpected_one_are_found() {
        let (_, text) = found_after(|base| {
            let file = fs::File::options()
                .write(true)
                .open(base.join("data/appended"))
                .expect("opens");
            file.set_len(100).expect("cuts");
        });
        assert!(text.contains("data/appended has 100 bytes"), "{text}");
        let (_, text) = found_after(|base| {
            fs::remove_file(base.join("many/file-000001")).expect("removes");
        });
        assert!(
            text.contains("lacks") && text.contains("file-000001"),
            "{text}"
        );
        let (_, text) = found_after(|base| {
            fs::write(base.join("deep/d0/stranger"), b"").expect("writes");
        });
        assert!(text.contains("stranger"), "{text}");
    }

    #[test]
    fn a_mode_and_a_time_that_changed_are_found() {
        let (_, text) = found_after(|base| {
            let mode = fs::Permissions::from_mode(0o666);
            fs::set_permissions(base.join("modes/mode-644"), mode).expect("changes");
        });
        assert!(text.contains("666, not 644"), "{text}");
        let (_, text) = found_after(|base| {
            let file = fs::File::options()
                .write(true)
                .open(base.join("times/at-1000000000"))
                .expect("opens");
            file.set_modified(std::time::SystemTime::now())
                .expect("changes");
        });
        assert!(text.contains("not 1000000000 s"), "{text}");
    }

    #[test]
    fn the_tree_of_another_seed_fails_the_comparison() {
        let folder = tempfile::tempdir().expect("a directory");
        exercise(&parameters(), &context(folder.path(), 7)).expect("passes");
        let other = verify(&parameters(), &context(folder.path(), 8)).expect_err("another seed");
        assert_eq!(failure(other).kind, FailureKind::Corrupt);
    }

    #[test]
    fn an_entry_that_is_wrong_in_either_direction_is_an_error_before_the_tree_is_created() {
        let right = Capabilities {
            hard_links_max: 65_000,
            extended_attributes: true,
            file_bytes_max: Bytes(u64::MAX),
            ..Capabilities::POSIX
        };
        for (wrong, word) in [
            (
                Capabilities {
                    symlinks: false,
                    ..right
                },
                "understates: it denies symbolic links",
            ),
            (
                Capabilities {
                    hard_links_max: 10,
                    ..right
                },
                "at most 10 names",
            ),
            (
                Capabilities {
                    case: CaseRule::Preserving,
                    ..right
                },
                "two files",
            ),
            (
                Capabilities {
                    name_bytes_max: 256,
                    ..right
                },
                "up to 256 bytes",
            ),
            (
                Capabilities {
                    name_bytes_max: 100,
                    ..right
                },
                "names have at most 100 bytes",
            ),
        ] {
            let folder = tempfile::tempdir().expect("a directory");
            let context = RunContext {
                promises: Some(wrong),
                ..context(folder.path(), 1)
            };
            let failure = failure(exercise(&parameters(), &context).expect_err(word));
            assert_eq!(failure.kind, FailureKind::Check, "{failure}");
            assert!(failure.message.contains(word), "{failure}");
            assert!(!folder.path().join("conformance").exists());
        }
    }

    #[test]
    fn a_suite_stops_on_request() {
        let folder = tempfile::tempdir().expect("a directory");
        let context = context(folder.path(), 1);
        context.stop.raise();
        let stopped = exercise(&parameters(), &context).expect_err("stopped");
        assert_eq!(failure(stopped).kind, FailureKind::Interrupted);
    }
}
