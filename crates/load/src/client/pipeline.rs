//! [`Line`]: several requests under way on one connection (RFC 9112, section 9.3.2).

use std::collections::VecDeque;
use std::rc::Rc;

use record::RequestError;

use crate::client::connection::Connection;
use crate::client::context::{Engine, Followed};
use crate::client::fetch::{Attempt, Client, take};
use crate::measure::stopwatch::Stopwatch;

/// A client that does not wait for an answer before it asks again.
pub(crate) struct Line<'a> {
    engine: &'a Rc<Engine>,
    client: &'a Client,
    depth: usize,
    /// Sent, and not answered.
    under_way: VecDeque<Asked<'a>>,
    /// Sent on a connection that ended before their turn; they are the first on the next.
    again: VecDeque<Asked<'a>>,
    /// On the present connection.
    sent: u32,
    answered: u32,
}

type Asked<'a> = (Attempt<'a>, Followed);

impl<'a> Line<'a> {
    pub(crate) fn new(engine: &'a Rc<Engine>, client: &'a Client, depth: u32) -> Self {
        Self {
            engine,
            client,
            depth: depth as usize,
            under_way: VecDeque::new(),
            again: VecDeque::new(),
            sent: 0,
            answered: 0,
        }
    }

    /// Whether there is nothing left from the connection before.
    pub(crate) fn is_empty(&self) -> bool {
        self.again.is_empty()
    }

    /// Opens a connection and keeps requests under way on it, in order, until it is at its end;
    /// `draw` says what for, or that it is enough for now. One that fails takes those behind it
    /// along: their answers cannot be told from what is left of its own.
    ///
    /// # Errors
    /// When the connection did not come about, or broke.
    pub(crate) async fn connection(&mut self, draw: impl Fn() -> Option<u32>) -> Result<(), RequestError> {
        (self.sent, self.answered) = (0, 0);
        let Some(mut first) = self.next(&draw) else { return Ok(()) };
        first.0.phases = Stopwatch::connecting(self.engine.now());
        first.0.reused = false;
        let opened = self.engine.in_time(first.0.connect()).await.unwrap_or(Err(RequestError::Timeout));
        let mut connection = opened.inspect_err(|error| first.0.error = Some(*error))?;
        connection.expect(true);
        let started = first.0.phases.started;
        let sent = self.engine.in_time_from(started, self.send(&mut connection, first)).await;
        let mut result = sent.unwrap_or(Err(RequestError::Timeout)).map(|()| true);
        while result == Ok(true) {
            let front = self.under_way.front().map_or(self.engine.now(), |(front, _)| front.phases.started);
            let turn = self.engine.in_time_from(front, self.turn(&mut connection, &draw)).await;
            result = turn.unwrap_or(Err(RequestError::Timeout));
        }
        self.end(result.err())
    }

    /// Fills the line up and waits for at least one answer; gives whether more can follow on the
    /// connection.
    async fn turn(
        &mut self,
        connection: &mut Connection,
        draw: &impl Fn() -> Option<u32>,
    ) -> Result<bool, RequestError> {
        while self.under_way.len() < self.depth && !self.engine.is_last(self.sent) {
            let Some(mut next) = self.next(draw) else { break };
            next.0.reused = true;
            next.0.connection = connection.number;
            next.0.phases = Stopwatch::on_open_connection(self.engine.now());
            self.send(connection, next).await?;
        }
        if self.under_way.is_empty() { Ok(false) } else { self.receive(connection).await }
    }

    fn next(&mut self, draw: &impl Fn() -> Option<u32>) -> Option<Asked<'a>> {
        if let Some(again) = self.again.pop_front() {
            return Some(again);
        }
        let engine = self.engine;
        let object = draw()?;
        let wanted = engine.plan.objects.get(object as usize)?;
        let now = engine.now();
        Some((Attempt::new(engine, self.client, wanted, object, now), engine.follow(now)))
    }

    async fn send(&mut self, connection: &mut Connection, next: Asked<'a>) -> Result<(), RequestError> {
        self.sent += 1;
        let head = next.0.head(self.engine.is_last(self.sent));
        self.under_way.push_back(next);
        connection.send(head, self.engine.plan.body.as_ref()).await
    }

    async fn receive(&mut self, connection: &mut Connection) -> Result<bool, RequestError> {
        let (under_way, answered) = (&mut self.under_way, &mut self.answered);
        let before = *answered;
        connection
            .receive(
                |now, mut bytes| {
                    loop {
                        let Some((attempt, _)) = under_way.front_mut() else {
                            // More than was asked for.
                            return if bytes.is_empty() { Ok(Some(true)) } else { Err(RequestError::Body) };
                        };
                        let used = take(&mut attempt.phases, &mut attempt.response, now, bytes)?;
                        bytes = bytes.get(used..).unwrap_or_default();
                        if !attempt.response.is_complete() {
                            return Ok((*answered > before).then_some(true));
                        }
                        attempt.error = None;
                        let goes_on = attempt.response.keeps_alive();
                        under_way.pop_front();
                        *answered += 1;
                        if bytes.is_empty() || !goes_on {
                            return Ok(Some(goes_on));
                        }
                    }
                },
                self.engine,
            )
            .await
    }

    /// The connection is at its end. Where the server closed it in good order, requests that it
    /// did not come to are asked again: all of them where it announced that (RFC 9112, section
    /// 9.6), only those that do no harm where it did not (section 9.3.1).
    fn end(&mut self, error: Option<RequestError>) -> Result<(), RequestError> {
        let engine = self.engine;
        let untouched = self.under_way.front().is_none_or(|(front, _)| front.phases.is_unanswered());
        let repeats = match error {
            None => true,
            Some(RequestError::Reset) => untouched && self.answered > 0 && engine.plan.may_repeat(),
            Some(_) => false,
        };
        if repeats {
            self.again.append(&mut self.under_way);
            return Ok(());
        }
        for (attempt, _) in &mut self.under_way {
            attempt.error = error;
        }
        self.under_way.clear();
        error.map_or(Ok(()), Err)
    }
}
