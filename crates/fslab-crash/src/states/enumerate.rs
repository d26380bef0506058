//! Chooses states: all of them below a budget, and a fair share of each kind beyond it.
//!
//! A state is a moment and what is lost then, some bytes, until it is asked for: of a log with
//! millions of pending writes each state has millions of losses.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use fslab_model::{KindCount, StateKind};
use fslab_stats::Random;

use super::CrashState;
use super::candidates::{Lost, Pending, count};
use super::lifetimes::Moment;
use super::pending::Moments;
use super::seen::Seen;
use crate::LogRequest;

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

/// The states to try, each made when it is asked for.
#[derive(Debug)]
pub struct States {
    moments: Moments,
    seed: u64,
    /// By time, and of one time by what is lost.
    chosen: Vec<Choice>,
    /// Their numbers by kind.
    pub counts: BTreeMap<StateKind, KindCount>,
}

/// A state that was chosen.
#[derive(Clone, Copy, Debug)]
struct Choice {
    kind: StateKind,
    moment: u32,
    lost: Lost,
}

/// A state of a kind, by its place among those of all moments.
type Place = u64;

impl States {
    /// Chooses states of a log with these requests at the moments.
    ///
    /// Two states that leave the same writes on the disk count once, unless an operation begins or
    /// ends between them: then more may be expected of the later one.
    pub fn choose(requests: &[LogRequest], moments: Moments, budget: Budget) -> Self {
        let mut chooser = Chooser {
            requests,
            moments: &moments,
            budget,
            seen: Seen::default(),
        };
        let mut kinds: Vec<(StateKind, Vec<Place>, u64)> = StateKind::ALL
            .into_iter()
            .map(|kind| {
                let (places, possible) = chooser.distinct(kind);
                (kind, places, possible)
            })
            .collect();
        chooser.seen = Seen::default();
        // Borders first: they are few, and every other state is a variation of one. The others
        // share what is left, and what a small kind leaves of its share goes to the larger ones.
        let is_border = |kind: StateKind| kind <= StateKind::NothingPending;
        kinds.sort_by_key(|(kind, places, _)| (!is_border(*kind), places.len(), *kind));
        let all: usize = kinds.iter().map(|(_, places, _)| places.len()).sum();
        let mut left = budget.states;
        let mut kinds_left = kinds.iter().filter(|it| !is_border(it.0)).count();
        let (mut chosen, mut counts) = (Vec::new(), BTreeMap::new());
        for (kind, mut places, possible) in kinds {
            let share = match is_border(kind) {
                _ if all <= budget.states => places.len(),
                true => left.min(budget.states.div_ceil(BORDER_PART)),
                false => left / kinds_left.max(1),
            };
            kinds_left -= usize::from(!is_border(kind));
            if places.len() > share {
                shuffle(&mut places, budget.seed, kind as u64);
                places.truncate(share);
            }
            left -= places.len();
            let tried = places.len() as u64;
            if possible > 0 {
                counts.insert(kind, KindCount { possible, tried });
            }
            chooser.resolve(kind, places, &mut chosen);
        }
        let mut states = Self {
            moments,
            seed: budget.seed,
            chosen,
            counts,
        };
        states.sort();
        states
    }

    /// The moments at which they are.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.chosen.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// The kind of a state, and the state.
    ///
    /// # Panics
    /// For a number that is not below their number.
    pub fn get(&self, number: usize) -> (StateKind, CrashState) {
        let choice = self.chosen[number];
        let state = self.pending(choice).state(choice.lost, self.seed);
        (choice.kind, state)
    }

    /// The states with their kinds, by time.
    pub fn iter(&self) -> impl Iterator<Item = (StateKind, CrashState)> {
        (0..self.len()).map(|number| self.get(number))
    }

    fn pending(&self, choice: Choice) -> Pending<'_> {
        Pending {
            lifetimes: &self.moments.lifetimes,
            moment: self.moments.all[choice.moment as usize],
            list: None,
        }
    }

    fn sort(&mut self) {
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.sort_by(|one, other| self.compare(*one, *other));
        self.chosen = chosen;
    }

    /// As [`CrashState`]s are compared, by as few losses as possible.
    fn compare(&self, one: Choice, other: Choice) -> Ordering {
        let (own, others) = (self.pending(one), self.pending(other));
        let times = own.moment.at_ns.cmp(&others.moment.at_ns);
        times.then_with(|| match (one.lost, other.lost) {
            (Lost::Nothing, Lost::Nothing) | (Lost::All, Lost::All) => Ordering::Equal,
            (Lost::One(one), Lost::One(other)) => one.cmp(&other),
            // Where the first of both that is kept would be, the other has it.
            (Lost::AllBut(one), Lost::AllBut(other)) => other.cmp(&one),
            (Lost::All, Lost::AllBut(kept)) => others.all_to_all_but(kept),
            (Lost::AllBut(kept), Lost::All) => own.all_to_all_but(kept).reverse(),
            (one, other) => {
                let losses = own.losses(one, self.seed);
                losses.cmp(others.losses(other, self.seed))
            }
        })
    }
}

struct Chooser<'a> {
    requests: &'a [LogRequest],
    moments: &'a Moments,
    budget: Budget,
    seen: Seen,
}

impl Chooser<'_> {
    /// The states of a kind that none before has, and how many there are.
    fn distinct(&mut self, kind: StateKind) -> (Vec<Place>, u64) {
        let costs = self.moments.all.iter().map(|moment| {
            let count = count(&self.moments.lifetimes, *moment, kind);
            (count, count.saturating_mul(self.cost(*moment, kind)))
        });
        let (total, cost) = costs.fold((0_u64, 0_u64), |sum, it| {
            (sum.0.saturating_add(it.0), sum.1.saturating_add(it.1))
        });
        if cost > LISTED_MAX {
            return (self.draw(kind), total);
        }
        let mut places = Vec::new();
        let mut pending_list: Vec<u32> = Vec::new();
        let mut first = 0;
        let needs_list = kind > StateKind::NothingPending;
        for moment in &self.moments.all {
            let count = count(&self.moments.lifetimes, *moment, kind);
            if count > 0 && needs_list {
                pending_list.clear();
                pending_list.extend(self.moments.lifetimes.each_pending(*moment));
            }
            let pending = Pending {
                lifetimes: &self.moments.lifetimes,
                moment: *moment,
                list: needs_list.then_some(&pending_list),
            };
            for number in 0..count {
                let lost = pending.lost(self.requests, kind, number);
                let kept = pending.kept_mark(lost, self.budget.seed);
                if self.seen.insert(kept, moment.borders) {
                    places.push(first + number);
                }
            }
            first += count;
        }
        let possible = places.len() as u64;
        (places, possible)
    }

    /// What making a state costs: about as many steps as it has losses.
    fn cost(&self, moment: Moment, kind: StateKind) -> u64 {
        match kind {
            StateKind::Prefix | StateKind::OneLost => 1,
            _ => 1 + u64::from(self.moments.lifetimes.pending(moment).writes),
        }
    }

    /// The sums of the numbers of states up to each moment.
    fn ends(&self, kind: StateKind) -> Vec<u64> {
        let mut total = 0_u64;
        let ends = self.moments.all.iter().map(|moment| {
            total = total.saturating_add(count(&self.moments.lifetimes, *moment, kind));
            total
        });
        ends.collect()
    }

    /// Draws states of a kind, as many as the budget has or can be made.
    fn draw(&mut self, kind: StateKind) -> Vec<Place> {
        let ends = self.ends(kind);
        let total = ends.last().copied().unwrap_or(0);
        let mut random = Random::new(self.budget.seed ^ ((kind as u64) << 32), DRAW);
        let mut places = Vec::new();
        let mut listed = 0;
        while places.len() < self.budget.states && listed < LISTED_MAX {
            let place = random.below(total);
            let (moment, lost) = self.at(kind, &ends, place);
            let moment = self.moments.all[moment];
            listed += self.cost(moment, kind);
            let kept = self.pending(moment).kept_mark(lost, self.budget.seed);
            if self.seen.insert(kept, moment.borders) {
                places.push(place);
            }
        }
        places
    }

    /// The moment of a state, and what it has lost.
    fn at(&self, kind: StateKind, ends: &[u64], place: Place) -> (usize, Lost) {
        let index = ends.partition_point(|end| *end <= place);
        let before = match index {
            0 => 0,
            _ => ends[index - 1],
        };
        let pending = self.pending(self.moments.all[index]);
        (index, pending.lost(self.requests, kind, place - before))
    }

    fn pending(&self, moment: Moment) -> Pending<'_> {
        Pending {
            lifetimes: &self.moments.lifetimes,
            moment,
            list: None,
        }
    }

    fn resolve(&self, kind: StateKind, places: Vec<Place>, chosen: &mut Vec<Choice>) {
        if places.is_empty() {
            return;
        }
        let ends = self.ends(kind);
        chosen.extend(places.into_iter().map(|place| {
            let (moment, lost) = self.at(kind, &ends, place);
            Choice {
                kind,
                moment: moment as u32,
                lost,
            }
        }));
    }
}

fn shuffle(places: &mut [Place], seed: u64, kind: u64) {
    let mut random = Random::new(seed ^ (kind << 32), CHOICE);
    for place in (1..places.len()).rev() {
        let other = usize::try_from(random.below(place as u64 + 1)).unwrap_or(0);
        places.swap(place, other);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::DiskCache;
    use super::*;
    use crate::{BlockList, RequestKind};

    const ALL: Budget = Budget {
        states: usize::MAX,
        seed: 1,
    };

    /// A write of so many sectors from one time to another.
    fn write(sectors: u32, submit_ns: u64, done_ns: u64) -> LogRequest {
        LogRequest {
            kind: RequestKind::Discard,
            blocks: BlockList::default(),
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

    /// The moments of a disk with a volatile cache.
    fn moments(requests: &[LogRequest], window: (u64, u64), borders: &[u64]) -> Moments {
        Moments::of(requests, &[window], borders, DiskCache::Volatile).expect("few")
    }

    fn texts(states: &States) -> Vec<String> {
        states.iter().map(|(_, it)| it.to_string()).collect()
    }

    /// By hand: two writes, a flush that covers the first alone, since the second was not done.
    #[test]
    fn a_flush_keeps_what_was_done_when_it_was_submitted() {
        let log = [write(1, 10, 20), write(1, 11, 31), flush(30, 40)];
        let pending = |at_ns, cache| Moments::at(&log, at_ns, cache);
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
        let log = [write(1, 5, 6), past];
        assert_eq!(Moments::at(&log, 19, DiskCache::Volatile), [0, 1]);
        assert_eq!(Moments::at(&log, 20, DiskCache::Volatile), [0]);
    }

    /// By hand: a log that is cut at its only flush and at its ends.
    #[test]
    fn the_states_of_a_short_log_are_those_found_by_hand() {
        let log = [write(1, 10, 20), write(2, 11, 21), flush(30, 40)];
        let moments = moments(&log, (0, 50), &[]);
        let times: Vec<u64> = moments.all.iter().map(|it| it.at_ns).collect();
        assert_eq!(times, [0, 30, 40, 50]);
        let found = States::choose(&log, moments, ALL);
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
        let log = [write(1, 10, 20), flush(30, 40)];
        let states = |borders: &[u64]| {
            let moments = moments(&log, (40, 50), borders);
            texts(&States::choose(&log, moments, ALL))
        };
        assert_eq!(states(&[]), ["40"]);
        assert_eq!(states(&[45]), ["40", "45"]);
    }

    /// A disk that is never flushed has more states than can be listed.
    #[test]
    fn of_too_many_states_chance_draws_from_all_moments() {
        let log: Vec<LogRequest> = (0..3000).map(|it| write(8, it, it + 1)).collect();
        let borders: Vec<u64> = (2900..3000).collect();
        let budget = Budget {
            states: 400,
            seed: 3,
        };
        let choose = || States::choose(&log, moments(&log, (2900, 3000), &borders), budget);
        let found = choose();
        assert_eq!(found.len(), 400);
        let kept = found.counts[&StateKind::OneKept];
        assert!(kept.possible > 200_000 && kept.tried > 20, "{kept:?}");
        let times: BTreeSet<u64> = found.iter().map(|it| it.1.at_ns).collect();
        assert!(times.len() > 80, "{}", times.len());
        assert_eq!(texts(&found), texts(&choose()));
    }

    #[test]
    fn a_budget_is_kept_and_prefixes_come_first() {
        let log: Vec<LogRequest> = (0..40).map(|it| write(8, it, it + 1)).collect();
        let choose = |states| {
            let moments = moments(&log, (0, 100), &[10, 20, 30]);
            States::choose(&log, moments, Budget { states, seed: 7 })
        };
        let (all, some) = (choose(100_000), choose(60));
        assert_eq!(some.len(), 60);
        let prefixes = |found: &States| found.counts[&StateKind::Prefix];
        assert_eq!(prefixes(&some), prefixes(&all));
        let torn = some.counts[&StateKind::Torn];
        assert!(torn.tried > 0 && torn.tried < torn.possible, "{torn:?}");
        assert_eq!(texts(&some), texts(&choose(60)));
        // A budget of just all states leaves none out.
        assert_eq!(texts(&choose(all.len())), texts(&all));
        assert!(all.counts.values().all(|it| it.tried == it.possible));
    }

    proptest! {
        /// Below five pending writes the kinds are all subsets, each once.
        #[test]
        fn few_pending_writes_give_every_subset_once(count in 0_u32..5) {
            let log: Vec<LogRequest> =
                (0..u64::from(count)).map(|it| write(1, it, it + 1)).collect();
            let moments = moments(&log, (10, 10), &[]);
            let found = texts(&States::choose(&log, moments, ALL));
            let distinct: BTreeSet<&String> = found.iter().collect();
            prop_assert_eq!(distinct.len(), found.len());
            prop_assert_eq!(found.len(), 1 << count);
        }

        /// The order, which is found without making the states, and what chance chooses.
        #[test]
        fn states_are_in_order_and_keep_the_budget(
            parts in proptest::collection::vec((0_u32..5, 0_u64..3, 0_u64..9), 0..30),
            states in 1_usize..200,
        ) {
            let mut now = 0;
            let log: Vec<LogRequest> = parts.into_iter().map(|(sectors, wait_ns, takes_ns)| {
                now += wait_ns;
                match sectors {
                    0 => flush(now, now + takes_ns),
                    _ => write(sectors, now, now + takes_ns),
                }
            }).collect();
            let moments = moments(&log, (0, now + 9), &[]);
            let found = States::choose(&log, moments, Budget { states, seed: 5 });
            prop_assert!(found.len() <= states);
            let all: Vec<CrashState> = found.iter().map(|it| it.1).collect();
            prop_assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", texts(&found));
            let tried: u64 = found.counts.values().map(|it| it.tried).sum();
            prop_assert_eq!(tried as usize, found.len());
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
