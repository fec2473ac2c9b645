//! The web servers of the distribution, for tests that a mock would not convince: each in a
//! directory of its own, on free ports, with an access log that is complete when it has stopped.

mod apache;
mod daemon;
mod log;
mod nginx;

pub use apache::Apache;
pub use log::LogLine;
pub use nginx::{Nginx, identity};
