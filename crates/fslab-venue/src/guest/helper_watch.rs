//! Detects dead helper processes of a guest kernel.
//!
//! A guest kernel is a process with children: one performs the I/O of its disk, others are the
//! guest's programs. It reaps programs at once but never its helpers: a killed helper stays a
//! zombie, and the guest waits for it forever.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fslab_sys::ProcessStat;

/// Interval of the checks.
const INTERVAL: Duration = Duration::from_millis(500);
/// A child unreaped for longer is a dead helper.
const REAPED_WITHIN: Duration = Duration::from_secs(2);

/// State between checks.
#[derive(Default)]
pub(crate) struct HelperWatch {
    looked: Option<Instant>,
    /// Zombie children, with the time at which each was first seen.
    zombies: BTreeMap<u32, Instant>,
}

impl HelperWatch {
    /// The PID of a dead helper of `guest`; `None` if all live.
    pub(crate) fn dead_of(&mut self, guest: u32) -> Option<u32> {
        if self.looked.is_some_and(|then| then.elapsed() < INTERVAL) {
            return None;
        }
        let now = Instant::now();
        self.looked = Some(now);
        // A stopped guest reaps no children.
        if ProcessStat::of(guest).is_none_or(|it| !matches!(it.state, 'R' | 'S' | 'D')) {
            self.zombies.clear();
            return None;
        }
        let ended: Vec<u32> = children_that_ended(guest).collect();
        self.zombies.retain(|pid, _| ended.contains(pid));
        for pid in ended {
            self.zombies.entry(pid).or_insert(now);
        }
        let dead = |(_, since): &(&u32, &Instant)| now.duration_since(**since) >= REAPED_WITHIN;
        self.zombies.iter().find(dead).map(|(pid, _)| *pid)
    }
}

fn children_that_ended(guest: u32) -> impl Iterator<Item = u32> {
    fslab_sys::processes()
        .filter(move |it| it.state == 'Z' && it.parent == guest)
        .map(|it| it.pid)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A process with a child that ends and is never reaped.
    #[test]
    fn a_child_that_is_not_reaped_in_time_is_a_dead_helper() {
        // exec(2): the new program does not know of the child.
        let script = "sleep 0.1 & exec sleep 600";
        let mut guest = Command::new("sh").args(["-c", script]).spawn().expect("sh");
        let mut watch = HelperWatch::default();
        let began = Instant::now();
        let dead = loop {
            match watch.dead_of(guest.id()) {
                Some(dead) => break dead,
                None => std::thread::sleep(Duration::from_millis(50)),
            }
            assert!(began.elapsed() < Duration::from_secs(60), "not seen");
        };
        assert!(began.elapsed() >= REAPED_WITHIN);
        assert_ne!(dead, guest.id());
        assert!(ProcessStat::of(dead).is_some_and(|it| it.parent == guest.id()));
        guest.kill().expect("ours");
        guest.wait().expect("reaped");
    }

    #[test]
    fn a_guest_with_live_children_has_no_dead_helper() {
        let mut guest = Command::new("sh")
            .args(["-c", "sleep 600 & echo $! >&2; exec sleep 600"])
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("sh");
        let mut watch = HelperWatch::default();
        let began = Instant::now();
        while began.elapsed() < REAPED_WITHIN + 3 * INTERVAL {
            assert_eq!(watch.dead_of(guest.id()), None);
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut text = String::new();
        let errors = guest.stderr.take().expect("a pipe");
        let mut errors = std::io::BufReader::new(errors);
        std::io::BufRead::read_line(&mut errors, &mut text).expect("a number");
        let child: u32 = text.trim().parse().expect("a number");
        fslab_sys::signal_if(child, fslab_sys::Signal::Terminate, || true).expect("ours");
        guest.kill().expect("ours");
        guest.wait().expect("reaped");
    }
}
