//! Servers on free ports, in both modes.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use origin::{Mode, Options, Server};
use testkit::Raw;
use units::Span;

pub(crate) const MODES: [Mode; 2] = [Mode::Workers, Mode::Static];

/// Longer than a test waits for anything.
pub(crate) const FOREVER: Span = Span::from_secs(1_000);

pub(crate) fn options(mode: Mode, workers: usize) -> Options {
    Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        workers: NonZeroUsize::new(workers).unwrap(),
        ..Options::new(mode)
    }
}

pub(crate) fn start(mode: Mode, workers: usize) -> Server {
    Server::start(&options(mode, workers)).unwrap()
}

pub(crate) fn tcp(server: &Server) -> SocketAddr {
    server.address().tcp().unwrap()
}

pub(crate) fn connect(server: &Server) -> Raw {
    Raw::connect(tcp(server))
}

pub(crate) fn serves(address: SocketAddr) -> bool {
    Raw::connect(address).get("/healthz").response().text() == "ok\n"
}
