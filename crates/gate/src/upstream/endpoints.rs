//! The endpoints of the upstream, by the addresses that its names resolve to.

use std::io;
use std::net::SocketAddr;

use config::Place;

use crate::upstream::server::Endpoint;
use gate_config::settings::upstream::Server;

/// The addresses of each configured server; none of one that was not found.
pub(crate) type Found = Vec<Vec<SocketAddr>>;

/// A server's name leads to no address.
#[derive(Debug, thiserror::Error)]
#[error("{place}: cannot find upstream {address}: {why}; check its name and port")]
pub struct LookUpError {
    /// Where it is named.
    pub place: Place,
    /// As configured.
    pub address: String,
    /// What the resolver says.
    pub why: io::Error,
}

/// Makes servers of what was found: one of each address, but for names of this machine, whose
/// addresses are several ways to one server. An address that two names lead to is one server.
pub(crate) fn endpoints(servers: &[Server], found: &Found) -> Vec<Endpoint> {
    let mut endpoints: Vec<Endpoint> = Vec::new();
    for (server, addresses) in servers.iter().zip(found) {
        let here = addresses.iter().all(|address| address.ip().is_loopback());
        let size = if here { addresses.len().max(1) } else { 1 };
        for addresses in addresses.chunks(size) {
            if !endpoints.iter().any(|endpoint| endpoint.addresses.first() == addresses.first()) {
                endpoints.push(Endpoint {
                    name: server.address.clone(),
                    addresses: addresses.to_vec(),
                    weight: server.weight,
                    http: server.http,
                    tls: server.tls.clone(),
                });
            }
        }
    }
    endpoints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &[&[&str]], expected: &[&[&str]]) {
        let addresses = |all: &[&str]| all.iter().map(|address| address.parse().unwrap()).collect::<Vec<_>>();
        let server = |weight| Server { weight, ..Server::parse(&format!("name{weight}:80")).unwrap() };
        let servers: Vec<Server> = (1..).take(found.len()).map(server).collect();
        let found = found.iter().map(|all| addresses(all)).collect();
        let endpoints: Vec<_> =
            endpoints(&servers, &found).into_iter().map(|endpoint| endpoint.addresses).collect();
        assert_eq!(endpoints, expected.iter().map(|all| addresses(all)).collect::<Vec<_>>());
    }

    #[test]
    fn each_address_is_a_server() {
        check(&[&["10.0.0.1:80", "10.0.0.2:80"]], &[&["10.0.0.1:80"], &["10.0.0.2:80"]]);
        check(&[&["10.0.0.1:80"], &["10.0.0.1:80", "10.0.0.2:80"]], &[&["10.0.0.1:80"], &["10.0.0.2:80"]]);
    }

    #[test]
    fn this_machine_is_one_server_however_it_is_reached() {
        check(&[&["[::1]:80", "127.0.0.1:80"]], &[&["[::1]:80", "127.0.0.1:80"]]);
    }
}
