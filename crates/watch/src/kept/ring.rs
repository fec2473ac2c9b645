//! [`Ring`]: the last of what came, as far as there is room.

use std::collections::VecDeque;

use units::Span;

/// Things with their moments, which grow. The oldest make room, when they are too old or there is too much.
#[derive(Debug)]
pub(super) struct Ring<T> {
    all: VecDeque<(Span, T)>,
    size_of: fn(&T) -> usize,
    bytes: usize,
    room: usize,
    span: Span,
    /// Up to when some had to go because there was too much.
    short_of_room: Option<Span>,
}

impl<T> Ring<T> {
    /// With things of the last `span`, of `room` bytes at most.
    pub(super) fn new(span: Span, room: usize, size_of: fn(&T) -> usize) -> Self {
        Self { all: VecDeque::new(), size_of, bytes: 0, room, span, short_of_room: None }
    }

    /// Adds one.
    pub(super) fn push(&mut self, at: Span, one: T) {
        self.bytes += (self.size_of)(&one);
        self.all.push_back((at, one));
        let from = at.saturating_sub(self.span);
        while let Some((when, oldest)) = self.all.front()
            && (*when < from || self.bytes > self.room)
        {
            if *when >= from {
                self.short_of_room = Some(*when);
            }
            self.bytes -= (self.size_of)(oldest);
            self.all.pop_front();
        }
    }

    /// All of them, oldest first, and whether of that time there were more than there was room for. None are left.
    pub(super) fn take(&mut self, now: Span) -> (Vec<(Span, T)>, bool) {
        let from = now.saturating_sub(self.span);
        let was_short = self.short_of_room.take().is_some_and(|when| when >= from);
        self.bytes = 0;
        (std::mem::take(&mut self.all).into(), was_short)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The one that came last.
    pub(super) fn last(&self) -> Option<&(Span, T)> {
        self.all.back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(all: &[(Span, u64)]) -> Vec<u64> {
        all.iter().map(|(at, _)| at.as_nanos() / 1_000_000_000).collect()
    }

    #[test]
    fn what_is_old_or_too_much_makes_room() {
        let mut ring = Ring::new(Span::from_secs(10), 1000, |size: &u64| *size as usize);
        for at in 0..30 {
            ring.push(Span::from_secs(at), 50);
        }
        let (all, was_short) = ring.take(Span::from_secs(29));
        assert_eq!(seconds(&all), (19..30).collect::<Vec<_>>());
        assert!(!was_short);
        for at in 30..40 {
            ring.push(Span::from_secs(at), 300);
        }
        let (all, was_short) = ring.take(Span::from_secs(39));
        assert_eq!(seconds(&all), [37, 38, 39], "three have room");
        assert!(was_short && ring.is_empty());
        (40..50).for_each(|at| ring.push(Span::from_secs(at), 300));
        assert!(!ring.take(Span::from_secs(90)).1, "it was long ago");
    }
}
