//! How much is left to do.

use fslab_sys::SharedCounter;

use crate::jobs::Amount;

/// Operations and time that a thread has left.
#[derive(Clone, Copy)]
pub(crate) struct Budget<'t> {
    operations: u64,
    deadline_ns: u64,
    /// What all threads take their operations from, where they do.
    tickets: Option<&'t SharedCounter>,
}

impl<'t> Budget<'t> {
    /// The budget of `amount` for a part of a file with `records` records, from `now_ns` on.
    pub(crate) fn new(amount: Amount, records: u64, record_bytes: u64, now_ns: u64) -> Self {
        let (operations, time_ns) = match amount {
            Amount::WholeFile => (records, u64::MAX),
            Amount::Operations(operations) | Amount::TotalOperations(operations) => {
                (operations, u64::MAX)
            }
            Amount::Bytes(bytes) => (bytes.div_ceil(record_bytes), u64::MAX),
            Amount::TimeNs(time_ns) => (u64::MAX, time_ns),
        };
        Self {
            operations,
            deadline_ns: now_ns.saturating_add(time_ns),
            tickets: None,
        }
    }

    /// The same, of which each operation needs one of `tickets` as well.
    pub(crate) fn with_tickets(self, tickets: Option<&'t SharedCounter>) -> Self {
        Self { tickets, ..self }
    }

    /// Whether anything is left at `now_ns`.
    #[inline]
    pub(crate) fn has_more(&self, now_ns: u64) -> bool {
        self.operations > 0
            && now_ns < self.deadline_ns
            && self.tickets.is_none_or(SharedCounter::has_more)
    }

    /// Whether an operation may begin at `now_ns`; if so, it is taken from the budget.
    #[inline]
    pub(crate) fn take(&mut self, now_ns: u64) -> bool {
        let may = self.operations > 0
            && now_ns < self.deadline_ns
            && self.tickets.is_none_or(SharedCounter::take);
        self.operations -= u64::from(may);
        may
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
    fn each_amount_ends_where_it_says() {
        assert_eq!(taken(Amount::WholeFile), 7);
        assert_eq!(taken(Amount::Operations(9)), 9);
        assert_eq!(taken(Amount::Bytes(41)), 5);
        assert_eq!(taken(Amount::TimeNs(12)), 12);
        assert_eq!(taken(Amount::Operations(0)), 0);
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
