//! The registry of machines: built-in ones and the user's files.

use fslab_model::Failure;

use super::Machine;
use crate::definitions::{Definitions, built_in};
use crate::registry;

/// By age.
static MACHINES: Definitions<Machine> = Definitions {
    what: "machine",
    list: "fslab machine list",
    built_in: built_in!["machines":
        "pc-2002",
        "pc-2010",
        "server-2012",
        "pc-2015",
        "laptop-2016",
        "pc-2024",
    ],
    // Built-in ones have less than 1 KiB.
    bytes_max: 64 << 10,
    parse: Machine::from_toml,
};

/// The names of all built-in machines.
pub fn names() -> impl Iterator<Item = &'static str> {
    MACHINES.names()
}

/// All built-in machines.
pub fn all() -> Vec<Machine> {
    MACHINES.all()
}

/// The machine of that name, or of that file if the text has a `/` or ends in `.toml`.
///
/// # Errors
/// No such machine or disk, or an unreadable or invalid file.
pub fn find(name_or_path: &str) -> Result<Machine, Failure> {
    let machine = MACHINES.find(name_or_path)?;
    registry::find(&machine.disk.profile)?;
    Ok(machine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::tests::{files_of, sorted};

    #[test]
    fn every_machine_has_the_name_of_its_file_and_a_disk_that_is_there() {
        for name in names() {
            assert_eq!(find(name).expect("valid").name, name);
        }
        assert_eq!(files_of("machines"), sorted(names()));
    }

    #[test]
    fn a_machine_is_the_same_after_it_was_written_as_toml() {
        for machine in all() {
            let read = Machine::from_toml(&machine.to_toml());
            assert_eq!(read.expect("valid"), machine);
        }
    }

    #[test]
    fn an_unknown_machine_is_refused_with_the_nearest_name() {
        let error = find("server-2013").expect_err("refused");
        assert!(error.to_string().contains("'server-2013'"), "{error}");
        assert_eq!(error.hint.as_deref(), Some("did you mean 'server-2012'?"));
    }
}
