//! The session of a request, in the class that it has by now.

use std::net::IpAddr;

use http::request::Parts;
use http::{HeaderName, Response};
use http1::headers::caching::{Asked, is_shared};

use policy::Visit;
use units::ClassId;

use crate::admission::decision::{Basis, Caller};
use crate::clients::peer::ServerName;
use crate::dispatch::active_config::ActiveConfig;
use crate::dispatch::proxy::Proxy;
use crate::session::current::CurrentSession;
use gate_config::rules::subject::{Facts, Subject};

/// Who asks, by a request that says nothing of the session that its connection has: the rules look at it as at a stranger's, which may be of
/// a higher class.
pub(crate) fn as_asked(config: &ActiveConfig, head: &Parts, address: IpAddr, told: Caller) -> Caller {
    let Caller::Known(mut known) = told else { return told };
    let Parts { method, uri, headers, .. } = head;
    let server_name = ServerName::of(head);
    let subject = Subject { method, uri, headers, address, server_name, session: None };
    if let Some((rule, class)) = config.settings.rules.find(subject)
        && class < known.session.class
    {
        (known.session.class, known.basis) = (class, Basis::Rule(rule));
    }
    Caller::Known(known)
}

/// By this header of a response the back-end raises the class of the session (Web2K section 2).
pub(super) const HEADWORKS_CLASS: HeaderName = HeaderName::from_static("headworks-class");

/// The session that a request says it belongs to, if it is true.
pub(crate) fn current_session(
    proxy: &Proxy,
    config: &ActiveConfig,
    head: &Parts,
    address: IpAddr,
) -> Option<CurrentSession> {
    if !config.settings.has_sessions() {
        return None;
    }
    let now = proxy.clock.last();
    let mut current = config.sessions.find(&head.headers, now)?;
    if let Some(class) = proxy.overrides.get(current.session.id, now) {
        // The operator has the last word: the class may also be a lower one.
        current.write |= current.session.class != class;
        current.session.raised |= class < current.session.class;
        current.session.class = class;
        current.basis = Basis::Operator;
        return Some(current);
    }
    if let Some(class) = proxy.found.get(current.session.id, now) {
        if current.session.promote(class) {
            current.write = true;
        } else {
            proxy.found.unset(current.session.id, now);
        }
    }
    if let Some(class) = proxy.raised.get(current.session.id, now) {
        if current.session.raise(class) {
            current.write = true;
            current.basis = Basis::Raised;
        } else {
            // The client has been told.
            proxy.raised.unset(current.session.id, now);
        }
    }
    if config.settings.rules.can_change() {
        let session = current.session;
        let class = proxy.classes.get(session.class.index()).map_or("", String::as_str);
        let facts = Facts { class, age: now.since(session.issued), raised: session.raised };
        let Parts { method, uri, headers, .. } = head;
        let subject = Subject {
            method,
            uri,
            headers,
            address,
            server_name: ServerName::of(head),
            session: Some(facts),
        };
        let rules = &config.settings.rules;
        if let Some((rule, class)) = rules.find_again(subject, session.class) {
            let promoted = current.session.promote(class);
            if promoted {
                proxy.raises.count(false);
            }
            current.write |= promoted;
            current.basis = Basis::Rule(rule);
        }
        if let Some((rule, class)) = rules.raise(subject, current.session.class) {
            current.write |= current.session.raise(class);
            current.basis = Basis::Raise(rule);
        }
        current.raises = rules.raises_by_status(subject, current.session.class);
    }
    Some(current)
}

/// Who asks. With a waiting room every client without a session is a visitor, but for paths whose responses begin no
/// session: to wait for one of those would lead nowhere.
pub(crate) fn caller(
    proxy: &Proxy,
    config: &ActiveConfig,
    head: &Parts,
    current: Option<&CurrentSession>,
) -> Caller {
    let now = proxy.clock.last();
    match current {
        Some(current) => Caller::Known(current.known(now)),
        None if config.settings.waiting_room.is_none() => Caller::Stranger,
        None if config.settings.session.excepts(head.uri.path()) => Caller::Stranger,
        None => Caller::Visitor(config.sessions.visit(&head.headers, now)),
    }
}

/// Whether a response may carry a session's cookie.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cookie {
    /// There is nothing to write, or nothing may be written.
    Never,
    /// The session's cookie is as it should be.
    Written,
    /// One is to be written, unless a shared cache may keep the response.
    Wanted(Asked),
}

impl Cookie {
    /// What holds of a request's response.
    pub(crate) fn of(config: &ActiveConfig, head: &Parts, current: Option<&CurrentSession>) -> Self {
        match current {
            Some(current) if !current.write => Self::Written,
            None if !config.settings.has_sessions() => Self::Never,
            _ if config.settings.session.excepts(head.uri.path()) => Self::Never,
            _ => Self::Wanted(Asked::of(&head.method, &head.headers)),
        }
    }

    /// The session of a request, now that its response is there: one begins, if the client can be told so. If
    /// not, the response goes on as it is, and the session begins with the next one that can say so.
    pub(crate) fn with<B>(
        self,
        proxy: &Proxy,
        current: Option<CurrentSession>,
        response: &Response<B>,
        (class, visit): (Option<ClassId>, Option<Visit>),
    ) -> Option<CurrentSession> {
        match self.fits(response) {
            false => current.map(CurrentSession::unwritten),
            true => current.or_else(|| Some(proxy.begin_session(class, visit))),
        }
    }

    /// Whether the session is told to the client in this response, or has been before. By a class that it
    /// names, a server says that the response is one client's own.
    fn fits<B>(self, response: &Response<B>) -> bool {
        match self {
            Self::Never => false,
            Self::Written => true,
            Self::Wanted(asked) => {
                let headers = response.headers();
                headers.contains_key(HEADWORKS_CLASS) || !is_shared(asked, response.status(), headers)
            }
        }
    }
}
