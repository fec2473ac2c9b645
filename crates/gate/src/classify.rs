//! Classification: which class a new session belongs to (Web2K section 2).
//!
//! Rules are tried in order and the first whose conditions all hold decides; a request that no
//! rule names is of the last class. Every condition takes several patterns, one of which must
//! match.

use std::net::IpAddr;

use http::header::{HOST, HeaderName};
use http::{HeaderMap, Method, Uri};
use ipnet::IpNet;
use units::ClassId;

use crate::cookie;

/// What classification looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) address: IpAddr,
}

/// All rules, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules(pub(crate) Vec<Rule>);

/// One rule.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) class: ClassId,
    pub(crate) conditions: Vec<Condition>,
}

/// One condition of a rule, met when any of its patterns matches.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    Host(Vec<Glob>),
    Path(Vec<PathPattern>),
    Header(Vec<(HeaderName, Option<Glob>)>),
    Cookie(Vec<(String, Option<Glob>)>),
    Address(Vec<IpNet>),
    Method(Vec<Method>),
}

/// A path: everything below a prefix, or a glob.
#[derive(Debug, Clone)]
pub(crate) enum PathPattern {
    Prefix(String),
    Glob(Glob),
}

/// A pattern of bytes in which `*` stands for any run of them and `?` for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob(pub(crate) String);

impl Rules {
    /// The class of the first rule that matches.
    pub(crate) fn classify(&self, subject: Subject<'_>) -> Option<ClassId> {
        self.find(subject).map(|(_, class)| class)
    }

    /// The same, with the rule's position.
    pub(crate) fn find(&self, subject: Subject<'_>) -> Option<(usize, ClassId)> {
        let mut rules = self.0.iter().enumerate();
        rules.find(|(_, rule)| rule.matches(subject)).map(|(index, rule)| (index, rule.class))
    }
}

impl Rule {
    fn matches(&self, subject: Subject<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.holds(subject))
    }
}

impl Condition {
    fn holds(&self, subject: Subject<'_>) -> bool {
        match self {
            Self::Host(globs) => host(subject).is_some_and(|host| {
                let host = host.to_ascii_lowercase();
                globs.iter().any(|glob| glob.matches(host.as_bytes()))
            }),
            Self::Path(patterns) => patterns.iter().any(|pattern| pattern.matches(subject.uri.path())),
            Self::Header(headers) => headers.iter().any(|(name, value)| {
                let mut lines = subject.headers.get_all(name).iter();
                lines.any(|line| value.as_ref().is_none_or(|glob| glob.matches(line.as_bytes())))
            }),
            Self::Cookie(cookies) => cookies.iter().any(|(name, value)| {
                let found = cookie::find(subject.headers, name.as_bytes());
                found.is_some_and(|found| value.as_ref().is_none_or(|glob| glob.matches(found)))
            }),
            Self::Address(nets) => {
                // A v4 client of a v6 socket is still the client at that v4 address.
                let address = subject.address.to_canonical();
                nets.iter().any(|net| net.contains(&address))
            }
            Self::Method(methods) => methods.contains(subject.method),
        }
    }
}

/// The host asked for, without the port: of the target if it has one (RFC 9112 section 3.2.2).
fn host(subject: Subject<'_>) -> Option<&str> {
    if let Some(host) = subject.uri.host() {
        return Some(host);
    }
    let host = subject.headers.get(HOST)?.to_str().ok()?;
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(name),
        _ => Some(host),
    }
}

impl PathPattern {
    pub(crate) fn new(text: &str) -> Self {
        if text.contains(['*', '?']) {
            Self::Glob(Glob(text.to_owned()))
        } else {
            Self::Prefix(text.to_owned())
        }
    }

    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Prefix(prefix) => path.starts_with(prefix.as_str()),
            Self::Glob(glob) => glob.matches(path.as_bytes()),
        }
    }
}

impl Glob {
    /// Linear but for the last star, which alone needs to be tried again further on.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        let pattern = self.0.as_bytes();
        let (mut at, mut seen) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while seen < text.len() {
            match pattern.get(at) {
                Some(b'*') => {
                    star = Some((at + 1, seen));
                    at += 1;
                }
                Some(byte) if *byte == b'?' || *byte == text[seen] => {
                    at += 1;
                    seen += 1;
                }
                _ => {
                    let Some((after, swallowed)) = star else { return false };
                    (at, seen) = (after, swallowed + 1);
                    star = Some((after, seen));
                }
            }
        }
        pattern[at..].iter().all(|byte| *byte == b'*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderValue, Request};

    #[test]
    fn globs() {
        for (glob, text, matches) in [
            ("*.php", "/shop/buy.php", true),
            ("*.php", "/shop/buy.php5", false),
            ("/a/*/c", "/a/b/b/c", true),
            ("/a/*/c", "/a/c", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("", "", true),
            ("", "x", false),
            ("*", "", true),
        ] {
            assert_eq!(Glob(glob.to_owned()).matches(text.as_bytes()), matches, "{glob} on {text}");
        }
    }

    #[track_caller]
    fn check(condition: Condition, expected: bool) {
        let request = Request::get("/checkout/pay?x=1")
            .header(HOST, "Shop.Example.com:8080")
            .header("x-tier", "gold")
            .header("cookie", "a=1; tier=premium")
            .body(())
            .unwrap();
        let subject = Subject {
            method: request.method(),
            uri: request.uri(),
            headers: request.headers(),
            address: "::ffff:10.1.2.3".parse().unwrap(),
        };
        let rules = Rules(vec![Rule { class: ClassId(0), conditions: vec![condition.clone()] }]);
        assert_eq!(rules.classify(subject).is_some(), expected, "{condition:?}");
    }

    #[test]
    fn each_condition_sees_its_part_of_the_request() {
        let glob = |text: &str| Glob(text.to_owned());
        check(Condition::Host(vec![glob("shop.example.com")]), true);
        check(Condition::Host(vec![glob("*.example.com")]), true);
        check(Condition::Host(vec![glob("example.com")]), false);
        check(Condition::Path(vec![PathPattern::new("/checkout/")]), true);
        check(Condition::Path(vec![PathPattern::new("/check*/p?y")]), true);
        check(Condition::Path(vec![PathPattern::new("/pay")]), false);
        let header = HeaderName::from_static("x-tier");
        check(Condition::Header(vec![(header.clone(), None)]), true);
        check(Condition::Header(vec![(header.clone(), Some(glob("g*")))]), true);
        check(Condition::Header(vec![(header, Some(glob("silver")))]), false);
        check(Condition::Cookie(vec![("tier".to_owned(), Some(glob("premium")))]), true);
        check(Condition::Cookie(vec![("tier".to_owned(), Some(glob("basic")))]), false);
        check(Condition::Cookie(vec![("b".to_owned(), None), ("a".to_owned(), None)]), true);
        check(Condition::Address(vec!["10.0.0.0/8".parse().unwrap()]), true);
        check(Condition::Address(vec!["11.0.0.0/8".parse().unwrap(), "::/0".parse().unwrap()]), false);
        check(Condition::Method(vec![Method::POST, Method::GET]), true);
        check(Condition::Method(vec![Method::POST]), false);
    }

    #[test]
    fn all_conditions_of_a_rule_must_hold_and_the_first_rule_wins() {
        let rule = |class, conditions| Rule { class: ClassId(class), conditions };
        let get = Condition::Method(vec![Method::GET]);
        let post = Condition::Method(vec![Method::POST]);
        let rules =
            Rules(vec![rule(0, vec![get.clone(), post]), rule(1, vec![get.clone()]), rule(2, vec![get])]);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("h"));
        let uri = Uri::from_static("/");
        let subject =
            |method| Subject { method, uri: &uri, headers: &headers, address: [127, 0, 0, 1].into() };
        assert_eq!(rules.classify(subject(&Method::GET)), Some(ClassId(1)));
        assert_eq!(rules.classify(subject(&Method::PUT)), None);
    }
}
