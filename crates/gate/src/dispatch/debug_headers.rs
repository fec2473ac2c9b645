//! Explain mode: headers on a response that say what was decided about the request, and why.

use std::net::IpAddr;

use http::{HeaderName, HeaderValue, Response};
use units::SessionId;

use crate::admission::decision::DecisionDetails;
use gate_config::settings::explain::Explain;

const CLASS: HeaderName = HeaderName::from_static("headworks-class");
const RULE: HeaderName = HeaderName::from_static("headworks-rule");
const DECISION: HeaderName = HeaderName::from_static("headworks-decision");
const SESSION: HeaderName = HeaderName::from_static("headworks-session");

/// Explains a decision to a client, if it is one of those.
pub(crate) fn mark<B>(
    explain: &Explain,
    response: &mut Response<B>,
    classes: &[String],
    client: IpAddr,
    details: &DecisionDetails,
    session: Option<SessionId>,
) {
    if !explain.includes(client) {
        return;
    }
    let class = details.class.and_then(|class| classes.get(class.index()));
    let decision = match details.refused {
        None => "dispatched".to_owned(),
        Some(reason) => format!("refused, {}", reason.name()),
    };
    let session = session.map(|session| format!("{:016x}", session.0));
    let lines = [
        (CLASS, class.cloned()),
        (RULE, Some(details.basis.to_string())),
        (DECISION, Some(decision)),
        (SESSION, session),
    ];
    for (name, value) in lines {
        // Names of classes were checked; the rest is ours.
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            response.headers_mut().insert(name, value);
        }
    }
}
