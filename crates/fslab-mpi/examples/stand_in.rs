//! Stands in for `fslab` to measure what fslab-mpi and the conductor cost, without the load of the
//! trials: `clusters/scale` installs it as `fslab` beside fslab-mpi.
//!
//! As `fslab worker` it lets the real program run the first trial. For each further trial it sleeps
//! for `STAND_IN_TRIAL_MS` and answers with that trial's lines, under the ID of the further one.
//! With other arguments it runs the real program, and prints its processor time and memory.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Interval of the figures of memory.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(20);
/// `/proc/PID/stat` counts in hundredths of a second.
const TICKS_PER_S: f64 = 100.0;

fn main() -> ExitCode {
    let Some(program) = env::var_os("STAND_IN_FOR") else {
        eprintln!("error: STAND_IN_FOR names no program");
        return ExitCode::from(2);
    };
    let mut real = Command::new(program);
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let is = |word: &str| arguments.first().is_some_and(|first| first == word);
    let ended = if is("worker") {
        work(&mut real)
    } else if is("--version") {
        real.args(&arguments).status().map(|_| 0)
    } else {
        conduct(real.args(&arguments))
    };
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: stand-in: {error}");
            ExitCode::from(4)
        }
    }
}

/// The beginning of the trial's ID in lines of JSON, and its end.
fn trial_id(line: &str) -> Option<&str> {
    let begin = line.find("\"trial\":{")?;
    let length = line[begin..].find('}')?;
    Some(&line[begin..=begin + length])
}

fn work(real: &mut Command) -> io::Result<u8> {
    let real = real
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = real.spawn()?;
    let (mut to_real, mut from_real) = pipes(&mut child);
    let duration = env::var("STAND_IN_TRIAL_MS")
        .ok()
        .and_then(|text| text.parse().ok());
    let duration = Duration::from_millis(duration.unwrap_or(1000));
    let mut output = io::stdout();
    // The lines of the first trial, and its ID.
    let mut first: Option<(String, String)> = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let is_trial = line.contains("\"message\":\"trial\"");
        if let (true, Some((lines, id))) = (is_trial, &first) {
            let began = Instant::now();
            let own = trial_id(&line).ok_or(io::Error::other("a trial without an ID"))?;
            let answer = lines.replace(id.as_str(), own);
            thread::sleep(duration.saturating_sub(began.elapsed()));
            output.write_all(answer.as_bytes())?;
            output.flush()?;
            continue;
        }
        writeln!(to_real, "{line}")?;
        if line.contains("\"message\":\"stop\"") {
            continue;
        }
        let mut lines = String::new();
        // `ready` or `refused` to `begin`, `record` to a trial.
        let last = if is_trial {
            "\"message\":\"record\""
        } else {
            "\"message\":\"re"
        };
        loop {
            let begin = lines.len();
            if from_real.read_line(&mut lines)? == 0 {
                return Err(io::Error::other("the worker has ended"));
            }
            if lines[begin..].contains(last) {
                break;
            }
        }
        output.write_all(lines.as_bytes())?;
        output.flush()?;
        if let (true, Some(id)) = (is_trial, trial_id(&line)) {
            first = Some((lines, id.to_owned()));
        }
    }
    drop(to_real);
    child.wait()?;
    Ok(0)
}

fn pipes(child: &mut Child) -> (impl Write + use<>, BufReader<impl io::Read + use<>>) {
    let input = child.stdin.take().expect("piped");
    (input, BufReader::new(child.stdout.take().expect("piped")))
}

fn conduct(real: &mut Command) -> io::Result<u8> {
    let began = Instant::now();
    let mut child = real.spawn()?;
    let id = child.id();
    thread::spawn(move || {
        loop {
            thread::sleep(SAMPLE_INTERVAL);
            sample(id, began.elapsed());
        }
    });
    let status = child.wait()?;
    // The parent is rank 0; its own time is the relay's.
    let parent = std::os::unix::process::parent_id();
    let (conductor, relay) = (times("self")?.1, times(&parent.to_string())?.0);
    eprintln!(
        "stand-in: {:.1} s; processor time of the conductor {conductor:.2} s, of rank 0 {relay:.2} s",
        began.elapsed().as_secs_f64()
    );
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    Ok(code
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX))
}

/// Prints the memory of a process and of its parent's parent, rank 0.
fn sample(id: u32, elapsed: Duration) {
    let parent = std::os::unix::process::parent_id();
    let resident = |id: u32| {
        let text = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("VmRSS:"));
        line.map_or(String::new(), |line| line[6..].trim().to_owned())
    };
    eprintln!(
        "stand-in: after {} s the conductor has {}, rank 0 {}",
        elapsed.as_secs(),
        resident(id),
        resident(parent)
    );
}

/// The processor time of a process, and that of its children that have ended, in seconds.
fn times(process: &str) -> io::Result<(f64, f64)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The fields after the name, which may have spaces: utime is field 14.
    let rest = text.rsplit(')').next().unwrap_or_default();
    let ticks: Vec<f64> = rest
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0.0))
        .collect();
    let sum = |first: usize| {
        ticks
            .get(first..first + 2)
            .map_or(0.0, |two| two.iter().sum())
    };
    Ok((sum(11) / TICKS_PER_S, sum(13) / TICKS_PER_S))
}
