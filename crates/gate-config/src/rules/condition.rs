//! [`Condition`]: one thing that a rule asks of a request.

use http::Method;
use http::header::HeaderName;
use ipnet::IpNet;

use crate::rules::expression::condition::Expression;
use crate::rules::glob::Glob;
use crate::rules::subject::View;

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
