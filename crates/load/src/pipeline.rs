//! [`pipelined`]: several requests under way on one connection (RFC 9112, section 9.3.2).

use std::collections::VecDeque;
use std::rc::Rc;

use record::RequestError;

use crate::connection::Connection;
use crate::engine::{Engine, Followed};
use crate::fetch::{Attempt, Client, take};
use crate::phases::Phases;

/// Opens a connection and keeps up to `depth` requests under way on it, in order, until it is
/// at its end; `draw` says what for. One that fails takes those behind it along: their answers
/// cannot be told from what is left of its own.
///
/// # Errors
/// When the connection did not come about, or broke.
pub(crate) async fn pipelined(
    engine: &Rc<Engine>,
    depth: u32,
    draw: impl Fn() -> u32,
) -> Result<(), RequestError> {
    let client = Client::new(engine, 0, None);
    let mut line = Line { engine, client: &client, under_way: VecDeque::new(), sent: 0 };
    let Some(mut first) = line.attempt(draw()) else { return Ok(()) };
    let opened = engine.in_time(first.0.connect()).await.unwrap_or(Err(RequestError::Timeout));
    let mut connection = match opened {
        Ok(connection) => connection,
        Err(error) => {
            first.0.error = Some(error);
            return Err(error);
        }
    };
    connection.expect(true);
    line.send(&mut connection, first).await?;
    loop {
        while line.under_way.len() < depth as usize && !engine.is_last(line.sent) {
            let Some(mut next) = line.attempt(draw()) else { return Ok(()) };
            next.0.reused = true;
            next.0.connection = connection.number;
            next.0.phases = Phases::on_open_connection(engine.now());
            line.send(&mut connection, next).await?;
        }
        if line.under_way.is_empty() {
            return Ok(());
        }
        let result = engine.in_time(line.receive(&mut connection)).await;
        match result.unwrap_or(Err(RequestError::Timeout)) {
            Ok(true) => {}
            Ok(false) => return line.fail(RequestError::Reset),
            Err(error) => return line.fail(error),
        }
    }
}

struct Line<'a> {
    engine: &'a Rc<Engine>,
    client: &'a Client,
    under_way: VecDeque<(Attempt<'a>, Followed)>,
    sent: u32,
}

impl<'a> Line<'a> {
    fn attempt(&self, object: u32) -> Option<(Attempt<'a>, Followed)> {
        let engine = self.engine;
        let wanted = engine.plan.objects.get(object as usize)?;
        let now = engine.now();
        Some((Attempt::new(engine, self.client, wanted, object, now), engine.follow(now)))
    }

    async fn send(
        &mut self,
        connection: &mut Connection,
        next: (Attempt<'a>, Followed),
    ) -> Result<(), RequestError> {
        self.sent += 1;
        let head = next.0.head(self.engine.is_last(self.sent));
        self.under_way.push_back(next);
        connection.send(head, self.engine.plan.body.as_ref()).await
    }

    /// Waits for at least one response; gives whether more can follow on the connection.
    async fn receive(&mut self, connection: &mut Connection) -> Result<bool, RequestError> {
        let under_way = &mut self.under_way;
        connection
            .receive(
                |now, mut bytes| {
                    let before = under_way.len();
                    loop {
                        let Some((attempt, _)) = under_way.front_mut() else {
                            // More than was asked for.
                            return if bytes.is_empty() { Ok(Some(true)) } else { Err(RequestError::Body) };
                        };
                        let used = take(&mut attempt.phases, &mut attempt.response, now, bytes)?;
                        bytes = bytes.get(used..).unwrap_or_default();
                        if !attempt.response.is_complete() {
                            return Ok((under_way.len() < before).then_some(true));
                        }
                        attempt.error = None;
                        let goes_on = attempt.response.keeps_alive();
                        under_way.pop_front();
                        if bytes.is_empty() || !goes_on {
                            return Ok(Some(goes_on || under_way.is_empty()));
                        }
                    }
                },
                self.engine,
            )
            .await
    }

    /// All that is under way is lost.
    fn fail(&mut self, error: RequestError) -> Result<(), RequestError> {
        for (attempt, _) in &mut self.under_way {
            attempt.error = Some(error);
        }
        Err(error)
    }
}
