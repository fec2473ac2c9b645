//! The session of a request, in the class that it has by now.

use std::net::IpAddr;

use http::request::Parts;

use crate::admission::decision::Basis;
use crate::clients::peer::ServerName;
use crate::dispatch::proxy::Proxy;
use crate::dispatch::snapshot::Live;
use crate::session::visit::Visit;
use gate_config::rules::subject::{Facts, Subject};

/// The session that a request says it belongs to, if it is true.
pub(crate) fn visit(proxy: &Proxy, live: &Live, head: &Parts, address: IpAddr) -> Option<Visit> {
    let now = proxy.clock.last();
    let mut visit = live.sessions.find(&head.headers, now)?;
    if let Some(class) = proxy.overrides.get(visit.session.id, now) {
        // The operator has the last word: the class may also be a lower one.
        visit.write |= visit.session.class != class;
        visit.session.raised |= class < visit.session.class;
        visit.session.class = class;
        visit.basis = Basis::Operator;
    } else if live.settings.rules.can_raise() {
        let session = visit.session;
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
        if let Some((rule, class)) = live.settings.rules.raise(subject, session.class) {
            visit.write |= visit.session.raise(class);
            visit.basis = Basis::Raise(rule);
        }
    }
    Some(visit)
}
