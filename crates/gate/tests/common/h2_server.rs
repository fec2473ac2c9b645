//! A server that speaks HTTP/2 from the first byte on, and does with each request what the test
//! tells it to.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Connection, SendResponse};
use http::{HeaderMap, Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// A running server; its connections are cut when it is dropped.
pub(crate) struct H2Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// One request.
pub(crate) struct Asked {
    pub(crate) request: Request<RecvStream>,
    pub(crate) respond: SendResponse<Bytes>,
    /// Of its connection, from 0.
    pub(crate) connection: usize,
    /// On it, from 0.
    pub(crate) number: usize,
}

/// What becomes of the connection after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    GoOn,
    /// GOAWAY; requests in hand are seen to their end.
    Leave,
    /// No further word.
    Cut,
    /// Nothing more is read of it, nor anything sent, and it stays open.
    Still,
}

/// Reads the body and gives it with its trailers.
pub(crate) async fn body_of(asked: &mut Asked) -> (Vec<u8>, Option<HeaderMap>) {
    let body = asked.request.body_mut();
    let mut bytes = Vec::new();
    while let Some(Ok(piece)) = body.data().await {
        let _ = body.flow_control().release_capacity(piece.len());
        bytes.extend_from_slice(&piece);
    }
    (bytes, body.trailers().await.ok().flatten())
}

/// Answers with that text.
pub(crate) fn answer(mut asked: Asked, text: String) {
    let response = Response::builder().header("content-length", text.len()).body(()).unwrap();
    let mut stream = asked.respond.send_response(response, false).unwrap();
    stream.send_data(Bytes::from(text), true).unwrap();
}

impl H2Server {
    /// `streams` is how many requests a connection takes at once. `serve` is asked about each
    /// request and may give a task that answers it.
    pub(crate) fn start<F>(streams: u32, serve: impl Fn(Asked) -> (F, After) + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn({
            let (connections, serve) = (Arc::clone(&connections), Arc::new(serve));
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let listener = TcpListener::from_std(listener).unwrap();
                    let accepting = async {
                        loop {
                            let (socket, _) = listener.accept().await.unwrap();
                            let number = connections.fetch_add(1, Ordering::SeqCst);
                            tokio::spawn(connection(socket, number, streams, Arc::clone(&serve)));
                        }
                    };
                    tokio::select! { () = accepting => {}, _ = stopped => {} }
                });
            }
        });
        Self { address, connections, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections accepted since the start.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn connection<F>(
    socket: TcpStream,
    number: usize,
    streams: u32,
    serve: Arc<impl Fn(Asked) -> (F, After)>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    socket.set_nodelay(true).unwrap();
    let mut builder = h2::server::Builder::new();
    builder.max_concurrent_streams(streams);
    let Ok(mut connection) = builder.handshake(socket).await else { return };
    let mut requests = 0;
    while let Some(Ok(accepted)) = accept(&mut connection).await {
        let (request, respond) = accepted;
        let (answering, after) = serve(Asked { request, respond, connection: number, number: requests });
        requests += 1;
        tokio::spawn(answering);
        match after {
            After::GoOn => {}
            After::Leave => connection.graceful_shutdown(),
            After::Cut => return,
            After::Still => std::future::pending().await,
        }
    }
}

type Accepted = Option<Result<(Request<RecvStream>, SendResponse<Bytes>), h2::Error>>;

async fn accept(connection: &mut Connection<TcpStream, Bytes>) -> Accepted {
    connection.accept().await
}

impl Drop for H2Server {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        self.thread.take().map(JoinHandle::join);
    }
}
