//! The session of a request, in the class that it has by now.

use std::net::IpAddr;

use http::request::Parts;

use crate::admission::decision::Basis;
use crate::clients::peer::ServerName;
use crate::dispatch::active_config::ActiveConfig;
use crate::dispatch::proxy::Proxy;
use crate::session::current::CurrentSession;
use gate_config::rules::subject::{Facts, Subject};

/// The session that a request says it belongs to, if it is true.
pub(crate) fn current_session(
    proxy: &Proxy,
    config: &ActiveConfig,
    head: &Parts,
    address: IpAddr,
) -> Option<CurrentSession> {
    let now = proxy.clock.last();
    let mut current = config.sessions.find(&head.headers, now)?;
    if let Some(class) = proxy.overrides.get(current.session.id, now) {
        // The operator has the last word: the class may also be a lower one.
        current.write |= current.session.class != class;
        current.session.raised |= class < current.session.class;
        current.session.class = class;
        current.basis = Basis::Operator;
    } else if config.settings.rules.can_raise() {
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
        if let Some((rule, class)) = config.settings.rules.raise(subject, session.class) {
            current.write |= current.session.raise(class);
            current.basis = Basis::Raise(rule);
        }
    }
    Some(current)
}
