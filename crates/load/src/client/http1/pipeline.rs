//! [`Pipeline`]: several requests under way on one connection (RFC 9112, section 9.3.2).

use std::collections::VecDeque;

use crate::client::attempt::Attempt;
use crate::client::context::ThreadContext;
use crate::client::fault::Fault;
use crate::client::http1::behind::Behind;
use crate::client::http1::connection::{Connection, Event, Next};
use crate::client::http1::response::Response;
use crate::client::user::User;
use crate::engine::timers::Elapsed;
use crate::measure::progress::Followed;

/// A client that does not wait for an answer before it asks again.
pub(crate) struct Pipeline<'a> {
    thread: &'a ThreadContext,
    user: &'a User,
    depth: usize,
    /// Sent, and not answered.
    under_way: VecDeque<Asked<'a>>,
    /// The response to the first of them, as far as it is here.
    response: Response,
    /// Sent on a connection that ended before their turn; they are the first on the next.
    again: VecDeque<Asked<'a>>,
    /// Sent on the present connection.
    sent: u32,
}

/// A request that was sent, or is to be.
struct Asked<'a> {
    attempt: Attempt<'a>,
    _followed: Followed,
}

impl<'a> Pipeline<'a> {
    pub(crate) fn new(thread: &'a ThreadContext, user: &'a User, depth: u32) -> Self {
        Self {
            thread,
            user,
            depth: depth as usize,
            under_way: VecDeque::new(),
            response: Response::default(),
            again: VecDeque::new(),
            sent: 0,
        }
    }

    /// Whether there is nothing left from the connection before.
    pub(crate) fn is_empty(&self) -> bool {
        self.again.is_empty()
    }

    /// Opens a connection and keeps requests under way on it, in order, until it is at its end;
    /// `draw` says what for, or that it is enough for now. One that fails takes those behind it
    /// along: their answers cannot be told from what is left of its own.
    pub(crate) async fn connection(&mut self, draw: impl Fn() -> Option<u32>) -> ConnectionOutcome {
        let thread = self.thread;
        (self.sent, self.response) = (0, Response::default());
        let Some(Asked { mut attempt, _followed }) = self.next(&draw) else { return ConnectionOutcome::Used };
        attempt.exchange.connecting(thread.now());
        let mut connection = match thread.in_time(Connection::open(&mut attempt)).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(fault)) => {
                attempt.failed(fault);
                return ConnectionOutcome::NotOpened;
            }
            Err(Elapsed) => {
                attempt.timed_out();
                return ConnectionOutcome::NotOpened;
            }
        };
        connection.expect_response();
        let started = attempt.exchange.stopwatch().started;
        let sent =
            thread.in_time_from(started, self.send(&mut connection, Asked { attempt, _followed })).await;
        let mut end = sent.map_or(End::TimedOut, |sent| sent.map_or_else(End::Failed, |()| End::NotYet));
        while end == End::NotYet {
            let front = self
                .under_way
                .front()
                .map_or(thread.now(), |front| front.attempt.exchange.stopwatch().started);
            let turn = thread.in_time_from(front, self.turn(&mut connection, &draw)).await;
            end = turn.map_or(End::TimedOut, |turn| turn.unwrap_or_else(End::Failed));
        }
        self.end(end)
    }

    /// Fills the pipeline up and waits for at least one answer; gives whether more can follow on the
    /// connection.
    async fn turn(
        &mut self,
        connection: &mut Connection,
        draw: &impl Fn() -> Option<u32>,
    ) -> Result<End, Fault> {
        while self.under_way.len() < self.depth && !self.thread.is_last(self.sent) {
            let Some(mut next) = self.next(draw) else { break };
            next.attempt.connection = connection.number;
            next.attempt.exchange.on_open_connection(self.thread.now());
            self.send(connection, next).await?;
        }
        if self.under_way.is_empty() { Ok(End::InGoodOrder) } else { self.receive(connection).await }
    }

    fn next(&mut self, draw: &impl Fn() -> Option<u32>) -> Option<Asked<'a>> {
        if let Some(again) = self.again.pop_front() {
            return Some(again);
        }
        let thread = self.thread;
        let object = draw()?;
        let wanted = thread.plan.objects.get(object as usize)?;
        let now = thread.now();
        let attempt = Attempt::new(thread, self.user, wanted, object, now);
        Some(Asked { attempt, _followed: thread.progress.follow(now) })
    }

    async fn send(&mut self, connection: &mut Connection, next: Asked<'a>) -> Result<(), Fault> {
        self.sent += 1;
        let head = next.attempt.http1_head(self.thread.persistence(self.sent));
        let body = next.attempt.body().cloned();
        self.under_way.push_back(next);
        connection.send(head, body.as_ref()).await
    }

    async fn receive(&mut self, connection: &mut Connection) -> Result<End, Fault> {
        let (thread, under_way, response) = (self.thread, &mut self.under_way, &mut self.response);
        let front = under_way.front();
        connection.discard_next(front.map_or(0, |asked| response.discardable(&asked.attempt.exchange)));
        let (mut answered, mut is_last_whole) = (false, false);
        let end = connection
            .receive(thread, |now, event| {
                let (mut event, mut bytes) = match event {
                    Event::Bytes(bytes) => (event, bytes),
                    Event::Discarded(_) => (event, &[][..]),
                    Event::Sent => {
                        // It is known of all bodies together only.
                        under_way.iter_mut().for_each(|asked| asked.attempt.exchange.sent(now));
                        return Ok(Next::More { discard: 0 });
                    }
                    Event::Closed | Event::Cut => {
                        let Some(Asked { attempt, .. }) = under_way.front_mut() else {
                            return Ok(Next::Done(End::InGoodOrder));
                        };
                        response.take(event, now, &thread.heads, &mut attempt.exchange)?;
                        attempt.succeeded();
                        under_way.pop_front();
                        return Ok(Next::Done(End::InGoodOrder));
                    }
                };
                loop {
                    let is_last = under_way.len() == 1;
                    let Some(Asked { attempt, .. }) = under_way.front_mut() else {
                        return behind(Behind::of(bytes)).map(Next::Done);
                    };
                    let used = response.take(event, now, &thread.heads, &mut attempt.exchange)?;
                    bytes = bytes.get(used..).unwrap_or_default();
                    event = Event::Bytes(bytes);
                    if !response.is_complete() {
                        let discard = response.discardable(&attempt.exchange);
                        return Ok(if answered { Next::Done(End::NotYet) } else { Next::More { discard } });
                    }
                    let goes_on = response.keeps_alive();
                    if is_last {
                        // What has arrived behind it is looked at before it counts.
                        is_last_whole = true;
                        let end = behind(Behind::of(bytes))?;
                        return Ok(Next::Done(if goes_on { end } else { End::InGoodOrder }));
                    }
                    attempt.succeeded();
                    under_way.pop_front();
                    response.begin();
                    answered = true;
                    if !goes_on {
                        return Ok(Next::Done(End::InGoodOrder));
                    }
                    if bytes.is_empty() {
                        return Ok(Next::Done(End::NotYet));
                    }
                }
            })
            .await?;
        if !is_last_whole {
            if answered {
                connection.end_response();
            }
            return Ok(end);
        }
        let behind_it = if end == End::NotYet { behind(connection.behind())? } else { end };
        if let Some(Asked { attempt, .. }) = under_way.front_mut() {
            attempt.succeeded();
        }
        under_way.clear();
        response.begin();
        connection.end_response();
        Ok(behind_it)
    }

    /// The connection is at its end. Requests that the server did not come to are sent again:
    /// where it announced that no more would be processed (RFC 9112, section 9.6), and where it
    /// closed the connection and they may be repeated. Those behind the first were sent on the
    /// same connection, so that what holds for the first holds for them.
    fn end(&mut self, end: End) -> ConnectionOutcome {
        let fault = match end {
            End::NotYet | End::InGoodOrder => Some(Fault::TurnedAway(
                "the server closed the connection before it came to the request".into(),
            )),
            End::Failed(fault) => Some(fault),
            End::TimedOut => None,
        };
        let Some(Asked { attempt: first, .. }) = self.under_way.front() else {
            return ConnectionOutcome::Used;
        };
        match fault {
            Some(fault) if first.exchange.may_repeat(&fault) => self.again.append(&mut self.under_way),
            Some(fault) => {
                let (error, why) = first.exchange.error_of(fault);
                for Asked { attempt, .. } in &mut self.under_way {
                    attempt.error = Some(error);
                    attempt.detail = Some(why.clone());
                }
            }
            None => self.under_way.iter_mut().for_each(|Asked { attempt, .. }| attempt.timed_out()),
        }
        self.under_way.clear();
        ConnectionOutcome::Used
    }
}

/// What follows from that behind the last response.
fn behind(last: Behind) -> Result<End, Fault> {
    match last {
        Behind::Nothing => Ok(End::NotYet),
        Behind::Farewell => Ok(End::InGoodOrder),
        Behind::Surplus => Err(Fault::Surplus),
    }
}

/// What became of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionOutcome {
    /// It was used, to whatever end.
    Used,
    /// It did not come about.
    NotOpened,
}

/// How the use of a connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// More requests can follow.
    NotYet,
    /// No more follow: one side announced that, or there is nothing to ask for.
    InGoodOrder,
    Failed(Fault),
    /// The first request under way has had its time.
    TimedOut,
}
