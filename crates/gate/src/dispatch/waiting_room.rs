//! What a visitor is told who has to wait: the place, about how long, and when to come back.

use bytes::Bytes;
use http::header::ACCEPT;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use policy::Ticket;

use crate::dispatch::refusal_page::{self, Facts, fill};
use crate::dispatch::turn;
use gate_config::settings::page::{Form, Template};

/// What a visitor is told, and its media type. `token` proves the place.
pub(crate) fn words(
    page: &Template,
    status: StatusCode,
    request: Option<&Parts>,
    ticket: &Ticket,
    token: &str,
) -> (Bytes, HeaderValue) {
    let accept = request.map(|request| request.headers.get_all(ACCEPT));
    let form = refusal_page::form(accept.into_iter().flatten());
    let body = match form {
        Form::Page => {
            let repeatable = request.is_some_and(|request| refusal_page::is_repeatable(&request.method));
            let (seconds, waiting) = (u32::from(ticket.seconds), ticket.waiting as usize);
            fill(page, Facts { seconds, waiting, repeatable, ticket: Some(ticket) })
        }
        Form::Problem => problem(status, ticket, token),
        Form::Text => text(ticket),
    };
    (body, HeaderValue::from_static(form.content_type()))
}

/// Problem details (RFC 9457).
fn problem(status: StatusCode, ticket: &Ticket, token: &str) -> Bytes {
    let problem = serde_json::json!({
        "type": "about:blank",
        "title": status.canonical_reason().unwrap_or("Refused"),
        "status": status.as_u16(),
        "detail": "more visitors than can be served just now; they are let in in the order in which they came",
        "retry_after": ticket.seconds,
        "place": ticket.place,
        "waiting": ticket.waiting,
        "wait": ticket.wait.map(|wait| wait.as_secs_f64().round()),
        "place_token": token,
    });
    Bytes::from(problem.to_string() + "\n")
}

fn text(ticket: &Ticket) -> Bytes {
    let Ticket { place, seconds, .. } = ticket;
    Bytes::from(format!(
        "You are in line: your number is {place}, your turn {}. Please come back in {seconds} seconds, with the \
         cookie or the header Headworks-Place of this response.\n",
        turn::time(ticket.wait)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gate_config::settings::waiting_room::{PAGE, PLACEHOLDERS};
    use policy::{Told, Visit};
    use units::{SessionId, Span, Time};

    fn ticket(wait: Option<u64>) -> Ticket {
        let told = Some(Told { at: Time::ZERO, place: 17, seconds: 9 });
        let visit = Visit { told, ..Visit::begin(SessionId(1), Time::ZERO) };
        Ticket { visit, place: 17, seconds: 9, wait: wait.map(Span::from_secs), waiting: 41 }
    }

    #[test]
    fn the_page_of_the_house_says_place_and_time() {
        let (head, ()) = http::Request::get("/").header(ACCEPT, "text/html").body(()).unwrap().into_parts();
        let page = Template::new(PAGE, &PLACEHOLDERS).unwrap();
        let (body, _) =
            words(&page, StatusCode::SERVICE_UNAVAILABLE, Some(&head), &ticket(Some(200)), "token");
        let page = std::str::from_utf8(&body).unwrap();
        for part in ["content=\"9\"", "<dd>17</dd>", "<dd>in about 4 minutes</dd>", "in 9 seconds"] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(!page.contains("{{") && !page.contains("http://") && !page.contains("<script"));
    }

    #[test]
    fn programs_are_told_in_numbers() {
        let (mut head, ()) = http::Request::post("/").body(()).unwrap().into_parts();
        head.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let page = Template::new("{{place}} {{minutes}} {{refresh}}", &PLACEHOLDERS).unwrap();
        let told =
            |head: &Parts| words(&page, StatusCode::TOO_MANY_REQUESTS, Some(head), &ticket(None), "token").0;
        let problem: serde_json::Value = serde_json::from_slice(&told(&head)).unwrap();
        for (name, value) in [
            ("place", 17.into()),
            ("retry_after", 9.into()),
            ("status", 429.into()),
            ("wait", serde_json::Value::Null),
            ("place_token", "token".into()),
        ] {
            assert_eq!(problem[name], value, "{name}");
        }
        // A form is not sent again, and what is not known is not made up.
        head.headers.insert(ACCEPT, HeaderValue::from_static("text/html"));
        assert_eq!(told(&head), "17 ? ");
        head.headers.clear();
        assert!(told(&head).starts_with(b"You are in line: your number is 17,"));
    }
}
