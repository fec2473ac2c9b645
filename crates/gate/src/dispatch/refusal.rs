//! Refusals: what a client is told that cannot be served now.

use std::cell::Cell;

use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderValue, Response};
use policy::Ticket;

use crate::dispatch::refusal_page;
use crate::dispatch::refusal_page::{Facts, Said};
use crate::dispatch::response_body::{Busy, Reply};
use crate::dispatch::waiting_room;
use gate_config::settings::page::{Form, Template};
use gate_config::settings::pages::Pages;
use gate_config::settings::reject::{Close, Reject, Words};

/// Refusals, prepared as far as they can be: there are most of them when there is least time.
#[derive(Debug)]
pub(crate) struct Refusals {
    settings: Reject,
    pages: Pages,
    /// One after the other, each with the seconds it tells to wait.
    each: Vec<(u32, Said)>,
    next: Cell<usize>,
    stride: usize,
}

impl Refusals {
    pub(crate) fn new(settings: Reject, pages: Pages) -> Self {
        /// Spreading over more seconds makes no difference any more.
        const MAX_SPREAD: u32 = 1000;
        let (from, to) = settings.retry_after;
        let seconds = from..=to.min(from.saturating_add(MAX_SPREAD)).max(from);
        let each: Vec<_> = seconds.map(|seconds| (seconds, Said::default())).collect();
        Self { settings, pages, stride: stride(each.len()), each, next: Cell::new(0) }
    }

    /// A refusal; `known` when the client has a session, `waiting` how many others wait.
    pub(crate) fn refuse(
        &self,
        busy: Busy,
        request: Option<&Parts>,
        known: bool,
        waiting: usize,
    ) -> Response<Reply> {
        let (seconds, said) = self.next();
        let (body, content_type) = match (&self.settings.words, request) {
            (Words::Own(body, content_type), _) => (body.clone(), content_type.clone()),
            (Words::Prepared(template), request) => {
                let accept = request.map(|request| request.headers.get_all(ACCEPT));
                let form = refusal_page::form(accept.into_iter().flatten());
                // The page may be one with places to fill in.
                let own = match form {
                    Form::Page => None,
                    Form::Problem | Form::Text => self.pages.own(self.settings.status, form),
                };
                let body = match (own, form) {
                    (Some(own), _) => own.clone(),
                    (None, Form::Page) => {
                        let repeatable =
                            request.is_some_and(|request| refusal_page::is_repeatable(&request.method));
                        said.page(template, Facts { seconds: *seconds, waiting, repeatable, ticket: None })
                    }
                    (None, Form::Problem) => said.problem(self.settings.status, *seconds),
                    (None, Form::Text) => said.text(*seconds),
                };
                (body, HeaderValue::from_static(form.content_type()))
            }
        };
        self.response(busy, (body, content_type), *seconds, known)
    }

    /// A refusal that tells a visitor its place; `token` proves it.
    pub(crate) fn wait(
        &self,
        busy: Busy,
        request: Option<&Parts>,
        page: &Template,
        (ticket, token): (&Ticket, &str),
    ) -> Response<Reply> {
        let words = waiting_room::words(page, self.settings.status, request, ticket, token);
        self.response(busy, words, ticket.seconds.into(), false)
    }

    fn response(
        &self,
        busy: Busy,
        (body, content_type): (Bytes, HeaderValue),
        seconds: u32,
        known: bool,
    ) -> Response<Reply> {
        let mut response = Response::new(Reply::whole(busy, body));
        *response.status_mut() = self.settings.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, content_type);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        let close = match self.settings.close {
            Close::New => !known,
            Close::Always => true,
            Close::Never => false,
        };
        if close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// In turn, in steps that reach every value: spread as evenly as chance would.
    fn next(&self) -> &(u32, Said) {
        let next = self.next.get();
        self.next.set((next + self.stride) % self.each.len());
        &self.each[next]
    }
}

/// The first number from the golden section of `length` on that has no factor in common with it:
/// steps of that many reach everything, and any few that follow each other are far apart.
fn stride(length: usize) -> usize {
    fn common(a: usize, b: usize) -> usize {
        if b == 0 { a } else { common(b, a % b) }
    }
    let golden = (length as f64 * 0.618) as usize;
    (golden.max(1)..=length).find(|stride| common(*stride, length) == 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_told_equally_often() {
        for length in 1..100 {
            let stride = stride(length);
            let mut reached: Vec<usize> = (0..length).map(|step| step * stride % length).collect();
            reached.sort_unstable();
            assert_eq!(reached, (0..length).collect::<Vec<_>>(), "{length}");
        }
    }
}
