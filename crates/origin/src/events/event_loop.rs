//! One thread's loop: events in, connections driven, idle ones closed.

use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant, SystemTime};

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};
use slab::Slab;
use socket2::Socket;

use crate::answer::Site;
use crate::events::connection::{Clock, Connection, Next, Source};
use crate::options::Options;
use crate::response::Responder;

/// Of the listener. Connections have the tokens below these two.
pub(super) const LISTENER: Token = Token(usize::MAX);
/// Of what wakes the loop from another thread.
pub(super) const WAKER: Token = Token(usize::MAX - 1);

/// How often idle connections are looked for, and how soon accepting is tried again after it failed.
const TICK: Duration = Duration::from_secs(1);

/// A loop as the acceptor sees it.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) sender: Sender<Socket>,
    pub(super) waker: Arc<Waker>,
}

/// The listener and whose turn it is to get the next connection.
#[derive(Debug)]
pub(super) struct Acceptor {
    listener: Socket,
    peers: Vec<Peer>,
    accepted: usize,
}

impl Acceptor {
    pub(super) fn new(listener: Socket, peers: Vec<Peer>) -> Self {
        Self { listener, peers, accepted: 0 }
    }

    /// Deals out all that can be accepted now.
    fn accept(&mut self) {
        loop {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let stream = match accept_with(&self.listener, flags) {
                Ok(stream) => Socket::from(stream),
                Err(Errno::CONNABORTED | Errno::INTR) => continue,
                // Nothing more, or no descriptors left: then the next tick tries again.
                Err(_) => return,
            };
            let peer = &self.peers[self.accepted % self.peers.len()];
            self.accepted += 1;
            // A peer that has ended takes its connection with it: the server is stopping.
            if peer.sender.send(stream).is_ok() {
                let _ = peer.waker.wake();
            }
        }
    }
}

/// The state of one thread.
#[derive(Debug)]
pub(super) struct EventLoop {
    poll: Poll,
    arrivals: Receiver<Socket>,
    stopping: Arc<AtomicBool>,
    acceptor: Option<Acceptor>,
    connections: Slab<Connection>,
    /// Connections that had more to do than their share of a turn.
    again: Vec<usize>,
    source: Source,
    is_tcp: bool,
    keep_alive: Duration,
    patience: Duration,
}

impl EventLoop {
    pub(super) fn new(
        poll: Poll,
        arrivals: Receiver<Socket>,
        stopping: Arc<AtomicBool>,
        site: Arc<Site>,
        options: &Options,
    ) -> Self {
        Self {
            poll,
            arrivals,
            stopping,
            acceptor: None,
            connections: Slab::new(),
            again: Vec::new(),
            source: Source { site, responder: Responder::new() },
            is_tcp: options.listen.tcp().is_some(),
            keep_alive: options.keep_alive.into(),
            patience: options.patience.into(),
        }
    }

    pub(super) fn registry(&self) -> &Registry {
        self.poll.registry()
    }

    pub(super) fn accept_for(&mut self, acceptor: Acceptor) {
        self.acceptor = Some(acceptor);
    }

    /// Runs until told to stop.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(1024);
        let mut next_tick = Instant::now() + TICK;
        while !self.stopping.load(Ordering::SeqCst) {
            let limit = if self.again.is_empty() {
                next_tick.saturating_duration_since(Instant::now())
            } else {
                Duration::ZERO
            };
            // Fails when a signal came; there is nothing to handle then.
            let _ = self.poll.poll(&mut events, Some(limit));
            let clock = self.clock();
            for key in std::mem::take(&mut self.again) {
                self.drive(key, &clock);
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    WAKER => self.take_arrivals(&clock),
                    Token(key) => {
                        if let Some(connection) = self.connections.get_mut(key) {
                            connection.finished |= event.is_read_closed();
                        }
                        self.drive(key, &clock);
                    }
                }
            }
            if clock.now >= next_tick {
                next_tick = clock.now + TICK;
                self.close_expired(clock.now);
                self.accept();
            }
        }
        for (_, connection) in &self.connections {
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
    }

    fn clock(&self) -> Clock {
        Clock {
            now: Instant::now(),
            date: SystemTime::now(),
            keep_alive: self.keep_alive,
            patience: self.patience,
        }
    }

    fn accept(&mut self) {
        if let Some(acceptor) = &mut self.acceptor {
            acceptor.accept();
        }
    }

    fn take_arrivals(&mut self, clock: &Clock) {
        while let Ok(stream) = self.arrivals.try_recv() {
            let entry = self.connections.vacant_entry();
            let key = entry.key();
            let interest = Interest::READABLE | Interest::WRITABLE;
            let at_once = if self.is_tcp { stream.set_tcp_nodelay(true) } else { Ok(()) };
            let registered = at_once.and_then(|()| {
                self.poll.registry().register(&mut SourceFd(&stream.as_raw_fd()), Token(key), interest)
            });
            // What is not registered is dropped here, and so closed.
            if registered.is_ok() {
                entry.insert(Connection::new(stream, clock));
            }
        }
    }

    /// Drives one connection; one that is gone is skipped, its last events may be in the same batch.
    fn drive(&mut self, key: usize, clock: &Clock) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        match connection.drive(&mut self.source, clock) {
            Next::Wait => {}
            Next::Again => self.again.push(key),
            Next::Close => {
                self.connections.remove(key);
            }
        }
    }

    fn close_expired(&mut self, now: Instant) {
        self.connections.retain(|_, connection| connection.deadline > now);
    }
}
