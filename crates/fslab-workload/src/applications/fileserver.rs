//! The file server of filebench: files are created, appended to, read, deleted and looked at.

use super::fileset::Holding;
use super::flows::{EngineResult, Hands};
use super::parameters::{Original, PersonalityParameters};
use super::personality::{Personality, Scene};

/// See the module.
pub(crate) struct FileServer;

impl FileServer {
    /// The numbers of filebench's fileserver.f.
    pub(crate) const ORIGINAL: Original = Original {
        directory: "fileserver",
        files: 10_000,
        mean_bytes: 128 << 10,
        directory_width: 20,
        present_percent: 80,
        threads: 50,
    };
}

impl Personality for FileServer {
    const OPERATIONS: u64 = 11;

    fn longest_write(parameters: &PersonalityParameters) -> u64 {
        parameters.record.0
    }

    fn turn(scene: &Scene<'_>, part: &mut Holding, hands: &mut Hands<'_>) -> EngineResult<()> {
        let (names, append) = (&scene.set.names, scene.parameters.append.0);
        if let Some(new) = part.appear() {
            let name = &names[new as usize];
            hands.create(name)?;
            hands.write_whole(name, scene.set.sizes[new as usize])?;
            hands.close(name)?;
        }
        if let Some(file) = part.any() {
            let name = &names[file as usize];
            hands.open(name)?;
            hands.append(name, append, &mut part.random)?;
            hands.close(name)?;
        }
        if let Some(file) = part.any() {
            let name = &names[file as usize];
            hands.open(name)?;
            hands.read_whole(name)?;
            hands.close(name)?;
        }
        if let Some(old) = part.disappear() {
            hands.unlink(&names[old as usize])?;
        }
        if let Some(file) = part.any() {
            hands.stat(&names[file as usize])?;
        }
        Ok(())
    }
}
