//! [`Exchange`]: one request and its response, over either version of HTTP.
//!
//! Sans-IO: time is an argument. HTTP/1 ([`http1`](super::http1)) and HTTP/2
//! ([`http2`](super::http2)) do the framing and tell what happened; which phase that ends,
//! what the response must be, whether the request is sent again, and which kind of error a
//! failure is counted as, is decided here for both.

use http1::chunks;
use http1::response::Malformed;
use record::RequestError;
use traffic::model::Object;
use units::{Span, Time};

use crate::client::facts::Facts;
use crate::client::inspector::{Inspector, hold};
use crate::measure::stopwatch::{Phase, Stopwatch};
use crate::settings::checks::Checks;

/// What is known of a request and of its response before it is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    /// How long the content is; another length in a 200 is an error.
    pub(crate) length: Option<u64>,
    /// The request is a HEAD: its response has no body, whatever it announces.
    pub(crate) is_head: bool,
    /// Whether the request may be sent again when it is not known whether the server has
    /// processed it (RFC 9110, section 9.2.2).
    pub(crate) is_idempotent: bool,
    /// What the content is, where that is known and is to be compared.
    pub(crate) content: Option<&'a Object>,
    /// What the user wants to hold.
    pub(crate) checks: &'a Checks,
}

/// How an exchange, or the connection below it, failed, in terms that both versions of HTTP have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No connection came about.
    NoConnection,
    /// The server closed the connection in good order before the response was complete.
    Closed,
    /// The connection, or the stream, was reset.
    Broken,
    /// The server announced that it will not process the request (RFC 9113, section 6.8).
    TurnedAway,
    /// What came is not the HTTP that was asked for.
    Malformed,
    /// More came than the response announced.
    Surplus,
    /// The response is whole, but not what was asked for.
    Unfit,
}

impl From<Malformed> for Fault {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl From<chunks::Fault> for Fault {
    fn from(_: chunks::Fault) -> Self {
        Self::Malformed
    }
}

/// One request, from its connection to the last byte of its response.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    expected: Expected<'a>,
    stopwatch: Stopwatch,
    /// Whether its connection had carried a request before.
    reused: bool,
    repeated: bool,
    /// Of the final response, once its head is here.
    facts: Option<Facts>,
    body_bytes: u64,
    /// Looks at the body, where more than its length is checked.
    inspector: Option<Box<Inspector>>,
}

impl<'a> Exchange<'a> {
    /// An exchange that begins `now`, by opening a connection.
    pub(crate) fn new(expected: Expected<'a>, now: Time) -> Self {
        Self {
            expected,
            stopwatch: Stopwatch::connecting(now),
            reused: false,
            repeated: false,
            facts: None,
            body_bytes: 0,
            inspector: Inspector::new(expected.checks, expected.content),
        }
    }

    /// A connection is about to be opened.
    pub(crate) fn connecting(&mut self, now: Time) {
        self.reused = false;
        self.stopwatch = Stopwatch::connecting(now);
    }

    /// Opening the connection has come to `phase`.
    pub(crate) fn enter(&mut self, phase: Phase, now: Time) {
        self.stopwatch.enter(phase, now);
    }

    /// The new connection is open, and the request is about to be written.
    pub(crate) fn connected(&mut self, now: Time) {
        self.stopwatch.enter(Phase::Processing, now);
    }

    /// The request is about to be written to a connection that was opened for another.
    pub(crate) fn on_open_connection(&mut self, now: Time) {
        self.reused = true;
        self.stopwatch = Stopwatch::on_open_connection(now);
    }

    /// Bytes of a response are here, of whatever part of it.
    pub(crate) fn received(&mut self, now: Time) {
        self.stopwatch.first_byte(now);
    }

    /// An interim response is here; the final one follows (RFC 9110, section 15.2).
    ///
    /// # Errors
    /// When it changes the protocol (101), which is never asked for.
    pub(crate) fn interim(&mut self, status: u16, now: Time) -> Result<(), Fault> {
        self.received(now);
        if status == 101 { Err(Fault::Malformed) } else { Ok(()) }
    }

    /// The head of the final response is here.
    ///
    /// # Errors
    /// When its status is not that of a final response.
    pub(crate) fn head(&mut self, facts: Facts, now: Time) -> Result<(), Fault> {
        self.received(now);
        if !matches!(facts.status, 200..=999) {
            return Err(Fault::Malformed);
        }
        self.facts = Some(facts);
        Ok(())
    }

    /// A piece of the body is here.
    pub(crate) fn body(&mut self, data: &[u8]) {
        self.body_bytes += data.len() as u64;
        if let Some(inspector) = &mut self.inspector {
            inspector.look_at(data);
        }
    }

    /// The response is complete.
    ///
    /// # Errors
    /// When it is not what was asked for.
    pub(crate) fn end(&mut self, now: Time) -> Result<(), Fault> {
        self.stopwatch.last_byte(now);
        let status = self.status();
        let length = self.expected.length.filter(|_| status == Some(200) && !self.expected.is_head);
        let inspector = self.inspector.take();
        let is_fit = length.is_none_or(|length| length == self.body_bytes)
            && hold(self.expected.checks, status.unwrap_or(0), self.body_bytes, inspector);
        if is_fit { Ok(()) } else { Err(Fault::Unfit) }
    }

    /// The exchange is cut off `now`, in whatever phase it is, unless it was over.
    pub(crate) fn stop(&mut self, now: Time) {
        self.stopwatch.stop(now);
    }

    /// The kind of error that a failure is counted as.
    pub(crate) fn error_of(&self, fault: Fault) -> RequestError {
        match fault {
            Fault::NoConnection => RequestError::Connect,
            Fault::Closed if self.facts.is_some() => RequestError::Body,
            Fault::Closed | Fault::Broken | Fault::TurnedAway => RequestError::Reset,
            Fault::Malformed => RequestError::Protocol,
            Fault::Surplus | Fault::Unfit => RequestError::Body,
        }
    }

    /// Whether the request is sent again after `fault`: on a connection that had carried others,
    /// while nothing of a response has come. A server may close such a connection just when the
    /// request is sent (RFC 9112, section 9.3.1); whether it has processed the request is then
    /// not known, except where it announced that it will not.
    pub(crate) fn may_repeat(&self, fault: Fault) -> bool {
        let is_allowed = match fault {
            Fault::TurnedAway => true,
            Fault::Closed | Fault::Broken => self.expected.is_idempotent && !self.repeated,
            Fault::NoConnection | Fault::Malformed | Fault::Surplus | Fault::Unfit => false,
        };
        is_allowed && self.reused && self.stopwatch.is_unanswered()
    }

    /// The request is sent again, from the beginning.
    pub(crate) fn repeat(&mut self, now: Time) {
        self.repeated = true;
        self.connecting(now);
    }

    /// Whether the request was sent before, in vain.
    pub(crate) fn is_repeated(&self) -> bool {
        self.repeated
    }

    pub(crate) fn is_reused(&self) -> bool {
        self.reused
    }

    pub(crate) fn is_head(&self) -> bool {
        self.expected.is_head
    }

    pub(crate) fn stopwatch(&self) -> &Stopwatch {
        &self.stopwatch
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.facts.as_ref().map(|facts| facts.status)
    }

    pub(crate) fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// `name=value; attributes` of each cookie that the response sets.
    pub(crate) fn cookies(&self) -> &[String] {
        self.facts.as_ref().map_or(&[], |facts| &facts.cookies)
    }

    /// What the server says that it took.
    pub(crate) fn server_time(&self) -> Option<Span> {
        self.facts.as_ref().and_then(|facts| facts.server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKS: &Checks =
        &Checks { status: None, length: None, digest: None, content: false, pattern: None };

    const fn expected(is_idempotent: bool) -> Expected<'static> {
        Expected { length: None, is_head: false, is_idempotent, content: None, checks: CHECKS }
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn facts(status: u16) -> Facts {
        Facts { status, ..Facts::default() }
    }

    #[test]
    fn only_what_is_sent_on_a_used_connection_and_not_answered_is_repeated() {
        let check = |fault, idempotent, reused, answered, expect| {
            let mut exchange = Exchange::new(expected(idempotent), at(0));
            if reused {
                exchange.on_open_connection(at(1));
            } else {
                exchange.connected(at(1));
            }
            if answered {
                exchange.received(at(2));
            }
            let what = format!("{fault:?}, idempotent {idempotent}, reused {reused}, answered {answered}");
            assert_eq!(exchange.may_repeat(fault), expect, "{what}");
        };
        for fault in [Fault::Closed, Fault::Broken, Fault::TurnedAway] {
            check(fault, true, true, false, true);
            check(fault, true, false, false, false);
            check(fault, true, true, true, false);
            check(fault, false, true, false, fault == Fault::TurnedAway);
        }
        for fault in [Fault::NoConnection, Fault::Malformed, Fault::Surplus, Fault::Unfit] {
            check(fault, true, true, false, false);
        }
    }

    #[test]
    fn what_may_have_been_processed_is_repeated_once() {
        let mut exchange = Exchange::new(expected(true), at(0));
        exchange.on_open_connection(at(1));
        exchange.repeat(at(2));
        exchange.on_open_connection(at(3));
        assert!(!exchange.may_repeat(Fault::Broken));
        assert!(exchange.may_repeat(Fault::TurnedAway));
        assert_eq!(exchange.stopwatch().started, at(3));
    }

    #[test]
    fn a_connection_that_closes_is_an_error_of_the_part_that_is_missing() {
        let mut exchange = Exchange::new(expected(true), at(0));
        exchange.connected(at(1));
        assert_eq!(exchange.error_of(Fault::Closed), RequestError::Reset);
        exchange.head(facts(200), at(2)).unwrap();
        assert_eq!(exchange.error_of(Fault::Closed), RequestError::Body);
        assert_eq!(exchange.error_of(Fault::Broken), RequestError::Reset);
    }

    #[test]
    fn statuses_that_answer_nothing_are_refused() {
        let mut exchange = Exchange::new(expected(true), at(0));
        exchange.connected(at(1));
        assert_eq!(exchange.interim(101, at(2)), Err(Fault::Malformed));
        assert_eq!(exchange.head(facts(99), at(2)), Err(Fault::Malformed));
        assert_eq!(exchange.interim(103, at(3)), Ok(()));
        assert_eq!(exchange.head(facts(204), at(4)), Ok(()));
        assert_eq!((exchange.end(at(9)), exchange.status()), (Ok(()), Some(204)));
    }
}
