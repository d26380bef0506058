//! The peers: the programs that fslab is measured against, and where each is.

use std::path::PathBuf;
use std::str::FromStr;

use super::{Bonnie, Contender, Elbencho, Fio, FsMark, Mdtest, Sysbench};

/// The names of all peers, which are those of their programs.
const NAMES: [&str; 6] = [
    "fio", "sysbench", "bonnie++", "fs_mark", "mdtest", "elbencho",
];

/// A peer's program as the user names it: `NAME=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeerFile {
    name: &'static str,
    file: PathBuf,
}

impl FromStr for PeerFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = text
            .split_once('=')
            .ok_or_else(|| format!("'{text}' is not NAME=FILE"))?;
        let known = NAMES.into_iter().find(|known| *known == name);
        let name = known
            .ok_or_else(|| format!("there is no peer '{name}'; there are {}", NAMES.join(", ")))?;
        // Absolute: commands are started elsewhere.
        let file =
            std::fs::canonicalize(file).map_err(|error| format!("cannot find {file}: {error}"))?;
        Ok(Self { name, file })
    }
}

/// Every peer, with its program in `files` or, if it is not there, in PATH. `in_memory` says
/// whether the place is in memory.
pub(crate) fn peers(files: &[PeerFile], in_memory: bool) -> Vec<Box<dyn Contender>> {
    let [fio, sysbench, bonnie, fs_mark, mdtest, elbencho] = NAMES.map(|name| {
        let named = files.iter().rfind(|it| it.name == name);
        named.map_or_else(|| name.into(), |it| it.file.clone())
    });
    vec![
        Box::new(Fio { program: fio }),
        Box::new(Sysbench { program: sysbench }),
        Box::new(Bonnie {
            program: bonnie,
            in_memory,
        }),
        Box::new(FsMark { program: fs_mark }),
        Box::new(Mdtest { program: mdtest }),
        Box::new(Elbencho { program: elbencho }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_has_the_name_by_which_its_program_is_given() {
        let all = peers(&[], true);
        let names: Vec<_> = all.iter().map(|peer| peer.name()).collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn a_program_is_that_of_the_user_and_else_that_in_the_path() {
        let named: PeerFile = "fs_mark=/bin/false".parse().expect("a peer");
        let version = |files: &[PeerFile]| peers(files, true)[3].version();
        assert_eq!(version(&[named]).map(|_| ()), Ok(()), "/bin/false starts");
        let missing = PeerFile {
            name: "fs_mark",
            file: "/no/such/program".into(),
        };
        let why = version(&[missing]).expect_err("it is not there");
        assert!(why.contains("/no/such/program"), "{why}");
    }

    #[test]
    fn an_unknown_peer_a_missing_file_and_a_missing_sign_are_refused() {
        let refused = |text: &str| text.parse::<PeerFile>().expect_err("is refused");
        assert!(refused("iozone=/bin/true").contains("there are fio, sysbench"));
        assert!(refused("fio=/no/such/file").contains("/no/such/file"));
        assert!(refused("fio").contains("NAME=FILE"));
    }
}
