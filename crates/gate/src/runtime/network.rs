//! Which addresses count as one client.

use std::net::IpAddr;

/// Whose request it is: an address of IPv4, or a network of IPv6, of which a household gets a
/// whole one (RFC 6177).
pub(crate) fn network(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    }
}
