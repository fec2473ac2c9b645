//! [`Events`]: what happens in the gate, for clients that listen (`GET /api/v1/events`).
//!
//! A listener that reads too slowly is dropped, so that the gate's memory does not grow with what a
//! listener does not read.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use serde_json::Value;

use crate::runtime::notify::keep_waker;

/// Listeners at once.
const LISTENERS: usize = 8;
/// Events that wait for one listener.
const WAITING: usize = 256;

/// What happens in the gate, for clients that listen.
#[derive(Debug, Default)]
pub(crate) struct Events {
    listeners: RefCell<Vec<Rc<Listener>>>,
    next: Cell<u64>,
}

/// Somebody who listens.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    waiting: RefCell<VecDeque<Bytes>>,
    task: RefCell<Option<Waker>>,
    /// It wants to hear of every second.
    samples: bool,
    /// It did not keep up.
    lost: Cell<bool>,
}

impl Events {
    /// Whether anybody listens.
    pub(crate) fn any(&self) -> bool {
        !self.listeners.borrow().is_empty()
    }

    /// How many listen.
    pub(crate) fn listeners(&self) -> usize {
        self.listeners.borrow().len()
    }

    /// Tells everybody; `data` is only made when somebody listens.
    pub(crate) fn tell(&self, event: &'static str, data: impl FnOnce() -> Value) {
        self.tell_those(|_| true, event, data);
    }

    /// Tells those who want to hear of every second what this one was like.
    pub(crate) fn tell_sample(&self, data: impl FnOnce() -> Value) {
        self.tell_those(|listener| listener.samples, "sample", data);
    }

    fn tell_those(&self, who: impl Fn(&Listener) -> bool, event: &str, data: impl FnOnce() -> Value) {
        if !self.listeners.borrow().iter().any(|listener| who(listener)) {
            return;
        }
        let id = self.next.get() + 1;
        self.next.set(id);
        let text = Bytes::from(format!("id: {id}\nevent: {event}\ndata: {}\n\n", data()));
        self.listeners.borrow_mut().retain(|listener| !who(listener) || listener.take(text.clone()));
    }

    /// Listens from now on, with `samples` to every second; none when too many do.
    pub(crate) fn listen(&self, samples: bool) -> Option<Rc<Listener>> {
        let mut listeners = self.listeners.borrow_mut();
        if listeners.len() >= LISTENERS {
            return None;
        }
        let listener = Rc::new(Listener { samples, ..Listener::default() });
        listeners.push(Rc::clone(&listener));
        Some(listener)
    }

    /// Listens no more.
    pub(crate) fn leave(&self, listener: &Rc<Listener>) {
        self.listeners.borrow_mut().retain(|other| !Rc::ptr_eq(other, listener));
    }
}

impl Listener {
    /// False when it is to be dropped.
    fn take(&self, event: Bytes) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.len() >= WAITING {
            waiting.clear();
            self.lost.set(true);
        } else {
            waiting.push_back(event);
        }
        if let Some(task) = self.task.take() {
            task.wake();
        }
        !self.lost.get()
    }

    /// Whether it was dropped.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get()
    }

    /// The next event; none when it did not keep up.
    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.lost.get() {
            return Poll::Ready(None);
        }
        if let Some(event) = self.waiting.borrow_mut().pop_front() {
            return Poll::Ready(Some(event));
        }
        keep_waker(&self.task, cx.waker());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(listener: &Listener) -> Poll<Option<Bytes>> {
        listener.poll_next(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn everybody_hears_everything_in_order() {
        let events = Events::default();
        events.tell("unheard", || unreachable!("nobody listens"));
        let (one, other) = (events.listen(false).unwrap(), events.listen(false).unwrap());
        events.tell("first", || 1.into());
        events.tell("second", || 2.into());
        for listener in [&one, &other] {
            assert_eq!(next(listener), Poll::Ready(Some("id: 1\nevent: first\ndata: 1\n\n".into())));
            assert_eq!(next(listener), Poll::Ready(Some("id: 2\nevent: second\ndata: 2\n\n".into())));
            assert_eq!(next(listener), Poll::Pending);
        }
        events.leave(&one);
        events.leave(&other);
        assert!(!events.any());
    }

    #[test]
    fn who_does_not_keep_up_is_dropped_and_nobody_else() {
        let events = Events::default();
        let (slow, quick) = (events.listen(false).unwrap(), events.listen(false).unwrap());
        for _ in 0..=WAITING {
            events.tell("event", || Value::Null);
            assert!(next(&quick).is_ready());
        }
        assert_eq!((next(&slow), slow.is_lost()), (Poll::Ready(None), true));
        assert_eq!((next(&quick), quick.is_lost()), (Poll::Pending, false));
        assert_eq!(events.listeners.borrow().len(), 1);
    }

    #[test]
    fn of_every_second_hears_who_wants_to() {
        let events = Events::default();
        let plain = events.listen(false).unwrap();
        events.tell_sample(|| unreachable!("none wants to hear it"));
        let keen = events.listen(true).unwrap();
        events.tell_sample(|| 7.into());
        assert_eq!(next(&plain), Poll::Pending);
        assert_eq!(next(&keen), Poll::Ready(Some("id: 1\nevent: sample\ndata: 7\n\n".into())));
    }

    #[test]
    fn there_are_only_so_many_places() {
        let events = Events::default();
        let listeners: Vec<_> = std::iter::from_fn(|| events.listen(false)).collect();
        assert_eq!(listeners.len(), LISTENERS);
        events.leave(&listeners[0]);
        assert!(events.listen(false).is_some());
    }
}
