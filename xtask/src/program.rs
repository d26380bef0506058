//! Runs programs; an error has the command and what it wrote.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `command`, whose output the user sees.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let shown = shown(command);
    let status = command.stdin(Stdio::null()).status();
    let status = status.map_err(|error| format!("cannot start {shown}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{shown} ended with {status}")),
    }
}

/// Runs `command` and returns its standard output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let shown = shown(command);
    let ended = command.stdin(Stdio::null()).output();
    let ended = ended.map_err(|error| format!("cannot start {shown}: {error}"))?;
    if ended.status.success() {
        return Ok(ended.stdout);
    }
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    let last = said.lines().last().unwrap_or_default();
    Err(format!("{shown} ended with {}: {last}", ended.status))
}

/// The same as text, without the line feed at its end.
pub(crate) fn text(command: &mut Command) -> Result<String, String> {
    let output = output(command)?;
    let text = String::from_utf8(output).map_err(|_| format!("{} wrote no text", shown(command)));
    text.map(|text| text.trim_end().to_owned())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Writes a file, with the directories that it lies in.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        make(folder)?;
    }
    std::fs::write(path, content)
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Makes a directory, with those that it lies in.
pub(crate) fn make(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))
}
