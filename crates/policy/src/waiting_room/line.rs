//! [`Line`]: how many visitors wait, by the time of their first visit.

use alloc::collections::VecDeque;

use units::{Span, Time};

use super::visit::Visit;

/// Visitors counted by first visits, in slots that grow twice as wide when the line has become too long for them.
///
/// A slot counts who was there in its present round and who was in the round before and is still to come. When all of
/// those should have come, who did not has given up.
#[derive(Debug)]
pub(super) struct Line {
    slots: VecDeque<Slot>,
    /// Number of the first slot, counted from the beginning of time.
    from: u64,
    /// How many times the width was doubled.
    doubled: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    now: Round,
    before: Round,
    /// The latest first visit of those who have left.
    left: Time,
}

/// Visitors who were there in a stretch of time.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    began: Time,
    count: u32,
    /// When the last of them was told to come back.
    due: Time,
    /// The first and the last of their first visits.
    firsts: Option<(Time, Time)>,
}

/// In which round of its slot a visitor is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Now,
    Before,
    Not,
}

/// Slots that are kept.
const MAX_SLOTS: usize = 512;
/// Width of a slot in a short line: 1/16 s.
const WIDTH_NS: u64 = 62_500_000;
/// How much later than told a visitor may come and still be expected, besides a quarter of the time told.
const LATE: Span = Span::from_secs(3);

impl Round {
    /// Whether somebody of it may still come as told.
    fn is_expected(&self, now: Time) -> bool {
        now <= self.due + LATE + self.due.since(self.began) / 4
    }

    fn add(&mut self, other: Self) {
        // Of two slots that become one, some visitors are counted in the wrong round until that is over.
        self.began = self.began.max(other.began);
        self.count = self.count.saturating_add(other.count);
        self.due = self.due.max(other.due);
        if let Some((earliest, latest)) = other.firsts {
            self.include(earliest);
            self.include(latest);
        }
    }

    fn include(&mut self, first: Time) {
        let (earliest, latest) = self.firsts.unwrap_or((first, first));
        self.firsts = Some((earliest.min(first), latest.max(first)));
    }
}

impl Slot {
    fn count(&self) -> u32 {
        self.now.count.saturating_add(self.before.count)
    }

    /// The part of those who wait that came before `first`, if they came evenly: from the last of those who have left,
    /// or the first who was there in this round or the one before, to the last. A crowd may have come within moments.
    fn part_before(&self, first: Time) -> f64 {
        let rounds = [self.before, self.now].into_iter().filter(|round| round.count > 0);
        let mut all = Round::default();
        rounds.for_each(|round| all.add(round));
        let Some((earliest, latest)) = all.firsts else { return 0.0 };
        let from = earliest.max(self.left);
        let length = latest.since(from).as_secs_f64();
        if length > 0.0 { (first.since(from).as_secs_f64() / length).min(1.0) } else { 0.0 }
    }

    fn counts(&self, visit: &Visit) -> Counted {
        match visit.told {
            Some(told) if self.now.count > 0 && told.at >= self.now.began => Counted::Now,
            Some(told) if self.before.count > 0 && told.at >= self.before.began => Counted::Before,
            _ => Counted::Not,
        }
    }

    fn take_out(&mut self, counted: Counted) {
        match counted {
            Counted::Now => self.now.count -= 1,
            Counted::Before => self.before.count -= 1,
            Counted::Not => {}
        }
    }

    /// Ends the round before, once it is over; gives how many of it have not come.
    fn turn(&mut self, now: Time) -> u32 {
        if self.before.count > 0 && self.before.is_expected(now) || self.count() == 0 {
            return 0;
        }
        let given_up = self.before.count;
        self.before = self.now;
        self.now = Round { began: now, ..Round::default() };
        given_up
    }
}

impl Line {
    /// Everything that it will need is allocated here.
    pub(super) fn new() -> Self {
        Self { slots: VecDeque::with_capacity(MAX_SLOTS), from: 0, doubled: 0 }
    }

    /// Visitors that wait.
    pub(super) fn length(&self) -> u32 {
        self.slots.iter().map(Slot::count).fold(0, u32::saturating_add)
    }

    /// How many with an earlier first visit are expected. Inside a slot they are taken to have come evenly, so
    /// that of those who wait who came later never has fewer before it.
    pub(super) fn ahead(&self, visit: &Visit) -> u32 {
        let Some(index) = self.number(visit.first).checked_sub(self.from) else { return 0 };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let earlier = self.slots.iter().take(index).map(Slot::count).fold(0, u32::saturating_add);
        let Some(slot) = self.slots.get(index) else { return earlier };
        let others = slot.count() - u32::from(slot.counts(visit) != Counted::Not);
        let part = match visit.told {
            // It has just come, and everybody else before.
            None => 1.0,
            Some(_) => slot.part_before(visit.first),
        };
        earlier.saturating_add((f64::from(others) * part) as u32)
    }

    /// A visitor is there at `now` and told to come back at `due`.
    pub(super) fn keep(&mut self, visit: &Visit, now: Time, due: Time) {
        let slot = self.slot(visit.first, now);
        slot.take_out(slot.counts(visit));
        slot.now.count = slot.now.count.saturating_add(1);
        slot.now.include(visit.first);
        slot.now.due = slot.now.due.max(due);
    }

    /// A visitor that had left the line stands in it again.
    pub(super) fn put_back(&mut self, visit: &Visit, now: Time, due: Time) {
        self.keep(&Visit { told: None, ..*visit }, now, due);
    }

    /// A visitor waits no longer.
    pub(super) fn leave(&mut self, visit: &Visit) {
        let index =
            self.number(visit.first).checked_sub(self.from).and_then(|index| usize::try_from(index).ok());
        if let Some(slot) = index.and_then(|index| self.slots.get_mut(index)) {
            slot.take_out(slot.counts(visit));
            slot.left = slot.left.max(visit.first);
        }
    }

    /// Forgets who has not come as told; gives how many of them were among the first `called`.
    pub(super) fn turn(&mut self, now: Time, called: f64) -> u32 {
        let (mut before, mut missed) = (0u32, 0);
        for slot in &mut self.slots {
            let count = slot.count();
            let given_up = slot.turn(now);
            if f64::from(before) < called {
                missed += given_up;
            }
            before = before.saturating_add(count);
        }
        self.trim();
        missed
    }

    /// When the first of the line came, as nearly as that is known.
    pub(super) fn oldest(&self) -> Option<Time> {
        (!self.slots.is_empty()).then(|| Time::from_nanos(self.from.saturating_mul(self.width())))
    }

    /// Empty slots at both ends are dropped; an empty line begins anew with narrow ones.
    fn trim(&mut self) {
        while self.slots.front().is_some_and(|slot| slot.count() == 0) {
            self.slots.pop_front();
            self.from += 1;
        }
        while self.slots.back().is_some_and(|slot| slot.count() == 0) {
            self.slots.pop_back();
        }
        if self.slots.is_empty() {
            self.doubled = 0;
        }
    }

    fn width(&self) -> u64 {
        WIDTH_NS << self.doubled
    }

    fn number(&self, first: Time) -> u64 {
        first.as_nanos() / self.width()
    }

    /// The slot of a first visit, which is made if it is not there.
    fn slot(&mut self, first: Time, now: Time) -> &mut Slot {
        let index = self.make_room(first, now);
        &mut self.slots[index]
    }

    fn make_room(&mut self, first: Time, now: Time) -> usize {
        let fresh = Slot { now: Round { began: now, ..Round::default() }, ..Slot::default() };
        if self.slots.is_empty() {
            self.doubled = 0;
            self.from = self.number(first);
        }
        loop {
            let (number, end) = (self.number(first), self.from + self.slots.len() as u64);
            let length = end.max(number + 1) - self.from.min(number);
            if length <= MAX_SLOTS as u64 {
                break;
            }
            self.double();
        }
        let number = self.number(first);
        while number < self.from {
            self.slots.push_front(fresh);
            self.from -= 1;
        }
        while number >= self.from + self.slots.len() as u64 {
            self.slots.push_back(fresh);
        }
        (number - self.from) as usize
    }

    /// Two slots each become one.
    fn double(&mut self) {
        for number in self.from..self.from + self.slots.len() as u64 {
            let Some(slot) = self.slots.pop_front() else { break };
            let goes_on = number % 2 == 1 && number > self.from;
            match self.slots.back_mut().filter(|_| goes_on) {
                Some(before) => {
                    before.now.add(slot.now);
                    before.before.add(slot.before);
                    before.left = before.left.max(slot.left);
                }
                None => self.slots.push_back(slot),
            }
        }
        self.from /= 2;
        self.doubled += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::visit::Told;
    use super::*;
    use units::SessionId;

    fn at(millis: u64) -> Time {
        Time::from_nanos(1) + Span::from_millis(millis)
    }

    fn visit(first: u64, told: Option<u64>) -> Visit {
        let told = told.map(|millis| Told { at: at(millis), place: 1, seconds: 2 });
        Visit { id: SessionId(first), first: at(first), told }
    }

    #[test]
    fn who_came_earlier_is_ahead() {
        let mut line = Line::new();
        for first in [0, 100, 200, 5000, 5010, 5020] {
            line.keep(&visit(first, None), at(first), at(first + 2000));
        }
        let ahead = [0, 150, 300, 6000].map(|first| line.ahead(&visit(first, Some(first))));
        assert_eq!(line.ahead(&visit(5025, None)), 6, "who has just come is behind everybody");
        assert_eq!(ahead, [0, 2, 3, 6]);
        line.leave(&visit(100, Some(100)));
        assert_eq!((line.ahead(&visit(300, None)), line.length()), (2, 5));
        // Somebody from before the first, as after another gate has ended.
        line.keep(&visit(0, None), at(7000), at(9000));
        assert_eq!((line.ahead(&visit(0, Some(7000))), line.length()), (0, 6));
    }

    #[test]
    fn who_comes_back_is_counted_once_and_who_does_not_is_forgotten() {
        let mut line = Line::new();
        for first in [0, 1000, 2000] {
            line.keep(&visit(first, None), at(first), at(first + 4000));
        }
        let mut told = 2000;
        for second in 3..60 {
            line.turn(at(second * 1000), 0.0);
            if second % 4 == 0 {
                // The second comes as told, and at once again.
                let millis = second * 1000 + 1;
                line.keep(
                    &visit(1000, Some(if told == 2000 { 1000 } else { told })),
                    at(millis),
                    at(millis + 4000),
                );
                line.keep(&visit(1000, Some(millis)), at(millis), at(millis + 4000));
                told = millis;
            }
            assert!(second >= 8 || line.length() == 3, "after {second} s");
        }
        assert_eq!(line.length(), 1);
        assert_eq!(line.ahead(&visit(2000, None)), 1);
    }

    #[test]
    fn who_was_called_and_did_not_come_is_told_apart() {
        let mut line = Line::new();
        for first in [0, 1000, 2000, 3000] {
            line.keep(&visit(first, None), at(first), at(first + 2000));
        }
        let missed: u32 = (3..30).map(|second| line.turn(at(second * 1000), 2.0)).sum();
        assert!((2..=4).contains(&missed), "{missed}");
        assert_eq!((line.length(), line.oldest()), (0, None));
    }

    proptest::proptest! {
        #[test]
        fn it_is_bounded_and_keeps_the_order(firsts in proptest::collection::vec(0..100_000_000u64, 1..300)) {
            let mut line = Line::new();
            for first in &firsts {
                line.keep(&visit(*first, None), at(100_000_000), at(100_002_000));
                assert!(line.slots.len() <= MAX_SLOTS && line.slots.capacity() < 2 * MAX_SLOTS);
            }
            assert_eq!(line.length() as usize, firsts.len());
            let mut sorted = firsts.clone();
            sorted.sort_unstable();
            let ahead: std::vec::Vec<u32> =
                sorted.iter().map(|first| line.ahead(&visit(*first, Some(100_000_000)))).collect();
            assert!(ahead.is_sorted(), "{ahead:?}");
            for first in &firsts {
                line.leave(&visit(*first, Some(100_000_000)));
            }
            assert_eq!(line.length(), 0);
        }
    }
}
