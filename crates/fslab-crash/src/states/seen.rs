//! Which states were chosen, by what they keep.

/// A table has a free place for every so many that are taken.
const TAKEN_PER_FREE: usize = 4;
/// Places of the first table.
const FIRST_PLACES: usize = 1 << 10;
/// The place is free; a state whose number it is has the next one.
const FREE: u64 = 0;

/// Numbers of states, 8 bytes for each and some room: there may be tens of millions.
#[derive(Debug, Default)]
pub(super) struct Seen {
    places: Vec<u64>,
    taken: usize,
}

impl Seen {
    /// True if no state before keeps the same, with as many borders before it. `kept_mark` is
    /// random, a sum of random numbers; two states that differ have the same number once in 2^64
    /// pairs.
    pub(super) fn insert(&mut self, kept_mark: u64, borders: u32) -> bool {
        if self.taken + self.taken / TAKEN_PER_FREE >= self.places.len() {
            self.grow();
        }
        let border_mark = u64::from(borders).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = mixed(kept_mark ^ border_mark);
        let is_new = put(&mut self.places, number);
        self.taken += usize::from(is_new);
        is_new
    }

    fn grow(&mut self) {
        let wanted = (self.places.len() / 2 * 3).max(FIRST_PLACES);
        let before = std::mem::replace(&mut self.places, vec![FREE; wanted]);
        for number in before.into_iter().filter(|it| *it != FREE) {
            put(&mut self.places, number);
        }
    }
}

/// Spreads numbers over the table: nothing kept is 0 whatever the log.
fn mixed(number: u64) -> u64 {
    let mut mixed = number ^ number >> 32;
    mixed = mixed.wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^= mixed >> 32;
    mixed.max(FREE + 1)
}

/// Puts a number into a table with free places; false if it is there.
fn put(places: &mut [u64], number: u64) -> bool {
    let mut place = ((u128::from(number) * places.len() as u128) >> 64) as usize;
    loop {
        match places[place] {
            FREE => {
                places[place] = number;
                return true;
            }
            found if found == number => return false,
            _ => {
                place = if place + 1 == places.len() {
                    0
                } else {
                    place + 1
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_state_is_new_once_for_each_number_of_borders() {
        let mut seen = Seen::default();
        let mut expected = HashSet::new();
        for number in 0..20_000_u64 {
            let (mark, borders) = (number * 7 % 5003, (number % 3) as u32);
            let is_new = expected.insert((mark, borders));
            assert_eq!(seen.insert(mark, borders), is_new, "{mark} {borders}");
        }
        assert!(seen.taken == expected.len() && seen.places.len() < 2 * expected.len());
    }
}
