//! [`Attempt`]: a request under way, from opening its connection to its row in the record.

use std::borrow::Cow;
use std::io;
use std::net::IpAddr;

use bytes::Bytes;
use record::RequestError;
use tokio_rustls::client::TlsStream;
use units::{Span, Time};

use crate::client::address::Address;
use crate::client::connect::{self, Established};
use crate::client::context::ThreadContext;
use crate::client::exchange::{Exchange, Expected};
use crate::client::fault::{self, Fault, Reason};
use crate::client::plan::Persistence;
use crate::client::redirect::Redirect;
use crate::client::script::Prepared;
use crate::client::tls::Tls;
use crate::client::user::User;
use crate::client::wanted::Wanted;
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
    /// A redirect has led to it.
    is_hop: bool,
    /// What is sent, where that is not the same each time.
    prepared: Option<Box<Prepared>>,
    pub(crate) exchange: Exchange<'a>,
    /// Number of its connection.
    pub(crate) connection: u64,
    /// While the TCP handshake lasts.
    opening: Option<(Socket, Address)>,
    syn_retransmits: u32,
    pub(crate) error: Option<RequestError>,
    /// What exactly went wrong.
    pub(crate) detail: Option<Reason>,
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
            has_body: thread.plan.body(wanted, None).is_some(),
            keeps_body: wanted.script.as_ref().is_some_and(|script| script.keeps_body()),
            is_idempotent: wanted.is_idempotent(),
            follows: thread.plan.redirects > 0,
            content: wanted.content.as_ref(),
            checks: wanted
                .script
                .as_ref()
                .and_then(|script| script.checks.as_ref())
                .unwrap_or(&thread.checks),
        };
        Self {
            thread,
            wanted,
            user,
            object,
            intended,
            is_hop: false,
            prepared: None,
            exchange: Exchange::new(expected, thread.now()),
            connection: 0,
            opening: None,
            syn_retransmits: 0,
            error: Some(RequestError::Censored),
            detail: None,
        }
    }

    /// The request that follows upon a redirect: `prepared` is sent, by the same user, at once.
    pub(crate) fn redirected(
        thread: &'a ThreadContext,
        user: &'a User,
        (wanted, object): (&'a Wanted, u32),
        prepared: Prepared,
    ) -> Self {
        let mut attempt = Self::new(thread, user, wanted, object, thread.now());
        attempt.exchange.set_redirected(prepared.body.is_some(), &prepared.method);
        attempt.is_hop = true;
        attempt.prepared = Some(Box::new(prepared));
        attempt
    }

    /// What is asked for next, where the response says so.
    ///
    /// # Errors
    /// When that is on another server, or nowhere.
    pub(crate) fn redirect(&self) -> Option<Result<Prepared, Fault>> {
        let status = self.exchange.status().filter(|_| self.exchange.redirects())?;
        let location = self.exchange.location()?;
        let (plan, prepared) = (&*self.thread.plan, self.prepared.as_deref());
        let method = prepared.map_or(self.wanted.method(), |prepared| &prepared.method);
        let url = prepared.map_or(&*self.wanted.url, |prepared| &prepared.url);
        let next =
            Redirect::of(status, location, (method, url), &plan.site, plan.authority(self.wanted, self.user));
        let body = plan.body(self.wanted, prepared);
        Some(next.map(|next| next.prepare(body, self.wanted, prepared)))
    }

    /// Finds out what is to be sent, where that is not the same each time.
    ///
    /// # Errors
    /// When the session does not know what it would have to.
    pub(crate) fn prepare(&mut self) -> Result<(), Fault> {
        let Some(script) = &self.wanted.script else { return Ok(()) };
        let plan = &self.thread.plan;
        let mut values = self.user.values.borrow_mut();
        let values = values.as_mut().ok_or_else(|| Fault::Unfit("no row of the data is left".into()))?;
        let prepared = script.prepare(self.wanted.method(), values, &plan.site);
        let prepared = prepared.map_err(|why| Fault::Unfit(why.to_string().into()))?;
        self.exchange.set_has_body(prepared.body.is_some());
        self.prepared = Some(Box::new(prepared));
        Ok(())
    }

    /// What is sent after the head.
    pub(crate) fn body(&self) -> Option<&Bytes> {
        self.thread.plan.body(self.wanted, self.prepared.as_deref())
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
            Fault::NoConnection(fault::of_io(&error))
        })
    }

    async fn establish(&mut self) -> Result<Socket, Fault> {
        let thread = self.thread;
        self.connection = thread.number_connection();
        let source = thread.plan.classes.get(self.user.class).and_then(|class| class.source);
        let addresses = match &thread.lookup {
            None => Cow::Borrowed(std::slice::from_ref(&thread.address)),
            Some(lookup) => {
                self.exchange.enter(Phase::Lookup, thread.now());
                let found = Box::pin(lookup.addresses(&thread.reactor)).await;
                let addresses = found.map_err(|error| {
                    thread.recorder.borrow_mut().refused(&error);
                    Fault::NoConnection(fault::of_io(&error))
                })?;
                self.exchange.enter(Phase::Connect, thread.now());
                Cow::Owned(addresses)
            }
        };
        let mut failed = Fault::NoConnection(Reason::default());
        // RFC 8305, section 5, but one after the other: who is tried at once takes a place in the server.
        for address in &*addresses {
            match self.connect_to(address, source).await {
                Ok(socket) => return Ok(socket),
                Err(error) => {
                    thread.recorder.borrow_mut().refused(&error);
                    failed = Fault::NoConnection(fault::of_io(&error));
                }
            }
        }
        Err(failed)
    }

    async fn connect_to(&mut self, address: &Address, source: Option<IpAddr>) -> io::Result<Socket> {
        let thread = self.thread;
        match connect::begin(&thread.reactor, address, source, thread.responses())? {
            (socket, Established::Now) => {
                thread.reactor.refresh();
                Ok(socket)
            }
            (socket, Established::Later) => {
                let opening = self.opening.insert((socket, address.clone()));
                opening.0.established().await?;
                self.count_syns();
                self.opening
                    .take()
                    .map(|(socket, _)| socket)
                    .ok_or_else(|| io::ErrorKind::NotConnected.into())
            }
        }
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
        let prepared = self.prepared.as_deref();
        self.thread.plan.http1_head(self.wanted, prepared, self.user, persistence, self.thread.now())
    }

    /// The head of the request for HTTP/2; `None` where HTTP/2 cannot say it.
    pub(crate) fn http2_head(&self) -> Option<http::Request<()>> {
        let prepared = self.prepared.as_deref();
        self.thread.plan.http2_head(self.wanted, prepared, self.user, self.thread.now())
    }

    /// The response is complete and as it should be: its cookies are kept for the session, and what else it remembers.
    pub(crate) fn succeeded(&mut self) {
        self.error = None;
        if self.user.session.is_none() {
            return;
        }
        if !self.exchange.cookies().is_empty() {
            let url = self.prepared.as_ref().map_or(&*self.wanted.url, |prepared| &prepared.url);
            self.thread.plan.keep_cookies(url, self.user, self.exchange.cookies(), self.thread.now());
        }
        if let Some(script) = self.wanted.script.as_ref().filter(|_| !self.exchange.redirects())
            && let Some(values) = &mut *self.user.values.borrow_mut()
        {
            for take in script.takes() {
                let found = take.place.find(self.exchange.kept_body(), self.exchange.fields());
                if found.is_none() {
                    self.error = Some(RequestError::Body);
                    self.detail = Some(format!("nothing at {} to take as {}", take.place, take.name).into());
                }
                values.keep(take, found);
            }
        }
    }

    /// The request failed.
    pub(crate) fn failed(&mut self, fault: Fault) {
        let (error, why) = self.exchange.error_of(fault);
        (self.error, self.detail) = (Some(error), Some(why));
    }

    /// The time that a request may take is over.
    pub(crate) fn timed_out(&mut self) {
        (self.error, self.detail) = (Some(RequestError::Timeout), Some(self.exchange.timed_out()));
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
            sending: stopwatch.sending,
            processing: stopwatch.processing,
            transfer: stopwatch.transfer,
            first_interim: stopwatch.first_interim,
            bytes: self.exchange.body_bytes(),
            status: self.exchange.status(),
            error: self.error,
            detail: self.detail.take(),
            class: self.user.class,
            object: self.object,
            session: self.user.session,
            connection: self.connection,
            reused: self.exchange.is_reused(),
            is_hop: self.is_hop,
            method: self.prepared.as_ref().filter(|_| self.is_hop).map(|prepared| prepared.method.clone()),
            syn_retransmits: self.syn_retransmits,
            server: self.exchange.server_time(),
        });
    }
}
