//! The PROXY protocol.

pub(crate) mod proxy;

#[cfg(any(test, feature = "fuzz"))]
pub(crate) use proxy::{Header as ProxyHeader, parse as proxy_header};
