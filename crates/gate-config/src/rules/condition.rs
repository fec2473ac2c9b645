//! [`Condition`]: one thing that a rule asks of a request.

use std::fmt;

use http::header::HeaderName;
use http::{Method, StatusCode};
use ipnet::IpNet;

use crate::rules::expression::condition::Expression;
use crate::rules::subject::View;
use config::Glob;

/// One condition of a rule, met when any of its patterns matches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    Host(Vec<Glob>),
    Path(Vec<PathPattern>),
    Query(Vec<(String, Option<Glob>)>),
    Header(Vec<(HeaderName, Option<Glob>)>),
    Cookie(Vec<(String, Option<Glob>)>),
    Address(Vec<IpNet>),
    ServerName(Vec<Glob>),
    Method(Vec<Method>),
    When(Expression),
    /// Of the response, so that it is not met by a request.
    Status(Vec<Statuses>),
}

/// One status, or all that begin with a digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statuses {
    One(StatusCode),
    /// `2xx`: of that first digit.
    Class(u16),
}

impl Statuses {
    /// `200` or `2xx`. Interim responses (1xx) are not what becomes of a request.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let status = match text.strip_suffix("xx") {
            Some(first) => Self::Class(first.parse().ok()?),
            None => Self::One(StatusCode::from_bytes(text.as_bytes()).ok()?),
        };
        (2..=5).contains(&status.first_digit()).then_some(status)
    }

    fn first_digit(self) -> u16 {
        match self {
            Self::One(status) => status.as_u16() / 100,
            Self::Class(first) => first,
        }
    }

    pub(super) fn includes(self, status: StatusCode) -> bool {
        match self {
            Self::One(one) => one == status,
            Self::Class(first) => status.as_u16() / 100 == first,
        }
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(status) => write!(f, "{}", status.as_u16()),
            Self::Class(first) => write!(f, "{first}xx"),
        }
    }
}

/// A path: everything below a prefix, or a glob.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PathPattern {
    Prefix(String),
    Glob(Glob),
}

impl Condition {
    pub(super) fn holds(&self, view: &View<'_>) -> bool {
        let subject = view.subject;
        match self {
            Self::Host(globs) => {
                view.host().is_some_and(|host| globs.iter().any(|glob| glob.matches(host.as_bytes())))
            }
            Self::Path(patterns) => patterns.iter().any(|pattern| pattern.matches(subject.uri.path())),
            Self::Query(parameters) => parameters.iter().any(|(name, value)| {
                let mut found = view.parameter(name.as_bytes());
                found.any(|found| value.as_ref().is_none_or(|glob| glob.matches(found)))
            }),
            Self::Header(headers) => headers.iter().any(|(name, value)| {
                let mut lines = subject.headers.get_all(name).iter();
                lines.any(|line| value.as_ref().is_none_or(|glob| glob.matches(line.as_bytes())))
            }),
            Self::Cookie(cookies) => cookies.iter().any(|(name, value)| {
                let found = view.cookie(name.as_bytes());
                found.is_some_and(|found| value.as_ref().is_none_or(|glob| glob.matches(found)))
            }),
            Self::ServerName(globs) => {
                subject.server_name.is_some_and(|name| globs.iter().any(|glob| glob.matches(name.as_bytes())))
            }
            Self::Address(nets) => {
                let address = view.address();
                nets.iter().any(|net| net.contains(&address))
            }
            Self::Method(methods) => methods.contains(subject.method),
            Self::When(expression) => expression.holds(view),
            Self::Status(_) => false,
        }
    }

    /// Whether it is about who asks, which may change while a session lasts: by logging in, for instance.
    pub(super) fn is_of_the_client(&self) -> bool {
        match self {
            Self::Header(_) | Self::Cookie(_) => true,
            Self::When(expression) => expression.names_headers(),
            _ => false,
        }
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

    pub(crate) fn matches(&self, path: &str) -> bool {
        match self {
            Self::Prefix(prefix) => path.starts_with(prefix.as_str()),
            Self::Glob(glob) => glob.matches(path.as_bytes()),
        }
    }
}
