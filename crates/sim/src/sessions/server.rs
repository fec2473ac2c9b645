//! [`Server`]: a listen queue, workers that belong to connections, and processors that they share.

use std::collections::VecDeque;

use slab::Slab;
use units::Time;

use super::model::Host;
use crate::engine::{Job, Processor, Sharing};

/// A server under way.
#[derive(Debug)]
pub(super) struct Server {
    host: Host,
    processor: Sharing,
    free: u32,
    /// Connections that wait to be accepted.
    listening: VecDeque<usize>,
    connections: Slab<Connection>,
    turns: u64,
    usage: Usage,
}

#[derive(Debug)]
struct Connection {
    /// Whether the client has its end open.
    held: bool,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Without a worker; perhaps a request has come already.
    Listening(Option<Request>),
    /// The worker does what was asked for.
    Working(Request),
    /// The worker waits for a request, since the end of that turn.
    Idle(u64),
    /// The server has closed it.
    Over,
}

/// What a worker is to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// Processor time, in seconds.
    pub(super) demand: f64,
    /// The sender's name for it.
    pub(super) whose: u64,
}

/// A request that was answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) whose: u64,
    pub(super) connection: usize,
    /// What the worker's idleness is called that begins now.
    pub(super) turn: u64,
}

/// Processors at work over a window of time.
#[derive(Debug, Clone, Copy)]
struct Usage {
    from: f64,
    to: f64,
    at: f64,
    /// Processors times seconds.
    busy: f64,
}

impl Server {
    /// A server whose utilization counts from `from` to `to`.
    pub(super) fn new(host: Host, (from, to): (Time, Time)) -> Self {
        Self {
            host,
            processor: Sharing::new(host.workers as usize, f64::from(host.processors)),
            free: host.workers,
            listening: VecDeque::new(),
            connections: Slab::new(),
            turns: 0,
            usage: Usage { from: seconds(from), to: seconds(to), at: 0.0, busy: 0.0 },
        }
    }

    /// Opens a connection. `None` when the listen queue is full: the kernel drops what the client sent, and
    /// the client has to find out by waiting.
    pub(super) fn connect(&mut self) -> Option<usize> {
        let is_full = self.listening.len() > self.host.backlog as usize;
        let state = match self.free {
            0 if is_full => return None,
            0 => State::Listening(None),
            _ => State::Idle(0),
        };
        let key = self.connections.insert(Connection { held: true, state });
        match state {
            State::Idle(_) => self.free -= 1,
            _ => self.listening.push_back(key),
        }
        Some(key)
    }

    /// Whether the server has not closed a connection.
    pub(super) fn is_open(&self, key: usize) -> bool {
        self.connections.get(key).is_some_and(|connection| !matches!(connection.state, State::Over))
    }

    /// Sends a request over an open connection on which no other is under way.
    pub(super) fn send(&mut self, now: Time, key: usize, request: Request) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        match connection.state {
            State::Listening(_) => connection.state = State::Listening(Some(request)),
            _ => self.begin(now, key, request),
        }
    }

    /// The client closes its end of a connection. A worker that is at work does not know, nor does one that
    /// has not accepted it yet.
    pub(super) fn close(&mut self, now: Time, key: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.held = false;
        match connection.state {
            State::Listening(_) | State::Working(_) => {}
            State::Idle(_) => {
                self.connections.remove(key);
                self.accept(now);
            }
            State::Over => {
                self.connections.remove(key);
            }
        }
    }

    /// When the next answer is ready if nothing happens before.
    pub(super) fn next(&self) -> Time {
        let next = self.processor.next();
        // Rounded up: the processor must have passed that point.
        if next.is_finite() { Time::from_nanos((next * 1e9).ceil() as u64) } else { Time::NEVER }
    }

    /// Ends the work that is due; gives the answer unless its client has gone.
    pub(super) fn advance(&mut self, now: Time) -> Option<Answer> {
        self.pass(now);
        let key = self.processor.advance(seconds(now))?.whose as usize;
        let connection = self.connections.get_mut(key)?;
        let State::Working(request) = connection.state else { return None };
        if !connection.held {
            self.connections.remove(key);
            self.accept(now);
            return None;
        }
        self.turns += 1;
        connection.state = State::Idle(self.turns);
        Some(Answer { whose: request.whose, connection: key, turn: self.turns })
    }

    /// A worker closes a connection that has been idle since `turn`.
    pub(super) fn hang(&mut self, now: Time, key: usize, turn: u64) {
        if let Some(connection) = self.connections.get_mut(key)
            && matches!(connection.state, State::Idle(since) if since == turn)
        {
            connection.state = State::Over;
            self.accept(now);
        }
    }

    /// The share of the processors' time in the window in which they worked.
    pub(super) fn utilization(&self) -> f64 {
        self.usage.busy / (self.usage.to - self.usage.from) / f64::from(self.host.processors)
    }

    /// A worker is free: it takes the next connection, whose client may have gone.
    fn accept(&mut self, now: Time) {
        while let Some(key) = self.listening.pop_front() {
            let Some(connection) = self.connections.get_mut(key) else { continue };
            match connection.state {
                State::Listening(Some(request)) => return self.begin(now, key, request),
                _ if connection.held => {
                    connection.state = State::Idle(0);
                    return;
                }
                _ => {
                    self.connections.remove(key);
                }
            }
        }
        self.free += 1;
    }

    fn begin(&mut self, now: Time, key: usize, request: Request) {
        self.pass(now);
        if let Some(connection) = self.connections.get_mut(key) {
            connection.state = State::Working(request);
        }
        let now = seconds(now);
        self.processor.start(now, Job { arrived: now, demand: request.demand, class: 0, whose: key as u32 });
    }

    fn pass(&mut self, now: Time) {
        let working = f64::from(self.host.processors).min(self.processor.len() as f64);
        let Usage { from, to, at, .. } = self.usage;
        self.usage.busy += working * (seconds(now).min(to) - at.max(from)).max(0.0);
        self.usage.at = seconds(now);
    }
}

fn seconds(time: Time) -> f64 {
    time.since(Time::ZERO).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;

    const DEMAND: f64 = 0.01;

    fn server(workers: u32, backlog: u32) -> Server {
        let host = Host { workers, backlog, ..Host::default() };
        Server::new(host, (Time::ZERO, Time::ZERO + Span::from_secs(1)))
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn connect(server: &mut Server, whose: u64) -> usize {
        let key = server.connect().unwrap();
        server.send(at(0), key, Request { demand: DEMAND, whose });
        key
    }

    /// Who is answered, and when in milliseconds.
    fn answers(server: &mut Server) -> Vec<(u64, u64)> {
        let mut answers = Vec::new();
        while server.next() != Time::NEVER {
            let now = server.next();
            if let Some(answer) = server.advance(now) {
                answers.push((answer.whose, now.as_nanos() / 1_000_000));
            }
        }
        answers
    }

    #[test]
    fn workers_share_the_processor_and_stay_with_their_clients() {
        let mut server = server(2, 10);
        let keys: Vec<usize> = (0..3).map(|whose| connect(&mut server, whose)).collect();
        assert_eq!(answers(&mut server), [(0, 20), (1, 20)]);
        server.close(at(30), keys[1]);
        assert_eq!(answers(&mut server), [(2, 40)]);
        assert!((server.utilization() - 0.03).abs() < 1e-9);
    }

    #[test]
    fn one_more_than_the_backlog_waits() {
        let mut server = server(1, 1);
        (0..3).for_each(|whose| {
            connect(&mut server, whose);
        });
        assert_eq!(server.connect(), None);
    }

    #[test]
    fn work_for_a_client_that_has_gone_is_done_all_the_same() {
        let mut server = server(1, 10);
        let keys: Vec<usize> = (0..3).map(|whose| connect(&mut server, whose)).collect();
        server.close(at(1), keys[0]);
        server.close(at(1), keys[1]);
        assert_eq!(answers(&mut server), [(2, 30)]);
    }

    #[test]
    fn a_worker_hangs_up_on_a_client_that_is_silent() {
        let mut server = server(1, 10);
        let first = connect(&mut server, 0);
        connect(&mut server, 1);
        let now = server.next();
        let turn = server.advance(now).unwrap().turn;
        server.send(at(11), first, Request { demand: DEMAND, whose: 2 });
        let now = server.next();
        let later = server.advance(now).unwrap().turn;
        server.hang(at(30), first, turn);
        assert!(server.is_open(first), "it has asked again since");
        server.hang(at(40), first, later);
        assert!(!server.is_open(first));
        assert_eq!(answers(&mut server), [(1, 50)]);
    }
}
