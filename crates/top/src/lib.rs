//! The gate's console on a terminal: what `GET /api/v1/state` and the events of its admin interface say, once as a
//! table or as JSON, or on a screen with keys that move knobs.
//!
//! All that comes from the other side is taken for a stranger's: bounded in time and size, and free of what a
//! terminal obeys before anything else sees it (`api::read`).
//!
//! | room | idea |
//! | --- | --- |
//! | `text` | texts of strangers made harmless |
//! | `place` | where a gate is: an address, a Unix socket, or either of them on a host that ssh leads to |
//! | `fault` | what can go wrong with it |
//! | `api` | what the gate says, as plain values |
//! | `http` | requests, and server-sent events, over whatever leads to the place |
//! | `link` | the conversation with a gate that comes and goes: news in one direction, orders in the other |
//! | `figures` | what is made of it: figures of the last seconds, by class |
//! | `show` | the screen: what it knows, keys, drawing |
//! | `run` | once, or until the end |

mod api;
mod fault;
mod figures;
mod http;
mod link;
mod place;
mod run;
#[cfg(test)]
mod samples;
mod show;
mod text;

pub use fault::Fault;
pub use http::client::{Client, Token, WrongToken};
pub use place::{Place, WrongPlace};
pub use run::{Ended, Look, live, look};
