//! [`Place`]: where a gate's admin interface is, as users say it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::text::clean;

/// Where the admin interface of a gate is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `http://HOST:PORT`, or that without `http://`.
    Tcp(Address),
    /// `unix:PATH`.
    Unix(PathBuf),
    /// `ssh://[USER@]HOST[:PORT][/ADMIN]`.
    Ssh(Ssh),
}

/// A host, by name or address, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// A host that ssh leads to, and where the interface is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ssh {
    /// `HOST` or `USER@HOST`, never like an option.
    pub(crate) destination: String,
    pub(crate) port: Option<u16>,
    pub(crate) admin: Far,
}

/// Where the interface is on the far side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Far {
    Tcp(Address),
    /// An absolute path.
    Unix(String),
}

/// Where a gate's interface is unless somebody said something else.
const USUAL: &str = "127.0.0.1:9090";

/// Why a text does not say where a gate is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}; give http://HOST:PORT, unix:PATH or ssh://[USER@]HOST[:PORT][/ADMIN]")]
pub struct WrongPlace {
    what: String,
}

fn wrong(what: impl Into<String>) -> WrongPlace {
    WrongPlace { what: what.into() }
}

impl FromStr for Place {
    type Err = WrongPlace;

    fn from_str(text: &str) -> Result<Self, WrongPlace> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() {
                Err(wrong("unix: has no path"))
            } else {
                Ok(Self::Unix(path.into()))
            };
        }
        if let Some(rest) = text.strip_prefix("ssh://") {
            return Ssh::parse(rest).map(Self::Ssh);
        }
        if text.starts_with("https://") {
            return Err(wrong(
                "there is no TLS on the admin interface, and across a network ssh:// leads to it",
            ));
        }
        if text.starts_with('/') {
            return Err(wrong(format!("{} is a path: is unix:{0} meant?", clean(text))));
        }
        let rest = text.strip_prefix("http://").unwrap_or(text);
        if rest.contains("://") {
            return Err(wrong(format!("\"{}\" is nothing that can be asked", clean(text))));
        }
        if rest.contains('@') {
            return Err(wrong("a token does not belong on the command line (--token-file, HEADWORKS_TOKEN)"));
        }
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains(['/', '?', '#']) {
            return Err(wrong("an address has no path"));
        }
        Address::parse(rest).map(Self::Tcp)
    }
}

impl Address {
    fn parse(text: &str) -> Result<Self, WrongPlace> {
        let Some((host, port)) = text.rsplit_once(':').filter(|(host, _)| !host.is_empty()) else {
            return Err(wrong(format!("\"{}\" has no port, as in {USUAL}", clean(text))));
        };
        let host = bare_host(host)?;
        Ok(Self { host, port: port_of(port)? })
    }
}

/// The name or address of a host, without the brackets that IPv6 has in front of a port.
fn bare_host(host: &str) -> Result<String, WrongPlace> {
    let (bare, bracketed) = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(bare) => (bare, true),
        None => (host, false),
    };
    let known = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let known = |letter: char| known(letter) || bracketed && matches!(letter, ':' | '%');
    // One that begins like an option is not handed to other programs.
    if bare.is_empty() || bare.starts_with('-') || !bare.chars().all(known) {
        return Err(wrong(format!("\"{}\" is no host", clean(host))));
    }
    Ok(bare.to_owned())
}

fn port_of(port: &str) -> Result<u16, WrongPlace> {
    let number = port.parse().ok().filter(|port| *port > 0);
    number.ok_or_else(|| wrong(format!("\"{}\" is no port", clean(port))))
}

impl Ssh {
    fn parse(text: &str) -> Result<Self, WrongPlace> {
        let (authority, admin) = text.split_once('/').unwrap_or((text, ""));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let (host, port) = match host.rsplit_once(':') {
            // Colons inside of brackets are the address's.
            Some((host, port)) if !port.ends_with(']') => (host, Some(port_of(port)?)),
            _ => (host, None),
        };
        let host = bare_host(host)?;
        let is_name = |user: &&str| {
            let known =
                |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | '+');
            !user.is_empty() && !user.starts_with('-') && user.chars().all(known)
        };
        let destination = match user {
            Some(user) if !is_name(&user) => return Err(wrong(format!("\"{}\" is no user", clean(user)))),
            Some(user) => format!("{user}@{host}"),
            None => host,
        };
        Ok(Self { destination, port, admin: Far::parse(admin)? })
    }
}

impl Far {
    fn parse(text: &str) -> Result<Self, WrongPlace> {
        if text.is_empty() {
            return Address::parse(USUAL).map(Self::Tcp);
        }
        let path = text.strip_prefix("unix:");
        let Some(path) = path.or_else(|| text.contains('/').then_some(text)) else {
            return Address::parse(text).map(Self::Tcp);
        };
        // ssh takes a colon for the end of the path.
        if path.contains(|letter: char| letter == ':' || letter.is_control()) {
            return Err(wrong(format!("\"{}\" is no path that ssh leads to", clean(path))));
        }
        Ok(Self::Unix(format!("/{}", path.trim_start_matches('/'))))
    }
}

impl Place {
    /// The name that requests are sent to. A Unix socket has none that would be looked at.
    pub(crate) fn host(&self) -> String {
        match self {
            Self::Tcp(address) | Self::Ssh(Ssh { admin: Far::Tcp(address), .. }) => address.to_string(),
            Self::Unix(_) | Self::Ssh(_) => "localhost".to_owned(),
        }
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::Tcp(Address { host: "127.0.0.1".to_owned(), port: 9090 })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "http://{address}"),
            Self::Unix(path) => write!(f, "unix:{}", clean(&path.to_string_lossy())),
            Self::Ssh(Ssh { destination, port, admin }) => {
                write!(f, "ssh://{destination}")?;
                if let Some(port) = port {
                    write!(f, ":{port}")?;
                }
                match admin {
                    Far::Tcp(address) => write!(f, "/{address}"),
                    Far::Unix(path) => f.write_str(path),
                }
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(text: &str) -> String {
        let place: Place = text.parse().unwrap();
        assert_eq!(place.to_string().parse(), Ok(place.clone()), "{place} is read as it is written");
        place.to_string()
    }

    #[test]
    fn places_are_read_as_users_write_them() {
        for (text, expected) in [
            ("http://127.0.0.1:9090", "http://127.0.0.1:9090"),
            ("http://gate.internal:9090/", "http://gate.internal:9090"),
            ("[::1]:90", "http://[::1]:90"),
            ("unix:/run/headworks/admin.sock", "unix:/run/headworks/admin.sock"),
            ("unix:///run/admin.sock", "unix:/run/admin.sock"),
            ("ssh://shop", "ssh://shop/127.0.0.1:9090"),
            ("ssh://ops@shop:2222/10.0.0.1:9999", "ssh://ops@shop:2222/10.0.0.1:9999"),
            ("ssh://shop/run/headworks/admin.sock", "ssh://shop/run/headworks/admin.sock"),
            ("ssh://shop/unix:/admin.sock", "ssh://shop/admin.sock"),
        ] {
            if expected == "ssh://shop/admin.sock" {
                assert_eq!(text.parse::<Place>().unwrap().to_string(), expected);
            } else {
                assert_eq!(read(text), expected);
            }
        }
        assert_eq!(Place::default(), USUAL.parse().unwrap());
    }

    #[test]
    fn what_is_no_place_is_told_with_how_to_say_one() {
        for (text, part) in [
            ("", "has no port"),
            ("gate", "has no port"),
            ("gate:0", "\"0\" is no port"),
            ("gate:65536", "is no port"),
            ("https://gate:1", "ssh:// leads to it"),
            ("http://gate:1/console", "no path"),
            ("http://ops:secret@gate:1", "does not belong on the command line"),
            ("ftp://gate:1", "nothing that can be asked"),
            ("/run/admin.sock", "is unix:/run/admin.sock meant?"),
            ("unix:", "no path"),
            ("ssh://", "\"\" is no host"),
            ("ssh://-oProxyCommand=x", "is no host"),
            ("ssh://-l@shop", "is no user"),
            ("ssh://shop/run/a:b", "no path that ssh leads to"),
            ("ssh://shop:x", "is no port"),
            ("a\u{1b}[2J:1", "\"a\u{fffd}[2J\" is no host"),
        ] {
            let why = text.parse::<Place>().unwrap_err().to_string();
            assert!(why.contains(part) && why.contains("ssh://[USER@]HOST"), "{text}: {why}");
        }
    }
}
