//! The reference web server: known behaviour, so that what is measured against it is about the
//! measuring, and known limits, so that it can be overloaded on purpose.
//!
//! [`Mode::Workers`] saturates like a process-based server: a fixed number of workers, each tied to
//! one connection until that ends, and a listen queue of a set length in front of them.
//! [`Mode::Static`] is an event loop per thread that serves content from memory faster than a load
//! generator can ask for it, to find out what the generator can do.
//!
//! | path | answer |
//! | --- | --- |
//! | `/` | a page that names the others |
//! | `/healthz` | `ok` |
//! | `/bytes/N` | N bytes, at most [`MAX_BODY`] |
//! | `/burn?cpu=25ms` | a small page, after that much CPU time of the worker; not in static mode |
//! | `/delay?before=50ms&bytes=10000&pieces=5&between=10ms` | 10000 bytes, the first part 50 ms after the request came, the others 10 ms apart; not in static mode |
//!
//! A file of [`Options::content`] goes before a path of that table. GET, HEAD and POST are answered
//! alike; the body of a request is read to its end and dropped, up to [`MAX_UPLOAD`].
//!
//! `/delay` is there to prove a load generator's phases right. Each part is sent at a point of time
//! that was fixed before, so that delays do not add up their errors; what cannot be right, because
//! the worker had to wait for a CPU, is told: `Server-Timing: before;dur=50.004` is how many
//! milliseconds it really was from the request's arrival to the response's first byte.
//!
//! ```
//! use std::io::{Read, Write};
//!
//! let server = origin::Server::start(&origin::Options {
//!     listen: "127.0.0.1:0".parse()?,
//!     ..origin::Options::new(origin::Mode::Workers)
//! })?;
//! let address = server.address().tcp().ok_or("a TCP address")?;
//! let mut client = std::net::TcpStream::connect(address)?;
//! client.write_all(b"GET /bytes/3 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK"));
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod answer;
mod body;
mod burn;
mod clock;
mod content;
mod delay;
mod error;
mod events;
mod filler;
mod inbox;
mod intake;
mod limits;
mod listener;
mod media_type;
mod options;
mod page;
mod request;
mod response;
mod server;
mod status;
mod upload;
mod workers;

pub use address::{Address, NoAddress};
pub use error::Error;
pub use limits::{MAX_BODY, MAX_BURN, MAX_CONTENT, MAX_DELAY, MAX_PIECES, MAX_UPLOAD};
pub use options::{Mode, Options};
pub use server::Server;
