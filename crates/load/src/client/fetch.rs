//! [`fetch`]: one request, from a connection to its row in the record.

use std::cell::{Cell, RefCell};
use std::pin::pin;

use bytes::Bytes;
use record::{RequestError, SessionOutcome};
use tokio_rustls::client::TlsStream;
use units::{Span, Time};

use crate::client::connection;
use crate::client::connection::Connection;
use crate::client::context::Engine;
use crate::client::cookies::Jar;
use crate::client::http2;
use crate::client::http2::{Connected, Pool};
use crate::client::plan::Wanted;
use crate::client::response::{Expected, Response};
use crate::client::tls::Tls;
use crate::engine::socket::Socket;
use crate::engine::stream::Stream;
use crate::measure::finished::Finished;
use crate::measure::stopwatch::{Phase, Stopwatch};
use crate::settings::target::Address;

const SERVICE_UNAVAILABLE: u16 = 503;

/// A little less than the kernel's first SYN timeout, 1 s (RFC 6298, section 2).
const SYN_TIMEOUT: Span = Span::from_millis(900);

/// A user with a browser: cookies, and connections that are kept open between requests.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) class: usize,
    pub(crate) session: Option<u64>,
    pub(crate) jar: RefCell<Jar>,
    idle: RefCell<Vec<Connection>>,
    pool: Pool,
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
            pool: Pool::default(),
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

/// Asks for the plan's object number `object`, which was due at `intended`, and records what
/// became of it. The error is how a session ends that depends on it.
pub(crate) async fn fetch(
    engine: &Engine,
    client: &Client,
    object: u32,
    intended: Time,
) -> Result<(), SessionOutcome> {
    let Some(wanted) = engine.plan.objects.get(object as usize) else { return Err(SessionOutcome::Error) };
    client.requests.set(client.requests.get() + 1);
    let mut attempt = Attempt::new(engine, client, wanted, object, intended);
    let result = {
        // Only a pointer is handed on: the future is large.
        let run = pin!(attempt.run());
        engine.in_time(run).await.unwrap_or(Err(RequestError::Timeout))
    };
    attempt.error = result.err();
    let status = attempt.response.status();
    drop(attempt);
    outcome(result, status)
}

/// What a request means for the session that it belongs to.
fn outcome(result: Result<(), RequestError>, status: Option<u16>) -> Result<(), SessionOutcome> {
    match (result, status) {
        (Err(RequestError::Timeout), _) => Err(SessionOutcome::Timeout),
        (Err(_), _) => Err(SessionOutcome::Error),
        (Ok(()), Some(SERVICE_UNAVAILABLE)) => Err(SessionOutcome::Refused),
        (Ok(()), Some(0..400)) => Ok(()),
        (Ok(()), _) => Err(SessionOutcome::Error),
    }
}

/// A request under way. Dropping it writes its row: if the run ends first, as cut off.
pub(crate) struct Attempt<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) client: &'a Client,
    pub(crate) wanted: &'a Wanted,
    object: u32,
    intended: Time,
    pub(crate) phases: Stopwatch,
    pub(crate) response: Response<'a>,
    pub(crate) connection: u64,
    /// While the handshake lasts.
    opening: Option<(Socket, Address)>,
    pub(crate) reused: bool,
    syn_retransmits: u32,
    pub(crate) error: Option<RequestError>,
}

impl<'a> Attempt<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        client: &'a Client,
        wanted: &'a Wanted,
        object: u32,
        intended: Time,
    ) -> Self {
        let expected = Expected {
            length: wanted.length,
            is_head: wanted.is_head,
            content: wanted.content.as_ref(),
            cookies: client.session.is_some(),
            checks: &engine.checks,
            heads: &engine.heads,
        };
        Self {
            engine,
            client,
            wanted,
            object,
            intended,
            phases: Stopwatch::connecting(engine.now()),
            response: Response::new(expected),
            connection: 0,
            opening: None,
            reused: false,
            syn_retransmits: 0,
            error: Some(RequestError::Censored),
        }
    }

    async fn run(&mut self) -> Result<(), RequestError> {
        if self.engine.plan.is_http2 {
            let client = self.client;
            return Box::pin(http2::exchange(self, &client.pool)).await;
        }
        if let Some(connection) = self.client.idle_connection() {
            self.reused = true;
            self.phases = Stopwatch::on_open_connection(self.engine.now());
            match self.exchange(connection).await {
                // The server closed it just when we began; RFC 9112, section 9.3.1, lets a client
                // ask again. Nothing of a response has come.
                Err(RequestError::Reset) if self.phases.is_unanswered() && self.engine.plan.may_repeat() => {
                    self.reused = false;
                    self.phases = Stopwatch::connecting(self.engine.now());
                }
                result => return result,
            }
        }
        let connection = self.connect().await?;
        self.exchange(connection).await
    }

    /// Opens a connection, up to the moment at which a request can be written to it.
    pub(crate) async fn connect(&mut self) -> Result<Connection, RequestError> {
        let socket = self.establish().await?;
        let connection = match &self.engine.tls {
            None => Connection::plain(socket, self.connection),
            Some(tls) => Connection::encrypted(self.encrypt(tls, socket).await?, self.connection),
        };
        self.phases.enter(Phase::Processing, self.engine.now());
        Ok(connection)
    }

    /// The same for HTTP/2, whose own handshake follows.
    pub(crate) async fn connect_stream(&mut self) -> Result<Connected, RequestError> {
        let socket = self.establish().await?;
        Ok(match &self.engine.tls {
            None => Connected::Plain(Stream::new(socket)),
            Some(tls) => Connected::Tls(Box::new(self.encrypt(tls, socket).await?)),
        })
    }

    async fn encrypt(&mut self, tls: &Tls, socket: Socket) -> Result<TlsStream<Stream>, RequestError> {
        self.phases.enter(Phase::Tls, self.engine.now());
        Box::pin(tls.handshake(Stream::new(socket))).await.map_err(|error| {
            self.engine.recorder.borrow_mut().refused(&error);
            RequestError::Connect
        })
    }

    async fn establish(&mut self) -> Result<Socket, RequestError> {
        let engine = self.engine;
        self.connection = engine.number_connection();
        let source = engine.plan.classes.get(self.client.class).and_then(|class| class.source);
        let once = engine.one_request_per_connection();
        let address = match &engine.lookup {
            None => engine.address.clone(),
            Some(lookup) => {
                self.phases.enter(Phase::Lookup, engine.now());
                let address = Box::pin(lookup.address(&engine.reactor)).await.map_err(|error| {
                    engine.recorder.borrow_mut().refused(&error);
                    RequestError::Connect
                })?;
                self.phases.enter(Phase::Connect, engine.now());
                address
            }
        };
        let opened = match connection::begin(&engine.reactor, &address, source, once) {
            Ok((socket, true)) => {
                // The handshake was part of the call.
                engine.reactor.refresh();
                return Ok(socket);
            }
            Ok((socket, false)) => self.opening.insert((socket, address)).0.established().await,
            Err(error) => Err(error),
        };
        if let Err(error) = opened {
            engine.recorder.borrow_mut().refused(&error);
            return Err(RequestError::Connect);
        }
        self.count_syns();
        self.opening.take().map(|(socket, _)| socket).ok_or(RequestError::Connect)
    }

    /// Asks for retransmitted SYNs, if the handshake has lasted long enough for one.
    fn count_syns(&mut self) {
        if let Some((socket, address)) = &self.opening
            && self.phases.in_phase_for(self.engine.now()) >= SYN_TIMEOUT
        {
            let engine = self.engine;
            self.syn_retransmits = connection::syn_retransmits(socket, engine.diagnosis.as_ref(), address);
        }
    }

    async fn exchange(&mut self, mut connection: Connection) -> Result<(), RequestError> {
        let engine = self.engine;
        self.connection = connection.number;
        let last = engine.is_last(connection.requests + 1);
        connection.expect(true);
        connection.send(self.head(last), engine.plan.body.as_ref()).await?;
        let (phases, response) = (&mut self.phases, &mut self.response);
        let whole = connection.receive(
            |now, bytes| {
                let used = take(phases, response, now, bytes)?;
                match response.is_complete() {
                    // More than was announced is not the content that was asked for.
                    true if used < bytes.len() => Err(RequestError::Body),
                    true => Ok(Some(())),
                    false => Ok(None),
                }
            },
            engine,
        );
        whole.await?;
        if !self.response.cookies().is_empty() {
            let mut jar = self.client.jar.borrow_mut();
            self.response.cookies().iter().for_each(|cookie| jar.set(cookie));
        }
        if self.response.keeps_alive() && !last {
            connection.expect(false);
            self.client.idle.borrow_mut().push(connection);
        }
        Ok(())
    }

    /// The head of the request.
    pub(crate) fn head(&self, last: bool) -> Bytes {
        let class = self.engine.plan.classes.get(self.client.class);
        let class_lines = class.map_or(&[][..], |class| &class.lines);
        let jar = self.client.jar.borrow();
        if class_lines.is_empty() && jar.is_empty() {
            return if last { self.wanted.last_head.clone() } else { self.wanted.head.clone() };
        }
        let mut head = Vec::with_capacity(512);
        head.extend_from_slice(&self.wanted.lines);
        head.extend_from_slice(class_lines);
        if last {
            head.extend_from_slice(b"Connection: close\r\n");
        } else {
            head.extend_from_slice(self.engine.plan.keep.as_bytes());
        }
        jar.write_header(&mut head);
        head.extend_from_slice(b"\r\n");
        head.into()
    }
}

/// Takes bytes that arrived, none at the end of the connection, and gives how many of them
/// belonged to the response.
pub(crate) fn take(
    phases: &mut Stopwatch,
    response: &mut Response<'_>,
    now: Time,
    bytes: &[u8],
) -> Result<usize, RequestError> {
    let used = if bytes.is_empty() {
        response.end()?;
        0
    } else {
        phases.first_byte(now);
        response.feed(bytes)?
    };
    if response.is_complete() {
        phases.last_byte(now);
    }
    Ok(used)
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.count_syns();
        self.phases.stop(self.engine.now());
        self.engine.record(&Finished {
            intended: self.intended,
            started: self.phases.started,
            dns: self.phases.lookup,
            connect: self.phases.connect,
            tls: self.phases.tls,
            processing: self.phases.processing,
            transfer: self.phases.transfer,
            bytes: self.response.body_bytes(),
            status: self.response.status(),
            error: self.error,
            class: self.client.class,
            object: self.object,
            session: self.client.session,
            connection: self.connection,
            reused: self.reused,
            syn_retransmits: self.syn_retransmits,
            server: self.response.server_time(),
        });
    }
}
