//! [`Exchange`]: one request and its response, over either version of HTTP.
//!
//! Sans-IO: time is an argument. HTTP/1 ([`http1`](super::http1)) and HTTP/2
//! ([`http2`](super::http2)) do the framing and tell what happened; which phase that ends,
//! what the response must be, whether the request is sent again, and which kind of error a
//! failure is counted as, is decided here for both.

use http::Method;
use record::RequestError;
use traffic::model::Object;
use traffic::url::is_redirect;
use units::{Span, Time};

use crate::client::facts::{Facts, LOCATION, RETRY_AFTER};
use crate::client::fault::{Fault, Reason};
use crate::client::inspector::{Inspector, hold};
use crate::measure::stopwatch::{Phase, Stopwatch};
use crate::settings::checks::Checks;

/// Before a request is sent a third time; it is doubled up to 128 ms.
const SHORTEST_PAUSE: Span = Span::from_millis(1);

/// What is known of a request and of its response before it is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    /// How long the content is; another length in a 200 is an error.
    pub(crate) length: Option<u64>,
    /// The request is a HEAD: its response has no body, whatever it announces.
    pub(crate) is_head: bool,
    /// The request has a body.
    pub(crate) has_body: bool,
    /// The body of the response is looked into when it is here.
    pub(crate) keeps_body: bool,
    /// Whether the request may be sent again when it is not known whether the server has
    /// processed it (RFC 9110, section 9.2.2).
    pub(crate) is_idempotent: bool,
    /// Whether a redirect is followed, so that it need not be what was asked for.
    pub(crate) follows: bool,
    /// What the content is, where that is known and is to be compared.
    pub(crate) content: Option<&'a Object>,
    /// What the user wants to hold.
    pub(crate) checks: &'a Checks,
}

/// One request, from its connection to the last byte of its response.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    expected: Expected<'a>,
    stopwatch: Stopwatch,
    /// Whether its connection had carried a request before.
    reused: bool,
    repeated: bool,
    /// How often the server has turned it away.
    turned_away: u32,
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
            turned_away: 0,
            facts: None,
            body_bytes: 0,
            inspector: Inspector::new(expected.checks, expected.content, expected.keeps_body),
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
        self.stopwatch.enter(self.first_phase(), now);
    }

    /// The request is about to be written to a connection that was opened for another.
    pub(crate) fn on_open_connection(&mut self, now: Time) {
        self.reused = true;
        self.stopwatch = Stopwatch::on_open_connection(self.first_phase(), now);
    }

    /// The request has a body, or not.
    pub(crate) fn set_has_body(&mut self, has_body: bool) {
        self.expected.has_body = has_body;
    }

    /// The request is what a redirect has led to: it has a body, or not, and this method; how long its response is, or
    /// what is in it, is not known.
    pub(crate) fn set_redirected(&mut self, has_body: bool, method: &Method) {
        self.expected.has_body = has_body;
        self.expected.is_head = *method == Method::HEAD;
        self.expected.is_idempotent = method.is_idempotent();
        self.expected.length = None;
    }

    /// What begins when the request can be written.
    fn first_phase(&self) -> Phase {
        if self.expected.has_body { Phase::Sending } else { Phase::Processing }
    }

    /// The last byte of the request is on its way.
    pub(crate) fn sent(&mut self, now: Time) {
        self.stopwatch.sent(now);
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
        self.stopwatch.interim();
        if status == 101 { Err(Fault::malformed("101, which was not asked for")) } else { Ok(()) }
    }

    /// The head of the final response is here.
    ///
    /// # Errors
    /// When its status is not that of a final response.
    pub(crate) fn head(&mut self, facts: Facts, now: Time) -> Result<(), Fault> {
        self.received(now);
        if !matches!(facts.status, 200..=999) {
            return Err(Fault::malformed("a status below 200 that is final"));
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

    /// So much of the body came that was not looked at.
    pub(crate) fn body_discarded(&mut self, length: u64) {
        self.body_bytes += length;
    }

    /// Whether the body is looked at as it passes.
    pub(crate) fn looks_at_body(&self) -> bool {
        self.inspector.is_some()
    }

    /// The response is complete.
    ///
    /// # Errors
    /// When it is not what was asked for.
    pub(crate) fn end(&mut self, now: Time) -> Result<(), Fault> {
        self.stopwatch.last_byte(now);
        let status = self.status();
        if self.redirects() {
            return Ok(());
        }
        let length = self.expected.length.filter(|_| status == Some(200) && !self.expected.is_head);
        if let Some(length) = length.filter(|length| *length != self.body_bytes) {
            return Err(Fault::Unfit(format!("{} bytes instead of {length}", self.body_bytes).into()));
        }
        let inspector = self.inspector.as_deref_mut();
        hold(self.expected.checks, status.unwrap_or(0), self.body_bytes, inspector).map_err(Fault::Unfit)
    }

    /// Whether the response sends the client elsewhere, and it goes there.
    pub(crate) fn redirects(&self) -> bool {
        self.expected.follows && self.status().is_some_and(is_redirect) && self.location().is_some()
    }

    /// Where the response sends the client.
    pub(crate) fn location(&self) -> Option<&str> {
        self.fields().find(|(name, _)| *name == LOCATION).map(|(_, value)| value)
    }

    /// How long the response asks the client to stay away, where it says so in seconds.
    pub(crate) fn retry_after(&self) -> Option<Span> {
        let seconds = self.fields().find(|(name, _)| *name == RETRY_AFTER)?.1.trim().parse().ok()?;
        Some(Span::from_secs(seconds))
    }

    /// The exchange is cut off `now`, in whatever phase it is, unless it was over.
    pub(crate) fn stop(&mut self, now: Time) {
        self.stopwatch.stop(now);
    }

    /// The kind of error that a failure is counted as, and what it was.
    pub(crate) fn error_of(&self, fault: Fault) -> (RequestError, Reason) {
        match fault {
            Fault::NoConnection(why) => (RequestError::Connect, why),
            Fault::Closed(why) if self.facts.is_some() => (RequestError::Body, why),
            Fault::Closed(why) | Fault::Broken(why) | Fault::TurnedAway(why) => (RequestError::Reset, why),
            Fault::Malformed(why) => (RequestError::Protocol, why),
            Fault::Surplus => (RequestError::Body, "more came than the response announced".into()),
            Fault::Unfit(why) => (RequestError::Body, why),
        }
    }

    /// What the request was about when its time ran out.
    pub(crate) fn timed_out(&self) -> Reason {
        match self.turned_away {
            0 => self.stopwatch.phase_in_words().into(),
            times => format!("turned away by the server {times} times").into(),
        }
    }

    /// Whether the request is sent again after `fault`, which the server has not answered. A server may close a
    /// connection that has carried others just when the request is sent (RFC 9112, section 9.3.1); whether it has
    /// processed the request is then not known, except where it announced that it will not.
    pub(crate) fn may_repeat(&self, fault: &Fault) -> bool {
        let is_allowed = match fault {
            Fault::TurnedAway(_) => true,
            Fault::Closed(_) | Fault::Broken(_) => {
                self.reused && self.expected.is_idempotent && !self.repeated
            }
            Fault::NoConnection(_) | Fault::Malformed(_) | Fault::Surplus | Fault::Unfit(_) => false,
        };
        is_allowed && self.stopwatch.is_unanswered()
    }

    /// The request is sent again, from the beginning.
    pub(crate) fn repeat(&mut self, fault: &Fault, now: Time) {
        match fault {
            Fault::TurnedAway(_) => self.turned_away += 1,
            _ => self.repeated = true,
        }
        self.connecting(now);
    }

    /// How long the client waits before it sends the request again: a server that turns it away each time must not
    /// cost a processor. The first time that is not waited for.
    pub(crate) fn pause(&self) -> Span {
        match self.turned_away {
            0 | 1 => Span::ZERO,
            times => SHORTEST_PAUSE * (1 << (times - 2).min(7)),
        }
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

    /// Other fields that something is taken from: their names in lower case, and values.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.facts.as_ref().map_or(&[][..], |facts| &facts.fields);
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The body, where it is kept.
    pub(crate) fn kept_body(&self) -> &[u8] {
        self.inspector.as_ref().map_or(&[], |inspector| inspector.kept())
    }

    /// Whether the user has said which statuses are what was asked for.
    pub(crate) fn expects_statuses(&self) -> bool {
        self.expected.checks.status.is_some()
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
        Expected {
            length: None,
            is_head: false,
            has_body: false,
            keeps_body: false,
            is_idempotent,
            follows: false,
            content: None,
            checks: CHECKS,
        }
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn facts(status: u16) -> Facts {
        Facts { status, ..Facts::default() }
    }

    fn closed() -> Fault {
        Fault::Closed("closed".into())
    }

    fn broken() -> Fault {
        Fault::Broken("reset".into())
    }

    fn turned_away() -> Fault {
        Fault::TurnedAway("REFUSED_STREAM".into())
    }

    #[test]
    fn only_what_the_server_cannot_have_processed_or_may_process_twice_is_repeated() {
        let check = |fault: &Fault, idempotent, reused, answered, expect| {
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
        for fault in [closed(), broken(), turned_away()] {
            let never_seen = fault == turned_away();
            check(&fault, true, true, false, true);
            check(&fault, true, false, false, never_seen);
            check(&fault, true, true, true, false);
            check(&fault, false, true, false, never_seen);
        }
        let others = [
            Fault::NoConnection("refused".into()),
            Fault::malformed("garbage"),
            Fault::Surplus,
            Fault::Unfit("404".into()),
        ];
        for fault in others {
            check(&fault, true, true, false, false);
        }
    }

    #[test]
    fn what_may_have_been_processed_is_repeated_once() {
        let mut exchange = Exchange::new(expected(true), at(0));
        exchange.on_open_connection(at(1));
        exchange.repeat(&turned_away(), at(2));
        exchange.on_open_connection(at(3));
        assert!(exchange.may_repeat(&broken()));
        exchange.repeat(&broken(), at(3));
        exchange.on_open_connection(at(4));
        assert!(!exchange.may_repeat(&broken()));
        assert!(exchange.may_repeat(&turned_away()));
        assert_eq!(exchange.stopwatch().started, at(4));
    }

    #[test]
    fn a_server_that_turns_everything_away_is_asked_less_and_less_often() {
        let mut exchange = Exchange::new(expected(true), at(0));
        let pauses: Vec<Span> = (0..20)
            .map(|_| {
                exchange.repeat(&turned_away(), at(1));
                exchange.pause()
            })
            .collect();
        let millis = Span::from_millis;
        assert_eq!(pauses[..4], [Span::ZERO, millis(1), millis(2), millis(4)]);
        assert_eq!(pauses[19], millis(128));
        assert_eq!(exchange.timed_out(), "turned away by the server 20 times");
    }

    #[test]
    fn a_connection_that_closes_is_an_error_of_the_part_that_is_missing() {
        let mut exchange = Exchange::new(expected(true), at(0));
        exchange.connected(at(1));
        assert_eq!(exchange.error_of(closed()).0, RequestError::Reset);
        exchange.head(facts(200), at(2)).unwrap();
        assert_eq!(exchange.error_of(closed()).0, RequestError::Body);
        assert_eq!(exchange.error_of(broken()), (RequestError::Reset, "reset".into()));
    }

    #[test]
    fn statuses_that_answer_nothing_are_refused() {
        let mut exchange = Exchange::new(expected(true), at(0));
        exchange.connected(at(1));
        assert!(matches!(exchange.interim(101, at(2)), Err(Fault::Malformed(_))));
        assert!(matches!(exchange.head(facts(99), at(2)), Err(Fault::Malformed(_))));
        assert_eq!(exchange.interim(103, at(3)), Ok(()));
        assert_eq!(exchange.head(facts(204), at(4)), Ok(()));
        assert_eq!((exchange.end(at(9)), exchange.status()), (Ok(()), Some(204)));
    }
}
