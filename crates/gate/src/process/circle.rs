//! Whether what the gate is to connect to is the gate itself: requests would go round in a circle.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _, UdpSocket};

use config::{Error, Place};
use gate_config::settings::own_address::OwnAddress;
use gate_config::settings::root::Settings;

use crate::upstream::endpoints::Found;

/// Whether neither a server nor the collector is the gate itself; `own` is where it listens and `found` where the
/// servers' names lead.
///
/// # Errors
/// The first that is, with its place and that of the listener.
pub(crate) fn refuse_circles(settings: &Settings, found: &Found, own: &[OwnAddress]) -> Result<(), Error> {
    for (server, addresses) in settings.upstream.servers.iter().zip(found) {
        let mend = "give the address of the server behind it, or let the gate listen elsewhere";
        refuse(("upstream", &server.address), addresses, own, &server.written)
            .map_err(|why| why.mend(mend))?;
    }
    let Some(collector) = &settings.telemetry.collector else { return Ok(()) };
    let address = collector.at.address();
    // Nothing waits for the collector's name to be looked up unless its port is one of the gate's.
    let is_likely =
        |own: &OwnAddress| own.address.port().is_some_and(|port| address.ends_with(&format!(":{port}")));
    if own.iter().any(is_likely) {
        let addresses: Vec<SocketAddr> = address.to_socket_addrs().map(Iterator::collect).unwrap_or_default();
        refuse(("collector", address), &addresses, own, &collector.written)
            .map_err(|why| why.mend("give the address of the collector, or let the gate listen elsewhere"))?;
    }
    Ok(())
}

fn refuse(
    (what, name): (&str, &str),
    addresses: &[SocketAddr],
    own: &[OwnAddress],
    place: &Place,
) -> Result<(), Error> {
    for address in addresses {
        let Some(reached) = own.iter().find(|one| one.is_reached_by(*address, own, is_local)) else {
            continue;
        };
        let shown = if name == address.to_string() { String::new() } else { format!(" ({address})") };
        let OwnAddress { what: reached, address: listens, place: there } = reached;
        let what = format!("{what} {name}{shown} is the gate itself: its {reached} is {listens} ({there})");
        return Err(place.error(what));
    }
    Ok(())
}

/// Whether this machine has that address. No list of interfaces is asked for, which services are often forbidden to
/// see.
fn is_local(ip: IpAddr) -> bool {
    ip.is_loopback() || is_own_source(ip).unwrap_or(false) || (can_bind(ip) && !binds_anything(ip))
}

/// Whether the kernel would send from an address what goes to it, as it does for what does not leave the machine.
/// Nothing is sent.
fn is_own_source(ip: IpAddr) -> std::io::Result<bool> {
    let any: IpAddr = if ip.is_ipv4() { [0; 4].into() } else { [0; 16].into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect((ip, 9))?;
    Ok(socket.local_addr()?.ip() == ip)
}

/// For the second address of an interface, which the kernel does not send from unasked.
fn can_bind(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

/// Whether the kernel lets anybody have any address (`ip_nonlocal_bind`), tried with one that no machine has
/// (RFC 5737, RFC 3849).
fn binds_anything(like: IpAddr) -> bool {
    let nobody: IpAddr =
        if like.is_ipv4() { [203, 0, 113, 1].into() } else { [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into() };
    can_bind(nobody)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_from_others() {
        assert!(is_local([127, 0, 0, 1].into()) && is_local([127, 8, 8, 8].into()));
        assert!(!is_local([203, 0, 113, 77].into()), "of documentation");
        // What the machine would send from, if it is connected to anything.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        if socket.connect("203.0.113.77:9").is_ok() {
            assert!(is_local(socket.local_addr().unwrap().ip()));
        }
    }
}
