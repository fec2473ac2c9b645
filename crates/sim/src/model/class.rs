//! [`Class`]: a kind of request.

use super::equipment::Size;
use super::tier::Call;
use crate::draw::{Samples, Service};

/// The names of the paper's two classes.
pub const STATIC: &str = "static";
/// See [`STATIC`].
pub const DYNAMIC: &str = "dynamic";

/// A kind of request.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// What it is called.
    pub name: String,
    /// Its share of the requests, relative to those of the other classes.
    pub share: f64,
    /// What it needs of a processor on average, in seconds.
    pub demand: f64,
    /// The law of that around its mean, where it has another than the model.
    pub service: Option<Service>,
    /// What requests of it needed, instead of a law, scaled to its mean.
    pub samples: Option<Samples>,
    /// Workers of its own, where it has some: so many of its requests are computed at a time, at most, calls included, and
    /// others wait, as for the children of PHP-FPM behind a server that has threads for all.
    pub workers: Option<u32>,
    /// What it needs of a disk on average, in seconds.
    pub disk: f64,
    /// What it asks of tiers behind the server, in this order.
    pub calls: Vec<Call>,
    /// How large its responses are, where links count.
    pub size: Option<Size>,
}

impl Class {
    /// A class that needs nothing but a processor.
    pub fn new(name: &str, share: f64, demand: f64) -> Self {
        Self {
            name: name.to_owned(),
            share,
            demand,
            service: None,
            samples: None,
            workers: None,
            disk: 0.0,
            calls: Vec::new(),
            size: None,
        }
    }
}
