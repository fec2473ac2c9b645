//! [`MetricsAddress`]: where the endpoint for scrapers listens, as people type it.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address and a port; of a port alone, on 127.0.0.1.
///
/// ```
/// let address: telemetry::MetricsAddress = "9464".parse()?;
/// assert_eq!(address.to_string(), "127.0.0.1:9464");
/// # Ok::<(), telemetry::MetricsAddressError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricsAddress(SocketAddr);

/// A text that is not an address and a port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not where metrics can be served; write an IP address and a port, such as 127.0.0.1:9464, or a port alone"
)]
pub struct MetricsAddressError(String);

impl MetricsAddress {
    pub(crate) fn get(self) -> SocketAddr {
        self.0
    }
}

impl FromStr for MetricsAddress {
    type Err = MetricsAddressError;

    fn from_str(text: &str) -> Result<Self, MetricsAddressError> {
        let text = text.trim();
        let port = text.strip_prefix("localhost").unwrap_or(text);
        let port = port.strip_prefix(':').unwrap_or(port);
        let local = port.parse().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        local.or_else(|_| text.parse()).map(Self).map_err(|_| MetricsAddressError(text.to_owned()))
    }
}

impl fmt::Display for MetricsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_this_machine_only() {
        for text in ["9464", ":9464", "localhost:9464", "127.0.0.1:9464", " 9464 "] {
            assert_eq!(text.parse::<MetricsAddress>().unwrap().to_string(), "127.0.0.1:9464", "{text}");
        }
        assert_eq!("[::1]:80".parse::<MetricsAddress>().unwrap().to_string(), "[::1]:80");
        assert_eq!("0.0.0.0:80".parse::<MetricsAddress>().unwrap().to_string(), "0.0.0.0:80");
        for text in ["", "127.0.0.1", "metrics.example:80", "99999", "http://127.0.0.1:80"] {
            let error = text.parse::<MetricsAddress>().unwrap_err().to_string();
            assert!(error.contains("127.0.0.1:9464"), "{error}");
        }
    }
}
