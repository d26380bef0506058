//! The web server of filebench: ten files are read, and a log that all threads share grows.

use super::fileset::Holding;
use super::flows::{EngineResult, Hands, Tools, io_error};
use super::parameters::{Original, PersonalityParameters};
use super::personality::{Personality, Scene};

/// Files that are read in a loop.
const READS: usize = 10;
/// The log, which is one file.
const LOG: &std::ffi::CStr = c"log";

/// See the module.
pub(crate) struct WebServer;

impl WebServer {
    /// The numbers of filebench's webserver.f.
    pub(crate) const ORIGINAL: Original = Original {
        directory: "webserver",
        files: 1_000,
        mean_bytes: 16 << 10,
        directory_width: 20,
        present_percent: 100,
        threads: 100,
    };
}

impl Personality for WebServer {
    const OPERATIONS: u64 = 31;

    fn longest_write(parameters: &PersonalityParameters) -> u64 {
        parameters.append.0
    }

    fn prepare(scene: &Scene<'_>, tools: &Tools) -> EngineResult<()> {
        let path = scene.base.join("log");
        let made = std::fs::File::options()
            .create(true)
            .append(true)
            .open(path);
        made.map_err(|error| io_error("create", scene.base, LOG, error))?;
        tools.open_log(scene.base, LOG)
    }

    fn turn(scene: &Scene<'_>, part: &mut Holding, hands: &mut Hands<'_>) -> EngineResult<()> {
        let (names, present) = (&scene.set.names, &scene.set.present);
        for _ in 0..READS {
            // Nothing comes or goes, and so every thread may read every file.
            let number = present[part.random.below(present.len() as u64) as usize];
            let name = &names[number as usize];
            hands.open(name)?;
            hands.read_whole(name)?;
            hands.close(name)?;
        }
        hands.append_log(LOG, scene.parameters.append.0, &mut part.random)
    }
}
