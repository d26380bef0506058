//! The states of each kind at a moment, by number, without making them.

use std::cmp::Ordering;

use fslab_model::StateKind;
use fslab_stats::Random;

use super::lifetimes::{Lifetimes, Moment, cuts, mark};
use super::{CrashState, Loss};
use crate::LogRequest;

/// With more pending writes than this, pairs are left to chance.
const PAIRS_MAX: u64 = 16;
/// Subsets that chance chooses at a moment.
const SAMPLES: u64 = 16;

/// What a state has lost of the writes that are pending at its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    Nothing,
    All,
    One(u32),
    AllBut(u32),
    /// A request and the sectors that are kept of it.
    Torn(u32, u32),
    Two(u32, u32),
    /// The number of a sample.
    Sample(u64),
}

/// The writes that are pending at a moment: found one by one, or in a list if all are asked for.
#[derive(Clone, Copy)]
pub(super) struct Pending<'a> {
    pub(super) lifetimes: &'a Lifetimes,
    pub(super) moment: Moment,
    pub(super) list: Option<&'a [u32]>,
}

/// The number of states of a kind at a moment.
pub(super) fn count(lifetimes: &Lifetimes, moment: Moment, kind: StateKind) -> u64 {
    let sums = lifetimes.pending(moment);
    let pending = u64::from(sums.writes);
    match kind {
        StateKind::Prefix => 1,
        StateKind::NothingPending => u64::from(pending > 0),
        // Of one pending write, losing it is losing all, and keeping it is the prefix.
        StateKind::OneLost | StateKind::OneKept if pending < 2 => 0,
        // Of two, keeping one is losing the other.
        StateKind::OneKept if pending < 3 => 0,
        StateKind::OneLost | StateKind::OneKept => pending,
        StateKind::Torn => sums.cuts.into(),
        // Of three, losing two is keeping one; of two it is losing all.
        StateKind::TwoLost if !(4..=PAIRS_MAX).contains(&pending) => 0,
        StateKind::TwoLost => pending * (pending - 1) / 2,
        // Of four, every subset is of another kind.
        StateKind::Sampled if pending < 5 => 0,
        StateKind::Sampled => SAMPLES,
    }
}

impl<'a> Pending<'a> {
    /// What the state `number` of its kind has lost.
    pub(super) fn lost(self, requests: &[LogRequest], kind: StateKind, number: u64) -> Lost {
        let place = number as usize;
        match kind {
            StateKind::Prefix => Lost::Nothing,
            StateKind::NothingPending => Lost::All,
            StateKind::OneLost => Lost::One(self.nth(place)),
            StateKind::OneKept => Lost::AllBut(self.nth(place)),
            StateKind::Torn => self.torn(requests, number),
            StateKind::TwoLost => {
                let mut pairs = (0..).flat_map(|b| (0..b).map(move |a| (a, b)));
                let (a, b) = pairs.nth(place).unwrap_or_default();
                Lost::Two(self.nth(a), self.nth(b))
            }
            StateKind::Sampled => Lost::Sample(number),
        }
    }

    fn torn(self, requests: &[LogRequest], mut number: u64) -> Lost {
        for request in self.each() {
            let cuts = cuts(requests[request as usize].sectors);
            for kept_sectors in cuts {
                if number == 0 {
                    return Lost::Torn(request, kept_sectors);
                }
                number -= 1;
            }
        }
        Lost::Nothing
    }

    fn nth(self, place: usize) -> u32 {
        match self.list {
            Some(list) => list[place],
            None => self.lifetimes.nth_pending(self.moment, place),
        }
    }

    fn each(self) -> Box<dyn Iterator<Item = u32> + 'a> {
        match self.list {
            Some(list) => Box::new(list.iter().copied()),
            None => self.lifetimes.each_pending(self.moment),
        }
    }

    /// The sum of the marks of what is kept: two states that keep the same have one sum.
    pub(super) fn kept_mark(self, lost: Lost, seed: u64) -> u64 {
        let of = |request: u32| self.lifetimes.mark_of(request);
        let missing = match lost {
            Lost::Nothing => 0,
            Lost::All => self.lifetimes.pending(self.moment).marks,
            Lost::One(request) => of(request),
            Lost::AllBut(request) => {
                let all = self.lifetimes.pending(self.moment).marks;
                all.wrapping_sub(of(request))
            }
            Lost::Torn(request, kept) => of(request).wrapping_sub(mark(request as usize, kept)),
            Lost::Two(one, other) => of(one).wrapping_add(of(other)),
            Lost::Sample(number) => {
                let lost = self.sample(number, seed);
                lost.fold(0_u64, |sum, request| sum.wrapping_add(of(request)))
            }
        };
        let submitted = self.lifetimes.submitted(self.moment).marks;
        submitted.wrapping_sub(missing)
    }

    /// The losses in order, made as they are asked for.
    pub(super) fn losses(self, lost: Lost, seed: u64) -> Box<dyn Iterator<Item = Loss> + 'a> {
        let whole = |request: u32| Loss {
            request: request as usize,
            kept_sectors: 0,
        };
        match lost {
            Lost::Nothing => Box::new(std::iter::empty()),
            Lost::All => Box::new(self.each().map(whole)),
            Lost::One(request) => Box::new(std::iter::once(whole(request))),
            Lost::AllBut(kept) => {
                let others = self.each().filter(move |it| *it != kept);
                Box::new(others.map(whole))
            }
            Lost::Torn(request, kept_sectors) => Box::new(std::iter::once(Loss {
                kept_sectors,
                ..whole(request)
            })),
            Lost::Two(one, other) => Box::new([one, other].into_iter().map(whole)),
            Lost::Sample(number) => Box::new(self.sample(number, seed).map(whole)),
        }
    }

    fn sample(self, number: u64, seed: u64) -> impl Iterator<Item = u32> + use<'a> {
        let mut random = Random::new(seed ^ self.moment.at_ns, number);
        // Few losses and many are as likely, which one coin for each write would not give.
        let share = 1 + random.below(7);
        self.each().filter(move |_| random.below(8) < share)
    }

    /// The state that has lost all, compared with the one that has kept one of them.
    pub(super) fn all_to_all_but(self, kept: u32) -> Ordering {
        let count = self.lifetimes.pending(self.moment).writes as usize;
        // Without the last, it is the beginning of all; else the next takes the place of the one.
        match self.nth(count - 1) == kept {
            true => Ordering::Greater,
            false => Ordering::Less,
        }
    }

    /// The state at the moment.
    pub(super) fn state(self, lost: Lost, seed: u64) -> CrashState {
        CrashState {
            at_ns: self.moment.at_ns,
            lost: self.losses(lost, seed).collect(),
        }
    }
}
