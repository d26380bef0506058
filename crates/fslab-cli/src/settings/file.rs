//! The configuration file: keys are options, tables are commands.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use fslab_model::{Failure, FailureKind, TomlError, from_toml, nearest_name};
use fslab_sys::TrustedFolder;
use toml::{Table, Value};

use super::options::{Kind, Known, Options, Refusal};
use super::setting::{Origin, Setting};

/// The most bytes of a configuration file.
const BYTES_MAX: u64 = 1 << 18;

/// The settings in the file at `path`; `None` if there is no such file. It must belong to this user
/// or root, in directories that no other user may write to.
///
/// # Errors
/// A file that cannot be read or is not trusted; an unknown key, with line, column and the nearest
/// one; a value of another type.
pub(super) fn read(path: &Path, options: &Options) -> Result<Option<Vec<Setting>>, Failure> {
    let failed = |error: &std::io::Error| {
        let (kind, hint) = match error.kind() {
            ErrorKind::PermissionDenied => (
                FailureKind::Permission,
                "run chmod go-w on it and its directories, or ignore it with --no-config",
            ),
            _ => (FailureKind::BadInput, "use --no-config to ignore it"),
        };
        Failure::at(kind, "read the configuration file", path, error).hint(hint)
    };
    // A link is followed, as users keep such files in other directories.
    let file = match fs::canonicalize(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        found => found.map_err(|error| failed(&error))?,
    };
    let folder = file.parent().unwrap_or(Path::new("/"));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let opened = TrustedFolder::open(folder).and_then(|folder| folder.open_file_to_read(&name));
    let mut text = String::new();
    let opened = opened.map_err(|error| failed(&error))?;
    let read = opened.take(BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| failed(&error))?;
    if text.len() as u64 > BYTES_MAX {
        let text = format!(
            "the configuration file {} has more than {} KiB",
            path.display(),
            BYTES_MAX >> 10
        );
        return Err(Failure::new(FailureKind::BadInput, text).hint("use --no-config to ignore it"));
    }
    let settings = parse(&text, options)
        .map_err(|error| Failure::of_toml(format!("cannot use {}", path.display()), error));
    settings.map(Some)
}

/// The settings in `text`, in its order.
fn parse(text: &str, options: &Options) -> Result<Vec<Setting>, TomlError> {
    let table: Table = from_toml(text)?;
    let mut settings = Vec::new();
    for (key, value) in &table {
        match value {
            Value::Table(table) => {
                if !options.has_command(key) {
                    return Err(unknown_command(key, options).located(text));
                }
                for (option, value) in table {
                    let path = [key.as_str(), option];
                    let known = options.of_table(key, option);
                    settings.push(setting(text, &path, known, value)?);
                }
            }
            value => settings.push(setting(text, &[key], options.of_all(key), value)?),
        }
    }
    settings.sort_by_key(|setting| match setting.origin {
        Origin::Line(line) => line,
        Origin::Variable(_) => 0,
    });
    Ok(settings)
}

/// The setting at `path`: an option, or a command and an option.
fn setting(
    text: &str,
    path: &[&str],
    known: Result<&Known, Refusal>,
    value: &Value,
) -> Result<Setting, TomlError> {
    let at = |problem: String| TomlError::new(path.iter().copied(), problem).located(text);
    let known = known.map_err(|refusal| TomlError {
        hint: refusal.hint,
        ..at(refusal.problem)
    })?;
    let values = values(known.kind, value).map_err(|wanted| at(wanted.to_owned()))?;
    let line = at(String::new())
        .position
        .map_or(0, |position| position.line);
    Ok(Setting {
        command: (path.len() > 1).then(|| path[0].to_owned()),
        option: known.name.clone(),
        values,
        origin: Origin::Line(line),
    })
}

/// The words that a value stands for, or what it must be.
fn values(kind: Kind, value: &Value) -> Result<Vec<String>, &'static str> {
    let word = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        _ => None,
    };
    match (kind, value) {
        (Kind::Switch, Value::Boolean(is_on)) => Ok(vec![is_on.to_string()]),
        (Kind::Switch, _) => Err("must be true or false"),
        (Kind::List, Value::Array(values)) => {
            let words = values.iter().map(word).collect::<Option<_>>();
            words.ok_or("must be a list of strings or numbers")
        }
        (_, value) => {
            let word = word(value).map(|word| vec![word]);
            word.ok_or("must be a string or a number")
        }
    }
}

fn unknown_command(name: &str, options: &Options) -> TomlError {
    let commands = options.commands();
    let nearest = nearest_name(name, commands.iter().copied());
    let below: Vec<_> = commands
        .iter()
        .filter(|command| {
            command
                .strip_prefix(name)
                .is_some_and(|it| it.starts_with(' '))
        })
        .map(|command| format!("[\"{command}\"]"))
        .collect();
    let hint = match nearest {
        _ if !below.is_empty() => format!("its commands have options: {}", below.join(", ")),
        Some(nearest) => format!("did you mean [{}]?", quoted(nearest)),
        None => "name each table after a command, for example [compare] or [\"lab build\"]".into(),
    };
    TomlError {
        hint: Some(hint),
        ..TomlError::new([name], "there is no command of this name with options")
    }
}

/// A command's name as a key of TOML.
fn quoted(command: &str) -> String {
    match command.contains(' ') {
        true => format!("\"{command}\""),
        false => command.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn settings(text: &str) -> Result<Vec<Setting>, TomlError> {
        parse(text, &Options::of(&crate::Cli::command()))
    }

    #[track_caller]
    fn refused(text: &str, message: &str, hint: &str) {
        let error = settings(text).expect_err("refused");
        assert!(error.to_string().starts_with(message), "{error}");
        let found = error.hint.unwrap_or_default();
        assert!(found.contains(hint), "{found}");
    }

    #[test]
    fn keys_are_options_and_tables_are_commands() {
        let text = "quiet = true\nvenue = 'sim'\n\n[compare]\nsize = '1GiB'\nseed = 7\n\
                    set = ['repeats=5']\n\n['lab build']\njobs = 2\n";
        let found = settings(text).expect("settings");
        let shown: Vec<_> = found
            .iter()
            .map(|it| {
                let command = it.command.as_deref().unwrap_or("*");
                format!(
                    "{command} {} {} {}",
                    it.option,
                    it.values.join(","),
                    it.origin
                )
            })
            .collect();
        let expected = [
            "* quiet true line 1",
            "* venue sim line 2",
            "compare size 1GiB line 5",
            "compare seed 7 line 6",
            "compare set repeats=5 line 7",
            "lab build jobs 2 line 10",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn an_unknown_key_is_named_with_line_column_and_the_nearest_one() {
        refused(
            "[compare]\n  sise = 1\n",
            "line 2, column 3: compare.sise",
            "'size'",
        );
        refused(
            "stoer = 'x'\n",
            "line 1, column 1: stoer: unknown option",
            "'store'",
        );
        refused(
            "\n[comapre]\nsize = 1\n",
            "line 2, column 2: comapre",
            "[compare]",
        );
        refused(
            "[lab]\njobs = 1\n",
            "line 1, column 2: lab",
            "[\"lab build\"]",
        );
        refused("[trial]\nx = 1\n", "line 1, column 2: trial", "");
    }

    #[test]
    fn a_permission_and_a_value_of_another_type_are_refused() {
        let permission = "line 2, column 1: run.allow-commands: --allow-commands is a permission";
        refused("[run]\nallow-commands = true\n", permission, "give it");
        refused(
            "destroy = '/dev/sdb'\n",
            "line 1, column 1: destroy",
            "give it",
        );
        refused(
            "quiet = 'yes'\n",
            "line 1, column 1: quiet: must be true or false",
            "",
        );
        refused(
            "venue = ['sim']\n",
            "line 1, column 1: venue: must be a string",
            "",
        );
        refused(
            "[compare]\nkey = [{}]\n",
            "line 2, column 1: compare.key: must be a list",
            "",
        );
    }

    #[test]
    fn a_missing_file_has_no_settings_and_one_that_others_may_write_is_refused() {
        use fslab_sys::os::PermissionsExt;
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("config.toml");
        let options = Options::of(&crate::Cli::command());
        assert_eq!(read(&path, &options).expect("none"), None);
        fs::write(&path, "quiet = true\n").expect("written");
        let set_mode = |mode| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
        };
        set_mode(0o644);
        assert_eq!(
            read(&path, &options).expect("read").map(|it| it.len()),
            Some(1)
        );
        set_mode(0o666);
        let failure = read(&path, &options).expect_err("others may write it");
        assert_eq!(failure.kind, FailureKind::Permission);
        assert!(failure.hint.expect("a hint").contains("--no-config"));
    }
}
