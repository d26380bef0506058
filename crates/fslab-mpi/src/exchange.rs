//! The exchanges of the trials of a load, at rank 0: each rank asks, and all get an answer when all
//! have asked.
//!
//! What a trial sends and gets is described in `crates/fslab-trial/src/rank_link.rs`.

use std::collections::VecDeque;

/// What a trial asks for: the first byte of its message.
const EXCHANGE: u8 = 0;
const FAILED: u8 = 1;
const GATHER: u8 = 2;
/// The first byte of what it gets.
const ANSWER: u8 = 0;
const OTHER_FAILED: u8 = 1;
const GONE: u8 = 2;
/// Bytes of kind and length.
const HEAD_BYTES: usize = 5;
/// Most bytes of a message: the figures of a thousand threads.
const BYTES_MAX: usize = 256 << 20;
/// Messages of a rank that wait for those of others. A trial waits for an answer to each; the next
/// trial of a rank may begin before the last one has ended at all others.
const WAITING_MAX: usize = 16;

/// What a rank has said.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Exchange(Vec<u8>),
    Gather(Vec<u8>),
    /// Its trial has ended.
    End,
}

/// A rank, as the exchange sees it.
#[derive(Debug, Default)]
struct Place {
    name: String,
    /// Bytes of a message that has not arrived entirely.
    bytes: Vec<u8>,
    said: VecDeque<Said>,
    /// Why it takes part no more.
    lost: Option<String>,
}

/// The exchanges of all ranks.
#[derive(Debug)]
pub(crate) struct Exchange {
    places: Vec<Place>,
}

/// Bytes for the trial of a rank.
pub(crate) type Sent = (usize, Vec<u8>);

impl Exchange {
    /// Between ranks with these names.
    pub(crate) fn new(names: Vec<String>) -> Self {
        let place = |name| Place {
            name,
            ..Place::default()
        };
        Self {
            places: names.into_iter().map(place).collect(),
        }
    }

    /// Takes bytes of a rank's trial; gives what the trials get.
    pub(crate) fn take(&mut self, rank: usize, bytes: &[u8]) -> Vec<Sent> {
        let mut sent = Vec::new();
        if self.places[rank].lost.is_some() {
            return sent;
        }
        self.places[rank].bytes.extend_from_slice(bytes);
        loop {
            let place = &mut self.places[rank];
            let Some(head) = place.bytes.get(..HEAD_BYTES) else {
                break;
            };
            let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let kind = head[0];
            if ![EXCHANGE, FAILED, GATHER].contains(&kind) || length > BYTES_MAX {
                sent.extend(self.lose(rank, "its trial sent a malformed message"));
                break;
            }
            if place.bytes.len() < HEAD_BYTES + length {
                break;
            }
            if place.said.len() == WAITING_MAX {
                sent.extend(self.lose(rank, "its trial sends without waiting for answers"));
                break;
            }
            let rest = place.bytes.split_off(HEAD_BYTES + length);
            let message = std::mem::replace(&mut place.bytes, rest).split_off(HEAD_BYTES);
            place.said.push_back(match kind {
                GATHER => Said::Gather(message),
                _ => Said::Exchange(message),
            });
            if kind == FAILED {
                sent.extend(self.stop_others(rank));
            }
        }
        sent.extend(self.answer());
        sent
    }

    /// The trial of a rank has ended.
    pub(crate) fn end(&mut self, rank: usize) -> Vec<Sent> {
        let place = &mut self.places[rank];
        place.bytes.clear();
        place.said.push_back(Said::End);
        let mut sent = self.stop_others(rank);
        sent.extend(self.answer());
        sent
    }

    /// A rank takes part no more; nothing is sent again for one that was lost before.
    pub(crate) fn lose(&mut self, rank: usize, why: &str) -> Vec<Sent> {
        let place = &mut self.places[rank];
        if place.lost.is_some() {
            return Vec::new();
        }
        place.said.clear();
        place.bytes = Vec::new();
        place.lost = Some(why.to_owned());
        let mut sent = self.stop_others(rank);
        sent.extend(self.answer());
        sent
    }

    /// True if a rank waits for an answer.
    pub(crate) fn has_waiting(&self, rank: usize) -> bool {
        self.places[rank]
            .said
            .front()
            .is_some_and(|said| *said != Said::End)
    }

    /// Stops the trials that run, since one has failed.
    fn stop_others(&self, rank: usize) -> Vec<Sent> {
        let others = self.places.iter().enumerate();
        let running = others.filter(|(other, place)| *other != rank && place.lost.is_none());
        running
            .map(|(other, _)| (other, vec![OTHER_FAILED]))
            .collect()
    }

    /// Answers as often as all ranks have said something.
    fn answer(&mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        while self
            .places
            .iter()
            .all(|it| it.lost.is_some() || !it.said.is_empty())
        {
            let waiting = (0..self.places.len()).filter(|rank| self.has_waiting(*rank));
            let waiting: Vec<usize> = waiting.collect();
            if waiting.is_empty() {
                let ended = self.places.iter_mut().filter_map(|it| it.said.pop_front());
                if ended.count() == 0 {
                    // All are lost.
                    break;
                }
                continue;
            }
            match self.problem() {
                Some(why) => {
                    let mut answer = vec![GONE];
                    push(&mut answer, why.as_bytes());
                    for rank in waiting {
                        self.places[rank].said.pop_front();
                        sent.push((rank, answer.clone()));
                    }
                }
                None => sent.extend(self.exchanged()),
            }
        }
        sent
    }

    /// Why those who wait get no answer.
    fn problem(&self) -> Option<String> {
        let of = |place: &Place, why: &str| format!("{}: {why}", place.name);
        if let Some(place) = self.places.iter().find(|it| it.lost.is_some()) {
            return Some(of(place, place.lost.as_deref().unwrap_or_default()));
        }
        let front = |place: &Place| place.said.front().cloned();
        let ended = self.places.iter().find(|it| front(it) == Some(Said::End));
        if let Some(place) = ended {
            return Some(of(place, "its trial has ended"));
        }
        let gathers = |it: &Place| matches!(it.said.front(), Some(Said::Gather(_)));
        let first = gathers(&self.places[0]);
        let other = self.places.iter().find(|it| gathers(it) != first);
        other.map(|place| of(place, "its trial is at a different step than rank 0's"))
    }

    /// What all get, when all have asked for the same.
    fn exchanged(&mut self) -> Vec<Sent> {
        let mut gathers = false;
        let mut all = vec![ANSWER];
        all.extend(count_of(self.places.len()));
        for place in &mut self.places {
            match place.said.pop_front() {
                Some(Said::Exchange(bytes)) => push(&mut all, &bytes),
                Some(Said::Gather(bytes)) => {
                    gathers = true;
                    push(&mut all, &bytes);
                }
                Some(Said::End) | None => {}
            }
        }
        let mut nothing = vec![ANSWER];
        nothing.extend(count_of(0));
        let answer = |rank| match gathers && rank > 0 {
            true => nothing.clone(),
            false => all.clone(),
        };
        (0..self.places.len())
            .map(|rank| (rank, answer(rank)))
            .collect()
    }
}

fn count_of(count: usize) -> [u8; 4] {
    u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes()
}

fn push(into: &mut Vec<u8>, bytes: &[u8]) {
    into.extend(count_of(bytes.len()));
    into.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, bytes: &[u8]) -> Vec<u8> {
        let mut message = vec![kind];
        push(&mut message, bytes);
        message
    }

    fn answer(all: &[&[u8]]) -> Vec<u8> {
        let mut answer = vec![ANSWER];
        answer.extend(count_of(all.len()));
        all.iter().for_each(|bytes| push(&mut answer, bytes));
        answer
    }

    fn of_two() -> Exchange {
        Exchange::new(vec!["rank 0 on a".into(), "rank 1 on b".into()])
    }

    #[test]
    fn all_get_what_all_have_said_however_it_is_cut() {
        let mut exchange = of_two();
        let first = message(EXCHANGE, b"xy");
        assert_eq!(exchange.take(0, &first[..3]), []);
        assert_eq!(exchange.take(0, &first[3..]), []);
        assert!(exchange.has_waiting(0) && !exchange.has_waiting(1));
        let sent = exchange.take(1, &message(EXCHANGE, b""));
        let all = answer(&[b"xy", b""]);
        assert_eq!(sent, [(0, all.clone()), (1, all)]);
        assert!(!exchange.has_waiting(0));
    }

    #[test]
    fn only_rank_0_gets_what_is_gathered() {
        let mut exchange = of_two();
        exchange.take(1, &message(GATHER, b"1"));
        let sent = exchange.take(0, &message(GATHER, b"0"));
        assert_eq!(sent, [(0, answer(&[b"0", b"1"])), (1, answer(&[]))]);
    }

    #[test]
    fn a_failure_stops_the_others_at_once_and_is_still_exchanged() {
        let mut exchange = of_two();
        assert_eq!(
            exchange.take(1, &message(FAILED, b"f")),
            [(0, vec![OTHER_FAILED])]
        );
        let sent = exchange.take(0, &message(EXCHANGE, b"o"));
        let all = answer(&[b"o", b"f"]);
        assert_eq!(sent, [(0, all.clone()), (1, all)]);
    }

    #[test]
    fn who_waits_for_an_ended_trial_gets_an_answer_and_the_next_trials_begin_anew() {
        let mut exchange = of_two();
        exchange.take(0, &message(EXCHANGE, b"0"));
        let sent = exchange.end(1);
        assert_eq!(sent[0], (0, vec![OTHER_FAILED]));
        let gone = message(GONE, b"rank 1 on b: its trial has ended");
        assert_eq!(sent[1], (0, gone));
        // The next trial of rank 1 is there before the last of rank 0 has ended.
        assert_eq!(exchange.take(1, &message(EXCHANGE, b"1")), []);
        exchange.end(0);
        let sent = exchange.take(0, &message(EXCHANGE, b"0"));
        assert_eq!(sent.len(), 2, "{sent:?}");
        assert_eq!(sent[0].1, answer(&[b"0", b"1"]));
    }

    #[test]
    fn a_lost_rank_ends_every_exchange_with_its_reason() {
        let mut exchange = of_two();
        exchange.lose(1, "its fslab has ended");
        assert_eq!(exchange.lose(1, "it has been silent"), [], "once");
        for _ in 0..2 {
            let sent = exchange.take(0, &message(EXCHANGE, b"0"));
            assert_eq!(
                sent,
                [(0, message(GONE, b"rank 1 on b: its fslab has ended"))]
            );
            exchange.end(0);
        }
    }

    // A rank that sends without waiting filled the memory of rank 0.
    #[test]
    fn a_rank_that_does_not_wait_for_answers_is_lost_and_no_longer_heard() {
        let mut exchange = of_two();
        for _ in 0..WAITING_MAX {
            assert_eq!(exchange.take(1, &message(EXCHANGE, b"x")), []);
        }
        let sent = exchange.take(1, &message(EXCHANGE, b"x"));
        assert_eq!(sent, [(0, vec![OTHER_FAILED])]);
        assert_eq!(exchange.take(1, &message(EXCHANGE, b"x")), []);
        assert!(exchange.places[1].bytes.is_empty() && exchange.places[1].said.is_empty());
        let sent = exchange.take(0, &message(EXCHANGE, b"0"));
        let why = b"rank 1 on b: its trial sends without waiting for answers";
        assert_eq!(sent, [(0, message(GONE, why))]);
    }

    #[test]
    fn ranks_at_different_steps_and_bad_messages_are_named() {
        let mut exchange = of_two();
        exchange.take(0, &message(EXCHANGE, b""));
        let sent = exchange.take(1, &message(GATHER, b""));
        let why = b"rank 1 on b: its trial is at a different step than rank 0's";
        assert_eq!(sent, [(0, message(GONE, why)), (1, message(GONE, why))]);
        exchange.take(0, &message(EXCHANGE, b""));
        let sent = exchange.take(1, &[9, 0, 0, 0, 0]);
        assert!(sent.contains(&(0, vec![OTHER_FAILED])));
        assert!(String::from_utf8_lossy(&sent[1].1).contains("malformed message"));
    }
}
