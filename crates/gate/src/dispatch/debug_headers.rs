//! Explain mode: headers on a response that say what was decided about the request, and why.

use std::fmt;
use std::net::IpAddr;

use http::{HeaderName, HeaderValue, Response};
use ipnet::IpNet;
use units::SessionId;

use crate::admission::decision::Verdict;

const CLASS: HeaderName = HeaderName::from_static("headworks-class");
const RULE: HeaderName = HeaderName::from_static("headworks-rule");
const DECISION: HeaderName = HeaderName::from_static("headworks-decision");
const SESSION: HeaderName = HeaderName::from_static("headworks-session");

/// To whom decisions are explained.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Explain {
    /// Nobody: what a client knows of the rules, it can play with.
    #[default]
    Off,
    /// Everybody.
    On,
    /// Clients from these networks.
    To(Vec<IpNet>),
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::On => f.write_str("on"),
            Self::To(nets) => {
                let nets: Vec<String> = nets.iter().map(ToString::to_string).collect();
                f.write_str(&nets.join(", "))
            }
        }
    }
}

impl Explain {
    fn includes(&self, address: IpAddr) -> bool {
        match self {
            Self::Off => false,
            Self::On => true,
            Self::To(nets) => {
                let address = address.to_canonical();
                nets.iter().any(|net| net.contains(&address))
            }
        }
    }

    /// Explains a decision to a client, if it is one of those.
    pub(crate) fn mark<B>(
        &self,
        response: &mut Response<B>,
        classes: &[String],
        client: IpAddr,
        verdict: &Verdict,
        session: Option<SessionId>,
    ) {
        if !self.includes(client) {
            return;
        }
        let class = verdict.class.and_then(|class| classes.get(class.index()));
        let decision = match verdict.refused {
            None => "dispatched".to_owned(),
            Some(reason) => format!("refused, {}", reason.name()),
        };
        let session = session.map(|session| format!("{:016x}", session.0));
        let lines = [
            (CLASS, class.cloned()),
            (RULE, Some(verdict.basis.to_string())),
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
}
