//! `GET /console`: the operator's console, and what clients see that are not served.

use bytes::Bytes;
use http::header::{CONTENT_SECURITY_POLICY, LOCATION};
use http::request::Parts;
use http::{HeaderValue, StatusCode};

use crate::admin::answer::{Answer, error, page};
use crate::dispatch::refusal_page::{Facts, fill};
use crate::process::gate::Gate;
use gate_config::settings::reject::Words;
use policy::{Ticket, Told, Visit};
use units::{SessionId, Span, Time};

const HTML: &str = "text/html; charset=utf-8";

/// The page itself.
pub(super) fn console(gate: &Gate, head: &Parts) -> Answer {
    match &gate.console {
        Some(console) => {
            let (parts, body) = console.answer(head).into_parts();
            let mut answer = page(HTML, body);
            answer.headers_mut().extend(parts.headers);
            answer
        }
        None => error(StatusCode::NOT_FOUND, "this gate has no console; start it with `headworks gate`"),
    }
}

/// Where the console is.
pub(super) fn way() -> Answer {
    let mut answer = page("text/plain", "the console is at /console\n");
    *answer.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    answer.headers_mut().insert(LOCATION, HeaderValue::from_static("/console"));
    answer
}

/// What a visitor is shown who has to wait: with a made-up place.
pub(super) fn waiting_room(gate: &Gate) -> Answer {
    let config = gate.config();
    let Some(room) = &config.settings.waiting_room else {
        return error(
            StatusCode::NOT_FOUND,
            "there is no waiting room; see [waiting-room] in the configuration",
        );
    };
    let told = Told { at: Time::ZERO, place: 17, seconds: 9 };
    let visit = Visit { told: Some(told), ..Visit::begin(SessionId(0), Time::ZERO) };
    let wait = Some(Span::from_secs(200));
    let ticket = Ticket { visit, place: 17, seconds: 9, wait, waiting: 41 };
    preview(fill(&room.page, Facts { seconds: 9, waiting: 41, repeatable: false, ticket: Some(&ticket) }))
}

/// What a client is shown that is refused.
pub(super) fn refusal(gate: &Gate) -> Answer {
    match &gate.config().settings.reject.words {
        Words::Prepared(page) => {
            preview(fill(page, Facts { seconds: 9, waiting: 41, repeatable: false, ticket: None }))
        }
        Words::Own(..) => {
            error(StatusCode::NOT_FOUND, "refused clients are told in words of the configuration's own")
        }
    }
}

fn preview(body: Bytes) -> Answer {
    let mut answer = page(HTML, body);
    // It is an operator's text, and shown beside what changes the gate.
    let allowed =
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";
    answer.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(allowed));
    answer
}
