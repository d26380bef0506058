//! The file of the plan by which a guest's disk fails.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use fslab_crash::faults::{FaultPlan, PlanResult};

/// The plan, in a guest's directory.
const PLAN: &str = "disk.faults";

/// The file of the plan, which is open before the guest runs.
pub(super) struct PlanFile(File);

impl PlanFile {
    /// A file with a plan that is not armed.
    pub(super) fn make(folder: &Path) -> io::Result<Self> {
        let path = folder.join(PLAN);
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).open(path)?;
        file.set_len(FaultPlan::FILE_BYTES)?;
        let mut made = Self(file);
        made.write(&FaultPlan::default(), false)?;
        Ok(made)
    }

    pub(super) fn arm(&mut self, plan: &FaultPlan) -> io::Result<()> {
        self.write(plan, true)
    }

    fn write(&mut self, plan: &FaultPlan, is_armed: bool) -> io::Result<()> {
        self.0.rewind()?;
        self.0.write_all(&plan.bytes(is_armed))
    }

    /// Disarms the plan; what the disk counted.
    pub(super) fn disarm(&mut self, plan: &FaultPlan) -> io::Result<PlanResult> {
        let (place, bytes) = FaultPlan::disarmed();
        self.0.seek(SeekFrom::Start(place))?;
        self.0.write_all(&bytes)?;
        self.0.rewind()?;
        let mut file = Vec::new();
        (&mut self.0)
            .take(FaultPlan::FILE_BYTES)
            .read_to_end(&mut file)?;
        Ok(plan.result(&file))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use fslab_crash::faults::DiskFault;

    use super::*;
    use crate::guest::{RECORDER, RECORDER_FILE};

    /// Accesses an image as the disk's driver does, and prints what it saw: `r` the first byte of
    /// each of two sectors from the second on, `w` writes a byte into four sectors from the first
    /// on, `f` flushes.
    const DRIVER: &str = r#"
#define _FILE_OFFSET_BITS 64
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
int main(int count, char **words)
{
	int file = open("disk.img", O_RDWR);
	static unsigned char bytes[2048];
	struct iovec pieces[2] = { { bytes, 512 }, { bytes + 512, 512 } };
	for (int i = 1; i < count; i++) {
		long done = 0;
		if (words[i][0] == 'r') {
			done = preadv(file, pieces, 2, 512);
			printf("%ld:%d,%d ", done, bytes[0], bytes[512]);
		} else if (words[i][0] == 'w') {
			struct iovec four = { bytes, 2048 };
			memset(bytes, words[i][1], 2048);
			done = pwritev(file, &four, 1, 0);
			printf("%ld ", done);
		} else {
			done = -posix_fadvise(file, 0, 0, POSIX_FADV_NORMAL);
			printf("%ld ", done);
		}
		if (done < 0 && words[i][0] != 'f')
			printf("(%d) ", errno);
	}
	return 0;
}
"#;

    /// A disk of eight sectors, each with its number, below a program.
    struct Disk {
        folder: tempfile::TempDir,
        plan: PlanFile,
    }

    impl Disk {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a directory");
            let path = |name: &str| folder.path().join(name);
            std::fs::write(path("driver.c"), DRIVER).expect("written");
            let mut compiler = Command::new("cc");
            let compiled = compiler
                .args(["-O1", "-o", "driver", "driver.c"])
                .current_dir(folder.path())
                .status();
            assert!(compiled.expect("a C compiler").success());
            std::fs::write(path(RECORDER_FILE), RECORDER).expect("written");
            let image: Vec<u8> = (0..8).flat_map(|it| [it; 512]).collect();
            std::fs::write(path("disk.img"), image).expect("written");
            let plan = PlanFile::make(folder.path()).expect("made");
            Self { folder, plan }
        }

        /// What a program prints that does `words` while `fault` is planned, and how often the
        /// fault was hit.
        fn run(&mut self, fault: &str, words: &[&str]) -> (String, u64) {
            let fault: DiskFault = fault.parse().expect("a fault");
            let plan = FaultPlan {
                faults: vec![fault],
            };
            self.plan.arm(&plan).expect("armed");
            let library: PathBuf = self.folder.path().join(RECORDER_FILE);
            let ended = Command::new("./driver")
                .args(words)
                .current_dir(self.folder.path())
                .env("LD_PRELOAD", library)
                .output()
                .expect("started");
            let result = self.plan.disarm(&plan).expect("disarmed");
            assert_eq!(result.accesses.len(), words.len());
            let text = String::from_utf8(ended.stdout).expect("text");
            (text.trim().to_owned(), result.counts[0].hits)
        }

        /// The first byte of each sector, as a reader below the file system sees it.
        fn sectors(&self) -> Vec<u8> {
            let image = std::fs::read(self.folder.path().join("disk.img")).expect("read");
            image.chunks(512).map(|it| it[0]).collect()
        }
    }

    #[test]
    fn reads_fail_or_give_other_bits_at_their_time_and_the_disk_keeps_its_own() {
        let mut disk = Disk::new();
        let once = disk.run("read-error@2+1#1", &["r", "r", "r"]);
        assert_eq!(once, ("1024:1,2 -1:1,2 (5) 1024:1,2".to_owned(), 1));
        let always = disk.run("read-error@2+1#1!", &["r", "r", "r"]);
        assert_eq!(always.1, 2);
        let elsewhere = disk.run("read-error@3+1#0!", &["r"]);
        assert_eq!(elsewhere, ("1024:1,2".to_owned(), 0));
        let inverted = disk.run("read-corruption@2+1#0", &["r", "r"]);
        assert_eq!(inverted, ("1024:1,253 1024:1,2".to_owned(), 1));
        assert_eq!(disk.sectors(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn writes_fail_are_lost_shorn_misdirected_or_stored_with_other_bits() {
        let after = |fault: &str| {
            let mut disk = Disk::new();
            let (text, hits) = disk.run(fault, &["wA"]);
            assert_eq!(hits, 1, "{fault}");
            (text, disk.sectors())
        };
        let ok = |sectors: [u8; 8]| ("2048".to_owned(), sectors.to_vec());
        let error = after("write-error@2+1#0");
        assert_eq!(error, ("-1 (5)".to_owned(), vec![0, 1, 2, 3, 4, 5, 6, 7]));
        let lost = after("lost-write@1+2#0");
        assert_eq!(lost, ok([65, 1, 2, 65, 4, 5, 6, 7]));
        let shorn = after("shorn-write@1+3#0/1");
        assert_eq!(shorn, ok([65, 65, 2, 3, 4, 5, 6, 7]));
        let misdirected = after("misdirected-write@1+1#0/5");
        assert_eq!(misdirected, ok([65, 1, 65, 65, 4, 5, 65, 7]));
        let inverted = after("write-corruption@3+1#0");
        assert_eq!(inverted, ok([65, 65, 65, 190, 4, 5, 6, 7]));
    }

    #[test]
    fn the_planned_flush_fails_and_no_other() {
        let mut disk = Disk::new();
        let once = disk.run("flush-error#1", &["f", "f", "f"]);
        assert_eq!(once, ("0 -5 0".to_owned(), 1));
        let always = disk.run("flush-error#0!", &["f", "f"]);
        assert_eq!(always, ("-5 -5".to_owned(), 2));
    }

    /// The host undoes what was written, so the recording has what a faulty write left.
    #[test]
    fn what_is_recorded_of_a_faulty_write_is_what_was_written() {
        let mut disk = Disk::new();
        disk.run("misdirected-write@1+1#0/5", &["wA"]);
        let file = File::open(disk.folder.path().join("disk.writes")).expect("there");
        let mut recording = fslab_crash::Recording::new(file);
        let mut ranges = Vec::new();
        while let Some(entry) = recording.next_entry().expect("read") {
            ranges.push((entry.sector, entry.sectors));
        }
        assert_eq!(ranges, [(0, 1), (6, 1), (2, 2)]);
    }
}
