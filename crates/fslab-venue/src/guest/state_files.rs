//! The files that a guest and its host have between them while states are judged.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use fslab_crash::{RecordedEntry, RecordedKind, SectorRange, StateMessage};
use fslab_faults::{FaultPlan, PlanResult};

use super::share::Share;

/// Bytes of a page of the guest, and of the pipe of turns.
pub(super) const PAGE_BYTES: usize = 4096;
/// Longest message: of a tree with as many sectors as a guest reads, each in a separate run.
const MESSAGE_BYTES_MAX: u64 = 256 << 20;
/// The plan of the disk's faults, in a guest's folder.
const PLAN: &str = "disk.faults";

/// The host's ends of the pipes.
pub(super) struct Pipes {
    pub(super) reader: File,
    pub(super) holder: File,
    pub(super) turn: File,
}

/// Replaces the files of events and status by pipes.
pub(super) fn make_pipes(share: &Share) -> io::Result<Pipes> {
    let exchange = share.exchange();
    let (events, status) = (exchange.events(), exchange.status_file());
    std::fs::remove_file(&events)?;
    fslab_sys::make_fifo(&events)?;
    fslab_sys::make_fifo(&status)?;
    let both = |path: &Path| File::options().read(true).write(true).open(path);
    let holder = both(&events)?;
    let reader = File::open(&events)?;
    let mut turn = both(&status)?;
    fslab_sys::set_pipe_bytes(&turn, PAGE_BYTES)?;
    turn.write_all(&[0; PAGE_BYTES])?;
    Ok(Pipes {
        reader,
        holder,
        turn,
    })
}

pub(super) fn messages_of(pipe: File) -> Receiver<Result<StateMessage, String>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        loop {
            let mut line = Vec::new();
            let read = (&mut reader)
                .take(MESSAGE_BYTES_MAX)
                .read_until(b'\n', &mut line);
            if !matches!(read, Ok(1..)) {
                return;
            }
            let message = serde_json::from_slice(&line).map_err(|error| error.to_string());
            let is_last = message.is_err();
            if sender.send(message).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

pub(super) fn write_ranges(image: &mut File, ranges: &[SectorRange]) -> io::Result<()> {
    for range in ranges {
        image.seek(SeekFrom::Start(range.sector * 512))?;
        image.write_all(&range.bytes)?;
    }
    Ok(())
}

/// The recording of what a guest writes.
pub(super) struct Writes {
    pub(super) reader: File,
    /// The same file: its name could be another's by now.
    pub(super) emptier: File,
}

impl Writes {
    pub(super) fn of(reader: File) -> io::Result<Self> {
        let emptier = fslab_sys::reopen_for_writing(&reader)?;
        Ok(Self { reader, emptier })
    }
}

/// Writes again what a guest that has ended had written.
pub(super) fn write_entries(image: &mut File, entries: &[RecordedEntry]) -> io::Result<()> {
    for entry in entries {
        image.seek(SeekFrom::Start(entry.sector * 512))?;
        match &entry.kind {
            RecordedKind::Write(data) => image.write_all(data)?,
            RecordedKind::Hole => {
                let zeros = io::repeat(0).take(entry.sectors * 512);
                io::copy(&mut { zeros }, image)?;
            }
        }
    }
    Ok(())
}

/// The file of the plan, which is open before the guest runs.
pub(super) struct PlanFile(File);

impl PlanFile {
    /// A file with a plan that is not armed.
    pub(super) fn make(share: &Share) -> io::Result<Self> {
        let path = share.folder().join(PLAN);
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).open(path)?;
        file.set_len(FaultPlan::FILE_BYTES)?;
        let mut made = Self(file);
        made.write(&FaultPlan::default(), false)?;
        Ok(made)
    }

    /// Arms a plan.
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
