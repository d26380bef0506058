//! The states of each kind at a moment, by number, without making them.

use fslab_model::StateKind;
use fslab_stats::Random;

use super::{CrashState, Loss, Moment};
use crate::DiskLog;

/// With more pending writes than this, pairs are left to chance.
const PAIRS_MAX: usize = 16;
/// Subsets that chance chooses at a moment.
const SAMPLES: u64 = 16;

/// The number of states of a kind at a moment.
pub(super) fn count(log: &DiskLog, moment: &Moment, kind: StateKind) -> u64 {
    let pending = moment.pending.len() as u64;
    match kind {
        StateKind::Prefix => 1,
        StateKind::NothingPending => u64::from(pending > 0),
        // Of one pending write, losing it is losing all, and keeping it is the prefix.
        StateKind::OneLost | StateKind::OneKept if pending < 2 => 0,
        // Of two, keeping one is losing the other.
        StateKind::OneKept if pending < 3 => 0,
        StateKind::OneLost | StateKind::OneKept => pending,
        StateKind::Torn => {
            let cuts = moment.pending.iter().map(|it| cuts(log, *it).len() as u64);
            cuts.sum()
        }
        // Of three, losing two is keeping one; of two it is losing all.
        StateKind::TwoLost if !(4..=PAIRS_MAX as u64).contains(&pending) => 0,
        StateKind::TwoLost => pending * (pending - 1) / 2,
        // Of four, every subset is of another kind.
        StateKind::Sampled if pending < 5 => 0,
        StateKind::Sampled => SAMPLES,
    }
}

/// Where a write is cut: after its first sector, in the middle, and before its last.
fn cuts(log: &DiskLog, request: usize) -> Vec<u32> {
    let sectors = log.requests[request].sectors;
    let mut cuts = vec![1, sectors / 2, sectors.saturating_sub(1)];
    cuts.retain(|cut| (1..sectors).contains(cut));
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// The state `number` of its kind at a moment; `seed` chooses the sampled ones.
pub(super) fn state(
    log: &DiskLog,
    moment: &Moment,
    kind: StateKind,
    number: u64,
    seed: u64,
) -> CrashState {
    let pending = &moment.pending;
    let place = usize::try_from(number).unwrap_or(usize::MAX);
    match kind {
        StateKind::Prefix => CrashState::without(moment, []),
        StateKind::NothingPending => CrashState::without(moment, pending.iter().copied()),
        StateKind::OneLost => CrashState::without(moment, pending.get(place).copied()),
        StateKind::OneKept => {
            let others = pending.iter().enumerate().filter(|(it, _)| *it != place);
            CrashState::without(moment, others.map(|(_, request)| *request))
        }
        StateKind::Torn => torn(log, moment, place),
        StateKind::TwoLost => {
            let pairs = (0..pending.len()).flat_map(|b| (0..b).map(move |a| [a, b]));
            let pair = pairs.skip(place).take(1).flatten();
            CrashState::without(moment, pair.map(|it| pending[it]))
        }
        StateKind::Sampled => {
            let mut random = Random::new(seed ^ moment.at_ns, number);
            // Few losses and many are as likely, which one coin for each write would not give.
            let share = 1 + random.below(7);
            let lost = pending.iter().filter(|_| random.below(8) < share);
            let lost: Vec<usize> = lost.copied().collect();
            CrashState::without(moment, lost)
        }
    }
}

fn torn(log: &DiskLog, moment: &Moment, place: usize) -> CrashState {
    let all = moment.pending.iter().flat_map(|request| {
        cuts(log, *request).into_iter().map(|kept_sectors| Loss {
            request: *request,
            kept_sectors,
        })
    });
    CrashState {
        at_ns: moment.at_ns,
        lost: all.skip(place).take(1).collect(),
    }
}
