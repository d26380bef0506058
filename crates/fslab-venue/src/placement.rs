//! The venue's part of a specification, and how a guest gets it.

use fslab_model::{DeviceSpec, Failure, FailureKind, Placement, TrialSpec};

use crate::guest::Clock;
use crate::places::Start;

/// Guest device that makes the host drop the disk's data from its page cache.
const FORGET: &str = "/dev/fslab-forget";
/// The variable with which tests have each system call made by itself.
const SINGLE_CALLS: &str = "FSLAB_TEST_SINGLE_CALLS";

/// Writes the specification where a guest reads it.
pub(crate) fn hand_over(mut start: Start, spec: &TrialSpec) -> Result<Start, Failure> {
    if let Start::InGuest(_, share) = &mut start {
        let text = serde_json::to_vec(spec).map_err(std::io::Error::from);
        let written = text.and_then(|text| share.write_spec(&text));
        written.map_err(|error| {
            Failure::new(
                FailureKind::Device,
                "cannot pass the specification to a guest",
            )
            .because(&error)
        })?;
    }
    Ok(start)
}

/// The device and clock of a trial started by `start`.
pub(crate) fn placement(device: DeviceSpec, start: &Start) -> Placement {
    let clock = match start {
        Start::Here => None,
        Start::InGuest(guest, _) => Some(guest.clock()),
    };
    let (host_forgets, counter_hz) = match clock {
        Some(Clock::Real { counter_hz }) => (Some(FORGET.into()), *counter_hz),
        Some(Clock::Virtual { .. }) | None => (None, None),
    };
    let host_memory_medium = match start {
        Start::InGuest(guest, share) if matches!(guest.clock(), Clock::Real { .. }) => {
            fslab_sys::memory_below(share.folder()).ok().flatten()
        }
        _ => None,
    };
    let emptied_by = match clock {
        Some(Clock::Virtual { disk, .. }) => disk.emptied_by,
        Some(Clock::Real { .. }) | None => None,
    };
    Placement {
        device,
        host_forgets,
        host_memory_medium,
        emptied_by,
        counter_hz,
        virtual_time: matches!(clock, Some(Clock::Virtual { .. })),
        counted: matches!(
            clock,
            Some(Clock::Virtual {
                machine: Some(_),
                ..
            })
        ),
        single_calls: std::env::var_os(SINGLE_CALLS).is_some(),
        ranks: None,
    }
}
