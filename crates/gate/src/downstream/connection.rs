//! One client connection from accept to close.

use policy::connections::{Order, Phase};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;

use crate::clients::client::Client;
use crate::downstream::context::Downstream;
use crate::downstream::door::{Door, Opened};
use crate::downstream::handler::Handler;
use crate::downstream::socket::Socket;
use crate::downstream::{http1, http2};

/// Serves a connection until either side closes it.
pub(crate) async fn serve<H: Handler>(
    downstream: Rc<Downstream>,
    handler: Rc<H>,
    door: Rc<Door>,
    socket: Socket,
    client: Rc<Client>,
) {
    if door.has_tls() {
        client.enter(Phase::Handshake, downstream.clock.last());
    }
    let opened = {
        let opening = pin!(door.open(socket, client.address));
        unless_told(&client, opening).await
    };
    let Some(Opened { transport, peer, http2 }) = opened else { return };
    client.meet(peer);
    client.enter(Phase::New, downstream.clock.last());
    if http2 {
        // Its state is several times that of HTTP/1 and would be part of every connection's.
        Box::pin(http2::serve(downstream, handler, transport, client)).await;
    } else {
        http1::serve(downstream, handler, transport, client).await;
    }
}

/// Goes on until the connection is to be closed: before a request, for whatever reason.
async fn unless_told<T>(client: &Client, mut going: Pin<&mut impl Future<Output = Option<T>>>) -> Option<T> {
    poll_fn(|cx| match client.poll_order(cx) {
        Order::Serve => going.as_mut().poll(cx),
        Order::Finish | Order::Timeout | Order::Close => Poll::Ready(None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::proxy::Proxy;

    fn size<A, B, C, D, E, F>(_: impl Fn(A, B, C, D, E) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_connection_at_rest_takes_little() {
        let (task, client) = (size(serve::<Proxy>), size_of::<Client>());
        assert!(task < 1000 && client < 400, "{task} and {client} bytes");
    }
}
