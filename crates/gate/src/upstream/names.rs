//! Where the servers' names lead to: at the start, and again at intervals.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::time::Duration;

use crate::error::Error;
use crate::process::gate::Gate;
use crate::runtime::log::say;
use crate::settings::upstream::{Server, Upstream};
use crate::upstream::server::Place;

/// Resolvers are not to be asked all the time, whatever the configuration says.
const SHORTEST: Duration = Duration::from_millis(100);

/// The addresses of each configured server; none of one that was not found.
pub(crate) type Found = Vec<Vec<SocketAddr>>;

/// Looks all servers up.
///
/// # Errors
/// When none has an address. One that has none of several is looked up again later.
pub(crate) fn find(settings: &Upstream) -> Result<Found, Error> {
    let look =
        |Server { address, .. }: &Server| some(address, address.to_socket_addrs().map(Iterator::collect));
    let results: Vec<_> = settings.servers.iter().map(look).collect();
    if results.iter().all(Result::is_err) {
        return results.into_iter().collect();
    }
    let tell = |why: Error| {
        say!("{why}; goes on without it");
        Vec::new()
    };
    Ok(results.into_iter().map(|result| result.unwrap_or_else(tell)).collect())
}

/// The same without holding up the event loop, each server by itself.
pub(crate) async fn look_up(servers: &[Server]) -> Vec<Result<Vec<SocketAddr>, Error>> {
    let mut found = Vec::with_capacity(servers.len());
    for Server { address, .. } in servers {
        found.push(some(address, tokio::net::lookup_host(address).await.map(Iterator::collect)));
    }
    found
}

fn some(address: &str, found: io::Result<Vec<SocketAddr>>) -> Result<Vec<SocketAddr>, Error> {
    let nowhere = |why| Error::Upstream { address: address.to_owned(), why };
    match found.map_err(nowhere)? {
        none if none.is_empty() => Err(nowhere(io::ErrorKind::NotFound.into())),
        some => Ok(some),
    }
}

/// Looks names up again for as long as the gate runs.
pub(crate) async fn follow(gate: Rc<Gate>) {
    loop {
        let (pause, servers) = {
            let settings = gate.pool.settings();
            (settings.look_up, settings.servers.clone())
        };
        tokio::time::sleep(pause.max(SHORTEST)).await;
        if servers.iter().all(|server| server.address.parse::<SocketAddr>().is_ok()) {
            continue;
        }
        let found = look_up(&servers).await;
        // Unless the configuration has changed meanwhile.
        if gate.pool.settings().servers == servers {
            gate.pool.look_up_again(found);
        }
    }
}

/// Makes servers of what was found: one of each address, but for names of this machine, whose
/// addresses are several ways to one server. An address that two names lead to is one server.
pub(crate) fn places(servers: &[Server], found: &Found) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (server, addresses) in servers.iter().zip(found) {
        let here = addresses.iter().all(|address| address.ip().is_loopback());
        let size = if here { addresses.len().max(1) } else { 1 };
        for addresses in addresses.chunks(size) {
            if !places.iter().any(|place| place.addresses.first() == addresses.first()) {
                places.push(Place {
                    name: server.address.clone(),
                    addresses: addresses.to_vec(),
                    weight: server.weight,
                    http: server.http,
                    tls: server.tls.clone(),
                });
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::upstream::Http;

    fn check(found: &[&[&str]], expected: &[&[&str]]) {
        let addresses = |all: &[&str]| all.iter().map(|address| address.parse().unwrap()).collect::<Vec<_>>();
        let server =
            |weight| Server { address: format!("name{weight}:80"), weight, http: Http::One, tls: None };
        let servers: Vec<Server> = (1..).take(found.len()).map(server).collect();
        let found = found.iter().map(|all| addresses(all)).collect();
        let places: Vec<_> = places(&servers, &found).into_iter().map(|place| place.addresses).collect();
        assert_eq!(places, expected.iter().map(|all| addresses(all)).collect::<Vec<_>>());
    }

    #[test]
    fn each_address_is_a_server() {
        check(&[&["10.0.0.1:80", "10.0.0.2:80"]], &[&["10.0.0.1:80"], &["10.0.0.2:80"]]);
        check(&[&["10.0.0.1:80"], &["10.0.0.1:80", "10.0.0.2:80"]], &[&["10.0.0.1:80"], &["10.0.0.2:80"]]);
    }

    #[test]
    fn one_name_that_leads_nowhere_does_not_matter_beside_others() {
        let settings = |names: &[&str]| {
            let mut servers: Vec<Server> = names.iter().map(|name| Server::parse(name).unwrap()).collect();
            let mut settings = Upstream::of(servers.remove(0));
            settings.servers.append(&mut servers);
            settings
        };
        let found = find(&settings(&["no-such-host.invalid:1", "127.0.0.1:1"])).unwrap();
        assert_eq!(found, [vec![], vec!["127.0.0.1:1".parse().unwrap()]]);
        assert!(find(&settings(&["no-such-host.invalid:1"])).is_err());
    }

    #[test]
    fn this_machine_is_one_server_however_it_is_reached() {
        check(&[&["[::1]:80", "127.0.0.1:80"]], &[&["[::1]:80", "127.0.0.1:80"]]);
    }
}
