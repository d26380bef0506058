//! The registry of machines: built-in ones and the user's files.

use std::path::Path;

use fslab_model::nearest_name;

use super::Machine;
use crate::error::DiskError;
use crate::registry;

/// Largest file of a machine; built-in ones have less than 1 KiB.
const MACHINE_BYTES_MAX: u64 = 64 << 10;

/// The names and texts of files in `machines/`.
macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        [$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/", $name, ".toml")),
        )),*]
    };
}

/// The built-in machines, by age.
static BUILT_IN: [(&str, &str); 6] = built_in![
    "pc-2002",
    "pc-2010",
    "server-2012",
    "pc-2015",
    "laptop-2016",
    "pc-2024",
];

/// The names of all built-in machines.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// All built-in machines.
#[must_use]
pub fn all() -> Vec<Machine> {
    BUILT_IN
        .iter()
        .map(|(name, text)| built_in(name, text))
        .collect()
}

fn built_in(name: &str, text: &str) -> Machine {
    match Machine::from_toml(text) {
        Ok(machine) => machine,
        Err(fault) => panic!("the built-in machine {name} is invalid: {fault}"),
    }
}

/// The machine of that name, or of that file if the text has a `/` or ends in `.toml`.
///
/// # Errors
/// [`DiskError`]: no such machine or disk, or an unreadable or invalid file.
pub fn find(name_or_path: &str) -> Result<Machine, DiskError> {
    let machine = if name_or_path.contains('/') || name_or_path.ends_with(".toml") {
        read(Path::new(name_or_path))?
    } else {
        let found = BUILT_IN.iter().find(|(name, _)| *name == name_or_path);
        let (name, text) = found.ok_or_else(|| DiskError::NoMachine {
            name: name_or_path.to_owned(),
            nearest: nearest_name(name_or_path, names()),
        })?;
        built_in(name, text)
    };
    registry::find(&machine.disk.profile)?;
    Ok(machine)
}

fn read(path: &Path) -> Result<Machine, DiskError> {
    let text =
        fslab_sys::read_text_file(path, MACHINE_BYTES_MAX).map_err(|source| DiskError::Read {
            what: "machine",
            path: path.to_owned(),
            source,
        })?;
    Machine::from_toml(&text).map_err(|source| DiskError::Invalid {
        what: "machine",
        file: path.display().to_string(),
        source: Box::new(source),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_the_name_of_its_file_and_a_disk_that_is_there() {
        for name in names() {
            assert_eq!(find(name).expect("valid").name, name);
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines");
        let files = std::fs::read_dir(folder).expect("the machines");
        let files = files.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let files = files.filter(|name| name.ends_with(".toml")).count();
        assert_eq!(files, BUILT_IN.len());
    }

    #[test]
    fn an_unknown_machine_is_refused_with_the_nearest_name() {
        let error = find("server-2013").expect_err("refused");
        assert!(error.to_string().contains("'server-2013'"), "{error}");
        assert_eq!(error.hint().as_deref(), Some("did you mean 'server-2012'?"));
    }
}
