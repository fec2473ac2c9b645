//! [`Scripted`]: a page that is not asked for in the same way each time, and [`Prepared`]: what is sent for it once.

use bytes::Bytes;
use http::Method;
use traffic::{Purpose, Request, Take, Unknown, Values};

use crate::client::request::{Fields, length_field};
use crate::settings::checks::Checks;

/// A page with a body, fields, checks or values of its own.
#[derive(Debug)]
pub(crate) struct Scripted {
    request: Request,
    /// What is sent after the head where the page does not say it.
    body: Option<Bytes>,
    /// For each class, without the fields that the page gives.
    fields: Vec<Fields>,
    /// What the response must be; `None` where that is what all must be.
    pub(crate) checks: Option<Checks>,
    /// What all that is taken from responses is called.
    names: Vec<String>,
}

/// What is sent for a page once.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) method: Method,
    pub(crate) url: String,
    /// Fields besides those of [`Scripted::fields`], or of its class.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Option<Bytes>,
    /// Whether fields that are about a body are not sent.
    pub(crate) is_bare: bool,
}

impl Scripted {
    /// A page that is asked for by `request`, by users of classes whose requests have these fields. What all requests
    /// have is `body`, and what all responses must be `checks`.
    pub(crate) fn new<'f>(
        request: &Request,
        classes: impl IntoIterator<Item = &'f Fields>,
        body: Option<&Bytes>,
        checks: &Checks,
        names: &[String],
    ) -> Self {
        let own: Vec<&str> =
            request.headers.iter().map(|(name, _)| name.as_str()).chain(["Content-Length"]).collect();
        let expect = &request.expect;
        Self {
            request: request.clone(),
            body: body.cloned(),
            fields: classes.into_iter().map(|fields| fields.without(&own)).collect(),
            checks: (!expect.is_nothing()).then(|| Checks {
                status: expect.status.clone(),
                length: expect.length,
                pattern: expect.pattern.clone(),
                ..checks.clone()
            }),
            names: names.to_vec(),
        }
    }

    /// The fields of a class, without those that the page gives.
    pub(crate) fn fields(&self, class: usize) -> Option<&Fields> {
        self.fields.get(class)
    }

    /// What a session remembers of the response.
    pub(crate) fn takes(&self) -> &[Take] {
        &self.request.takes
    }

    /// Whether the body of the response is looked into for that.
    pub(crate) fn keeps_body(&self) -> bool {
        self.takes().iter().any(|take| take.place.is_in_body())
    }

    /// What is sent by a session that knows `values`; `site` is how absolute URLs of this server begin.
    ///
    /// # Errors
    /// When it does not know what it would have to, or would have to go to another server.
    pub(crate) fn prepare(
        &self,
        method: &Method,
        values: &mut Values,
        site: &str,
    ) -> Result<Prepared, Unprepared> {
        let Request { url, body, headers, .. } = &self.request;
        let mut render = |template, purpose| values.render(template, purpose, &self.names);
        let url = local(render(url, Purpose::Url)?, site)?;
        let body = match body {
            Some(body) => Some(Bytes::from(render(body, Purpose::Body)?)),
            None => self.body.clone(),
        };
        let mut fields = Vec::with_capacity(headers.len() + 1);
        for (name, value) in headers {
            fields.push((name.clone(), render(value, Purpose::Field)?));
        }
        fields.extend(length_field(method, body.as_ref()));
        // Nothing follows the head then, whatever its length field says.
        let body = body.filter(|body| !body.is_empty());
        Ok(Prepared { method: method.clone(), url, fields, body, is_bare: false })
    }
}

/// Why a page cannot be asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unprepared {
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error("{0} is not on this server")]
    Elsewhere(String),
}

/// Path and query of a URL that may have been taken from a response.
fn local(url: String, site: &str) -> Result<String, Unprepared> {
    if url.starts_with('/') && !url.starts_with("//") {
        return Ok(url);
    }
    match url.strip_prefix(site) {
        Some("") => Ok("/".to_owned()),
        Some(rest) if rest.starts_with('/') => Ok(rest.to_owned()),
        Some(rest) if rest.starts_with('?') => Ok(format!("/{rest}")),
        _ => Err(Unprepared::Elsewhere(url)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_this_server_are_made_local() {
        let site = "http://localhost:81";
        let check = |url: &str, expected: Option<&str>| {
            assert_eq!(local(url.to_owned(), site).ok().as_deref(), expected, "{url}");
        };
        check("/a?b", Some("/a?b"));
        check("http://localhost:81/a?b", Some("/a?b"));
        check("http://localhost:81", Some("/"));
        check("http://localhost:81?b", Some("/?b"));
        check("http://localhost:812/a", None);
        check("https://localhost:81/a", None);
        check("//other/a", None);
        check("a", None);
    }

    #[test]
    fn an_empty_body_is_said_and_not_sent() {
        let text = "kind = \"sessions\"\n[[page]]\nurl = \"/\"\nbody = \"\"\n";
        let workload = traffic::Workload::parse(&config::Source::new("test.toml", text)).unwrap();
        let script = Scripted::new(&workload.pages[0].request, [], None, &Checks::default(), &[]);
        let mut values = Values::of_session(&workload, 1, 0).unwrap();
        let prepared = script.prepare(&Method::POST, &mut values, "http://localhost").unwrap();
        assert_eq!(prepared.body, None);
        assert_eq!(prepared.fields, [("Content-Length".to_owned(), "0".to_owned())]);
    }
}
