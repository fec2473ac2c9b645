//! Answering a client in place of the server, which it gets no further than.

use std::cell::RefCell;
use std::rc::Rc;

use http::header::CONNECTION;
use http::{HeaderValue, Request, Response};
use tokio::net::TcpStream;

use super::attached::Attached;
use super::decide::Refusal;
use crate::clients::client::Client;
use crate::clients::incoming::Incoming;
use crate::dispatch::exchange::refused;
use crate::dispatch::proxy::Proxy;
use crate::dispatch::response_body::{Busy, Reply};
use crate::downstream::handler::Handler;
use crate::downstream::http1;
use crate::downstream::socket::Socket;
use crate::downstream::tls::Transport;
use crate::runtime::stream::Stream;

/// Answers the one request that was decided about.
struct Refuser {
    proxy: Rc<Proxy>,
    refusal: RefCell<Option<Refusal>>,
}

impl Handler for Refuser {
    type Body = Reply;

    async fn answer(self: Rc<Self>, client: Rc<Client>, _: Request<Incoming>) -> Response<Reply> {
        let config = self.proxy.config();
        let mut busy = Busy::begin(&client, &self.proxy.clock);
        let mut response = match self.refusal.take() {
            Some(Refusal { head, details, account, is_known }) => {
                busy.account = account;
                refused(&self.proxy, &config, busy, head.as_deref(), &details, (is_known, false))
            }
            None => config.refusals.refuse(busy, None, false, 0),
        };
        // What comes next on the connection would be the server's.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        let status = response.status();
        response.body_mut().account().status(status);
        response
    }
}

/// Reads the request that is there, refuses it, and ends the connection.
pub(super) async fn refuse(attached: &Attached, stream: TcpStream, client: Rc<Client>, refusal: Refusal) {
    let refuser = Refuser { proxy: Rc::clone(&attached.proxy), refusal: RefCell::new(Some(refusal)) };
    let transport = Transport::Plain(Socket::new(Stream::Tcp(stream)));
    http1::serve(Rc::clone(&attached.downstream), Rc::new(refuser), transport, client).await;
}
