//! [`Stopwatch`]: a stopwatch for one request.
//!
//! Sans-IO: it is told what happened when. The phases follow one another without a gap, so
//! their sum is the time from the start to the end, whatever happened.

use units::{Span, Time};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Until the host's name is an address.
    Lookup,
    /// From SYN to established.
    Connect,
    /// The TLS handshake.
    Tls,
    /// From the request written to the first byte of the response.
    Processing,
    /// From the first byte to the last.
    Transfer,
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stopwatch {
    pub(crate) started: Time,
    /// When the present phase began.
    entered: Time,
    phase: Phase,
    pub(crate) lookup: Span,
    pub(crate) connect: Span,
    pub(crate) tls: Span,
    pub(crate) processing: Option<Span>,
    pub(crate) transfer: Option<Span>,
}

impl Stopwatch {
    /// A connection is about to be opened for the request.
    pub(crate) fn connecting(now: Time) -> Self {
        Self {
            started: now,
            entered: now,
            phase: Phase::Connect,
            lookup: Span::ZERO,
            connect: Span::ZERO,
            tls: Span::ZERO,
            processing: None,
            transfer: None,
        }
    }

    /// There is an open connection, and the request is about to be written to it.
    pub(crate) fn on_open_connection(now: Time) -> Self {
        Self { phase: Phase::Processing, ..Self::connecting(now) }
    }

    /// The present phase ends, and `phase` begins.
    pub(crate) fn enter(&mut self, phase: Phase, now: Time) {
        self.stop(now);
        self.phase = phase;
    }

    /// How long the present phase has lasted.
    pub(crate) fn in_phase_for(&self, now: Time) -> Span {
        now.since(self.entered)
    }

    /// Whether nothing of a response has come yet.
    pub(crate) fn is_unanswered(&self) -> bool {
        !matches!(self.phase, Phase::Transfer | Phase::Over)
    }

    /// Bytes of the response are here; only the first are news.
    pub(crate) fn first_byte(&mut self, now: Time) {
        if self.phase == Phase::Processing {
            self.enter(Phase::Transfer, now);
        }
    }

    /// The last byte is here.
    pub(crate) fn last_byte(&mut self, now: Time) {
        self.enter(Phase::Over, now);
    }

    /// The request was cut off in whatever phase it is, unless it was over.
    pub(crate) fn stop(&mut self, now: Time) {
        let spent = now.since(self.entered);
        self.entered = now;
        match self.phase {
            Phase::Lookup => self.lookup += spent,
            Phase::Connect => self.connect += spent,
            Phase::Tls => self.tls += spent,
            Phase::Processing => self.processing = Some(spent),
            Phase::Transfer => self.transfer = Some(spent),
            Phase::Over => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    fn times(phases: &Stopwatch) -> (u64, u64, Option<u64>, Option<u64>) {
        let nanos = |span: Option<Span>| span.map(Span::as_nanos);
        (phases.connect.as_nanos(), phases.tls.as_nanos(), nanos(phases.processing), nanos(phases.transfer))
    }

    #[test]
    fn phases_add_up_to_the_whole() {
        let mut phases = Stopwatch::connecting(at(100));
        phases.enter(Phase::Tls, at(130));
        phases.enter(Phase::Processing, at(150));
        phases.first_byte(at(190));
        phases.first_byte(at(200));
        phases.last_byte(at(250));
        phases.stop(at(300));
        assert_eq!(times(&phases), (30, 20, Some(40), Some(60)));
    }

    #[test]
    fn on_an_open_connection_nothing_is_spent_connecting() {
        let mut phases = Stopwatch::on_open_connection(at(100));
        phases.first_byte(at(150));
        phases.stop(at(150));
        assert_eq!(times(&phases), (0, 0, Some(50), Some(0)));
    }

    #[test]
    fn what_is_cut_off_keeps_the_time_it_had() {
        let mut connecting = Stopwatch::connecting(at(100));
        connecting.stop(at(170));
        assert_eq!(times(&connecting), (70, 0, None, None));
        let mut processing = Stopwatch::connecting(at(100));
        processing.enter(Phase::Processing, at(110));
        processing.stop(at(170));
        assert_eq!(times(&processing), (10, 0, Some(60), None));
    }
}
