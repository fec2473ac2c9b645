//! [`Address`]: what a target's name stands for, and [`Choice`]: which of several is taken.

use std::fmt;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::client::fault::of_io;
use crate::error::Error;
use crate::settings::target::{Target, Via};

/// RFC 8305, section 8: "Connection Attempt Delay".
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// Within which an address must answer where there are others.
const LAST_CHANCE: Duration = Duration::from_secs(3);

/// What can be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Inet(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inet(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// All that a name stands for, in the resolver's order; at least one.
///
/// # Errors
/// When the name stands for no address.
pub(crate) fn all_of(target: &Target) -> Result<Vec<Address>, Error> {
    let (host, port) = match target.place() {
        Via::Host(host, port) => (host, port),
        Via::Unix(path) => return Ok(vec![Address::Unix(path)]),
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(vec![Address::Inet(SocketAddr::new(address, port))]);
    }
    let failed = |source| Error::Resolve { host: host.clone(), source };
    let mut all: Vec<Address> = Vec::new();
    for address in (bare, port).to_socket_addrs().map_err(failed)?.map(Address::Inet) {
        if !all.contains(&address) {
            all.push(address);
        }
    }
    if all.is_empty() { Err(Error::no_address(&host)) } else { Ok(all) }
}

/// The address of a name that is taken, and why others were not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) taken: Address,
    /// Those that were tried before and could not be connected to.
    pub(crate) refused: Vec<(Address, String)>,
}

impl Choice {
    /// The first of `all` that a connection can be made to, as RFC 8305, section 5, has it: the next is tried when one
    /// has failed, or after a quarter of a second. Where none can, the first. A name with one address is not tried.
    pub(crate) fn of(all: Vec<Address>) -> Option<Self> {
        let first = all.first()?.clone();
        if all.len() == 1 {
            return Some(Self { taken: first, refused: Vec::new() });
        }
        let (done, results) = channel();
        let mut refused = Vec::new();
        let mut waiting = all.into_iter();
        let mut under_way = 0;
        loop {
            if let Some(Address::Inet(address)) = waiting.next() {
                let done = done.clone();
                let attempt = move || {
                    // Once there is a choice the other end is gone.
                    let _ = done.send((address, TcpStream::connect_timeout(&address, LAST_CHANCE)));
                };
                let started = std::thread::Builder::new().name("address".to_owned()).spawn(attempt);
                under_way += u32::from(started.is_ok());
            } else if under_way == 0 {
                return Some(Self { taken: first, refused });
            }
            let last = waiting.len() == 0;
            match results.recv_timeout(if last { 2 * LAST_CHANCE } else { ATTEMPT_DELAY }) {
                Ok((address, Ok(_))) => return Some(Self { taken: Address::Inet(address), refused }),
                Ok((address, Err(why))) => {
                    under_way -= 1;
                    refused.push((Address::Inet(address), of_io(&why).into_owned()));
                }
                Err(_) if last => return Some(Self { taken: first, refused }),
                Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn listening() -> (TcpListener, Address) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Inet(listener.local_addr().unwrap());
        (listener, address)
    }

    fn closed() -> Address {
        listening().1
    }

    #[test]
    fn the_first_that_can_be_connected_to_is_taken() {
        let (_one, first) = listening();
        let (_other, second) = listening();
        let chosen = Choice::of(vec![first.clone(), second]).unwrap();
        assert_eq!(chosen, Choice { taken: first.clone(), refused: Vec::new() });
        let closed = closed();
        let chosen = Choice::of(vec![closed.clone(), first.clone()]).unwrap();
        assert_eq!(chosen.taken, first);
        assert!(matches!(&chosen.refused[..], [(address, _)] if *address == closed), "{chosen:?}");
    }

    #[test]
    fn one_that_does_not_answer_is_not_waited_for() {
        // A listener whose queue is full answers no SYN.
        let deaf =
            rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None)
                .unwrap();
        rustix::net::bind(&deaf, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
        rustix::net::listen(&deaf, 0).unwrap();
        let address = SocketAddr::try_from(rustix::net::getsockname(&deaf).unwrap()).unwrap();
        let _filled: Vec<_> = (0..3).map(|_| TcpStream::connect_timeout(&address, ATTEMPT_DELAY)).collect();
        let (_one, good) = listening();
        let began = std::time::Instant::now();
        let chosen = Choice::of(vec![Address::Inet(address), good.clone()]).unwrap();
        assert_eq!(chosen, Choice { taken: good, refused: Vec::new() });
        assert!(began.elapsed() < LAST_CHANCE);
    }

    #[test]
    fn where_none_can_be_connected_to_the_first_is_taken() {
        let (one, other) = (closed(), closed());
        let chosen = Choice::of(vec![one.clone(), other]).unwrap();
        assert_eq!((chosen.taken, chosen.refused.len()), (one.clone(), 2));
        assert_eq!(Choice::of(vec![one.clone()]).unwrap().taken, one);
        assert_eq!(Choice::of(Vec::new()), None);
    }

    #[test]
    fn an_address_stands_for_itself() {
        let all = |url: &str| all_of(&url.parse().unwrap()).unwrap();
        assert_eq!(all("http://127.0.0.1:81/")[0].to_string(), "127.0.0.1:81");
        assert_eq!(all("http://[::1]:81/")[0].to_string(), "[::1]:81");
    }
}
