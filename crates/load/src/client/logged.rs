//! [`Logged`]: what requests of an access log have of their own, a host and a body.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use traffic::trace::Object;

use crate::client::request::{Fields, length_field};
use crate::settings::options::Request;

/// What a request of an access log has that others do not have.
#[derive(Debug)]
pub(crate) struct Logged {
    /// Of every request, with its host.
    pub(crate) fields: Arc<Fields>,
    /// Its own besides.
    pub(crate) more: Vec<(String, String)>,
    pub(crate) body: Option<Bytes>,
}

/// The fields of requests for each host of a log. What the user gave counts for more than the log.
pub(crate) struct Hosts<'a> {
    plain: &'a Fields,
    request: &'a Request,
    /// Those without a host of the log under `None`; with and without what is said of a body that all have.
    fields: HashMap<(Option<Arc<str>>, bool), Arc<Fields>>,
}

impl<'a> Hosts<'a> {
    pub(crate) fn new(plain: &'a Fields, request: &'a Request) -> Self {
        Self { plain, request, fields: HashMap::new() }
    }

    /// What is sent for `object`; `None` where that is no more than its method and URL.
    pub(crate) fn logged(&mut self, object: &Object) -> Option<Logged> {
        let host = object.host.clone().filter(|_| !self.gives("Host"));
        if host.is_none() && object.body.is_none() {
            return None;
        }
        let Some(body) = &object.body else {
            let body = self.request.body.clone().filter(|body| !body.is_empty());
            return Some(Logged { fields: self.fields(host, false), more: Vec::new(), body });
        };
        let bytes = Bytes::copy_from_slice(&body.bytes);
        let method = object.method.as_str().parse().unwrap_or(Method::POST);
        let mut more: Vec<_> = length_field(&method, Some(&bytes)).into_iter().collect();
        if !self.gives("Content-Type") {
            more.push(("Content-Type".to_owned(), body.content_type.to_string()));
        }
        Some(Logged { fields: self.fields(host, true), more, body: Some(bytes) })
    }

    fn gives(&self, name: &str) -> bool {
        self.request.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
    }

    fn fields(&mut self, host: Option<Arc<str>>, has_body: bool) -> Arc<Fields> {
        let plain = self.plain;
        let made = self.fields.entry((host.clone(), has_body)).or_insert_with(|| {
            let fields = if has_body { plain.without(&["Content-Length"]) } else { plain.clone() };
            Arc::new(match host {
                Some(host) => fields.with(&[("Host".to_owned(), host.to_string())]),
                None => fields,
            })
        });
        Arc::clone(made)
    }
}
