//! A second, independent simulation of a hard disk of one zone, to check the model: with floats,
//! the knot of the seek curve by bisection, and without events.

use crate::parameters::Parameters;

/// Times in nanoseconds.
pub(crate) struct PlainDisk {
    rev: f64,
    heads: u64,
    track_sectors: u64,
    head_switch: f64,
    track: f64,
    full: f64,
    knot: f64,
    cylinders: f64,
    command: f64,
}

impl PlainDisk {
    /// One zone; the knot is found by bisection, so that the mean seek is that of the data sheet.
    pub(crate) fn new(disk: &Parameters) -> Self {
        let number = |name: &str| disk.number(name) as f64;
        let rev = 60e9 / number("rpm");
        let heads = number("heads");
        let cylinder =
            heads * rev + (heads - 1.0) * number("head_switch_ns") + number("seek_track_ns");
        let track_sectors = (number("outer_bytes_per_s") * cylinder / 1e9 / 512.0 / heads).round();
        let cylinders = (number("sectors") / track_sectors / heads).ceil();
        let mut plain = Self {
            rev,
            heads: heads as u64,
            track_sectors: track_sectors as u64,
            head_switch: number("head_switch_ns"),
            track: number("seek_track_ns"),
            full: number("seek_full_ns"),
            knot: 0.0,
            cylinders,
            command: number("command_ns"),
        };
        let (mut low, mut high) = (plain.track, plain.full);
        for _ in 0..60 {
            plain.knot = f64::midpoint(low, high);
            let (mut sum, mut weights) = (0.0, 0.0);
            for step in 0..10_000 {
                let share = (f64::from(step) + 0.5) / 10_000.0;
                sum += (1.0 - share) * plain.seek((share * (cylinders - 1.0)).max(1.0));
                weights += 1.0 - share;
            }
            if sum / weights > number("seek_average_ns") {
                high = plain.knot;
            } else {
                low = plain.knot;
            }
        }
        plain
    }

    fn seek(&self, distance: f64) -> f64 {
        let full = self.cylinders - 1.0;
        let knot = (full / 3.0).floor();
        if distance < 0.5 {
            0.0
        } else if distance <= knot {
            let bend = (distance.sqrt() - 1.0) / (knot.sqrt() - 1.0);
            self.track + (self.knot - self.track) * bend
        } else {
            self.knot + (self.full - self.knot) * (distance - knot) / (full - knot)
        }
    }

    fn place(&self, sector: u64) -> (f64, u64, f64) {
        let track = sector / self.track_sectors;
        let (cylinder, head) = (track / self.heads, track % self.heads);
        let switches = (cylinder * (self.heads - 1) + head) as f64 * self.head_switch
            + cylinder as f64 * self.track;
        let along = (sector % self.track_sectors) as f64 / self.track_sectors as f64;
        let angle = (switches / self.rev + along).fract() * self.rev;
        (cylinder as f64, head, angle)
    }

    /// Time from `now` until the sector is under the head, from the arm's cylinder and head.
    fn reach(&self, now: f64, arm: (f64, u64), sector: u64) -> f64 {
        let (cylinder, head, angle) = self.place(sector);
        let switch = if head == arm.1 { 0.0 } else { self.head_switch };
        let ready = now + self.seek((cylinder - arm.0).abs()).max(switch);
        ready + (angle - ready).rem_euclid(self.rev) - now
    }

    /// Serves reads of 8 sectors at that queue depth, always the one that is reached soonest;
    /// returns the mean time between completions.
    ///
    /// The host submits the next read when one completes, and its command takes time, so that the
    /// arm chooses among one less than the depth.
    pub(crate) fn time_of_reads(&self, depth: usize, sectors: &[u64]) -> f64 {
        let mut requests = sectors.iter().copied();
        let mut queue: Vec<(f64, u64)> = Vec::new();
        let mut now: f64 = 0.0;
        let mut controller: f64 = 0.0;
        for sector in requests.by_ref().take(depth) {
            controller += self.command;
            queue.push((controller, sector));
        }
        let mut arm = (0.0, 0);
        let mut last_end = 0.0;
        let transfer = 8.0 * self.rev / self.track_sectors as f64;
        while !queue.is_empty() {
            let first = queue
                .iter()
                .map(|request| request.0)
                .fold(f64::INFINITY, f64::min);
            now = now.max(first);
            let there = |request: &&(f64, u64)| request.0 <= now;
            let best = queue
                .iter()
                .filter(there)
                .min_by(|a, b| {
                    self.reach(now, arm, a.1)
                        .total_cmp(&self.reach(now, arm, b.1))
                })
                .expect("one is there");
            let sector = best.1;
            let at = queue
                .iter()
                .position(|request| request.1 == sector)
                .expect("it is in the queue");
            now += self.reach(now, arm, sector) + transfer;
            let (cylinder, head, _) = self.place(sector + 7);
            arm = (cylinder, head);
            queue.swap_remove(at);
            last_end = now;
            if let Some(sector) = requests.next() {
                controller = controller.max(now) + self.command;
                queue.push((controller, sector));
            }
        }
        last_end / sectors.len() as f64
    }

    /// Small writes to RAID 5 of `members` disks, one at a time, each to the first 8 sectors of a
    /// chunk and of its parity; returns the mean time of a write.
    ///
    /// Both members read; once both have read, both write, a number of revolutions later.
    pub(crate) fn time_of_parity_writes(
        &self,
        members: u64,
        chunk_sectors: u64,
        chunks: &[u64],
    ) -> f64 {
        let transfer = 8.0 * self.rev / self.track_sectors as f64;
        let mut arms = vec![(0.0, 0); members as usize];
        let mut now = 0.0;
        for chunk in chunks {
            let row = chunk / (members - 1);
            let pair = [chunk % members, members - 1 - row % members];
            let sector = row * chunk_sectors;
            for _ in ["read", "write"] {
                let begin = now + self.command;
                for member in pair {
                    let arm = arms[member as usize];
                    let end = begin + self.reach(begin, arm, sector) + transfer;
                    let (cylinder, head, _) = self.place(sector + 7);
                    arms[member as usize] = (cylinder, head);
                    now = end.max(now);
                }
            }
        }
        now / chunks.len() as f64
    }
}
