//! Metrics of the monitor, a module for each of its groups. For scrapers and collectors those in the record are
//! gauges of the last sample, or, of rates, the totals that these come to, called `headworks_watch_` and the name in
//! the record, with `_` for its dots, and the unit.

use crate::Viewpoint;
use crate::entry::{Entry, Exposed};

pub mod connections;
pub mod figures;
pub mod kernel;
pub mod limits;
pub mod network;
pub mod own;
pub mod processes;
pub mod requests;

/// Seen at the server itself.
const AT_SERVER: Entry =
    Entry { exposed: Exposed::Scraped("headworks_watch_"), ..Entry::blank(Viewpoint::Server) };

/// Seen at an interface of the server's host, or in front of it.
const AT_INTERFACE: Entry = Entry { viewpoint: Viewpoint::Network, labels: &["interface"], ..AT_SERVER };
