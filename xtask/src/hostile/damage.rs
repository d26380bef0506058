//! Files with flipped bits, cut, spliced, or with bytes overwritten: they are refused, or read as
//! if nothing were wrong where nothing that counts was changed. No command crashes or hangs, and no
//! number is another.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::chance::Chance;
use super::progress::Progress;
use super::scene::{Ended, Scene};

/// Until a command on a damaged file ends.
const LIMIT: Duration = Duration::from_secs(20);
/// The exit codes of fslab that are no crash (docs/commands.md).
const CODES: std::ops::RangeInclusive<i32> = 0..=5;
/// Of damaged snapshots so many are also run, of each hundred.
const RUN_OF_HUNDRED: usize = 2;
/// Bytes of a log before its compressed stream (`file.rs` of fslab-crash).
const LOG_START: usize = 12;

/// What became of the damaged files.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) refused: usize,
    pub(super) read: usize,
}

/// A damaged copy.
fn damaged(sound: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    match chance.below(6) {
        0 => bytes.truncate(chance.below(bytes.len())),
        1 => {
            let (from, to) = (chance.below(bytes.len()), chance.below(bytes.len()));
            let length = chance.below(8192).min(bytes.len() - from.max(to));
            bytes.copy_within(from..from + length, to);
        }
        2 => {
            let from = chance.below(bytes.len());
            let length = chance.below(4096).min(bytes.len() - from);
            let value = [0, 0xff][chance.below(2)];
            bytes[from..from + length].fill(value);
        }
        _ => {
            for _ in 0..=chance.below(25) {
                let at = chance.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << chance.below(8);
                }
            }
        }
    }
    bytes
}

/// A log's start, and what its stream holds.
fn opened(log: &[u8]) -> Result<(&[u8], Vec<u8>), String> {
    let (start, stream) = log.split_at_checked(LOG_START).ok_or("no log")?;
    let mut inside = Vec::new();
    match ZlibDecoder::new(stream).read_to_end(&mut inside) {
        Ok(_) => Ok((start, inside)),
        Err(error) => Err(format!("cannot read a log's stream: {error}")),
    }
}

/// A log whose stream is sound.
fn closed(start: &[u8], inside: &[u8]) -> Result<Vec<u8>, String> {
    // Compression is slow, and not what is tested.
    let mut encoder = ZlibEncoder::new(start.to_vec(), Compression::none());
    let written = encoder.write_all(inside);
    written
        .and_then(|()| encoder.finish())
        .map_err(|error| format!("cannot write a log's stream: {error}"))
}

/// One exact trial of ext4 in virtual time.
fn simulated(study: &Path, store: &str, further: &[&str]) -> Vec<String> {
    let study = study.display().to_string();
    let words = ["compare", "ext4", "--venue", "sim", "--study", &study];
    let options = ["--repeats", "1", "--perturb", "off", "--store", store];
    let folders = ["--out", "out", "--images", "images"];
    let all = [&words[..], &options, &folders, further].concat();
    all.into_iter().map(str::to_owned).collect()
}

fn ensure_no_crash(what: &str, ended: &Ended) -> Result<(), String> {
    match ended.code {
        Some(code) if CODES.contains(&code) => Ok(()),
        _ => Err(format!("{what}: {}", ended.words())),
    }
}

/// Keeps the damaged file where a command crashed.
fn keeping<T>(result: Result<T, String>, scene: &Scene, file: &str) -> Result<T, String> {
    result.map_err(|why| {
        let kept = Path::new("/var/tmp").join(format!("fslab-hostile-found-{file}"));
        match fs::copy(scene.at(file), &kept) {
            Ok(_) => format!("{why}\n  kept as {}", kept.display()),
            Err(_) => why,
        }
    })
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Stores: all that reads one, each in its turn.
pub(super) fn stores(scene: &Scene, count: usize, chance: &mut Chance) -> Result<Counts, String> {
    const FILE: &str = "damaged.db";
    let sound = scene.at("sound.db").display().to_string();
    for _ in 0..2 {
        let ended = scene.run(&[
            "compare", "fake", "--store", &sound, "--out", "out", "--seed", "1",
        ])?;
        if ended.code != Some(0) {
            return Err(format!("a sound store: {}", ended.words()));
        }
    }
    let readers: [&[&str]; 5] = [
        &["export", "last", "--format", "csv"],
        &["show", "last", "--all"],
        &["list"],
        &["export", "last~1", "--format", "json"],
        &["diff", "last~1", "last"],
    ];
    let with = |words: &[&'static str], store: &str| -> Vec<String> {
        let words = words.iter().map(|word| (*word).to_owned());
        words
            .chain(["--store".to_owned(), store.to_owned()])
            .collect()
    };
    let mut expected = Vec::new();
    for reader in readers {
        expected.push(scene.run(&with(reader, &sound))?.out);
    }
    let content = bytes_of(Path::new(&sound))?;
    let file = scene.at(FILE);
    let text = file.display().to_string();
    let mut counts = Counts::default();
    let mut progress = Progress::new("stores", count);
    for number in 0..count {
        progress.reached(number);
        for suffix in ["-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(format!("{text}{suffix}"));
        }
        write(&file, &damaged(&content, chance))?;
        let reader = readers[number % readers.len()];
        let words = with(reader, &text);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = scene.run_limited(&words, LIMIT)?;
        let mut result = ensure_no_crash(&words.join(" "), &ended);
        let is_as_sound = ended.out == expected[number % readers.len()];
        // The list names damaged runs, and lists the others.
        let names_damage =
            String::from_utf8_lossy(&ended.out).contains("damaged: fslab store check");
        if ended.code == Some(0) && !is_as_sound && !names_damage {
            result = Err(format!("{}: another output, and no error", words.join(" ")));
        }
        keeping(result, scene, FILE)?;
        match is_as_sound {
            true => counts.read += 1,
            false => counts.refused += 1,
        }
        if number % readers.len() == 0 {
            let checked = scene.run_limited(&["store", "check", "--store", &text], LIMIT)?;
            keeping(ensure_no_crash("store check", &checked), scene, FILE)?;
        }
    }
    Ok(counts)
}

/// Logs of disks: their requests and states are listed.
pub(super) fn logs(scene: &Scene, count: usize, chance: &mut Chance) -> Result<Counts, String> {
    const FILE: &str = "damaged.log";
    // Many requests and few data: what is in a log is its structure.
    let study = Path::new("survival");
    let ended = scene.run(&simulated(study, "logged.db", &["--record-disk", "logs"]))?;
    if ended.code != Some(0) {
        return Err(format!("a log: {}", ended.words()));
    }
    let logs = fs::read_dir(scene.at("logs"))
        .into_iter()
        .flatten()
        .flatten();
    let log: Option<PathBuf> = logs.map(|entry| entry.path()).next();
    let content = bytes_of(&log.ok_or("no log was recorded")?)?;
    let (start, inside) = opened(&content)?;
    let readers: [&[&str]; 2] = [
        &["crash", "requests", FILE],
        &["crash", "states", FILE, "--max-states", "100"],
    ];
    let mut counts = Counts::default();
    let mut progress = Progress::new("logs", count);
    for number in 0..count {
        progress.reached(number);
        // The stream's checksum finds nearly all damage, so every other pair is damaged within.
        let bytes = match number / readers.len() % 2 {
            0 => damaged(&content, chance),
            _ => closed(start, &damaged(&inside, chance))?,
        };
        write(&scene.at(FILE), &bytes)?;
        let words = readers[number % readers.len()];
        let ended = scene.run_limited(words, LIMIT)?;
        keeping(ensure_no_crash(&words.join(" "), &ended), scene, FILE)?;
        match ended.code {
            Some(0) => counts.read += 1,
            _ => counts.refused += 1,
        }
    }
    Ok(counts)
}

/// Snapshots of a PC's guests: a damaged one is found, and a run has the records that it has with a
/// sound one.
pub(super) fn snapshots(
    scene: &Scene,
    study: &Path,
    count: usize,
    chance: &mut Chance,
) -> Result<Counts, String> {
    let words = simulated(study, "pc.db", &["--machine", "pc-2024"]);
    let exact = || {
        let ended = scene.run(&words)?;
        if ended.code != Some(0) {
            return Err(format!("a run of a PC: {}", ended.words()));
        }
        let export = ["export", "last", "--format", "exact", "--store", "pc.db"];
        Ok(scene.run(&export)?.out)
    };
    let expected = exact()?;
    let file = snapshot(scene)?;
    let content = bytes_of(&file)?;
    let mut counts = Counts::default();
    let mut progress = Progress::new("snapshots", count);
    for number in 0..count {
        progress.reached(number);
        let bytes = damaged(&content, chance);
        if bytes == content {
            continue;
        }
        write(&file, &bytes)?;
        let checked = scene.run_limited(&["lab", "check", "debian-6.1"], LIMIT)?;
        if checked.code == Some(0) || !checked.err.contains("snapshot") {
            write(&scene.at("damaged.snapshot"), &bytes)?;
            let why = format!("a damaged snapshot was not found: {}", checked.words());
            return keeping(Err(why), scene, "damaged.snapshot");
        }
        counts.refused += 1;
        if number % 100 < RUN_OF_HUNDRED && exact()? != expected {
            return Err("another number with a damaged snapshot".to_owned());
        }
    }
    write(&file, &content)?;
    Ok(counts)
}

/// The snapshot that was used last.
fn snapshot(scene: &Scene) -> Result<PathBuf, String> {
    let shown = scene.run(&["lab", "check", "debian-6.1"])?;
    let text = String::from_utf8_lossy(&shown.out).into_owned();
    let paths = text
        .split_whitespace()
        .map(|word| word.trim_end_matches(':'))
        .filter(|word| word.ends_with(".snapshot"));
    let used = |path: &&str| fs::metadata(path).and_then(|it| it.modified()).ok();
    let newest = paths.max_by_key(used);
    newest
        .map(PathBuf::from)
        .ok_or_else(|| format!("the lab of a PC has no snapshot: {}", shown.words()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_changes_files_of_every_size_and_never_fails() {
        let mut chance = Chance(1);
        let mut changed = 0;
        for size in (0..2000).chain([100_000]) {
            let sound: Vec<u8> = (0..size).map(|number| number as u8).collect();
            changed += usize::from(damaged(&sound, &mut chance) != sound);
        }
        assert!(changed > 1800, "{changed}");
    }
}
