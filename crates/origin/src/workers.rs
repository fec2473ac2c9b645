//! [`Workers`]: a fixed number of blocking threads, each tied to one connection at a time.
//!
//! That is how Apache's prefork serves, and why it saturates as it does: a worker is taken by a
//! client that thinks (up to the keep-alive time) as much as by one that is served, and all others
//! wait in the listen queue without anyone knowing who they are.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use units::Span;

use crate::burn::burn;
use crate::error::Error;
use crate::inbox::{Filled, Inbox};
use crate::options::Options;
use crate::reply::{Reply, Responder, Then};

/// No worker needs more: the buffers are on the heap.
const STACK_BYTES: usize = 256 * 1024;

/// How long a worker waits before it accepts again when the process is out of descriptors.
const OUT_OF_DESCRIPTORS_PAUSE: Duration = Duration::from_millis(10);

/// How long and how far a client that was refused is read on.
const GENTLE_CLOSE: Duration = Duration::from_secs(1);
const GENTLE_CLOSE_BYTES: usize = 1 << 20;

/// The threads. Dropping it closes their connections and waits for their end.
#[derive(Debug)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    listener: TcpListener,
    stopping: AtomicBool,
    /// The connection each worker is tied to, so that stopping can cut it.
    tied: Vec<Mutex<Option<Arc<TcpStream>>>>,
    options: Options,
}

impl Workers {
    pub(crate) fn start(listener: TcpListener, options: &Options) -> Result<Self, Error> {
        let count = options.workers.get();
        let shared = Arc::new(Shared {
            listener,
            stopping: AtomicBool::new(false),
            tied: (0..count).map(|_| Mutex::new(None)).collect(),
            options: options.clone(),
        });
        let mut workers = Self { shared, threads: Vec::with_capacity(count) };
        for number in 0..count {
            let shared = Arc::clone(&workers.shared);
            let thread = thread::Builder::new()
                .name(format!("worker-{number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || Worker::new(&shared, number).run())
                .map_err(|source| Error::Worker { number, source })?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the workers from accept(2), which then fails: on Linux this ends the listening.
        let _ = rustix::net::shutdown(&self.shared.listener, rustix::net::Shutdown::Both);
        for tied in &self.shared.tied {
            if let Some(stream) = &*lock(tied) {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

struct Worker<'a> {
    shared: &'a Shared,
    tied: &'a Mutex<Option<Arc<TcpStream>>>,
    inbox: Inbox,
    output: Vec<u8>,
    responder: Responder,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared, number: usize) -> Self {
        Self {
            shared,
            tied: &shared.tied[number],
            inbox: Inbox::new(),
            output: Vec::new(),
            responder: Responder::new(shared.options.mode),
        }
    }

    fn run(&mut self) {
        loop {
            let accepted = self.shared.listener.accept();
            let stream = match accepted {
                _ if self.stopping() => return,
                Ok((stream, _)) => Arc::new(stream),
                Err(error) if out_of_descriptors(&error) => {
                    thread::sleep(OUT_OF_DESCRIPTORS_PAUSE);
                    continue;
                }
                // The client was gone before it was accepted.
                Err(_) => continue,
            };
            *lock(self.tied) = Some(Arc::clone(&stream));
            // Asked again: whoever stops us may have looked at our connection before it was there.
            if !self.stopping() {
                // An error is the client's end of the connection; the next client is not concerned.
                let _ = self.serve(&stream);
            }
            *lock(self.tied) = None;
        }
    }

    fn stopping(&self) -> bool {
        self.shared.stopping.load(Ordering::SeqCst)
    }

    /// Serves one connection to its end.
    fn serve(&mut self, stream: &TcpStream) -> io::Result<()> {
        let Options { keep_alive, patience, .. } = self.shared.options;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(at_least_one_microsecond(patience)))?;
        self.inbox = Inbox::new();
        let mut idle_limit = patience;
        while let Some(reply) = self.next_reply(stream, idle_limit)? {
            burn(reply.burn, &self.shared.stopping);
            self.send(stream, &reply)?;
            match reply.then {
                Then::KeepOpen => {}
                Then::Close => return Ok(()),
                Then::CloseGently => return close_gently(stream),
            }
            idle_limit = keep_alive;
        }
        Ok(())
    }

    /// Waits for a request and answers it into the output; `None` when the client has closed.
    fn next_reply(&mut self, mut stream: &TcpStream, idle_limit: Span) -> io::Result<Option<Reply>> {
        if self.inbox.pending().is_empty() {
            stream.set_read_timeout(Some(at_least_one_microsecond(idle_limit)))?;
            if self.inbox.fill(&mut stream)? == Filled::End {
                return Ok(None);
            }
        }
        let deadline = Instant::now() + self.shared.options.patience.into();
        loop {
            self.output.clear();
            let reply = self.responder.answer(self.inbox.pending(), SystemTime::now(), &mut self.output);
            if let Some(reply) = reply {
                self.inbox.consume(reply.consumed);
                return Ok(Some(reply));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(at_least_one_microsecond(left.into())))?;
            if self.inbox.fill(&mut stream)? == Filled::End {
                return Ok(None);
            }
        }
    }

    fn send(&self, mut stream: &TcpStream, reply: &Reply) -> io::Result<()> {
        stream.write_all(&self.output)?;
        let mut filler = reply.filler;
        while !filler.next().is_empty() {
            stream.write_all(filler.next())?;
            filler.advance(filler.next().len());
        }
        Ok(())
    }
}

/// See [`Then::CloseGently`].
fn close_gently(mut stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let deadline = Instant::now() + GENTLE_CLOSE;
    let mut scrap = [0; 4096];
    let mut read = 0;
    while read < GENTLE_CLOSE_BYTES {
        let left = deadline.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(at_least_one_microsecond(left.into())))?;
        match stream.read(&mut scrap)? {
            0 => break,
            count => read += count,
        }
    }
    Ok(())
}

/// A socket's time limit cannot be zero, and below a microsecond it is.
fn at_least_one_microsecond(span: Span) -> Duration {
    span.max(Span::from_micros(1)).into()
}

fn out_of_descriptors(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
