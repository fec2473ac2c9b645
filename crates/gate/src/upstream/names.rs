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

/// Looks all servers up; says that it goes on without those whose names lead nowhere, which are looked up again later.
///
/// # Errors
/// When none has an address.
pub(crate) fn find(settings: &Upstream) -> Result<Found, LookUpError> {
    find_or(settings, |why| say!("{why}; goes on without it"))
}

/// Looks all servers up; `lost` is told of each that has no address.
///
/// # Errors
/// When none has one.
pub(crate) fn find_or(settings: &Upstream, mut lost: impl FnMut(LookUpError)) -> Result<Found, LookUpError> {
    let look = |server: &Server| some(server, server.address.to_socket_addrs().map(Iterator::collect));
    let results: Vec<_> = settings.servers.iter().map(look).collect();
    if !results.is_empty() && results.iter().all(Result::is_err) {
        return results.into_iter().collect();
    }
    let mut tell = |why: LookUpError| {
        lost(why);
        Vec::new()
    };
    Ok(results.into_iter().map(|result| result.unwrap_or_else(&mut tell)).collect())
}

/// What can be said without looking up: of servers that are given by their addresses.
pub(crate) fn written(settings: &Upstream) -> Found {
    settings.servers.iter().map(|server| server.address.parse().into_iter().collect()).collect()
}

/// The same without holding up the event loop, each server by itself.
pub(crate) async fn look_up(servers: &[Server]) -> Vec<Result<Vec<SocketAddr>, LookUpError>> {
    let mut found = Vec::with_capacity(servers.len());
    for server in servers {
        found.push(some(server, tokio::net::lookup_host(&server.address).await.map(Iterator::collect)));
    }
    found
}

fn some(server: &Server, found: io::Result<Vec<SocketAddr>>) -> Result<Vec<SocketAddr>, LookUpError> {
    let nowhere = |why| LookUpError { place: server.written.clone(), address: server.address.clone(), why };
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
            let mut settings = Upstream::of(servers.remove(0));
            settings.servers.append(&mut servers);
            settings
        };
        let found = find(&settings(&["no-such-host.invalid:1", "127.0.0.1:1"])).unwrap();
        assert_eq!(found, [vec![], vec!["127.0.0.1:1".parse().unwrap()]]);
        assert!(find(&settings(&["no-such-host.invalid:1"])).is_err());
    }
}
