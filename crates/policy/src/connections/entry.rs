//! [`Entry`]: what is known of a connection, or of a stream of one.

use units::{ClassId, Span, Time};

use super::cause::Cause;
use super::id::ConnectionId;
use super::phase::{Order, Phase};
use super::stall::{Awaited, Stall};

/// What is known of a connection, or of a stream of one.
#[derive(Debug)]
pub(super) struct Entry<P> {
    pub(super) generation: u32,
    /// The connection of a stream, which may be closed before it.
    pub(super) connection: Option<ConnectionId>,
    /// Its streams, if it is a connection of HTTP/2.
    pub(super) streams: Option<Streams>,
    /// Whose it is.
    pub(super) owner: u64,
    pub(super) phase: Phase,
    /// When the phase began.
    pub(super) since: Time,
    pub(super) taking: Stall,
    pub(super) upload: Stall,
    pub(super) answer: Stall,
    /// That of the last request that was served; below all others without one.
    pub(super) class: ClassId,
    /// Whether a request has a place in the server.
    pub(super) placed: bool,
    /// The harshest order it was given.
    pub(super) order: Order,
    /// Why it was told so, if a request in hand is lost by it.
    pub(super) cause: Option<Cause>,
    pub(super) payload: P,
}

/// The streams of a connection of HTTP/2.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Streams {
    pub(super) open: u32,
    /// By how many more requests were taken back than answered.
    pub(super) taken_back: u32,
    /// When the client was told to ask for nothing more.
    pub(super) leaving: Option<Time>,
}

impl<P> Entry<P> {
    pub(super) fn new(
        connection: Option<ConnectionId>,
        owner: u64,
        phase: Phase,
        now: Time,
        payload: P,
    ) -> Self {
        Self {
            generation: 0,
            connection,
            streams: None,
            owner,
            phase,
            since: now,
            taking: Stall::default(),
            upload: Stall::default(),
            answer: Stall::default(),
            class: ClassId(u8::MAX),
            placed: false,
            order: Order::Serve,
            cause: None,
            payload,
        }
    }

    pub(super) fn is_stream(&self) -> bool {
        self.connection.is_some()
    }

    pub(super) fn stall(&mut self, awaited: Awaited) -> &mut Stall {
        match awaited {
            Awaited::Taking => &mut self.taking,
            Awaited::Upload => &mut self.upload,
            Awaited::Answer => &mut self.answer,
        }
    }

    /// Since when the client has sent nothing of its request, or taken nothing of its response.
    pub(super) fn kept_waiting_since(&self) -> Option<Time> {
        self.upload.since().into_iter().chain(self.taking.since()).min()
    }

    /// Whether the client is waited for to take what there is to send.
    pub(super) fn has_unsent(&self) -> bool {
        self.taking.since().is_some()
    }

    /// What has been awaited for too long, of its client or of the server.
    pub(super) fn stalled(&self, now: Time, stall: Span, answer: Span) -> Option<Awaited> {
        let all = [
            (&self.taking, Awaited::Taking, stall),
            (&self.upload, Awaited::Upload, stall),
            (&self.answer, Awaited::Answer, answer),
        ];
        let stalled = all.into_iter().find(|(stalled, _, longest)| stalled.still_for(now, *longest));
        stalled.map(|(_, awaited, _)| awaited)
    }

    /// The phase that it comes to when it is told to enter this one.
    pub(super) fn next_phase(&self, phase: Phase) -> Phase {
        match (self.phase, phase) {
            // From a tunnel there is no way back to requests.
            (Phase::Tunnel, Phase::Lingering) => phase,
            (Phase::Tunnel, _) => Phase::Tunnel,
            // A stream has one request.
            (_, Phase::Idle) if self.is_stream() => Phase::Lingering,
            _ => phase,
        }
    }
}
