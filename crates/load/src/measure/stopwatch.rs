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
    /// From the first byte of a request that has a body to the last that is on its way.
    Sending,
    /// From the request written to the first byte of the final response.
    Processing,
    /// From that byte to the last.
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
    pub(crate) sending: Option<Span>,
    pub(crate) processing: Option<Span>,
    pub(crate) transfer: Option<Span>,
    /// From the request written to the first byte of the first interim response.
    pub(crate) first_interim: Option<Span>,
    /// When processing began.
    written: Time,
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
            sending: None,
            processing: None,
            transfer: None,
            first_interim: None,
            written: now,
        }
    }

    /// There is an open connection, and the request is about to be written to it: that is `phase`.
    pub(crate) fn on_open_connection(phase: Phase, now: Time) -> Self {
        Self { phase, ..Self::connecting(now) }
    }

    /// The present phase ends, and `phase` begins.
    pub(crate) fn enter(&mut self, phase: Phase, now: Time) {
        self.stop(now);
        self.phase = phase;
        if phase == Phase::Processing {
            self.written = now;
        }
    }

    /// All of the request is on its way.
    pub(crate) fn sent(&mut self, now: Time) {
        if self.phase == Phase::Sending {
            self.enter(Phase::Processing, now);
        }
    }

    /// What the request is about, for an error's reason.
    pub(crate) fn phase_in_words(&self) -> &'static str {
        match self.phase {
            Phase::Lookup => "while the name was looked up",
            Phase::Connect => "while connecting",
            Phase::Tls => "during the TLS handshake",
            Phase::Sending => "while the request was sent",
            Phase::Processing => "before the first byte of the response",
            Phase::Transfer | Phase::Over => "after the first byte of the response",
        }
    }

    /// How long the present phase has lasted.
    pub(crate) fn in_phase_for(&self, now: Time) -> Span {
        now.since(self.entered)
    }

    /// Whether nothing of a response has come yet, interim ones included.
    pub(crate) fn is_unanswered(&self) -> bool {
        !matches!(self.phase, Phase::Transfer | Phase::Over) && self.first_interim.is_none()
    }

    /// Bytes of a response are here, which may be the final one; only the first are news. One that comes before all of
    /// the request was sent ends that, too.
    pub(crate) fn first_byte(&mut self, now: Time) {
        self.sent(now);
        if self.phase == Phase::Processing {
            self.enter(Phase::Transfer, now);
        }
    }

    /// What came since the last response's end, or the first byte, was an interim response: the final one is still to
    /// come, and being processed.
    pub(crate) fn interim(&mut self) {
        if self.phase == Phase::Transfer {
            self.first_interim = self.first_interim.or(self.processing);
            self.processing = None;
            self.phase = Phase::Processing;
            self.entered = self.written;
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
            Phase::Sending => self.sending = Some(spent),
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
        let mut phases = Stopwatch::on_open_connection(Phase::Processing, at(100));
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

    #[test]
    fn sending_ends_with_the_last_byte_or_with_an_early_answer() {
        let mut whole = Stopwatch::on_open_connection(Phase::Sending, at(100));
        whole.sent(at(130));
        whole.sent(at(140));
        whole.first_byte(at(150));
        whole.last_byte(at(160));
        assert_eq!(times(&whole), (0, 0, Some(20), Some(10)));
        assert_eq!(whole.sending, Some(Span::from_nanos(30)));
        let mut early = Stopwatch::on_open_connection(Phase::Sending, at(100));
        early.first_byte(at(150));
        early.sent(at(170));
        early.last_byte(at(180));
        assert_eq!(times(&early), (0, 0, Some(0), Some(30)));
        assert_eq!(early.sending, Some(Span::from_nanos(50)));
    }

    #[test]
    fn interim_responses_are_part_of_processing() {
        let mut phases = Stopwatch::connecting(at(100));
        phases.enter(Phase::Processing, at(110));
        phases.first_byte(at(120));
        assert!(!phases.is_unanswered());
        phases.interim();
        assert!(!phases.is_unanswered());
        phases.first_byte(at(130));
        phases.interim();
        phases.first_byte(at(170));
        phases.last_byte(at(180));
        assert_eq!(times(&phases), (10, 0, Some(60), Some(10)));
        assert_eq!(phases.first_interim, Some(Span::from_nanos(10)));
    }
}
