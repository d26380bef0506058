//! Chooses states: all of them below a budget, and a fair share of each kind beyond it.

use std::collections::{BTreeMap, HashSet};

use fslab_model::{KindCount, StateKind};
use fslab_stats::Random;

use super::{CrashState, Moment, candidates};
use crate::DiskLog;

/// Most losses of the states of a kind that are listed; of more, chance draws.
const LISTED_MAX: u64 = 16 << 20;
/// The share of the budget that the states of a border kind may take while others are left: one in
/// so many.
const BORDER_PART: usize = 4;
/// The purposes of the random numbers that choose states.
const CHOICE: u64 = 21;
const DRAW: u64 = 22;

/// How many states to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The most states.
    pub states: usize,
    /// Chooses among more than that.
    pub seed: u64,
}

/// The states to try.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// The states with their kinds, by time.
    pub chosen: Vec<(StateKind, CrashState)>,
    /// Their numbers by kind.
    pub counts: BTreeMap<StateKind, KindCount>,
}

/// Chooses states of `log` at the moments.
///
/// Two states that leave the same writes on the disk count once, unless an operation begins or ends
/// between them: then more may be expected of the later one.
#[must_use]
pub fn enumerate(log: &DiskLog, moments: &[Moment], budget: Budget) -> States {
    let mut seen = Seen::of(log);
    let mut found = States::default();
    let mut kinds: Vec<(StateKind, Vec<CrashState>, u64)> = StateKind::ALL
        .into_iter()
        .map(|kind| {
            let (states, possible) = distinct(log, moments, kind, budget, &mut seen);
            (kind, states, possible)
        })
        .collect();
    // Borders first: they are few, and every other state is a variation of one. The others share
    // what is left, and what a small kind leaves of its share goes to the larger ones.
    let is_border = |kind: StateKind| kind <= StateKind::NothingPending;
    kinds.sort_by_key(|(kind, states, _)| (!is_border(*kind), states.len(), *kind));
    let all: usize = kinds.iter().map(|(_, states, _)| states.len()).sum();
    let mut left = budget.states;
    let mut kinds_left = kinds.iter().filter(|it| !is_border(it.0)).count();
    for (kind, mut states, possible) in kinds {
        let share = match is_border(kind) {
            _ if all <= budget.states => states.len(),
            true => left.min(budget.states.div_ceil(BORDER_PART)),
            false => left / kinds_left.max(1),
        };
        kinds_left -= usize::from(!is_border(kind));
        if states.len() > share {
            shuffle(&mut states, budget.seed, kind as u64);
            states.truncate(share);
        }
        left -= states.len();
        let tried = states.len() as u64;
        if possible > 0 {
            found.counts.insert(kind, KindCount { possible, tried });
        }
        found.chosen.extend(states.into_iter().map(|it| (kind, it)));
    }
    found.chosen.sort_by(|one, other| one.1.cmp(&other.1));
    found
}

/// The states of a kind that none before has, and how many there are.
fn distinct(
    log: &DiskLog,
    moments: &[Moment],
    kind: StateKind,
    budget: Budget,
    seen: &mut Seen,
) -> (Vec<CrashState>, u64) {
    let counts = moments.iter().map(|it| candidates::count(log, it, kind));
    let counts: Vec<u64> = counts.collect();
    let costs = moments.iter().zip(&counts);
    let costs = costs.map(|(moment, count)| count.saturating_mul(cost(moment, kind)));
    if costs.fold(0, u64::saturating_add) > LISTED_MAX {
        let total = counts
            .iter()
            .fold(0, |sum: u64, it| sum.saturating_add(*it));
        return (draw(log, moments, kind, &counts, budget, seen), total);
    }
    let mut states = Vec::new();
    for (moment, count) in moments.iter().zip(counts) {
        for number in 0..count {
            let state = candidates::state(log, moment, kind, number, budget.seed);
            if seen.insert(moment, &state, log) {
                states.push(state);
            }
        }
    }
    let possible = states.len() as u64;
    (states, possible)
}

/// What making a state costs: about as many steps as it has losses.
fn cost(moment: &Moment, kind: StateKind) -> u64 {
    match kind {
        StateKind::Prefix | StateKind::OneLost => 1,
        _ => 1 + moment.pending.len() as u64,
    }
}

/// Draws states of a kind, as many as the budget has or can be made.
fn draw(
    log: &DiskLog,
    moments: &[Moment],
    kind: StateKind,
    counts: &[u64],
    budget: Budget,
    seen: &mut Seen,
) -> Vec<CrashState> {
    let mut ends = Vec::with_capacity(counts.len());
    let mut total = 0_u64;
    for count in counts {
        total = total.saturating_add(*count);
        ends.push(total);
    }
    let mut random = Random::new(budget.seed ^ ((kind as u64) << 32), DRAW);
    let mut states = Vec::new();
    let mut listed = 0;
    while states.len() < budget.states && listed < LISTED_MAX {
        let place = random.below(total);
        let index = ends.partition_point(|end| *end <= place);
        let moment = &moments[index];
        listed += cost(moment, kind);
        let number = place - (ends[index] - counts[index]);
        let state = candidates::state(log, moment, kind, number, budget.seed);
        if seen.insert(moment, &state, log) {
            states.push(state);
        }
    }
    states
}

/// The states that were chosen, by what they keep.
struct Seen {
    /// The marks of all that was submitted, by its number.
    submitted: Vec<u128>,
    marks: HashSet<(usize, u128)>,
}

impl Seen {
    fn of(log: &DiskLog) -> Self {
        let mut sum = 0_u128;
        let mut submitted = vec![sum];
        for (number, request) in log.requests.iter().enumerate() {
            if request.changes() {
                sum = sum.wrapping_add(mark(number, request.sectors));
            }
            submitted.push(sum);
        }
        Self {
            submitted,
            marks: HashSet::new(),
        }
    }

    /// True if no state before keeps the same, with as many borders before it.
    fn insert(&mut self, moment: &Moment, state: &CrashState, log: &DiskLog) -> bool {
        let lost = state.lost.iter().map(|loss| {
            let whole = mark(loss.request, log.requests[loss.request].sectors);
            let kept = match loss.kept_sectors {
                0 => 0,
                sectors => mark(loss.request, sectors),
            };
            kept.wrapping_sub(whole)
        });
        let kept = lost.fold(self.submitted[moment.submitted], u128::wrapping_add);
        self.marks.insert((moment.borders, kept))
    }
}

/// A number of a write of which so many sectors are kept; states have the sum of theirs.
fn mark(request: usize, sectors: u32) -> u128 {
    let mut random = Random::new(request as u64, sectors.into());
    u128::from(random.next_u64()) << 64 | u128::from(random.next_u64())
}

fn shuffle(states: &mut [CrashState], seed: u64, kind: u64) {
    let mut random = Random::new(seed ^ (kind << 32), CHOICE);
    for place in (1..states.len()).rev() {
        let other = usize::try_from(random.below(place as u64 + 1)).unwrap_or(0);
        states.swap(place, other);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::{DiskCache, moments};
    use super::*;
    use crate::{Contents, LogHead, LogRequest, RequestKind};

    const ALL: Budget = Budget {
        states: usize::MAX,
        seed: 1,
    };

    /// A write of so many sectors from one time to another.
    fn write(sectors: u32, submit_ns: u64, done_ns: u64) -> LogRequest {
        LogRequest {
            kind: RequestKind::Discard,
            sector: submit_ns,
            sectors,
            submit_ns,
            done_ns,
            fua: false,
        }
    }

    fn flush(submit_ns: u64, done_ns: u64) -> LogRequest {
        LogRequest {
            kind: RequestKind::Flush,
            sector: 0,
            ..write(0, submit_ns, done_ns)
        }
    }

    fn log(requests: Vec<LogRequest>) -> DiskLog {
        DiskLog {
            head: LogHead {
                subject: String::new(),
                lab: String::new(),
                disk: String::new(),
                sectors: 1 << 40,
                volatile_cache: true,
                phases: Vec::new(),
                scripts: Vec::new(),
                databases: Vec::new(),
            },
            requests,
            contents: Contents::default(),
        }
    }

    fn texts(states: &States) -> Vec<String> {
        states.chosen.iter().map(|(_, it)| it.to_string()).collect()
    }

    /// By hand: two writes, a flush that covers the first alone, since the second was not done.
    #[test]
    fn a_flush_keeps_what_was_done_when_it_was_submitted() {
        let log = log(vec![write(1, 10, 20), write(1, 11, 31), flush(30, 40)]);
        let pending = |at_ns, cache| Moment::at(&log, at_ns, cache).pending;
        assert_eq!(pending(9, DiskCache::Volatile), [0; 0]);
        assert_eq!(pending(10, DiskCache::Volatile), [0]);
        assert_eq!(pending(39, DiskCache::Volatile), [0, 1]);
        assert_eq!(pending(40, DiskCache::Volatile), [1]);
        assert_eq!(pending(20, DiskCache::Durable), [1]);
        assert_eq!(pending(31, DiskCache::Durable), [0; 0]);
    }

    #[test]
    fn a_write_past_the_cache_is_durable_when_it_is_done() {
        let mut past = write(1, 10, 20);
        past.fua = true;
        let log = log(vec![write(1, 5, 6), past]);
        assert_eq!(Moment::at(&log, 19, DiskCache::Volatile).pending, [0, 1]);
        assert_eq!(Moment::at(&log, 20, DiskCache::Volatile).pending, [0]);
    }

    /// By hand: a log that is cut at its only flush and at its ends.
    #[test]
    fn the_states_of_a_short_log_are_those_found_by_hand() {
        let log = log(vec![write(1, 10, 20), write(2, 11, 21), flush(30, 40)]);
        let moments = moments(&log, (0, 50), &[], DiskCache::Volatile);
        let times: Vec<u64> = moments.iter().map(|it| it.at_ns).collect();
        assert_eq!(times, [0, 30, 40, 50]);
        let found = enumerate(&log, &moments, ALL);
        // Empty; all four subsets of the two writes before the flush ends, and the second torn.
        // What is kept at 40 and 50 is what all kept at 30.
        assert_eq!(texts(&found), ["0", "30", "30-0", "30-1", "30-1/1"]);
        let possible = |kind| found.counts.get(&kind).map(|it| it.possible);
        assert_eq!(possible(StateKind::Prefix), Some(2));
        // Losing both is the empty disk, which is there already.
        assert_eq!(possible(StateKind::NothingPending), None);
    }

    #[test]
    fn a_border_between_two_equal_disks_makes_two_states() {
        let log = log(vec![write(1, 10, 20), flush(30, 40)]);
        let states = |borders: &[u64]| {
            let moments = moments(&log, (40, 50), borders, DiskCache::Volatile);
            texts(&enumerate(&log, &moments, ALL))
        };
        assert_eq!(states(&[]), ["40"]);
        assert_eq!(states(&[45]), ["40", "45"]);
    }

    /// A disk that is never flushed has more states than can be listed.
    #[test]
    fn of_too_many_states_chance_draws_from_all_moments() {
        let writes: Vec<LogRequest> = (0..3000).map(|it| write(8, it, it + 1)).collect();
        let log = log(writes);
        let borders: Vec<u64> = (2900..3000).collect();
        let moments = moments(&log, (2900, 3000), &borders, DiskCache::Volatile);
        let budget = Budget {
            states: 400,
            seed: 3,
        };
        let found = enumerate(&log, &moments, budget);
        assert_eq!(found.chosen.len(), 400);
        let kept = found.counts[&StateKind::OneKept];
        assert!(kept.possible > 200_000 && kept.tried > 20, "{kept:?}");
        let times: BTreeSet<u64> = found.chosen.iter().map(|it| it.1.at_ns).collect();
        assert!(times.len() > 80, "{}", times.len());
        assert_eq!(found.chosen, enumerate(&log, &moments, budget).chosen);
    }

    #[test]
    fn a_budget_is_kept_and_prefixes_come_first() {
        let writes = (0..40).map(|it| write(8, it, it + 1)).collect();
        let log = log(writes);
        let moments = moments(&log, (0, 100), &[10, 20, 30], DiskCache::Volatile);
        let budget = |states| Budget { states, seed: 7 };
        let all = enumerate(&log, &moments, budget(100_000));
        let some = enumerate(&log, &moments, budget(60));
        assert_eq!(some.chosen.len(), 60);
        let prefixes = |found: &States| found.counts[&StateKind::Prefix];
        assert_eq!(prefixes(&some), prefixes(&all));
        let torn = some.counts[&StateKind::Torn];
        assert!(torn.tried > 0 && torn.tried < torn.possible, "{torn:?}");
        let again = enumerate(&log, &moments, budget(60));
        assert_eq!(some.chosen, again.chosen);
        // A budget of just all states leaves none out.
        let exact = enumerate(&log, &moments, budget(all.chosen.len()));
        assert_eq!(exact.chosen, all.chosen);
        assert!(all.counts.values().all(|it| it.tried == it.possible));
    }

    proptest! {
        /// Below five pending writes the kinds are all subsets, each once.
        #[test]
        fn few_pending_writes_give_every_subset_once(count in 0_u32..5) {
            let log = log((0..u64::from(count)).map(|it| write(1, it, it + 1)).collect());
            let moments = moments(&log, (10, 10), &[], DiskCache::Volatile);
            let found = texts(&enumerate(&log, &moments, ALL));
            let distinct: BTreeSet<&String> = found.iter().collect();
            prop_assert_eq!(distinct.len(), found.len());
            prop_assert_eq!(found.len(), 1 << count);
        }

        #[test]
        fn a_state_is_read_as_it_is_written(
            at_ns: u64,
            lost in proptest::collection::btree_map(0_usize..50, 0_u32..3, 0..20),
        ) {
            let lost = lost.into_iter().map(|(request, kept_sectors)| super::super::Loss {
                request,
                kept_sectors,
            });
            let state = CrashState { at_ns, lost: lost.collect() };
            prop_assert_eq!(state.to_string().parse::<CrashState>().expect("a state"), state);
        }
    }

    #[test]
    fn texts_that_are_no_states_are_refused() {
        for text in [
            "",
            "-",
            "x",
            "1-",
            "1-a",
            "1-3..1",
            "1-0..99999999999",
            "1-1/x",
            "-1",
        ] {
            assert!(text.parse::<CrashState>().is_err(), "{text}");
        }
    }
}
