//! [`Attempt`]: a request under way, from opening its connection to its row in the record.

use bytes::Bytes;
use record::RequestError;
use tokio_rustls::client::TlsStream;
use units::{Span, Time};

use crate::client::address::Address;
use crate::client::connect::{self, Established};
use crate::client::context::ThreadContext;
use crate::client::exchange::{Exchange, Expected, Fault};
use crate::client::plan::{Persistence, Wanted};
use crate::client::tls::Tls;
use crate::client::user::User;
use crate::engine::socket::Socket;
use crate::engine::stream::Stream;
use crate::measure::finished::Finished;
use crate::measure::stopwatch::Phase;

/// A little less than the kernel's first SYN timeout, 1 s (RFC 6298, section 2).
const SYN_TIMEOUT: Span = Span::from_millis(900);

/// A request under way. Dropping it writes its row: if the run ends first, as cut off.
pub(crate) struct Attempt<'a> {
    pub(crate) thread: &'a ThreadContext,
    wanted: &'a Wanted,
    user: &'a User,
    object: u32,
    intended: Time,
    pub(crate) exchange: Exchange<'a>,
    /// Number of its connection.
    pub(crate) connection: u64,
    /// While the TCP handshake lasts.
    opening: Option<(Socket, Address)>,
    syn_retransmits: u32,
    pub(crate) error: Option<RequestError>,
}

/// A new connection that nothing was sent on.
pub(crate) enum Opened {
    Plain(Socket),
    Tls(Box<TlsStream<Stream>>),
}

impl<'a> Attempt<'a> {
    /// A request of `user` for the plan's object number `object`, which is `wanted`, due at
    /// `intended`.
    pub(crate) fn new(
        thread: &'a ThreadContext,
        user: &'a User,
        wanted: &'a Wanted,
        object: u32,
        intended: Time,
    ) -> Self {
        let expected = Expected {
            length: wanted.length,
            is_head: wanted.is_head,
            is_idempotent: thread.plan.is_idempotent,
            content: wanted.content.as_ref(),
            checks: &thread.checks,
        };
        Self {
            thread,
            wanted,
            user,
            object,
            intended,
            exchange: Exchange::new(expected, thread.now()),
            connection: 0,
            opening: None,
            syn_retransmits: 0,
            error: Some(RequestError::Censored),
        }
    }

    /// Opens a connection: looks the name up where that is asked for, then TCP, then TLS.
    pub(crate) async fn connect(&mut self) -> Result<Opened, Fault> {
        let socket = self.establish().await?;
        Ok(match &self.thread.tls {
            None => Opened::Plain(socket),
            Some(tls) => Opened::Tls(Box::new(self.encrypt(tls, socket).await?)),
        })
    }

    async fn encrypt(&mut self, tls: &Tls, socket: Socket) -> Result<TlsStream<Stream>, Fault> {
        self.exchange.enter(Phase::Tls, self.thread.now());
        Box::pin(tls.handshake(Stream::new(socket))).await.map_err(|error| {
            self.thread.recorder.borrow_mut().refused(&error);
            Fault::NoConnection
        })
    }

    async fn establish(&mut self) -> Result<Socket, Fault> {
        let thread = self.thread;
        self.connection = thread.number_connection();
        let source = thread.plan.classes.get(self.user.class).and_then(|class| class.source);
        let address = match &thread.lookup {
            None => thread.address.clone(),
            Some(lookup) => {
                self.exchange.enter(Phase::Lookup, thread.now());
                let address = Box::pin(lookup.address(&thread.reactor)).await.map_err(|error| {
                    thread.recorder.borrow_mut().refused(&error);
                    Fault::NoConnection
                })?;
                self.exchange.enter(Phase::Connect, thread.now());
                address
            }
        };
        let opened = match connect::begin(&thread.reactor, &address, source, thread.responses()) {
            Ok((socket, Established::Now)) => {
                thread.reactor.refresh();
                return Ok(socket);
            }
            Ok((socket, Established::Later)) => self.opening.insert((socket, address)).0.established().await,
            Err(error) => Err(error),
        };
        if let Err(error) = opened {
            thread.recorder.borrow_mut().refused(&error);
            return Err(Fault::NoConnection);
        }
        self.count_syns();
        self.opening.take().map(|(socket, _)| socket).ok_or(Fault::NoConnection)
    }

    /// Asks for retransmitted SYNs, if the handshake has lasted long enough for one.
    fn count_syns(&mut self) {
        if let Some((socket, address)) = &self.opening
            && self.exchange.stopwatch().in_phase_for(self.thread.now()) >= SYN_TIMEOUT
        {
            let diagnosis = self.thread.diagnosis.as_ref();
            self.syn_retransmits = connect::syn_retransmits(socket, diagnosis, address);
        }
    }

    /// The head of the request for HTTP/1.
    pub(crate) fn http1_head(&self, persistence: Persistence) -> Bytes {
        self.thread.plan.http1_head(self.wanted, self.user.class, &self.user.jar.borrow(), persistence)
    }

    /// The head of the request for HTTP/2; `None` where HTTP/2 cannot say it.
    pub(crate) fn http2_head(&self) -> Option<http::Request<()>> {
        self.thread.plan.http2_head(self.wanted, self.user.class, &self.user.jar.borrow())
    }

    /// The response is complete and as it should be: its cookies are kept for the session.
    pub(crate) fn succeeded(&mut self) {
        self.error = None;
        if self.user.session.is_some() && !self.exchange.cookies().is_empty() {
            let mut jar = self.user.jar.borrow_mut();
            self.exchange.cookies().iter().for_each(|cookie| jar.set(cookie));
        }
    }

    /// The request failed.
    pub(crate) fn failed(&mut self, fault: Fault) {
        self.error = Some(self.exchange.error_of(fault));
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.count_syns();
        self.exchange.stop(self.thread.now());
        let stopwatch = self.exchange.stopwatch();
        self.thread.record(&Finished {
            intended: self.intended,
            started: stopwatch.started,
            dns: stopwatch.lookup,
            connect: stopwatch.connect,
            tls: stopwatch.tls,
            processing: stopwatch.processing,
            transfer: stopwatch.transfer,
            bytes: self.exchange.body_bytes(),
            status: self.exchange.status(),
            error: self.error,
            class: self.user.class,
            object: self.object,
            session: self.user.session,
            connection: self.connection,
            reused: self.exchange.is_reused(),
            syn_retransmits: self.syn_retransmits,
            server: self.exchange.server_time(),
        });
    }
}
