//! [`Hostile`]: a server that does with each connection what the test tells it to.

use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};

/// A TCP server on a free loopback port. Each connection gets a thread of its own; when the value
/// is dropped, the connections still open are shut down and the port is closed.
#[derive(Debug)]
pub struct Hostile {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stopping: AtomicBool,
    open: Mutex<Vec<Weak<TcpStream>>>,
}

impl Hostile {
    /// Starts the server. `serve` gets each connection and its number, from 0; the connection
    /// closes when `serve` returns.
    pub fn start(serve: impl Fn(&TcpStream, usize) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on 127.0.0.1");
        let address = listener.local_addr().expect("a bound socket");
        let shared = Arc::new(Shared::default());
        let acceptor = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared, &Arc::new(serve))
        });
        Self { address, shared, acceptor: Some(acceptor) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn accept(
    listener: &TcpListener,
    shared: &Shared,
    serve: &Arc<impl Fn(&TcpStream, usize) + Send + Sync + 'static>,
) {
    let mut threads = Vec::new();
    for (number, stream) in listener.incoming().enumerate() {
        if shared.stopping.load(Ordering::Acquire) {
            break;
        }
        let Ok(stream) = stream.map(Arc::new) else { continue };
        shared.open.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&stream));
        let serve = Arc::clone(serve);
        threads.push(thread::spawn(move || serve(&stream, number)));
    }
    for stream in shared.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = stream.upgrade().map(|stream| stream.shutdown(Shutdown::Both));
    }
    for thread in threads {
        // A closure that panicked has printed why; the test judges by what the client saw.
        let _ = thread.join();
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        // A connection of our own wakes the acceptor from accept(2).
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}
