//! [`draft()`]: what a browser was recorded to ask for, as an HTTP Archive 1.2.
//!
//! `file.rs` is the file, `exchange.rs` what of it is needed, `server.rs` picks those of one server, `redirects.rs` puts
//! redirects and what follows them together, `request.rs` says what of a request is sent again, `values.rs` what of a
//! response may be sent later, `pages.rs` makes pages of them.

mod draft;
mod exchange;
mod file;
mod pages;
mod redirects;
mod request;
mod server;
mod values;

pub(super) use self::draft::draft;
