//! [`Workers`]: a fixed number of blocking threads, each tied to one connection at a time.
//!
//! That is how Apache's prefork serves, and why it saturates as it does: a worker is taken by a
//! client that thinks (up to the keep-alive time) as much as by one that is served, and all others
//! wait in the listen queue without the server knowing who they are.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use socket2::Socket;
use units::{Span, Time};

use crate::answer::{Answer, GENTLE_CLOSE, GENTLE_CLOSE_BYTES, Site, Then, Work};
use crate::burn::burn;
use crate::clock;
use crate::error::Error;
use crate::inbox::{Filled, Inbox};
use crate::intake::{CONTINUE, Intake, Taken};
use crate::options::Options;
use crate::response::{Responder, Sending, left_after};

/// No worker needs more: the buffers are on the heap.
const STACK_BYTES: usize = 256 * 1024;

/// How long a worker waits before it accepts again when the process is out of descriptors.
const OUT_OF_DESCRIPTORS_PAUSE: Duration = Duration::from_millis(10);

/// The threads. Dropping it closes their connections and waits for their end.
#[derive(Debug)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    listener: Socket,
    site: Arc<Site>,
    stopping: AtomicBool,
    /// The connection each worker is tied to, so that stopping can cut it.
    tied: Vec<Mutex<Option<Arc<Socket>>>>,
    options: Options,
}

impl Workers {
    pub(crate) fn start(listener: Socket, site: Arc<Site>, options: &Options) -> Result<Self, Error> {
        let count = options.workers.get();
        let shared = Arc::new(Shared {
            listener,
            site,
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
    tied: &'a Mutex<Option<Arc<Socket>>>,
    /// Whether what is sent must not wait for more to send, as TCP would have it.
    is_tcp: bool,
    inbox: Inbox,
    intake: Intake,
    output: Vec<u8>,
    responder: Responder,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared, number: usize) -> Self {
        Self {
            shared,
            tied: &shared.tied[number],
            is_tcp: shared.options.listen.tcp().is_some(),
            inbox: Inbox::new(),
            intake: Intake::default(),
            output: Vec::new(),
            responder: Responder::new(),
        }
    }

    fn run(&mut self) {
        clock::wake_precisely();
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
            // Asked again: the thread that stops us may have looked at our connection before it was there.
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
    fn serve(&mut self, stream: &Socket) -> io::Result<()> {
        let Options { keep_alive, patience, .. } = self.shared.options;
        if self.is_tcp {
            stream.set_tcp_nodelay(true)?;
        }
        stream.set_write_timeout(Some(at_least_one_microsecond(patience)))?;
        self.inbox = Inbox::new();
        self.intake = Intake::default();
        let mut idle_limit = patience;
        while let Some((answer, arrived)) = self.next_answer(stream, idle_limit)? {
            let waited = self.work(answer.work, arrived);
            self.output.clear();
            let sending = self.responder.write(answer, waited, SystemTime::now(), &mut self.output)?;
            match self.send(stream, sending)? {
                Then::KeepOpen => {}
                Then::Close => return Ok(()),
                Then::CloseGently => return close_gently(stream),
            }
            idle_limit = keep_alive;
        }
        Ok(())
    }

    /// Waits for a request; gives what to answer and when its last byte had come. `None` when the
    /// client has closed.
    fn next_answer(&mut self, mut stream: &Socket, idle_limit: Span) -> io::Result<Option<(Answer, Time)>> {
        if self.inbox.pending().is_empty() {
            stream.set_read_timeout(Some(at_least_one_microsecond(idle_limit)))?;
            if self.inbox.fill(&mut stream)? == Filled::End {
                return Ok(None);
            }
        }
        let mut arrived = clock::now();
        let mut deadline = arrived + self.shared.options.patience;
        loop {
            let (used, taken) = self.intake.take(&self.shared.site, self.inbox.pending());
            self.inbox.consume(used);
            match taken {
                Taken::Request(answer) => return Ok(Some((answer, arrived))),
                Taken::Continue => stream.write_all(CONTINUE)?,
                Taken::Partial => {}
            }
            let left = deadline.since(clock::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(at_least_one_microsecond(left)))?;
            if self.inbox.fill(&mut stream)? == Filled::End {
                return Ok(None);
            }
            arrived = clock::now();
            if self.intake.is_amid_body() {
                deadline = arrived + self.shared.options.patience;
            }
        }
    }

    /// Does what is to be done before a response; gives how long it was held back on purpose.
    fn work(&self, work: Work, arrived: Time) -> Option<Span> {
        match work {
            Work::None => None,
            Work::Burn(cost) => {
                burn(cost, &self.shared.stopping);
                None
            }
            Work::Wait(wait) => {
                clock::wait_until(arrived + wait, &self.shared.stopping);
                Some(clock::now().since(arrived))
            }
        }
    }

    fn send(&self, mut stream: &Socket, sending: Sending) -> io::Result<Then> {
        let start = clock::now();
        stream.write_all(&self.output)?;
        let mut body = sending.body;
        for piece in 0..sending.pace.pieces {
            if piece > 0 {
                clock::wait_until(start + sending.pace.between * piece, &self.shared.stopping);
            }
            let goal = left_after(sending.length, sending.pace, piece);
            while body.left() > goal {
                match body.send(stream, body.left() - goal) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    sent => sent?,
                }
            }
        }
        Ok(sending.then)
    }
}

/// See [`Then::CloseGently`].
fn close_gently(mut stream: &Socket) -> io::Result<()> {
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
