//! What virtual time must reach, and whether it did.

use super::findings::{
    Everything, Findings, Kind, Phase, PhaseFigures, Requests, SizeFigures, Sized,
};
use crate::series::Spread;
use crate::verdict::Judged;

/// Simulated seconds per real second at least, where a phase waits for its disk.
const SPEED_MIN: f64 = 200.0;
/// Megabytes of file data per real second at least, where a phase moves data in order.
const DATA_RATE_MIN: f64 = 500.0;
/// Real minutes at most for the quick study of every file system.
const EVERYTHING_MINUTES_MAX: f64 = 12.0;
/// Nanoseconds for a random read of a hard disk, one at a time, at most.
const REQUEST_NS_MAX: f64 = 2_000.0;
/// Time of a large disk's trial over a small one's at most, without the time of what it writes in
/// addition.
const SIZE_TIME_MAX: f64 = 1.1;
/// What is written below in blocks of 4 KiB may take a little more than was written to the disk.
const ALLOCATED_MAX: f64 = 1.02;
const TRACE_RECORD_BYTES: u64 = 96;
/// The image of a disk.
pub(crate) const IMAGE: &str = "disk.img";
/// The record of what it did.
pub(crate) const TRACE: &str = "disk.trace";

/// Every target of what was measured; phases have their own, in `phase_reached`.
pub(crate) fn judge(findings: &Findings) -> Vec<Judged> {
    let mut judged = Vec::new();
    for kind in [Kind::Waits, Kind::Streams] {
        judged.extend(phases(findings, kind));
    }
    judged.extend(exactness(findings));
    judged.extend(findings.sizes.iter().flat_map(size));
    judged.extend(findings.everything.as_ref().map(everything));
    judged.extend(findings.requests.iter().filter_map(request));
    judged
}

/// The target of phases of this kind, in a few words; `None` where there is none.
pub(crate) fn phase_target(kind: Kind) -> Option<String> {
    match kind {
        Kind::Waits => Some(format!("{SPEED_MIN:.0} s/s")),
        Kind::Streams => Some(format!("{DATA_RATE_MIN:.0} MB/s")),
        Kind::Cached | Kind::Idle => None,
    }
}

/// Whether a phase reached what its kind must; `None` for a kind without a target.
pub(crate) fn phase_reached(phase: &Phase) -> Option<bool> {
    let figures = phase.figures.as_ref().ok()?;
    match figures.kind() {
        Kind::Waits => Some(figures.speed()?.median >= SPEED_MIN),
        Kind::Streams => Some(figures.data_rate()?.median >= DATA_RATE_MIN),
        Kind::Cached | Kind::Idle => None,
    }
}

/// One verdict for all phases of a kind on each disk.
fn phases(findings: &Findings, kind: Kind) -> Vec<Judged> {
    let mut disks: Vec<&str> = Vec::new();
    for phase in &findings.phases {
        if !disks.contains(&phase.disk.as_str()) {
            disks.push(&phase.disk);
        }
    }
    let of_kind = |phase: &&Phase| phase.figures.as_ref().is_ok_and(|it| it.kind() == kind);
    disks
        .into_iter()
        .filter_map(|disk| {
            let verdicts: Vec<_> = findings
                .phases
                .iter()
                .filter(|phase| phase.disk == disk)
                .filter(of_kind)
                .filter_map(phase_reached)
                .collect();
            let reached = verdicts.iter().filter(|reached| **reached).count();
            let what = match kind {
                Kind::Streams => "phases that move data in order",
                _ => "phases that wait for the disk",
            };
            (!verdicts.is_empty()).then(|| Judged {
                subject: format!("{what}, {disk}"),
                target: format!("at least {} each", phase_target(kind).unwrap_or_default()),
                found: format!("{reached} of {} phases", verdicts.len()),
                reached: Some(reached == verdicts.len()),
            })
        })
        .collect()
}

/// What is compared must be the same: virtual time does not depend on the host. Needs two rounds.
fn exactness(findings: &Findings) -> Option<Judged> {
    let compared = |phase: &&PhaseFigures| phase.costs.len() > 1;
    let figures = findings.phases.iter().flat_map(|it| &it.figures);
    let verdicts: Vec<_> = figures.filter(compared).map(|it| it.is_exact).collect();
    let same = verdicts.iter().filter(|same| **same).count();
    (!verdicts.is_empty()).then(|| Judged {
        subject: "virtual time of each phase".to_owned(),
        target: "the same in every round, to the nanosecond".to_owned(),
        found: format!("{same} of {} phases", verdicts.len()),
        reached: Some(same == verdicts.len()),
    })
}

/// Two verdicts: what a large disk takes below, and how long its trial is.
fn size(sized: &Sized) -> Vec<Judged> {
    let Ok([small, large]) = &sized.pair else {
        return Vec::new();
    };
    let image = large.footprint.get(IMAGE).copied().unwrap_or(0);
    let share = image as f64 / large.written_bytes as f64;
    let room = Judged {
        subject: format!("{} of {}", sized.subject, large.size),
        target: format!("its image takes at most {ALLOCATED_MAX} of what was written"),
        found: format!("{share:.3} of {} MB", large.written_bytes / 1_000_000),
        reached: (image > 0).then_some(share <= ALLOCATED_MAX),
    };
    vec![room]
        .into_iter()
        .chain(size_time(sized, small, large))
        .collect()
}

fn size_time(sized: &Sized, small: &SizeFigures, large: &SizeFigures) -> Option<Judged> {
    let seconds = |it: &SizeFigures| Some(Spread::of(&it.real_ns)?.median / 1e9);
    let (small_s, large_s) = (seconds(small)?, seconds(large)?);
    let more_bytes = large.written_bytes.saturating_sub(small.written_bytes);
    let more_s = more_bytes as f64 / (DATA_RATE_MIN * 1e6);
    Some(Judged {
        subject: format!("{} of {}", sized.subject, large.size),
        target: format!(
            "at most {SIZE_TIME_MAX} times the trial on {}, and {DATA_RATE_MIN:.0} MB/s for the \
             {} MB more that are written",
            small.size,
            more_bytes / 1_000_000
        ),
        found: format!("{large_s:.2} s, on {} {small_s:.2} s", small.size),
        reached: Some(large_s <= small_s * SIZE_TIME_MAX + more_s),
    })
}

fn everything(everything: &Everything) -> Judged {
    let minutes = everything.real_ns as f64 / 60e9;
    Judged {
        subject: format!("quick study of all file systems, {}", everything.disk),
        target: format!("at most {EVERYTHING_MINUTES_MAX:.0} minutes"),
        found: format!("{minutes:.1} minutes, {} trials", everything.trials.len()),
        reached: Some(minutes <= EVERYTHING_MINUTES_MAX),
    }
}

fn request(requests: &Requests) -> Option<Judged> {
    let is_judged = requests.what.starts_with("random reads") && requests.depth == 1;
    is_judged.then(|| Judged {
        subject: format!("model of {}, {}", requests.disk, requests.what),
        target: format!("at most {REQUEST_NS_MAX:.0} ns a request"),
        found: format!("{:.0} ns", requests.ns.median),
        reached: Some(requests.ns.median <= REQUEST_NS_MAX),
    })
}

/// Requests in a trace of so many bytes.
pub(crate) fn trace_requests(bytes: u64) -> u64 {
    bytes / TRACE_RECORD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::findings::tests::figures;

    fn phase(figures: PhaseFigures) -> Phase {
        Phase {
            disk: "disk".into(),
            subject: "ext4".into(),
            name: "phase".into(),
            figures: Ok(figures),
        }
    }

    #[test]
    fn a_phase_is_held_against_what_its_kind_can_reach() {
        let mut waits = figures(0, 1_000, 1);
        assert_eq!(phase_reached(&phase(waits.clone())), Some(true));
        waits.virtual_ns -= 10_000_000;
        assert_eq!(phase_reached(&phase(waits)), Some(false));
        assert_eq!(phase_reached(&phase(figures(0, 1, 1))), None);
        assert_eq!(phase_reached(&phase(figures(0, 0, 0))), None);
        assert_eq!(
            phase_reached(&phase(figures(1_000 << 20, 1, 1))),
            Some(true)
        );
    }

    #[test]
    fn one_slow_phase_is_enough_for_its_disk_to_fall_short() {
        let mut slow = figures(0, 1_000, 1);
        slow.virtual_ns = 1;
        let findings = Findings {
            phases: vec![phase(figures(0, 1_000, 1)), phase(slow)],
            ..Findings::default()
        };
        let judged = judge(&findings);
        assert_eq!(judged[0].found, "1 of 2 phases");
        assert_eq!(judged[0].reached, Some(false));
    }

    #[test]
    fn a_phase_that_takes_another_virtual_time_in_another_round_is_told() {
        let mut differs = figures(0, 0, 0);
        differs.is_exact = false;
        let mut once = differs.clone();
        once.costs.truncate(1);
        let findings = Findings {
            phases: vec![phase(differs), phase(figures(0, 0, 0)), phase(once)],
            ..Findings::default()
        };
        let judged = judge(&findings);
        assert_eq!(judged.len(), 1);
        assert_eq!(judged[0].found, "1 of 2 phases");
        assert_eq!(judged[0].reached, Some(false));
    }

    #[test]
    fn a_large_disk_may_cost_what_more_is_written_to_it() {
        let of = |size, seconds: f64, written_bytes, image| SizeFigures {
            size,
            real_ns: vec![seconds * 1e9],
            written_bytes,
            footprint: [(IMAGE.to_owned(), image)].into(),
        };
        let judge = |seconds, image| {
            let small = of("1GiB", 1.0, 100_000_000, 1);
            let large = of("20GiB", seconds, 600_000_000, image);
            let sized = Sized {
                subject: "ext2".into(),
                pair: Ok([small, large]),
            };
            size(&sized).iter().map(|it| it.reached).collect::<Vec<_>>()
        };
        assert_eq!(judge(2.0, 600_000_000), [Some(true), Some(true)]);
        assert_eq!(judge(2.2, 700_000_000), [Some(false), Some(false)]);
        assert_eq!(judge(2.0, 0), [None, Some(true)]);
    }
}
