//! Servers and proxies of the distribution: where they are, how they stay in the foreground, and what
//! every configuration of them has.

pub(crate) mod apache;
pub(crate) mod kind;
pub(crate) mod nginx;
