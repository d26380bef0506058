//! Drafts of layers: their contents, before they are written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fslab_model::{Brings, Bytes, INPUTS_FOLDER, InputPlace, ProgramNeed, input_path};

use super::contents::{BaseRoot, Contents};
use super::places::ensure_visible;
use super::search::{Found, search};
use crate::LabError;
use crate::packages::Packages;
use crate::root::loader_cache;

/// The layer with the user's files.
const INPUTS: &str = "inputs";
/// The layer with the loader's cache, which lists all libraries.
const LOADER: &str = "loader";
const LOADER_CACHE: &str = "/etc/ld.so.cache";
/// Guest directories that the loader searches.
const LIBRARY_FOLDERS: [&str; 2] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib"];

/// The files and programs that a workload needs in a guest.
#[derive(Clone, Debug)]
pub struct LayerRequest {
    /// The layer's name: the workload's name.
    pub name: String,
    /// What it needs.
    pub brings: Brings,
}

/// A layer that has not been written.
#[derive(Debug)]
pub struct Draft {
    pub(super) name: String,
    pub(super) contents: Contents,
    pub(super) programs: BTreeMap<String, PathBuf>,
    pub(super) packages: BTreeMap<String, String>,
    /// Files whose digest the plan fixes: path on this machine and digest, by guest path.
    pub(super) expected: BTreeMap<PathBuf, (PathBuf, String)>,
}

/// The layers for `requests` over the root image `base`, topmost first: the loader's, the inputs,
/// and one for each request with programs. Nothing is written.
pub fn drafts(requests: &[LayerRequest], base: &BaseRoot) -> Result<Vec<Draft>, LabError> {
    let mut drafts = Vec::new();
    let with_programs: Vec<_> = requests
        .iter()
        .filter(|request| !request.brings.programs.is_empty())
        .collect();
    if !with_programs.is_empty() {
        let packages = Packages::read()?;
        for LayerRequest { name, brings } in with_programs {
            drafts.push(of_programs(name, &brings.programs, &packages, base)?);
        }
        drafts.insert(0, of_loader(&drafts, base));
    }
    let files: BTreeMap<_, _> = requests
        .iter()
        .flat_map(|request| request.brings.files.clone())
        .collect();
    if !files.is_empty() {
        drafts.insert(0, of_inputs(&files, base)?);
    }
    for draft in &drafts {
        draft.contents.ensure_size(&draft.name)?;
    }
    Ok(drafts)
}

fn of_programs(
    name: &str,
    programs: &BTreeMap<String, ProgramNeed>,
    packages: &Packages,
    base: &BaseRoot,
) -> Result<Draft, LabError> {
    let Found {
        programs,
        packages,
        paths,
    } = search(name, programs, packages)?;
    Ok(Draft {
        name: name.to_owned(),
        contents: Contents::of(&paths)?.without(name, base)?,
        programs,
        packages,
        expected: BTreeMap::new(),
    })
}

/// The loader's cache for root image and layers. Without it the loader searches directories
/// specific to the CPU first, and these differ between machines.
fn of_loader(drafts: &[Draft], base: &BaseRoot) -> Draft {
    let of_base = base.files.keys().map(PathBuf::as_path);
    let of_layers = drafts.iter().flat_map(|draft| draft.contents.names());
    let mut libraries = BTreeMap::new();
    // As in the loader, the first directory with a library of that name wins.
    let all: BTreeSet<&Path> = of_base.chain(of_layers).collect();
    for folder in LIBRARY_FOLDERS {
        for path in all
            .iter()
            .filter(|it| it.parent() == Some(Path::new(folder)))
        {
            let name = path.file_name().and_then(|name| name.to_str());
            let (Some(name), Some(path)) = (name, path.to_str()) else {
                continue;
            };
            if name.contains(".so.") || name.ends_with(".so") {
                let entry = libraries.entry(name.to_owned());
                entry.or_insert_with(|| path.to_owned());
            }
        }
    }
    let mut contents = Contents::default();
    contents.add_bytes(LOADER_CACHE.into(), loader_cache(&libraries));
    Draft {
        name: LOADER.to_owned(),
        contents,
        programs: BTreeMap::new(),
        packages: BTreeMap::new(),
        expected: BTreeMap::new(),
    }
}

fn of_inputs(files: &BTreeMap<PathBuf, InputPlace>, base: &BaseRoot) -> Result<Draft, LabError> {
    let mut contents = Contents::default();
    let mut expected = BTreeMap::new();
    for (path, place) in files {
        let found = path
            .metadata()
            .map_err(|error| LabError::bad_input(path, error))?;
        if !found.is_file() {
            return Err(LabError::bad_input(path, "it is not a regular file").into());
        }
        let guest = match place {
            InputPlace::Content { sha256 } => {
                let guest = input_path(sha256).ok_or_else(|| {
                    LabError::bad_input(path, "it could not be read when the run was planned")
                })?;
                expected.insert(guest.clone(), (path.clone(), sha256.clone()));
                guest
            }
            InputPlace::SamePath => {
                ensure_visible(path)?;
                super::places::guest_path(path)
            }
        };
        if base.files.contains_key(&guest) {
            let reason = "the guest's own root has a file of that name";
            return Err(LabError::bad_input(path, reason)
                .hint(super::places::ELSEWHERE)
                .into());
        }
        contents.add_file(path, guest, &found);
    }
    debug_assert!(expected.keys().all(|path| path.starts_with(INPUTS_FOLDER)));
    Ok(Draft {
        name: INPUTS.to_owned(),
        contents,
        programs: BTreeMap::new(),
        packages: BTreeMap::new(),
        expected,
    })
}

impl Draft {
    /// The layer's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Total size of its files.
    pub fn bytes(&self) -> Bytes {
        self.contents.bytes()
    }

    /// Number of its paths.
    pub fn names(&self) -> usize {
        self.contents.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::samples::visible_folder;

    fn inputs(path: &Path, place: InputPlace) -> Result<Vec<Draft>, LabError> {
        let brings = Brings::default().with_file(path.to_owned(), place);
        let name = "replay".to_owned();
        drafts(&[LayerRequest { name, brings }], &BaseRoot::default())
    }

    #[test]
    fn a_file_is_stored_by_its_digest_or_at_its_path_if_a_guest_can_see_that() {
        let hidden = tempfile::NamedTempFile::new_in("/tmp").expect("a file");
        let sha256 = "ab".repeat(32);
        let place = InputPlace::Content {
            sha256: sha256.clone(),
        };
        let found = inputs(hidden.path(), place).expect("brought");
        let [draft] = &found[..] else {
            panic!("one layer")
        };
        assert_eq!(draft.name(), "inputs");
        let names: Vec<_> = draft.contents.names().collect();
        assert_eq!(names, [Path::new(INPUTS_FOLDER).join(&sha256)]);
        let refused = inputs(hidden.path(), InputPlace::SamePath).expect_err("is hidden");
        assert!(refused.to_string().contains("/tmp"), "{refused}");
        let folder = visible_folder();
        let seen = folder.path().join("x");
        std::fs::write(&seen, "x").expect("written");
        let found = inputs(&seen, InputPlace::SamePath).expect("brought");
        assert_eq!(found[0].contents.names().next(), Some(seen.as_path()));
        for gone in [folder.path().join("gone"), folder.path().to_owned()] {
            assert!(inputs(&gone, InputPlace::SamePath).is_err());
        }
    }

    #[test]
    fn layers_with_programs_have_a_loader_cache() {
        let brings = Brings::default().with_required(&[("sh", "dash")]);
        let name = "command".to_owned();
        let base = BaseRoot {
            files: BTreeMap::from([("/usr/lib/x86_64-linux-gnu/libbase.so.1".into(), "00".into())]),
        };
        let found = drafts(&[LayerRequest { name, brings }], &base).expect("drafts");
        let names: Vec<_> = found.iter().map(Draft::name).collect();
        assert_eq!(names, ["loader", "command"]);
        let cache = found[0].contents.tree().expect("a tree");
        let Some(crate::Node::File { source, .. }) = cache.get(Path::new(LOADER_CACHE)) else {
            panic!("a file")
        };
        let crate::FileSource::Bytes(bytes) = source else {
            panic!("ours")
        };
        let text = String::from_utf8_lossy(bytes);
        assert!(
            text.contains("libbase.so.1") && text.contains("libc.so.6"),
            "{text}"
        );
        assert!(found[1].programs.contains_key("sh"));
    }
}
