//! [`fetch`]: one request, from a connection to its row in the record.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use record::{RequestError, RequestRow, SessionOutcome};
use tokio::time::timeout;
use units::{Span, Time};

use crate::connection::{Connection, is_exhaustion};
use crate::cookies::Jar;
use crate::engine::Engine;
use crate::phases::Phases;
use crate::plan::{ClassPlan, Wanted};
use crate::response::Response;

const SERVICE_UNAVAILABLE: u16 = 503;

/// A little less than the kernel's first SYN timeout, 1 s (RFC 6298, section 2).
const SYN_TIMEOUT: Span = Span::from_millis(900);

/// A user with a browser: cookies, and connections that are kept open between requests.
#[derive(Debug)]
pub(crate) struct Client {
    class: usize,
    session: Option<u64>,
    jar: RefCell<Jar>,
    idle: RefCell<Vec<Connection>>,
    /// Requests sent so far.
    pub(crate) requests: Cell<u32>,
}

impl Client {
    /// A user of the plan's class number `class`.
    pub(crate) fn new(engine: &Engine, class: usize, session: Option<u64>) -> Self {
        let cookie = engine.plan.classes.get(class).and_then(|class| class.cookie.as_ref());
        Self {
            class,
            session,
            jar: RefCell::new(Jar::new(cookie)),
            idle: RefCell::default(),
            requests: Cell::new(0),
        }
    }

    fn idle_connection(&self) -> Option<Connection> {
        let mut idle = self.idle.borrow_mut();
        while let Some(connection) = idle.pop() {
            if !connection.is_stale() {
                return Some(connection);
            }
        }
        None
    }
}

/// Asks for `wanted`, which was due at `intended`, and records what became of it. The error is
/// how a session ends that depends on it.
pub(crate) async fn fetch(
    engine: &Engine,
    client: &Client,
    wanted: &Wanted,
    intended: Time,
) -> Result<(), SessionOutcome> {
    let Some(class) = engine.plan.classes.get(client.class) else { return Err(SessionOutcome::Error) };
    client.requests.set(client.requests.get() + 1);
    let mut attempt = Attempt::new(engine, client, class, wanted, intended);
    let result = match timeout(engine.plan.timeout.into(), attempt.run()).await {
        Ok(result) => result,
        Err(_) => Err(RequestError::Timeout),
    };
    attempt.error = result.err();
    let status = attempt.response.status();
    drop(attempt);
    match (result, status) {
        (Err(RequestError::Timeout), _) => Err(SessionOutcome::Timeout),
        (Err(_), _) => Err(SessionOutcome::Error),
        (Ok(()), Some(SERVICE_UNAVAILABLE)) => Err(SessionOutcome::Refused),
        (Ok(()), Some(0..400)) => Ok(()),
        (Ok(()), _) => Err(SessionOutcome::Error),
    }
}

/// A request under way. Dropping it writes its row: if the run ends first, as cut off.
struct Attempt<'a> {
    engine: &'a Engine,
    client: &'a Client,
    class: &'a ClassPlan,
    wanted: &'a Wanted,
    intended: Time,
    phases: Phases,
    response: Response,
    connection: u64,
    /// While the handshake lasts.
    opening: Option<Connection>,
    reused: bool,
    syn_retransmits: u32,
    error: Option<RequestError>,
}

impl<'a> Attempt<'a> {
    fn new(
        engine: &'a Engine,
        client: &'a Client,
        class: &'a ClassPlan,
        wanted: &'a Wanted,
        intended: Time,
    ) -> Self {
        Self {
            engine,
            client,
            class,
            wanted,
            intended,
            phases: Phases::connecting(engine.clock.now()),
            response: Response::new(wanted.length),
            connection: 0,
            opening: None,
            reused: false,
            syn_retransmits: 0,
            error: Some(RequestError::Censored),
        }
    }

    async fn run(&mut self) -> Result<(), RequestError> {
        if let Some(connection) = self.client.idle_connection() {
            self.reused = true;
            self.phases = Phases::on_open_connection(self.engine.clock.now());
            match self.exchange(connection).await {
                // The server closed it just when we began; RFC 9112, section 9.3.1, lets a client
                // ask again. Nothing of a response has come.
                Err(RequestError::Reset) if self.phases.is_unanswered() => {
                    self.reused = false;
                    self.phases = Phases::connecting(self.engine.clock.now());
                }
                result => return result,
            }
        }
        let connection = self.connect().await?;
        self.phases.sending(self.engine.clock.now());
        self.exchange(connection).await
    }

    async fn connect(&mut self) -> Result<Connection, RequestError> {
        self.connection = self.engine.number_connection();
        let begun = Connection::begin(self.engine.address, self.connection, self.class.source);
        let opened = match begun {
            Ok(connection) => {
                let opening = self.opening.insert(connection);
                opening.established().await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = opened {
            self.engine.recorder.borrow_mut().refused(&error, is_exhaustion(&error));
            return Err(RequestError::Connect);
        }
        self.count_syns();
        self.opening.take().ok_or(RequestError::Connect)
    }

    /// Asks for retransmitted SYNs, if the handshake has lasted long enough for one.
    fn count_syns(&mut self) {
        if let Some(connection) = &self.opening
            && self.phases.in_phase_for(self.engine.clock.now()) >= SYN_TIMEOUT
        {
            self.syn_retransmits = connection.syn_retransmits(self.engine);
        }
    }

    async fn exchange(&mut self, mut connection: Connection) -> Result<(), RequestError> {
        self.connection = connection.number;
        let last =
            self.engine.requests_per_connection.is_some_and(|most| connection.requests + 1 >= most.get());
        connection.send(self.engine, |request| self.compose(last, request)).await?;
        connection.receive(self.engine, &mut self.phases, &mut self.response).await?;
        let mut jar = self.client.jar.borrow_mut();
        for cookie in self.response.cookies() {
            jar.set(cookie);
        }
        if self.response.keeps_alive() && !last {
            self.client.idle.borrow_mut().push(connection);
        }
        Ok(())
    }

    fn compose(&self, last: bool, request: &mut Vec<u8>) {
        request.extend_from_slice(&self.wanted.lines);
        request.extend_from_slice(&self.class.lines);
        if last {
            request.extend_from_slice(b"Connection: close\r\n");
        }
        self.client.jar.borrow().write_header(request);
        request.extend_from_slice(b"\r\n");
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.count_syns();
        self.phases.stop(self.engine.clock.now());
        let mut row = RequestRow {
            intended: self.intended,
            started: self.intended,
            dns_ns: Span::ZERO,
            connect_ns: Span::ZERO,
            tls_ns: Span::ZERO,
            processing_ns: None,
            transfer_ns: None,
            bytes: self.response.body_bytes(),
            status: self.response.status(),
            error: self.error,
            class: Arc::clone(&self.class.name),
            session: self.client.session,
            connection: self.connection,
            reused: self.reused,
            syn_retransmits: self.syn_retransmits,
            url_class: Arc::clone(&self.wanted.url),
            server_ns: None,
        };
        self.phases.fill(&mut row);
        self.engine.record_request(row);
    }
}
