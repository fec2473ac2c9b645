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
//! | `/bytes/N` | N bytes, at most [`LARGEST_BODY`] |
//! | `/burn?cpu=25ms` | a small page, after that much CPU time of the worker; not in static mode |
//!
//! ```
//! use std::io::{Read, Write};
//!
//! let server = origin::Server::start(&origin::Options {
//!     listen: "127.0.0.1:0".parse()?,
//!     ..origin::Options::new(origin::Mode::Workers)
//! })?;
//! let mut client = std::net::TcpStream::connect(server.address())?;
//! client.write_all(b"GET /bytes/3 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK"));
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod burn;
mod error;
mod events;
mod filler;
mod inbox;
mod options;
mod page;
mod reply;
mod request;
mod server;
mod workers;

pub use error::Error;
pub use options::{Mode, Options};
pub use page::{LARGEST_BODY, LONGEST_BURN};
pub use server::Server;
