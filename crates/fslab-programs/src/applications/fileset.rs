//! A set of files in a tree of directories; some exist at the start, others are created later.
//!
//! As in filebench, only the last level of directories holds files, `directory_width` each, and
//! sizes have a gamma distribution.

use std::ffi::CString;
use std::path::Path;

use fslab_engine::{EngineError, Filler, Random, mix};
use fslab_sys::{Descriptors, sync_file_system};

use super::PersonalityParameters;
use super::flows::{CREATE, EngineResult, io_error};
use super::parameters::SizeLaw;

/// Random streams: sizes, and the choices of threads.
const SIZES: u64 = 0x7369_7a65;
const THREADS: u64 = 0x7468_7264;
/// Shape of the gamma distribution of sizes.
const SHAPE: f64 = 1.5;

/// Names and sizes of all files.
#[derive(Debug)]
pub(crate) struct Fileset {
    pub(super) names: Vec<CString>,
    pub(super) sizes: Vec<u64>,
    /// Numbers of the files that exist at the start.
    pub(super) present: Vec<u32>,
    directories: Vec<CString>,
    /// Percent of each thread's files that exist at the start.
    present_percent: u64,
    threads: u32,
}

/// One thread's part of the files: numbers of those that exist and of those that do not.
#[derive(Debug)]
pub(crate) struct ThreadFiles {
    pub(super) present: Vec<u32>,
    pub(super) absent: Vec<u32>,
    pub(super) random: Random,
}

impl Fileset {
    /// The set of `parameters`, with sizes from `seed`.
    pub(super) fn of(parameters: &PersonalityParameters, seed: u64) -> Self {
        let width = parameters.directory_width.max(1);
        let leaves = parameters.files.div_ceil(width);
        let paths = leaf_paths(leaves, width);
        let names = (0..parameters.files).map(|file| {
            let leaf = &paths[(file / width) as usize];
            path_of(&format!("{leaf}f{file:08}"))
        });
        let mut directories: Vec<_> = paths.iter().flat_map(|path| prefixes(path)).collect();
        directories.sort();
        directories.dedup();
        let mut random = Random::new(seed, SIZES);
        let mean = parameters.mean_size.0;
        let mut set = Self {
            names: names.collect(),
            present: Vec::new(),
            sizes: (0..parameters.files)
                .map(|_| match parameters.sizes {
                    SizeLaw::Gamma => gamma_size(&mut random, mean),
                    SizeLaw::Fixed => mean,
                })
                .collect(),
            directories: directories.iter().map(|path| path_of(path)).collect(),
            present_percent: parameters.present_percent,
            threads: parameters.threads.max(1),
        };
        let count = u32::try_from(set.names.len()).unwrap_or(u32::MAX);
        set.present = (0..count)
            .filter(|number| set.is_present(*number))
            .collect();
        set
    }

    /// The part of `thread`: with N threads, every N-th file.
    pub(super) fn part(&self, thread: u32, seed: u64) -> ThreadFiles {
        let mut part = ThreadFiles {
            present: Vec::new(),
            absent: Vec::new(),
            random: Random::new(mix(seed, THREADS), u64::from(thread)),
        };
        let count = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        for number in (thread..count).step_by(self.threads as usize) {
            if self.is_present(number) {
                part.present.push(number);
            } else {
                part.absent.push(number);
            }
        }
        // Capacity for all in both, so that nothing is allocated while timed.
        let all = part.present.len() + part.absent.len();
        part.present.reserve(all - part.present.len());
        part.absent.reserve(all - part.absent.len());
        part
    }

    /// True if the file exists at the start: the first `present_percent` of each thread's part, at
    /// least one.
    pub(super) fn is_present(&self, number: u32) -> bool {
        let count = self.names.len() as u64;
        let (threads, thread) = (
            u64::from(self.threads),
            u64::from(number) % u64::from(self.threads),
        );
        let each = (count - thread).div_ceil(threads);
        let turn = u64::from(number) / threads;
        turn < (each * self.present_percent / 100).max(1)
    }

    /// Creates the directories and the files that exist at the start, and syncs; calls `each` with
    /// the bytes of each file.
    pub(super) fn make(
        &self,
        base: &Path,
        seed: u64,
        record: usize,
        mut each: impl FnMut(u64) -> EngineResult<()>,
    ) -> EngineResult<()> {
        std::fs::create_dir(base).map_err(|e| EngineError::io("make directory", base, e))?;
        let files = Descriptors::below(base, 1).map_err(|e| EngineError::io("open", base, e))?;
        for directory in &self.directories {
            files
                .make_directory(directory, 0o700)
                .map_err(|error| io_error("make directory", base, directory, error))?;
        }
        let mut filler = Filler::new(seed, record);
        for number in self.present.iter().copied() {
            let (name, bytes) = (&self.names[number as usize], self.sizes[number as usize]);
            let failed = |error| io_error("create", base, name, error);
            files.open(Some(0), name, CREATE, 0o600).map_err(failed)?;
            let mut offset = 0;
            while offset < bytes {
                let length = (bytes - offset).min(record as u64) as usize;
                let data = filler.bytes(u64::from(number), offset, length);
                offset += files.write(0, data, None).map_err(failed)?;
            }
            files.close(0).map_err(failed)?;
            each(bytes)?;
        }
        sync_file_system(base).map_err(|error| EngineError::io("sync", base, error))
    }
}

impl ThreadFiles {
    /// A random existing file.
    pub(super) fn pick_any(&mut self) -> Option<u32> {
        let count = self.present.len() as u64;
        (count > 0).then(|| self.present[self.random.below(count) as usize])
    }

    /// A random missing file, which counts as existing from now on.
    pub(super) fn pick_new(&mut self) -> Option<u32> {
        let number = take(&mut self.absent, &mut self.random)?;
        self.present.push(number);
        Some(number)
    }

    /// A random existing file, which counts as missing from now on.
    pub(super) fn pick_removed(&mut self) -> Option<u32> {
        let number = take(&mut self.present, &mut self.random)?;
        self.absent.push(number);
        Some(number)
    }
}

fn take(numbers: &mut Vec<u32>, random: &mut Random) -> Option<u32> {
    let count = numbers.len() as u64;
    (count > 0).then(|| numbers.swap_remove(random.below(count) as usize))
}

/// The paths of `leaves` directories, each with a slash at its end, in a tree in which none has
/// more than `width` entries; the empty path for a single one.
fn leaf_paths(leaves: u64, width: u64) -> Vec<String> {
    if leaves <= 1 {
        return vec![String::new()];
    }
    let width = width.max(2);
    let above = leaf_paths(leaves.div_ceil(width), width);
    let below = |leaf: u64| format!("{}d{:05}/", above[(leaf / width) as usize], leaf % width);
    (0..leaves).map(below).collect()
}

/// The parents of a path that ends in a slash, and the path itself.
fn prefixes(path: &str) -> impl Iterator<Item = String> {
    path.match_indices('/').map(|(at, _)| path[..at].to_owned())
}

fn path_of(text: &str) -> CString {
    CString::new(text).expect("paths have letters, digits and slashes")
}

/// A size from the gamma distribution of shape 1.5 and that mean, at least 1 byte. With this shape
/// it is the sum of an exponential variate and half the square of a normal one (Johnson, Kotz and
/// Balakrishnan, Continuous Univariate Distributions, chapter 17).
fn gamma_size(random: &mut Random, mean: u64) -> u64 {
    let scale = mean as f64 / SHAPE;
    let exponential = -(1.0 - random.unit()).ln();
    // Normal variate by Box and Muller.
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    let normal = radius * (std::f64::consts::TAU * random.unit()).cos();
    ((exponential + normal * normal / 2.0) * scale)
        .round()
        .max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_job::Job;
    use fslab_model::Bytes;

    fn parameters() -> PersonalityParameters {
        let mut parameters = PersonalityParameters {
            directory: "set".into(),
            files: 1_000,
            mean_size: Bytes::kib(16),
            directory_width: 20,
            present_percent: 80,
            threads: 7,
            ..PersonalityParameters::built_in("fb-fileserver")
        };
        parameters.resolve(Bytes::gib(1)).expect("resolves");
        parameters
    }

    #[test]
    fn fixed_sizes_are_the_mean() {
        let parameters = PersonalityParameters {
            files: 20,
            sizes: SizeLaw::Fixed,
            ..PersonalityParameters::default()
        };
        let set = Fileset::of(&parameters, 3);
        assert!(set.sizes.iter().all(|bytes| *bytes == 16 << 10));
    }

    #[test]
    fn sizes_have_the_mean_and_the_spread_of_their_distribution() {
        let mut random = Random::new(1, SIZES);
        let sizes: Vec<_> = (0..100_000)
            .map(|_| gamma_size(&mut random, 131_072) as f64)
            .collect();
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let variance = sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>();
        let deviation = (variance / sizes.len() as f64).sqrt();
        assert!((mean / 131_072.0 - 1.0).abs() < 0.02, "{mean}");
        // The deviation of a gamma distribution is its mean over the root of its shape.
        assert!(
            (deviation * SHAPE.sqrt() / mean - 1.0).abs() < 0.03,
            "{deviation}"
        );
    }

    #[test]
    fn every_file_is_in_one_part_and_directories_hold_no_more_than_their_width() {
        let parameters = parameters();
        let set = Fileset::of(&parameters, 1);
        let mut seen = vec![0; 1_000];
        for thread in 0..7 {
            let part = set.part(thread, 1);
            let all = part.present.len() + part.absent.len();
            assert!(
                (part.present.len() * 100).abs_diff(all * 80) <= 100,
                "{thread}"
            );
            part.present
                .iter()
                .chain(&part.absent)
                .for_each(|it| seen[*it as usize] += 1);
        }
        assert!(seen.iter().all(|count| *count == 1));
        assert_eq!(set.names[999].to_str(), Ok("d00002/d00009/f00000999"));
        // 50 directories of files, in 3.
        assert_eq!(set.directories.len(), 53);
    }

    #[test]
    fn the_choice_of_files_follows_from_the_seed() {
        let set = Fileset::of(&parameters(), 1);
        let walk = |seed| {
            let mut part = set.part(3, seed);
            let mut walk = Vec::new();
            for _ in 0..200 {
                walk.push((part.pick_new(), part.pick_any(), part.pick_removed()));
            }
            walk
        };
        assert_eq!(walk(1), walk(1));
        assert_ne!(walk(1), walk(2));
    }

    #[test]
    fn a_set_is_created_with_its_names_and_sizes() {
        let folder = tempfile::tempdir().expect("a directory");
        let base = folder.path().join("set");
        let mut parameters = parameters();
        (parameters.files, parameters.mean_size) = (60, Bytes::kib(1));
        let set = Fileset::of(&parameters, 9);
        let mut made = 0;
        set.make(&base, 9, 512, |_| {
            made += 1;
            Ok(())
        })
        .expect("there is room");
        for (number, name) in (0..).zip(&set.names) {
            let path = base.join(name.to_str().expect("ASCII"));
            let length = std::fs::metadata(path).ok().map(|metadata| metadata.len());
            let expected = set.is_present(number).then(|| set.sizes[number as usize]);
            assert_eq!(length, expected, "{name:?}");
            made -= u64::from(length.is_some());
        }
        assert_eq!(made, 0);
    }
}
