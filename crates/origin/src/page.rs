//! What the server has: from a request's target to the content behind it.

use units::Span;

use crate::delay::{self, Delay};
use crate::limits::{MAX_BODY, MAX_BURN};

/// A page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    Home,
    Health,
    Bytes(u64),
    Burn(Span),
    Delay(Delay),
}

/// Why a target names no page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPage {
    /// No such path.
    NotFound,
    /// The path is right and what follows it is not: what it should be.
    Malformed(&'static str),
}

impl Page {
    /// The page that `target` names.
    pub(crate) fn at(target: &str) -> Result<Self, NoPage> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match path {
            "/" => Ok(Self::Home),
            "/healthz" => Ok(Self::Health),
            "/burn" => burn(query),
            "/delay" => Delay::parse(query).map(Self::Delay).ok_or(NoPage::Malformed(delay::EXPECTED)),
            _ => path.strip_prefix("/bytes/").ok_or(NoPage::NotFound).and_then(bytes),
        }
    }
}

fn bytes(length: &str) -> Result<Page, NoPage> {
    match length.parse() {
        Ok(length) if length <= MAX_BODY => Ok(Page::Bytes(length)),
        _ => Err(NoPage::Malformed("/bytes/N gives N bytes, from 0 to 1073741824\n")),
    }
}

/// Other parameters are let pass: clients add them to tell requests apart.
fn burn(query: &str) -> Result<Page, NoPage> {
    let cost = query.split('&').find_map(|parameter| parameter.strip_prefix("cpu="));
    match cost.and_then(|cost| cost.parse().ok()) {
        Some(cost) if cost <= MAX_BURN => Ok(Page::Burn(cost)),
        _ => Err(NoPage::Malformed("/burn?cpu=25ms burns 25 ms of CPU time; at most 10s\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_name_pages() {
        for (target, page) in [
            ("/", Page::Home),
            ("/?utm=1", Page::Home),
            ("/healthz", Page::Health),
            ("/bytes/0", Page::Bytes(0)),
            ("/bytes/1073741824", Page::Bytes(MAX_BODY)),
            ("/burn?cpu=25ms", Page::Burn(Span::from_millis(25))),
            ("/burn?x=1&cpu=1.5ms&y", Page::Burn(Span::from_micros(1500))),
            ("/delay?x=1", Page::Delay(Delay { before: Span::ZERO, bytes: 0, pace: delay::Pace::AT_ONCE })),
        ] {
            assert_eq!(Page::at(target), Ok(page), "{target}");
        }
    }

    #[test]
    fn what_is_asked_wrongly_is_not_what_is_missing() {
        for target in [
            "/burn",
            "/burn?cpu=",
            "/burn?cpu=fast",
            "/burn?cpu=11s",
            "/delay?before=2h",
            "/bytes/",
            "/bytes/-1",
            "/bytes/1073741825",
        ] {
            assert!(matches!(Page::at(target), Err(NoPage::Malformed(_))), "{target}");
        }
        for target in ["", "*", "/bytes", "/healthz/", "/Burn?cpu=1ms", "//"] {
            assert_eq!(Page::at(target), Err(NoPage::NotFound), "{target}");
        }
    }
}
