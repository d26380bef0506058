//! `fslab crash replay` and `fslab crash minimise`: one state of a log.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use fslab_crash::{CrashState, DiskLog, JudgedState, Piece, pieces};
use fslab_model::{Bytes, Failure, FailureKind};
use fslab_run::{judge_state, minimal_state};

use crate::commands::crash::judge::JudgeGuestArgs;
use crate::commands::crash::logs::load;
use crate::commands::lab;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::screen;

pub(crate) const SECTOR_BYTES: u64 = 512;
/// Lost writes that are listed; more are counted.
const LISTED_MAX: usize = 20;

/// Arguments of `fslab crash replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Disk log, from --record-disk
    log: PathBuf,
    /// State, as printed by `fslab crash states --list` and `fslab crash judge`
    state: String,
    /// Write the state to a new image file
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Judge the state in a guest, and print what is wrong
    #[arg(long)]
    judge: bool,
    /// Mount the image in a guest (/dev/ubda at /tmp/mnt) and open a shell there
    #[arg(long, requires = "image")]
    shell: bool,
    #[command(flatten)]
    guest: JudgeGuestArgs,
}

/// Arguments of `fslab crash minimise`.
#[derive(Debug, Args)]
pub(crate) struct MinimiseArgs {
    /// Disk log, from --record-disk
    log: PathBuf,
    /// State, as printed by `fslab crash judge`
    state: String,
    /// Maximum number of states to try
    #[arg(long, default_value_t = 200)]
    max_states: usize,
    #[command(flatten)]
    guest: JudgeGuestArgs,
}

impl ReplayArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let log = load(&self.log)?;
        let state = state_of(&self.state, &log)?;
        if let Some(image) = &self.image {
            write_image(&log, &state, image).map_err(|error| {
                let text = format!("cannot write the image {}", image.display());
                CommandError::io(text, &error)
            })?;
        }
        let mut text = loss_text(&log, &state);
        text += &operations_text(&log, &state);
        if self.judge {
            let judged = judge_state(&log, &state, self.guest.one(&log)?)?;
            text += &judged_text(&judged);
        }
        screen::print(&text)?;
        if let (true, Some(image)) = (self.shell, &self.image) {
            let subject = log.head.parsed_subject()?;
            lab::shell_of(image, subject, self.guest.lab_name(), self.guest.memory())?;
        }
        Ok(Exit::Done)
    }
}

impl MinimiseArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let log = load(&self.log)?;
        let state = state_of(&self.state, &log)?;
        let guest = self.guest.one(&log)?;
        let Some(found) = minimal_state(&log, &state, self.max_states, guest)? else {
            let text = format!("nothing is wrong with the state {state}");
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint("list the failing states with fslab crash judge --list")
                .into());
        };
        let mut text = format!(
            "fslab crash replay {} {}\nof {} lost, {} matter; {} tried\n",
            self.log.display(),
            found.state,
            screen::counted(state.lost.len(), "write"),
            found.state.lost.len(),
            screen::counted(found.tried, "state"),
        );
        text += &loss_text(&log, &found.state);
        text += &found.judged.as_ref().map(judged_text).unwrap_or_default();
        screen::print(&text)?;
        Ok(Exit::Done)
    }
}

fn state_of(text: &str, log: &DiskLog) -> Result<CrashState, CommandError> {
    let state: CrashState = text
        .parse()
        .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
    state.ensure_of(log).map_err(CommandError::bad_input)?;
    Ok(state)
}

fn judged_text(judged: &JudgedState) -> String {
    let mut text = match judged.is_failing() {
        true => format!("wrong: {}\n", screen::plain(&judged.what_is_wrong())),
        false => "nothing is wrong\n".to_owned(),
    };
    if !judged.check_output.is_empty() {
        let lines = judged.check_output.lines();
        let lines = lines.map(|line| format!("  check: {}\n", screen::plain(line)));
        text.extend(lines);
    }
    text
}

/// The operations of the script in which power fails: what had ended, and what had begun.
fn operations_text(log: &DiskLog, state: &CrashState) -> String {
    let scripts = log.head.scripts.iter();
    let mut scripts = scripts.filter(|it| {
        let begin = it.operations.first().map_or(0, |it| it.begin_ns);
        (begin..=it.end_ns).contains(&state.at_ns)
    });
    let Some(script) = scripts.next() else {
        return String::new();
    };
    let mut text = format!("operations in {}:\n", script.folder);
    for operation in &script.operations {
        let how = match () {
            () if operation.end_ns <= state.at_ns => "done   ",
            () if operation.begin_ns <= state.at_ns => "begun  ",
            () => "not yet",
        };
        text += &format!("  {how} {}\n", operation.step);
    }
    text
}

/// Writes the image as a sparse file.
fn write_image(log: &DiskLog, state: &CrashState, path: &Path) -> io::Result<()> {
    let mut image = File::create_new(path)?;
    image.set_len(log.head.sectors * SECTOR_BYTES)?;
    for piece in pieces(log, state) {
        match piece {
            Piece::Data { sector, bytes } => {
                image.seek(SeekFrom::Start(sector * SECTOR_BYTES))?;
                image.write_all(bytes)?;
            }
            // No other piece is there: it is a hole.
            Piece::Zeros { .. } => {}
        }
    }
    image.sync_all()
}

/// When power failed, in which phase, and which writes were lost.
fn loss_text(log: &DiskLog, state: &CrashState) -> String {
    let phase = log
        .head
        .phases
        .iter()
        .find(|phase| (phase.begin_ns..=phase.end_ns).contains(&state.at_ns));
    let place = phase.map_or("outside all phases".to_owned(), |it| {
        format!("in {}", it.name)
    });
    let lost = screen::counted(state.lost.len(), "write");
    let mut text = format!("power fails at {} ns, {place}; lost: {lost}\n", state.at_ns);
    for loss in state.lost.iter().take(LISTED_MAX) {
        let request = &log.requests[loss.request];
        let bytes = Bytes(u64::from(request.sectors) * SECTOR_BYTES);
        let kept = match loss.kept_sectors {
            0 => String::new(),
            kept => format!(
                ", of which {} are kept",
                Bytes(u64::from(kept) * SECTOR_BYTES)
            ),
        };
        text += &format!(
            "  request {}: {bytes} at sector {}, submitted at {} ns, done at {} ns{kept}\n",
            loss.request, request.sector, request.submit_ns, request.done_ns
        );
    }
    if state.lost.len() > LISTED_MAX {
        text += &format!("  and {} more\n", state.lost.len() - LISTED_MAX);
    }
    text
}
