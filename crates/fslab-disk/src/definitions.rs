//! Definitions by name: built-in ones and the user's files.

use std::path::Path;

use fslab_model::{Failure, FailureKind, TomlError, did_you_mean, nearest_name};

/// The definitions of one kind.
pub(crate) struct Definitions<T: 'static> {
    /// The kind, for messages: `machine`.
    pub(crate) what: &'static str,
    /// The command that lists them: `fslab machine list`.
    pub(crate) list: &'static str,
    /// Names and texts of the built-in ones.
    pub(crate) built_in: &'static [(&'static str, &'static str)],
    /// Largest file.
    pub(crate) bytes_max: u64,
    pub(crate) parse: fn(&str) -> Result<T, TomlError>,
}

/// The names and texts of files in a directory of the repository.
macro_rules! built_in {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../../", $folder, "/", $name, ".toml"
            )),
        )),*]
    };
}
pub(crate) use built_in;

/// True for the path of a file, false for a name.
pub(crate) fn is_path(name_or_path: &str) -> bool {
    name_or_path.contains('/') || name_or_path.ends_with(".toml")
}

impl<T> Definitions<T> {
    /// The names of the built-in ones.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<T> {
        self.built_in.iter().map(|(name, _)| *name)
    }

    /// The built-in ones.
    pub(crate) fn all(&self) -> Vec<T> {
        let all = self.built_in.iter();
        all.map(|(name, text)| self.parse_built_in(name, text))
            .collect()
    }

    fn parse_built_in(&self, name: &str, text: &str) -> T {
        match (self.parse)(text) {
            Ok(definition) => definition,
            Err(fault) => panic!("the built-in {} {name} is invalid: {fault}", self.what),
        }
    }

    /// The one of that name, or of that file if the text has a `/` or ends in `.toml`. A name never
    /// refers to a file, so that a file of that name in the working directory changes nothing.
    pub(crate) fn find(&self, name_or_path: &str) -> Result<T, Failure> {
        if is_path(name_or_path) {
            return self.read(Path::new(name_or_path));
        }
        let found = self.built_in.iter().find(|(name, _)| *name == name_or_path);
        let (name, text) = found.ok_or_else(|| {
            let (what, list) = (self.what, self.list);
            let failure = Failure::bad_input(format!("there is no {what} '{name_or_path}'"));
            failure.hint(match nearest_name(name_or_path, self.names()) {
                Some(nearest) => did_you_mean(nearest),
                None => {
                    format!("{list} shows each {what}; name a file by its path, such as ./my.toml")
                }
            })
        })?;
        Ok(self.parse_built_in(name, text))
    }

    /// The one of a file.
    pub(crate) fn read(&self, path: &Path) -> Result<T, Failure> {
        let what = self.what;
        let text = fslab_sys::read_text_file(path, self.bytes_max).map_err(|error| {
            let operation = format!("read the {what}");
            Failure::of_file(FailureKind::BadInput, &operation, path, &error)
        })?;
        (self.parse)(&text).map_err(|error| {
            Failure::of_toml(format!("cannot use the {what} {}", path.display()), error)
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The names of the files in a directory of the repository, in order.
    pub(crate) fn files_of(folder: &str) -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(folder);
        let files = std::fs::read_dir(folder).expect("the directory");
        let mut files: Vec<_> = files
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        files
    }

    /// The names of definitions, in order.
    pub(crate) fn sorted(names: impl Iterator<Item = &'static str>) -> Vec<String> {
        let mut names: Vec<_> = names.map(str::to_owned).collect();
        names.sort();
        names
    }
}
