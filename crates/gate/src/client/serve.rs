//! One client connection from accept to close.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::net::TcpStream;

use super::io::ClientIo;
use super::{Client, Order};
use crate::exchange::exchange;
use crate::gate::Gate;

/// Larger heads are answered with 431.
const LARGEST_HEAD: usize = 32 * 1024;
const TIMEOUT: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Serves a connection until either side closes it.
pub(crate) async fn serve(gate: Rc<Gate>, socket: TcpStream, client: Rc<Client>) {
    // Fails only on a socket that is already dead, and then reading says so.
    let _ = socket.set_nodelay(true);
    let io = ClientIo::new(socket, Rc::clone(&client), Rc::clone(&gate.clock));
    let service = service_fn({
        let client = Rc::clone(&client);
        move |request| exchange(Rc::clone(&gate), Rc::clone(&client), request)
    });
    let mut connection = http1::Builder::new()
        .max_header_size(LARGEST_HEAD)
        .header_read_timeout(None)
        .serve_connection(io, service);
    let mut finishing = false;
    let timed_out = poll_fn(|cx| {
        match client.poll_order(cx) {
            Order::Serve => {}
            Order::Finish if finishing => {}
            Order::Finish => {
                finishing = true;
                if client.phase().is_idle() {
                    return Poll::Ready(false);
                }
                Pin::new(&mut connection).graceful_shutdown();
            }
            Order::Timeout => return Poll::Ready(true),
            Order::Close => return Poll::Ready(false),
        }
        // Errors are the client's doing (garbage, a reset) and were answered where possible.
        Pin::new(&mut connection).poll(cx).map(|_| false)
    })
    .await;
    if timed_out {
        connection.into_parts().io.last_words(TIMEOUT);
    }
}
