//! Every metric that Headworks records or tells scrapers and collectors: its names, unit, kind, viewpoint, labels
//! and help, declared once.
//!
//! What writes or reads a metric takes a [`Metric`], which only this crate can make: a name that is not declared
//! here does not compile. `docs/metrics.md` is [`page`], written by
//! `cargo run --package catalogue --example page > docs/metrics.md`.
//!
//! | module | metrics of |
//! | --- | --- |
//! | [`load`] | the load generator |
//! | [`gate`] | the gate |
//! | [`watch`] | the monitor, a module for each of its groups |
//! | [`sim`] | the simulator |
//! | [`page`] | the page of the manual that lists them |

mod declare;
mod entry;
mod kind;
mod metric;
mod unit;
mod viewpoint;

pub mod gate;
pub mod load;
pub mod page;
pub mod sim;
pub mod watch;

pub use kind::Kind;
pub use metric::Metric;
pub use unit::Unit;
pub use viewpoint::Viewpoint;
