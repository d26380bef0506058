//! The mail server of filebench: mails come, are looked at, changed and deleted; a mail that was
//! written is on the disk before its writer goes on.

use super::fileset::Holding;
use super::flows::{EngineResult, Hands};
use super::parameters::{Original, PersonalityParameters};
use super::personality::{Personality, Scene};

/// See the module.
pub(crate) struct MailServer;

impl MailServer {
    /// The numbers of filebench's varmail.f.
    pub(crate) const ORIGINAL: Original = Original {
        directory: "varmail",
        files: 1_000,
        mean_bytes: 16 << 10,
        directory_width: 1_000_000,
        present_percent: 80,
        threads: 16,
    };
}

impl Personality for MailServer {
    const OPERATIONS: u64 = 11;

    fn longest_write(parameters: &PersonalityParameters) -> u64 {
        parameters.append.0
    }

    fn turn(scene: &Scene<'_>, part: &mut Holding, hands: &mut Hands<'_>) -> EngineResult<()> {
        let (names, append) = (&scene.set.names, scene.parameters.append.0);
        if let Some(old) = part.disappear() {
            hands.unlink(&names[old as usize])?;
        }
        if let Some(new) = part.appear() {
            let name = &names[new as usize];
            hands.create(name)?;
            hands.append(name, append, &mut part.random)?;
            hands.fsync(name)?;
            hands.close(name)?;
        }
        if let Some(file) = part.any() {
            let name = &names[file as usize];
            hands.open(name)?;
            hands.read_whole(name)?;
            hands.append(name, append, &mut part.random)?;
            hands.fsync(name)?;
            hands.close(name)?;
        }
        if let Some(file) = part.any() {
            let name = &names[file as usize];
            hands.open(name)?;
            hands.read_whole(name)?;
            hands.close(name)?;
        }
        Ok(())
    }
}
