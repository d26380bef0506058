//! The remaining amount of work.

use fslab_sys::SharedCounter;

use crate::jobs::Amount;

/// Operations at one time after which the clock is taken to stand still: in virtual time it does
/// where nothing waits for the disk, and a phase limited by time would never end.
const STANDSTILL: u64 = 1 << 20;

/// Operations and time left for a thread.
#[derive(Clone, Copy)]
pub(crate) struct Budget<'t> {
    operations: u64,
    deadline_ns: u64,
    /// With a limit of time, when `operations` was last set to [`STANDSTILL`].
    counted_from_ns: Option<u64>,
    /// Tickets shared by all threads, if any.
    tickets: Option<&'t SharedCounter>,
}

impl<'t> Budget<'t> {
    /// The budget of `amount` for a file part of `records` records, starting at `now_ns`.
    pub(crate) fn new(amount: Amount, records: u64, record_bytes: u64, now_ns: u64) -> Self {
        let (operations, time_ns) = match amount {
            Amount::WholeFile => (records, u64::MAX),
            Amount::Operations(operations) | Amount::TotalOperations(operations) => {
                (operations, u64::MAX)
            }
            Amount::Bytes(bytes) => (bytes.div_ceil(record_bytes), u64::MAX),
            Amount::TimeNs(time_ns) => (STANDSTILL, time_ns),
        };
        Self {
            operations,
            deadline_ns: now_ns.saturating_add(time_ns),
            counted_from_ns: matches!(amount, Amount::TimeNs(_)).then_some(now_ns),
            tickets: None,
        }
    }

    /// A budget whose operations also need one of `tickets` each.
    pub(crate) fn with_tickets(self, tickets: Option<&'t SharedCounter>) -> Self {
        Self { tickets, ..self }
    }

    /// The same until `at_ns`, if that is earlier.
    pub(crate) fn until(self, at_ns: u64) -> Self {
        let deadline_ns = self.deadline_ns.min(at_ns);
        Self {
            deadline_ns,
            ..self
        }
    }

    /// True if anything is left at `now_ns`.
    #[inline]
    pub(crate) fn has_more(&self, now_ns: u64) -> bool {
        (self.operations > 0 || self.has_time_passed(now_ns))
            && now_ns < self.deadline_ns
            && self.tickets.is_none_or(SharedCounter::has_more)
    }

    /// Operations that may follow without asking: none if they need tickets.
    pub(crate) fn operations_left(&self) -> u64 {
        match self.tickets {
            None => self.operations,
            Some(_) => 0,
        }
    }

    /// When the time is over.
    pub(crate) fn deadline_ns(&self) -> u64 {
        self.deadline_ns
    }

    /// Takes `operations`, which were left.
    pub(crate) fn take_all(&mut self, operations: u64) {
        self.operations -= operations;
    }

    /// Takes an operation from the budget at `now_ns`; false if none is left.
    #[inline]
    pub(crate) fn take(&mut self, now_ns: u64) -> bool {
        let may = (self.operations > 0 || self.count_anew(now_ns))
            && now_ns < self.deadline_ns
            && self.tickets.is_none_or(SharedCounter::take);
        self.operations -= u64::from(may);
        may
    }

    /// With a limit of time, whether the clock has moved since operations were last counted.
    #[cold]
    fn has_time_passed(&self, now_ns: u64) -> bool {
        self.counted_from_ns.is_some_and(|from_ns| from_ns < now_ns)
    }

    #[cold]
    fn count_anew(&mut self, now_ns: u64) -> bool {
        let has_passed = self.has_time_passed(now_ns);
        if has_passed {
            self.operations = STANDSTILL;
            self.counted_from_ns = Some(now_ns);
        }
        has_passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(amount: Amount) -> u64 {
        let mut budget = Budget::new(amount, 7, 10, 100);
        (100..).take_while(|now_ns| budget.take(*now_ns)).count() as u64
    }

    #[test]
    fn each_amount_ends_as_specified() {
        assert_eq!(taken(Amount::WholeFile), 7);
        assert_eq!(taken(Amount::Operations(9)), 9);
        assert_eq!(taken(Amount::Bytes(41)), 5);
        assert_eq!(taken(Amount::TimeNs(12)), 12);
        assert_eq!(taken(Amount::Operations(0)), 0);
    }

    #[test]
    fn a_limit_of_time_ends_where_the_clock_stands_still() {
        let mut budget = Budget::new(Amount::TimeNs(1_000), 7, 10, 100);
        let still = (0..).take_while(|_| budget.take(100)).count() as u64;
        assert_eq!(still, STANDSTILL);
        assert!(!budget.has_more(100) && budget.has_more(101));
        assert!(budget.take(101), "the clock moved");
        let slow = (0..3 * STANDSTILL)
            .filter(|turn| budget.take(102 + turn / 9_000))
            .count();
        assert_eq!(slow as u64, 3 * STANDSTILL);
    }

    #[test]
    fn budgets_with_tickets_end_when_these_are_used_up() {
        let tickets = SharedCounter::new(7).expect("maps");
        let budget =
            || Budget::new(Amount::TotalOperations(7), 100, 10, 0).with_tickets(Some(&tickets));
        let (mut one, mut other) = (budget(), budget());
        let taken = (0..20).filter(|_| one.take(0) | other.take(0)).count();
        assert_eq!(taken, 4, "seven in pairs");
        assert!(!one.has_more(0) && !other.has_more(0));
    }
}
