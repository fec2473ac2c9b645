//! [`fold`]: a redirect and the request that followed it are one request of a run with `--follow`.

use super::super::draft::Notes;
use super::exchange::{Exchange, Url};
use crate::url::is_redirect;

/// Puts redirects to `origin`, and what follows them, together.
pub(super) fn fold(all: Vec<Exchange>, origin: &str, notes: &mut Notes) -> Vec<Exchange> {
    let mut waiting: Vec<Option<Exchange>> = all.into_iter().map(Some).collect();
    let mut folded = Vec::with_capacity(waiting.len());
    for number in 0..waiting.len() {
        let Some(mut exchange) = waiting[number].take() else { continue };
        while let Some(target) = redirect(&exchange) {
            if target.origin() != origin {
                let path = &exchange.url.path;
                notes.say(format!(
                    "{} {path} redirects to {}: without --follow it is a response like others, with it an error",
                    exchange.method,
                    target.origin()
                ));
                break;
            }
            let is_next = |other: &Option<Exchange>| {
                other.as_ref().is_some_and(|other| other.url == target && other.begin >= exchange.begin)
            };
            let Some(next) = waiting.iter_mut().skip(number).find(|other| is_next(other)) else { break };
            let Some(mut next) = next.take() else { break };
            let cookies = exchange.response.headers.drain(..);
            next.response
                .headers
                .extend(cookies.filter(|field| field.name.eq_ignore_ascii_case("set-cookie")));
            exchange.response = next.response;
            exchange.end = exchange.end.max(next.end);
            exchange.redirects += 1;
            exchange.landed = next.url;
        }
        folded.push(exchange);
    }
    folded
}

/// Where a response leads that the generator would follow.
fn redirect(exchange: &Exchange) -> Option<Url> {
    let response = &exchange.response;
    let follows = is_redirect(response.status);
    response.location.as_deref().filter(|_| follows).map(|location| exchange.landed.join(location))
}
