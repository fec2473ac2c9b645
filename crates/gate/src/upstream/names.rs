//! Where the servers' names lead to: at the start, and again at intervals.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::time::Duration;

use crate::runtime::log::say;
use crate::upstream::endpoints::{Found, LookUpError};
use crate::upstream::pool::Pool;
use gate_config::settings::upstream::{Server, Upstream};

/// Resolvers are not to be asked all the time, whatever the configuration says.
const MIN_PAUSE: Duration = Duration::from_millis(100);

/// Looks all servers up.
///
/// # Errors
/// When none has an address. One that has none of several is looked up again later.
pub(crate) fn find(settings: &Upstream) -> Result<Found, LookUpError> {
    let look =
        |Server { address, .. }: &Server| some(address, address.to_socket_addrs().map(Iterator::collect));
    let results: Vec<_> = settings.servers.iter().map(look).collect();
    if results.iter().all(Result::is_err) {
        return results.into_iter().collect();
    }
    let tell = |why: LookUpError| {
        say!("{why}; goes on without it");
        Vec::new()
    };
    Ok(results.into_iter().map(|result| result.unwrap_or_else(tell)).collect())
}

/// The same without holding up the event loop, each server by itself.
pub(crate) async fn look_up(servers: &[Server]) -> Vec<Result<Vec<SocketAddr>, LookUpError>> {
    let mut found = Vec::with_capacity(servers.len());
    for Server { address, .. } in servers {
        found.push(some(address, tokio::net::lookup_host(address).await.map(Iterator::collect)));
    }
    found
}

fn some(address: &str, found: io::Result<Vec<SocketAddr>>) -> Result<Vec<SocketAddr>, LookUpError> {
    let nowhere = |why| LookUpError { address: address.to_owned(), why };
    match found.map_err(nowhere)? {
        none if none.is_empty() => Err(nowhere(io::ErrorKind::NotFound.into())),
        some => Ok(some),
    }
}

/// Looks names up again for as long as the gate runs.
pub(crate) async fn follow(pool: Rc<Pool>) {
    loop {
        let (pause, servers) = {
            let settings = pool.settings();
            (settings.look_up, settings.servers.clone())
        };
        tokio::time::sleep(pause.max(MIN_PAUSE)).await;
        if servers.iter().all(|server| server.address.parse::<SocketAddr>().is_ok()) {
            continue;
        }
        let found = look_up(&servers).await;
        // Unless the configuration has changed meanwhile.
        if pool.settings().servers == servers {
            pool.look_up_again(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_that_leads_nowhere_does_not_matter_beside_others() {
        let settings = |names: &[&str]| {
            let mut servers: Vec<Server> = names.iter().map(|name| Server::parse(name).unwrap()).collect();
            let mut settings = Upstream::of(config::Place::outside("here"), servers.remove(0));
            settings.servers.append(&mut servers);
            settings
        };
        let found = find(&settings(&["no-such-host.invalid:1", "127.0.0.1:1"])).unwrap();
        assert_eq!(found, [vec![], vec!["127.0.0.1:1".parse().unwrap()]]);
        assert!(find(&settings(&["no-such-host.invalid:1"])).is_err());
    }
}
