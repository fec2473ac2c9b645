//! [`OwnAddress`]: where the gate itself listens, where no server can be.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use config::{Error, Place};

use crate::settings::listen_address::ListenAddress;
use crate::settings::root::Settings;

/// An address that the gate listens at.
#[derive(Debug, Clone)]
pub struct OwnAddress {
    /// What it is for, as in "listener"; it goes into messages.
    pub what: &'static str,
    /// Where it is.
    pub address: ListenAddress,
    /// Where that is said.
    pub place: Place,
}

const LISTENER: &str = "listener";
const ADMIN: &str = "admin interface";

impl OwnAddress {
    /// Whether who connects to `address` reaches it, given `beside` which other addresses of the gate; `is_local` says of
    /// which IP addresses this machine is.
    pub fn is_reached_by(
        &self,
        address: SocketAddr,
        beside: &[Self],
        is_local: impl Fn(IpAddr) -> bool,
    ) -> bool {
        let ListenAddress::Tcp(own) = self.address else { return false };
        if own.port() == 0 || own.port() != address.port() {
            return false;
        }
        // Linux connects to this machine when it is told to connect to no address at all.
        let target = match address.ip().to_canonical() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let ip = own.ip().to_canonical();
        if !ip.is_unspecified() {
            return ip == target;
        }
        let is_of_its_kind = match (ip, target) {
            (IpAddr::V4(_), IpAddr::V6(_)) => false,
            // IPv4 as well, unless another listener has that.
            (IpAddr::V6(_), IpAddr::V4(_)) => self.has_v4_beside(beside),
            _ => true,
        };
        is_of_its_kind && is_local(target)
    }

    /// Whether a listener of all of IPv6 has all of IPv4, too.
    fn has_v4_beside(&self, others: &[Self]) -> bool {
        let leaves = |other: &Self| other.what == LISTENER && self.address.leaves_v4_to(&other.address);
        self.what != LISTENER || !others.iter().any(leaves)
    }

    /// Whether both cannot be listened at.
    fn collides_with(&self, other: &Self, all: &[Self]) -> bool {
        let (ListenAddress::Tcp(mine), ListenAddress::Tcp(theirs)) = (&self.address, &other.address) else {
            return self.address == other.address;
        };
        if mine.port() == 0 || mine.port() != theirs.port() {
            return false;
        }
        let covers = |own: &Self, all_of: IpAddr, one: IpAddr| match (all_of, one) {
            (IpAddr::V4(ip), IpAddr::V4(_)) => ip.is_unspecified(),
            (IpAddr::V6(ip), IpAddr::V6(_)) => ip.is_unspecified(),
            (IpAddr::V6(ip), IpAddr::V4(_)) => ip.is_unspecified() && own.has_v4_beside(all),
            (IpAddr::V4(_), IpAddr::V6(_)) => false,
        };
        let (mine, theirs) = (mine.ip().to_canonical(), theirs.ip().to_canonical());
        mine == theirs || covers(self, mine, theirs) || covers(other, theirs, mine)
    }
}

impl Settings {
    /// Everything that the gate listens at.
    pub fn own_addresses(&self) -> Vec<OwnAddress> {
        let listeners = self.listeners.iter().map(|listener| OwnAddress {
            what: LISTENER,
            address: listener.place.clone(),
            place: listener.written.clone(),
        });
        let admin = OwnAddress {
            what: ADMIN,
            address: ListenAddress::Tcp(self.admin),
            place: self.admission.written.clone(),
        };
        let sockets = [("admin socket", &self.admission.socket), ("control socket", &self.operation.control)];
        let sockets = sockets.into_iter().filter_map(|(what, file)| {
            let file = file.as_ref()?;
            Some(OwnAddress {
                what,
                address: ListenAddress::Unix(file.path.clone()),
                place: file.place.clone(),
            })
        });
        listeners.chain([admin]).chain(sockets).collect()
    }

    /// Whether each of its addresses is one of its own.
    ///
    /// # Errors
    /// Two that are one, with the places of both.
    pub fn has_distinct_addresses(&self) -> Result<(), Error> {
        let all = self.own_addresses();
        for (index, address) in all.iter().enumerate() {
            if let Some(other) = all[..index].iter().find(|other| address.collides_with(other, &all)) {
                return Err(collision(address, other));
            }
        }
        Ok(())
    }
}

fn collision(one: &OwnAddress, other: &OwnAddress) -> Error {
    let mend = match one.address {
        ListenAddress::Tcp(_) => "give each a port of its own",
        ListenAddress::Unix(_) => "give each a path of its own",
    };
    let relation = if one.address == other.address { "is the same as" } else { "overlaps with" };
    let what =
        format!("{} {} {relation} {} {} ({})", one.what, one.address, other.what, other.address, other.place);
    one.place.error(what).mend(mend)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Result<Settings, Error> {
        let source = config::Source::new("gate.toml", text);
        Settings::from_source(&source, Path::new("/etc"))
    }

    #[track_caller]
    fn collide(text: &str, expected: &str) {
        let error = read(&format!("{text}\n[upstream]\naddress = 'site:80'")).map(|_| "");
        assert_eq!(error.map_err(|why| why.to_string()), Err(expected.to_owned()), "{text}");
    }

    #[track_caller]
    fn agree(text: &str) {
        let read = read(&format!("{text}\n[upstream]\naddress = 'site:80'"));
        assert_eq!(read.map(|_| ()).map_err(|why| why.to_string()), Ok(()), "{text}");
    }

    #[test]
    fn two_of_its_addresses_that_are_one_are_named_both() {
        collide(
            "listen = '0.0.0.0:80'\nadmin = '127.0.0.1:80'",
            "gate.toml:2: admin interface 127.0.0.1:80 overlaps with listener 0.0.0.0:80 (gate.toml:1); give each \
             a port of its own",
        );
        collide(
            "listen = '127.0.0.1:80'\n[[listener]]\naddress = '0.0.0.0:80'",
            "gate.toml:3: listener 0.0.0.0:80 overlaps with listener 127.0.0.1:80 (gate.toml:1); give each a port \
             of its own",
        );
        collide(
            "[[listener]]\naddress = '[::]:80'\n[admin]\nlisten = '127.0.0.1:80'",
            "gate.toml:4: admin interface 127.0.0.1:80 overlaps with listener [::]:80 (gate.toml:2); give each a \
             port of its own",
        );
        collide(
            "[[listener]]\naddress = 'unix:gate.sock'\n[admin]\nlisten = '127.0.0.1:1'\nsocket = '/etc/gate.sock'",
            "gate.toml:5: admin socket unix:/etc/gate.sock is the same as listener unix:/etc/gate.sock (gate.toml:2); \
             give each a path of its own",
        );
        collide(
            "listen = '127.0.0.1:0'\n[admin]\nsocket = 'a.sock'\n[operation]\ncontrol = 'a.sock'",
            "gate.toml:5: control socket unix:/etc/a.sock is the same as admin socket unix:/etc/a.sock (gate.toml:3); \
             give each a path of its own",
        );
        // The kernel keeps these apart.
        agree("listen = '0.0.0.0:80'\n[[listener]]\naddress = '[::]:80'\n[[listener]]\naddress = '[::1]:81'");
        agree("listen = '127.0.0.1:80'\nadmin = '127.0.0.2:80'");
        agree("listen = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\n[[listener]]\naddress = '127.0.0.1:0'");
    }

    #[test]
    fn who_is_reached() {
        let is_local = |ip: IpAddr| ip.is_loopback() || ip == IpAddr::from([192, 0, 2, 1]);
        let check = |listeners: &[&str], address: &str, is_reached: bool| {
            let own = |address: &&str| OwnAddress {
                what: LISTENER,
                address: ListenAddress::Tcp(address.parse().unwrap()),
                place: Place::outside("here"),
            };
            let all: Vec<OwnAddress> = listeners.iter().map(own).collect();
            let address = address.parse().unwrap();
            let reached = all.iter().any(|one| one.is_reached_by(address, &all, is_local));
            assert_eq!(reached, is_reached, "{listeners:?} by {address}");
        };
        for (listeners, address, is_reached) in [
            (&["127.0.0.1:80"][..], "127.0.0.1:80", true),
            (&["127.0.0.1:80"], "127.0.0.1:81", false),
            (&["127.0.0.1:80"], "127.0.0.2:80", false),
            (&["127.0.0.1:80"], "0.0.0.0:80", true),
            (&["127.0.0.1:80"], "[::ffff:127.0.0.1]:80", true),
            (&["[::1]:80"], "127.0.0.1:80", false),
            (&["[::1]:80"], "[::]:80", true),
            (&["0.0.0.0:80"], "127.0.0.9:80", true),
            (&["0.0.0.0:80"], "192.0.2.1:80", true),
            (&["0.0.0.0:80"], "192.0.2.2:80", false),
            (&["0.0.0.0:80"], "[::1]:80", false),
            (&["[::]:80"], "[::1]:80", true),
            (&["[::]:80"], "192.0.2.1:80", true),
            (&["[::]:80"], "192.0.2.2:80", false),
            // Then it listens to IPv6 only, and 127.0.0.1 can be somebody else.
            (&["[::]:80", "192.0.2.1:80"], "127.0.0.1:80", false),
            (&["[::]:80", "192.0.2.1:80"], "192.0.2.1:80", true),
            (&["0.0.0.0:0"], "127.0.0.1:0", false),
        ] {
            check(listeners, address, is_reached);
        }
    }
}
