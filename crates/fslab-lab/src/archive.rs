//! Export and import of a lab: one tar file with its parts, byte-identical for the same lab.
//!
//! An imported archive is not trusted: only the files of a lab are read, six or, of a PC, eight, in
//! their order and within their size limits, into a temporary directory that joins the cache after
//! all digests have been verified. Nothing in it is executed.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use fslab_sys::AtomicFile;

use super::assembly_dir::AssemblyDir;
use crate::kernel::{self, Kernel};
use crate::key::{key_of, sha256_of};
use crate::lab::{IMAGE, LAB, LabFacts, ROOT};
use crate::lock::BuildLock;
use crate::members::{self, Member};
use crate::{Cache, KernelName, Lab, LabError, RootFacts};

/// The parts of a lab, in archive order. Those of a PC alone have its initramfs and program.
const MEMBERS: [Member<'static>; 8] = [
    Member::new("lab.json", 0o644, 1 << 16),
    Member::new("kernel/kernel.json", 0o644, 1 << 20),
    Member::new("kernel/config", 0o644, 4 << 20),
    Member::new("kernel/linux", 0o755, 1 << 30),
    Member::new("kernel/initramfs", 0o644, 1 << 30),
    Member::new("kernel/fslab", 0o644, 1 << 30),
    Member::new("root/root.json", 0o644, 16 << 20),
    Member::new("root/root.img", 0o644, 4 << 30),
];

/// The name of a member in the directory of the unpacked files.
pub(crate) fn file_name<'a>(member: &Member<'a>) -> &'a str {
    member.name.rsplit('/').next().unwrap_or(member.name)
}

/// True if only the lab of a PC has the member.
pub(crate) fn is_of_pc(member: &Member<'_>) -> bool {
    [kernel::INITRAMFS, kernel::PROGRAM_FILE].contains(&file_name(member))
}

/// All members; those of a PC alone follow its description.
pub(crate) fn all_members() -> impl Iterator<Item = &'static Member<'static>> {
    MEMBERS.iter()
}

/// The members of the lab of a PC, or of another one.
pub(crate) fn members_of(is_pc: bool) -> impl Iterator<Item = &'static Member<'static>> {
    MEMBERS
        .iter()
        .filter(move |member| is_pc || !is_of_pc(member))
}

/// Verifies `lab` and writes it to `path`; returns the bytes written.
///
/// # Errors
/// [`LabError`]; an existing file at the path is unchanged.
pub fn export_lab(lab: &Lab, path: &Path) -> Result<u64, LabError> {
    lab.verify()?;
    let failed = |error| LabError::io("write", path)(error);
    let mut output = AtomicFile::create(path).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 18, &mut output);
    let mut written = 0;
    for member in members_of(lab.kernel.facts.pc.is_some()) {
        written += member.write(&lab.part(member.name), &mut out, path)?;
    }
    written += members::write_end(&mut out, path)?;
    drop(out);
    output.commit().map_err(failed)?;
    Ok(written)
}

/// Imports a lab from `path` into the cache under `name`.
///
/// # Errors
/// [`LabError::BadArchive`] if the file is no lab, or its parts do not match its digest;
/// [`LabError`]. The cache is then unchanged.
pub fn import_lab(cache: &Cache, path: &Path, name: &KernelName) -> Result<Lab, LabError> {
    let mut file = fslab_sys::open_named(path).map_err(LabError::io("read", path))?;
    cache.prepare()?;
    let _lock = BuildLock::take(cache.folder())?;
    let work = AssemblyDir::open(cache.building())?;
    let unpacked = work.make("unpacked")?;
    unpack(&mut file, path, &unpacked)?;
    let bad = |reason: String| LabError::BadArchive {
        path: path.to_owned(),
        reason,
    };
    let (facts, root) = verify_parts(&work, &unpacked).map_err(|error| match error {
        LabError::Unreadable { reason, .. } => bad(reason),
        other => other,
    })?;
    cache.keep_root(&work.folder().join(root.key.as_str()), &root.key)?;
    cache.keep_lab(
        &work.folder().join(facts.digest.as_str()),
        &facts.digest,
        name,
    )
}

/// Moves the unpacked files into directories laid out as in the cache, and verifies them.
pub(crate) fn verify_parts(
    work: &AssemblyDir,
    unpacked: &Path,
) -> Result<(LabFacts, RootFacts), LabError> {
    let unreadable = |reason: &str| LabError::Unreadable {
        path: unpacked.to_owned(),
        reason: reason.to_owned(),
    };
    let is_pc = describes_pc(unpacked)?;
    let kernel_sha256 = kernel::contents_sha256_of(unpacked, is_pc)?;
    let root_sha256 = digest(&unpacked.join(IMAGE))?;
    for text in [LAB, ROOT, kernel::DESCRIPTION] {
        ensure_plain(&unpacked.join(text))?;
    }
    let facts = LabFacts::read_unnamed(unpacked)?;
    if (&facts.kernel_sha256, &facts.root_sha256) != (&kernel_sha256, &root_sha256) {
        return Err(unreadable(
            "kernel or root image do not match the lab's digest",
        ));
    }
    let move_to = |folder: &Path, names: &[&str]| {
        for name in names {
            let (from, to) = (unpacked.join(name), folder.join(name));
            fs::rename(&from, &to).map_err(LabError::io("make", &to))?;
        }
        Ok::<_, LabError>(())
    };
    let lab = work.make(facts.digest.as_str())?;
    move_to(&lab, &[LAB])?;
    // The directory names must match the descriptions, as in the cache.
    let facts = LabFacts::read(&lab)?;
    let key = facts.kernel_key.as_str();
    let kernel = work.make(&format!("{}/{key}", facts.digest))?;
    let of_kernel = members_of(is_pc).filter(|it| it.name.starts_with("kernel/"));
    move_to(&kernel, &of_kernel.map(file_name).collect::<Vec<_>>())?;
    Kernel::read(&kernel, key)?;
    let folder = work.make(key_of(&root_sha256).as_str())?;
    move_to(&folder, &[IMAGE, ROOT])?;
    let root = RootFacts::read(&folder)?;
    if root.sha256 != root_sha256 || root.key != facts.root_key {
        return Err(unreadable("the root image does not match its description"));
    }
    Ok((facts, root))
}

/// True if the unpacked description is that of a PC's kernel.
pub(crate) fn describes_pc(unpacked: &Path) -> Result<bool, LabError> {
    let path = unpacked.join(kernel::DESCRIPTION);
    let text = fs::read(&path).map_err(LabError::io("read", &path))?;
    let value: Result<serde_json::Value, _> = serde_json::from_slice(&text);
    Ok(value.is_ok_and(|value| value.get("pc").is_some()))
}

fn digest(path: &Path) -> Result<String, LabError> {
    sha256_of(path).map_err(LabError::io("read", path))
}

/// Rejects control characters in a description: it is printed to terminals.
pub(crate) fn ensure_plain(path: &Path) -> Result<(), LabError> {
    fn is_plain(value: &serde_json::Value) -> bool {
        let plain = |text: &str| !text.chars().any(char::is_control);
        match value {
            serde_json::Value::String(text) => plain(text),
            serde_json::Value::Array(values) => values.iter().all(is_plain),
            serde_json::Value::Object(fields) => fields
                .iter()
                .all(|(name, value)| plain(name) && is_plain(value)),
            _ => true,
        }
    }
    let text = fs::read(path).map_err(LabError::io("read", path))?;
    let value = serde_json::from_slice(&text);
    let unreadable = |reason: String| LabError::Unreadable {
        path: path.to_owned(),
        reason,
    };
    match value {
        Err(error) => Err(unreadable(error.to_string())),
        Ok(value) if !is_plain(&value) => {
            Err(unreadable("it contains control characters".to_owned()))
        }
        Ok(_) => Ok(()),
    }
}

/// Unpacks the members into `folder`, each under its file name.
fn unpack(file: &mut File, path: &Path, folder: &Path) -> Result<(), LabError> {
    for member in &MEMBERS {
        if !is_of_pc(member) || describes_pc(folder)? {
            member.unpack(file, path, &folder.join(file_name(member)))?;
        }
    }
    members::demand_end(file, path)
}

#[cfg(test)]
mod tests {
    use fslab_sys::os::PermissionsExt;
    use std::path::PathBuf;

    use super::*;
    use crate::assembly_dir::AssemblyDir;
    use crate::kernel::tests::{facts, place};
    use crate::members::RECORD;
    use crate::root::{Assembly, FileSource, Node, Tree};

    struct TestEnv {
        place: tempfile::TempDir,
        lab: Lab,
    }

    impl TestEnv {
        /// A cache with one small lab, and an archive of that lab.
        fn new() -> Self {
            let place_of = tempfile::tempdir().expect("a directory");
            let cache = Cache::below(&place_of.path().join("here"));
            cache.prepare().expect("prepared");
            let bench = AssemblyDir::open(cache.building()).expect("opened");
            let facts = facts("aaaaaaaaaaaa");
            let folder = bench.folder().join(facts.key.as_str());
            place(&folder, &facts);
            fs::write(folder.join("config"), "CONFIG_A=y\n").expect("written");
            let kernel = Kernel::read(&folder, "kernel").expect("read");
            let mut tree = Tree::new();
            let node = Node::File {
                source: FileSource::Bytes(b"content".into()),
                mode: 0o644,
            };
            tree.add(Path::new("/a"), node).expect("added");
            let assembly = Assembly {
                tree,
                programs: Vec::new(),
                missing: Vec::new(),
                glibc: (2, 36),
                network: false,
            };
            let root = bench.make("root").expect("made");
            let written = crate::lab::write_root(&root, assembly, 1).expect("written");
            let root = cache.keep_root(&root, &written.key).expect("kept");
            let finished = bench.make("lab").expect("made");
            let about = LabFacts::of(&kernel, &root).expect("read");
            about.write(&finished).expect("written");
            kernel.copy_into(&finished).expect("copied");
            let name = "default".parse().expect("a name");
            let lab = cache
                .keep_lab(&finished, &about.digest, &name)
                .expect("kept");
            let env = Self {
                place: place_of,
                lab,
            };
            export_lab(&env.lab, &env.file()).expect("exported");
            env
        }

        fn file(&self) -> PathBuf {
            self.place.path().join("lab.tar")
        }

        fn there(&self) -> Cache {
            Cache::below(&self.place.path().join("there"))
        }

        fn import(&self) -> Result<Lab, LabError> {
            import_lab(
                &self.there(),
                &self.file(),
                &"theirs".parse().expect("a name"),
            )
        }

        /// Imports a modified archive, which must be refused.
        fn refuse(&self, change: impl FnOnce(&mut Vec<u8>)) -> String {
            export_lab(&self.lab, &self.file()).expect("exported");
            let mut bytes = fs::read(self.file()).expect("read");
            change(&mut bytes);
            fs::write(self.file(), bytes).expect("written");
            let refused = self.import().expect_err("refused");
            let LabError::BadArchive { reason, .. } = &refused else {
                panic!("{refused}");
            };
            for folder in ["labs", "roots", "names"] {
                let listed = fs::read_dir(self.there().folder().join(folder)).expect("listed");
                assert_eq!(listed.count(), 0, "{folder}");
            }
            assert!(!self.there().building().exists());
            reason.clone()
        }
    }

    /// Offset of `text`.
    fn find(bytes: &[u8], text: &str) -> usize {
        let mut windows = bytes.windows(text.len());
        windows
            .position(|window| window == text.as_bytes())
            .expect("it is there")
    }

    fn replace(bytes: &mut [u8], text: &str, other: &str) {
        assert_eq!(text.len(), other.len());
        let at = find(bytes, text);
        bytes[at..at + other.len()].copy_from_slice(other.as_bytes());
    }

    #[test]
    fn an_imported_lab_equals_the_exported_one() {
        let env = TestEnv::new();
        let lab = env.import().expect("imported");
        assert_eq!(
            (&lab.digest, lab.name.as_str()),
            (&env.lab.digest, "theirs")
        );
        assert_eq!(
            (&lab.root, &lab.kernel.facts),
            (&env.lab.root, &env.lab.kernel.facts)
        );
        lab.verify().expect("whole");
        let mode = lab
            .kernel
            .binary
            .metadata()
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o755);
        let sent = fs::read(env.file()).expect("read");
        export_lab(&lab, &env.file()).expect("exported");
        assert_eq!(fs::read(env.file()).expect("read"), sent, "the same bytes");
        env.import().expect("imported twice");
        // tar(1) can list it.
        let mut tar = std::process::Command::new("tar");
        let listed = tar.arg("-tf").arg(env.file()).output().expect("tar runs");
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert_eq!(
            listed.lines().collect::<Vec<_>>(),
            members_of(false)
                .map(|member| member.name)
                .collect::<Vec<_>>()
        );
    }

    // Archives are kept for years: version 1 of the format stays readable.
    #[test]
    fn an_archive_of_version_1_is_imported_and_exported_unchanged() {
        let place_of = tempfile::tempdir().expect("a directory");
        let fixture =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/labs/v1.tar");
        let cache = Cache::below(place_of.path());
        let lab = import_lab(&cache, &fixture, &KernelName::default()).expect("imported");
        let again = place_of.path().join("lab.tar");
        export_lab(&lab, &again).expect("exported");
        assert_eq!(
            fs::read(again).expect("read"),
            fs::read(fixture).expect("read")
        );
    }

    #[test]
    fn an_archive_that_was_changed_is_refused_and_nothing_of_it_stays() {
        let env = TestEnv::new();
        let image = |bytes: &[u8]| find(bytes, "content");
        let digest = "match the lab's digest";
        let reason = env.refuse(|bytes| {
            let at = image(bytes);
            bytes[at] ^= 1;
        });
        assert!(reason.contains(digest), "{reason}");
        let reason = env.refuse(|bytes| {
            let at = find(bytes, "kernel/linux") + RECORD;
            bytes[at] ^= 1;
        });
        assert!(reason.contains(digest), "{reason}");
        let reason = env.refuse(|bytes| bytes.truncate(bytes.len() - 1500));
        assert!(reason.contains("cut off"), "{reason}");
        let reason = env.refuse(|bytes| bytes.push(0));
        assert!(reason.contains("malformed"), "{reason}");
        let reason = env.refuse(|bytes| replace(bytes, "\"linux-source", "\"linux\\u001be"));
        assert!(reason.contains("control characters"), "{reason}");
        let reason = env.refuse(|bytes| replace(bytes, "\"aaaaaaaaaaaa\"", "\"../../../../\""));
        assert!(reason.contains("12 hexadecimal digits"), "{reason}");
    }

    #[test]
    fn members_that_lead_elsewhere_or_are_no_files_are_refused() {
        let env = TestEnv::new();
        for (name, kind) in [
            ("../../labs/x", b'0'),
            ("kernel/linux", b'2'),
            ("/etc/passwd\0", b'0'),
        ] {
            let reason = env.refuse(|bytes| {
                let at = find(bytes, "kernel/linux");
                bytes[at..at + name.len()].copy_from_slice(name.as_bytes());
                bytes[at + 156] = kind;
                let record = &mut bytes[at..at + RECORD];
                record[148..156].fill(b' ');
                let sum: u32 = record.iter().copied().map(u32::from).sum();
                record[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
            });
            assert!(
                reason.contains("kernel/linux is missing or out of place"),
                "{reason}"
            );
        }
        let large = |bytes: &mut Vec<u8>| {
            let huge = MEMBERS[0].header(MEMBERS[0].bytes_max + 1);
            bytes[..RECORD].copy_from_slice(&huge);
        };
        assert!(env.refuse(large).contains("too large"));
    }
}
