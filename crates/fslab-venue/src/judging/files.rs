//! The files that a guest and its host have between them while states are judged.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use fslab_crash::{Piece, RecordedEntry, RecordedKind, StateMessage};

use crate::guest::Share;

/// Bytes of a page of the guest, and of the pipe of turns.
pub(super) const PAGE_BYTES: usize = 4096;
/// Longest message: of a tree with as many sectors as a guest reads, each in a separate run.
const MESSAGE_BYTES_MAX: u64 = 256 << 20;
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

/// Writes a part of a state into an image.
pub(super) fn write_piece(image: &mut File, piece: Piece) -> io::Result<()> {
    match piece {
        Piece::Data { sector, bytes } => {
            image.seek(SeekFrom::Start(sector * 512))?;
            image.write_all(bytes)
        }
        Piece::Zeros { sector, sectors } => write_zeros(image, sector, sectors),
    }
}

fn write_zeros(image: &mut File, sector: u64, sectors: u64) -> io::Result<()> {
    image.seek(SeekFrom::Start(sector * 512))?;
    io::copy(&mut io::repeat(0).take(sectors * 512), image).map(drop)
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
        match &entry.kind {
            RecordedKind::Write(data) => {
                image.seek(SeekFrom::Start(entry.sector * 512))?;
                image.write_all(data)?;
            }
            RecordedKind::Hole => write_zeros(image, entry.sector, entry.sectors)?,
        }
    }
    Ok(())
}
