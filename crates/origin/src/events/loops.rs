//! [`Loops`]: an event loop per thread, and the connections dealt out to them.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};

use mio::unix::SourceFd;
use mio::{Interest, Poll, Waker};
use socket2::Socket;

use crate::answer::Site;
use crate::error::Error;
use crate::events::event_loop::{Acceptor, EventLoop, LISTENER, Peer, WAKER};
use crate::options::Options;

/// The threads. Dropping it closes their connections and waits for their end.
#[derive(Debug)]
pub(crate) struct Loops {
    stopping: Arc<AtomicBool>,
    wakers: Vec<Arc<Waker>>,
    threads: Vec<JoinHandle<()>>,
}

impl Loops {
    pub(crate) fn start(listener: Socket, site: &Arc<Site>, options: &Options) -> Result<Self, Error> {
        let count = options.workers.get();
        let mut loops =
            Self { stopping: Arc::new(AtomicBool::new(false)), wakers: Vec::new(), threads: Vec::new() };
        let mut peers = Vec::with_capacity(count);
        let mut event_loops = Vec::with_capacity(count);
        for number in 0..count {
            let failed = |source| Error::Worker { number, source };
            let poll = Poll::new().map_err(failed)?;
            let waker = Arc::new(Waker::new(poll.registry(), WAKER).map_err(failed)?);
            let (sender, arrivals) = channel();
            peers.push(Peer { sender, waker: Arc::clone(&waker) });
            loops.wakers.push(waker);
            let (stopping, site) = (Arc::clone(&loops.stopping), Arc::clone(site));
            event_loops.push(EventLoop::new(poll, arrivals, stopping, site, options));
        }
        if let Some(first) = event_loops.first_mut() {
            let failed = |source| Error::Worker { number: 0, source };
            first.accept_for(acceptor(listener, peers, first).map_err(failed)?);
        }
        for (number, event_loop) in event_loops.into_iter().enumerate() {
            let thread = thread::Builder::new()
                .name(format!("loop-{number}"))
                .spawn(move || event_loop.run())
                .map_err(|source| Error::Worker { number, source })?;
            loops.threads.push(thread);
        }
        Ok(loops)
    }
}

fn acceptor(listener: Socket, peers: Vec<Peer>, first: &EventLoop) -> io::Result<Acceptor> {
    listener.set_nonblocking(true)?;
    first.registry().register(&mut SourceFd(&listener.as_raw_fd()), LISTENER, Interest::READABLE)?;
    Ok(Acceptor::new(listener, peers))
}

impl Drop for Loops {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        for waker in &self.wakers {
            // Without its wake a loop still looks once a second.
            let _ = waker.wake();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
