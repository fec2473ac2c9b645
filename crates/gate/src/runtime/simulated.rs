//! A network without a kernel: connections between tasks of one thread, on the runtime's time.
//!
//! For the simulation of the whole gate, which is why it stands here: what the gate reads and writes
//! is a [`Stream`](super::stream::Stream), and one of its kinds is [`SimulatedStream`]. With the clock paused
//! (`tokio::time::pause`) and all draws from one seed, a run is repeated exactly.
//!
//! Bytes take time to arrive, arrive in pieces, and are bounded by a window, as TCP's are; a connection
//! that is dropped with bytes unread is reset, else ended. What else can happen to a connection is drawn when
//! it is made: see [`Faults`].

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// Bytes under way and unread in one direction: what Linux gives a new connection.
const MAX_WINDOW: usize = 64 * 1024;
/// A SYN that found no room is sent again after this time, and after twice as long each time (RFC 6298).
const SYN_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_SYNS: u32 = 7;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Network>>> = const { RefCell::new(None) };
}

/// What tasks of the one thread share. hyper wants connections that could change threads, so a lock is
/// around it, which is always free.
#[derive(Debug, Default)]
struct Slot<T>(Mutex<T>);

impl<T> Slot<T> {
    fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, value: T) {
        *self.lock() = value;
    }

    fn replace(&self, value: T) -> T {
        std::mem::replace(&mut self.lock(), value)
    }
}

impl<T: Copy> Slot<T> {
    fn get(&self) -> T {
        *self.lock()
    }
}

/// What goes wrong, and how often: shares of connections.
#[derive(Debug, Clone)]
pub struct Faults {
    /// Time that a piece is under way.
    pub delay: Range<Duration>,
    /// Connections that carry small pieces.
    pub pieces: f64,
    /// Connections that are reset after some bytes.
    pub resets: f64,
    /// Connections that go silent after some bytes: nothing arrives any more, and no side is told.
    pub silences: f64,
    /// SYNs that are lost.
    pub lost: f64,
}

/// Listeners and connections, with the numbers that are drawn for them.
#[derive(Debug)]
pub struct Network {
    faults: Faults,
    random: Slot<fastrand::Rng>,
    listeners: Slot<BTreeMap<SocketAddr, Arc<Backlog>>>,
    next_port: Slot<u16>,
    made: Slot<Made>,
}

/// What has been made to happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Made {
    /// Connections that were opened.
    pub connections: u64,
    /// Those that carried small pieces.
    pub pieces: u64,
    /// Those that were reset by the network.
    pub resets: u64,
    /// Those that went silent.
    pub silences: u64,
    /// SYNs that were lost or found no room.
    pub lost: u64,
}

/// Connections that wait to be accepted.
#[derive(Debug)]
struct Backlog {
    waiting: Slot<VecDeque<(SimulatedStream, SocketAddr)>>,
    room: usize,
    acceptor: Slot<Option<Waker>>,
    open: Slot<bool>,
}

/// Accepts connections to an address; closed when it is dropped.
#[derive(Debug)]
pub struct SimulatedListener {
    address: SocketAddr,
    network: Arc<Network>,
    backlog: Arc<Backlog>,
}

/// One end of a connection.
#[derive(Debug)]
pub struct SimulatedStream {
    reads: Arc<Pipe>,
    writes: Arc<Pipe>,
    alarm: Slot<Option<Pin<Box<Sleep>>>>,
    network: Arc<Network>,
}

/// One direction of a connection.
#[derive(Debug)]
struct Pipe {
    pieces: Slot<VecDeque<Piece>>,
    /// Bytes in `pieces`.
    under_way: Slot<usize>,
    /// When the last piece arrives: none overtakes another.
    last: Slot<Instant>,
    end: Slot<Option<End>>,
    small: bool,
    /// Bytes until the fault of this connection, and what it is.
    fault: Slot<Option<(usize, Fault)>>,
    silent: Slot<bool>,
    /// The reading end was dropped.
    unread: Slot<bool>,
    reader: Slot<Option<Waker>>,
    writer: Slot<Option<Waker>>,
}

#[derive(Debug)]
struct Piece {
    arrives: Instant,
    bytes: Vec<u8>,
    taken: usize,
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    Reset,
    Silence,
}

#[derive(Debug, Clone, Copy)]
enum End {
    /// No more bytes after those under way.
    Finished(Instant),
    /// What is under way is lost.
    Reset(Instant),
}

impl Network {
    /// Where the gate's connections to servers come from.
    pub(crate) const GATE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 0);

    /// A network that draws from `seed`.
    pub fn new(seed: u64, faults: Faults) -> Arc<Self> {
        Arc::new(Self {
            faults,
            random: Slot::new(fastrand::Rng::with_seed(seed)),
            listeners: Slot::default(),
            next_port: Slot::new(32_768),
            made: Slot::default(),
        })
    }

    /// Connections that tasks of this thread open by address go through this network from now on.
    pub fn enter(self: &Arc<Self>) {
        CURRENT.set(Some(Arc::clone(self)));
    }

    /// The thread has no network any more.
    pub fn leave() {
        CURRENT.set(None);
    }

    /// The network of this thread.
    pub(crate) fn current() -> Option<Arc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// What has been made to happen so far.
    pub fn made(&self) -> Made {
        self.made.get()
    }

    /// Listens at `address`, which is free, with room for `backlog` connections.
    pub fn listen(self: &Arc<Self>, address: SocketAddr, backlog: usize) -> SimulatedListener {
        let backlog = Arc::new(Backlog {
            waiting: Slot::default(),
            room: backlog.max(1),
            acceptor: Slot::default(),
            open: Slot::new(true),
        });
        self.listeners.lock().insert(address, Arc::clone(&backlog));
        SimulatedListener { address, network: Arc::clone(self), backlog }
    }

    /// Opens a connection from `from`, whose port is chosen, to `to`.
    ///
    /// # Errors
    /// `ConnectionRefused` where no one listens; `TimedOut` after the kernel's number of SYNs.
    pub async fn connect(
        self: &Arc<Self>,
        mut from: SocketAddr,
        to: SocketAddr,
    ) -> io::Result<SimulatedStream> {
        from.set_port(self.next_port.replace(self.next_port.get().checked_add(1).unwrap_or(32_768)));
        let mut pause = SYN_TIMEOUT;
        for _ in 0..MAX_SYNS {
            let delay = self.draw_delay();
            sleep(delay).await;
            let backlog = self.listeners.lock().get(&to).cloned();
            let Some(backlog) = backlog else {
                sleep(delay).await;
                return Err(io::ErrorKind::ConnectionRefused.into());
            };
            let full = backlog.waiting.lock().len() >= backlog.room;
            if !full && !self.happens(self.faults.lost) {
                let (client, server) = self.pair();
                backlog.waiting.lock().push_back((server, from));
                wake(&backlog.acceptor);
                sleep(delay).await;
                return Ok(client);
            }
            self.count(|made| made.lost += 1);
            sleep(pause).await;
            pause *= 2;
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    fn pair(self: &Arc<Self>) -> (SimulatedStream, SimulatedStream) {
        let small = self.happens(self.faults.pieces);
        let (there, back) = (Arc::new(Pipe::new(small)), Arc::new(Pipe::new(small)));
        self.count(|made| {
            made.connections += 1;
            made.pieces += u64::from(small);
        });
        let fault = match () {
            () if self.happens(self.faults.resets) => Some(Fault::Reset),
            () if self.happens(self.faults.silences) => Some(Fault::Silence),
            () => None,
        };
        if let Some(fault) = fault {
            let pipe = if self.happens(0.5) { &there } else { &back };
            pipe.fault.set(Some((self.random.lock().usize(0..20_000), fault)));
        }
        let end = |reads: &Arc<Pipe>, writes: &Arc<Pipe>| SimulatedStream {
            reads: Arc::clone(reads),
            writes: Arc::clone(writes),
            alarm: Slot::new(None),
            network: Arc::clone(self),
        };
        (end(&back, &there), end(&there, &back))
    }

    fn draw_delay(&self) -> Duration {
        let Range { start, end } = self.faults.delay;
        start + (end.saturating_sub(start)).mul_f64(self.random.lock().f64())
    }

    fn happens(&self, share: f64) -> bool {
        share > 0.0 && self.random.lock().f64() < share
    }

    fn count(&self, count: impl FnOnce(&mut Made)) {
        let mut made = self.made.get();
        count(&mut made);
        self.made.set(made);
    }
}

impl SimulatedListener {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection, and where it comes from.
    ///
    /// # Errors
    /// None: what accept(2) says of a process without descriptors has no like here.
    pub async fn accept(&self) -> io::Result<(SimulatedStream, SocketAddr)> {
        std::future::poll_fn(|cx| match self.backlog.waiting.lock().pop_front() {
            Some(accepted) => Poll::Ready(Ok(accepted)),
            None => {
                self.backlog.acceptor.replace(Some(cx.waker().clone()));
                Poll::Pending
            }
        })
        .await
    }
}

impl Drop for SimulatedListener {
    fn drop(&mut self) {
        self.backlog.open.set(false);
        self.network.listeners.lock().remove(&self.address);
        self.backlog.waiting.lock().clear();
    }
}

impl Pipe {
    fn new(small: bool) -> Self {
        Self {
            pieces: Slot::default(),
            under_way: Slot::new(0),
            last: Slot::new(Instant::now()),
            end: Slot::new(None),
            small,
            fault: Slot::new(None),
            silent: Slot::new(false),
            unread: Slot::new(false),
            reader: Slot::default(),
            writer: Slot::default(),
        }
    }

    /// The first end counts; a reset comes after anything.
    fn finish(&self, end: End) {
        match (self.end.get(), end) {
            (None, _) | (Some(End::Finished(_)), End::Reset(_)) if !self.silent.get() => {
                self.end.set(Some(end))
            }
            _ => {}
        }
        wake(&self.reader);
        wake(&self.writer);
    }

    fn is_reset(&self, now: Instant) -> bool {
        matches!(self.end.get(), Some(End::Reset(at)) if at <= now)
    }
}

/// What a reader finds.
enum Found {
    Bytes,
    End,
    Reset,
    /// Nothing yet; something arrives at this time, if that is known.
    Later(Option<Instant>),
}

impl SimulatedStream {
    fn find(&self) -> Found {
        let now = Instant::now();
        if self.reads.is_reset(now) {
            return Found::Reset;
        }
        let reset = match self.reads.end.get() {
            Some(End::Reset(at)) => Some(at),
            _ => None,
        };
        let earlier = |at: Instant| reset.map_or(at, |reset| reset.min(at));
        if let Some(piece) = self.reads.pieces.lock().front() {
            return if piece.arrives <= now {
                Found::Bytes
            } else {
                Found::Later(Some(earlier(piece.arrives)))
            };
        }
        match self.reads.end.get() {
            Some(End::Finished(at)) if at <= now => Found::End,
            Some(End::Finished(at) | End::Reset(at)) => Found::Later(Some(at)),
            None => Found::Later(None),
        }
    }

    /// Until a read gives something: bytes, the end or an error.
    ///
    /// # Errors
    /// None; the next read says what is wrong.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let Found::Later(at) = self.find() else { return Poll::Ready(Ok(())) };
            self.reads.reader.replace(Some(cx.waker().clone()));
            let Some(at) = at else { return Poll::Pending };
            let mut alarm = self.alarm.lock();
            let alarm = alarm.get_or_insert_with(|| Box::pin(sleep_until(at)));
            if alarm.deadline() != at {
                alarm.as_mut().reset(at);
            }
            match alarm.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) => {}
            }
        }
    }

    /// Until a read gives something.
    ///
    /// # Errors
    /// None; the next read says what is wrong.
    pub async fn readable(&self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.poll_read_ready(cx)).await
    }

    /// Reads what has arrived.
    ///
    /// # Errors
    /// `WouldBlock` when nothing has, `ConnectionReset` after a reset.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.find() {
            Found::Reset => Err(io::ErrorKind::ConnectionReset.into()),
            Found::End => Ok(0),
            Found::Later(_) => Err(io::ErrorKind::WouldBlock.into()),
            Found::Bytes => {
                let mut pieces = self.reads.pieces.lock();
                let Some(piece) = pieces.front_mut() else { return Ok(0) };
                let rest = &piece.bytes[piece.taken..];
                let length = rest.len().min(buffer.len());
                buffer[..length].copy_from_slice(&rest[..length]);
                piece.taken += length;
                if piece.taken == piece.bytes.len() {
                    pieces.pop_front();
                }
                self.reads.under_way.set(self.reads.under_way.get() - length);
                wake(&self.reads.writer);
                Ok(length)
            }
        }
    }

    fn write(&self, cx: &Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let now = Instant::now();
        let pipe = &self.writes;
        if self.reads.is_reset(now) || pipe.is_reset(now) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if pipe.end.get().is_some() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = MAX_WINDOW.saturating_sub(pipe.under_way.get());
        if room == 0 && !pipe.silent.get() {
            pipe.writer.replace(Some(cx.waker().clone()));
            return Poll::Pending;
        }
        let mut length = bytes.len().min(room.max(1));
        if pipe.small {
            length = self.network.random.lock().usize(1..=length.clamp(1, 900)).min(length);
        }
        if length == 0 {
            return Poll::Ready(Ok(0));
        }
        if pipe.unread.get() {
            // The peer has closed its socket and answers with a reset.
            self.reads.finish(End::Reset(now + self.network.draw_delay()));
        }
        let arrives = (now + self.network.draw_delay()).max(pipe.last.get());
        pipe.last.set(arrives);
        self.meet_fault(length, arrives);
        if !pipe.silent.get() {
            pipe.pieces.lock().push_back(Piece { arrives, bytes: bytes[..length].to_vec(), taken: 0 });
            pipe.under_way.set(pipe.under_way.get() + length);
            wake(&pipe.reader);
        }
        Poll::Ready(Ok(length))
    }

    /// After so many bytes the connection meets what was drawn for it.
    fn meet_fault(&self, length: usize, arrives: Instant) {
        let Some((left, fault)) = self.writes.fault.get() else { return };
        if left > length {
            self.writes.fault.set(Some((left - length, fault)));
            return;
        }
        self.writes.fault.set(None);
        match fault {
            Fault::Reset => {
                self.network.count(|made| made.resets += 1);
                self.writes.finish(End::Reset(arrives));
                self.reads.finish(End::Reset(arrives));
            }
            Fault::Silence => {
                self.network.count(|made| made.silences += 1);
                self.writes.silent.set(true);
                self.reads.silent.set(true);
            }
        }
    }

    fn shut_down(&self) {
        let arrives = (Instant::now() + self.network.draw_delay()).max(self.writes.last.get());
        self.writes.finish(End::Finished(arrives));
    }
}

impl Drop for SimulatedStream {
    fn drop(&mut self) {
        self.reads.unread.set(true);
        if self.reads.under_way.get() > 0 {
            let arrives = Instant::now() + self.network.draw_delay();
            self.writes.finish(End::Reset(arrives));
        } else {
            self.shut_down();
        }
    }
}

impl AsyncRead for SimulatedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            match self.try_read(buffer.initialize_unfilled()) {
                Ok(length) => {
                    buffer.advance(length);
                    return Poll::Ready(Ok(()));
                }
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                    let Poll::Ready(ready) = self.poll_read_ready(cx) else { return Poll::Pending };
                    ready?;
                }
                Err(why) => return Poll::Ready(Err(why)),
            }
        }
    }
}

impl AsyncWrite for SimulatedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shut_down();
        Poll::Ready(Ok(()))
    }
}

fn wake(waker: &Slot<Option<Waker>>) {
    if let Some(waker) = waker.lock().take() {
        waker.wake();
    }
}
