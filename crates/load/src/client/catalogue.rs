//! [`Catalogue`]: what may be asked for in a run, each thing once.

use std::collections::HashMap;
use std::sync::Arc;

use http::Method;
use traffic::Page;
use units::Time;

use crate::client::cookies::Jar;
use crate::client::logged::{Hosts, Logged};
use crate::client::request::Fields;
use crate::client::script::Scripted;
use crate::client::wanted::{ClassPlan, Wanted};
use crate::settings::options::{Http, Options, Request};

const KEEP_ALIVE: &str = "Connection: keep-alive\r\n";

/// A connection ends with the request.
pub(super) const CLOSE: &str = "Connection: close\r\n";

/// Gathers what may be asked for, each thing once.
pub(super) struct Catalogue<'a> {
    request: &'a Request,
    /// Of every request.
    pub(super) fields: Fields,
    pub(super) version: &'static str,
    /// What asks the server to keep the connection, where that must be said.
    pub(super) keep: &'static str,
    numbers: HashMap<(String, Arc<str>), u32>,
    pub(super) objects: Vec<Wanted>,
}

impl<'a> Catalogue<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        let (version, keep) = match options.protocol.http {
            Http::Http10 => ("1.0", KEEP_ALIVE),
            Http::Http11 | Http::Http2 => ("1.1", ""),
        };
        Self {
            request: &options.request,
            fields: Fields::of(&options.request, &options.target),
            version,
            keep,
            numbers: HashMap::new(),
            objects: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, url: &Arc<str>, length: Option<u64>) -> u32 {
        let number = self.add_as(self.request.method(), url);
        if let Some(wanted) = self.objects.get_mut(number as usize) {
            wanted.length = length.or(wanted.length);
        }
        number
    }

    /// A page of a session. Pages that differ from other requests are not the same as others with their URL.
    pub(super) fn add_page(
        &mut self,
        page: &Page,
        classes: &[ClassPlan],
        names: &[String],
        options: &Options,
    ) -> u32 {
        let request = &page.request;
        let is_plain = request.is_fixed()
            && request.body.is_none()
            && request.headers.is_empty()
            && request.takes.is_empty()
            && request.method.as_deref().is_none_or(|method| method == self.request.method())
            && request.expect.is_nothing();
        if is_plain {
            return self.add(&page.url, None);
        }
        let method = request.method.as_deref().unwrap_or_else(|| self.request.method());
        let fields = classes.iter().map(|class| &class.fields);
        let body = self.request.body.as_ref().filter(|body| !body.is_empty());
        let script = Scripted::new(request, fields, body, &options.checks, names);
        self.push(method, &page.url, Some(Box::new(script)), None)
    }

    fn add_as(&mut self, method: &str, url: &Arc<str>) -> u32 {
        let key = (method.to_owned(), Arc::clone(url));
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.push(method, url, None, None);
        self.numbers.insert(key, number);
        number
    }

    /// Adds what a log asks for, each thing under the number that it has there.
    pub(super) fn add_logged(&mut self, objects: &[traffic::trace::Object]) {
        let fields = self.fields.clone();
        let mut hosts = Hosts::new(&fields, self.request);
        for object in objects {
            let logged = hosts.logged(object);
            self.push(object.method.as_str(), &object.url, None, logged.map(Box::new));
        }
    }

    fn push(
        &mut self,
        method: &str,
        url: &Arc<str>,
        script: Option<Box<Scripted>>,
        logged: Option<Box<Logged>>,
    ) -> u32 {
        let number = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
        let line = format!("{method} {url} HTTP/{}\r\n", self.version);
        let (fields, more) = match &logged {
            Some(logged) => (&*logged.fields, logged.more.as_slice()),
            None => (&self.fields, &[][..]),
        };
        let cookies = fields.cookies(&Jar::default(), url, Time::ZERO);
        let head =
            |connection: &str| fields.http1_head(line.as_bytes(), connection.as_bytes(), &cookies, more);
        let (head, last_head) = (head(self.keep), head(CLOSE));
        self.objects.push(Wanted {
            url: Arc::clone(url),
            head,
            last_head,
            line: line.into(),
            path: url.parse().ok(),
            method: method.parse().unwrap_or(Method::GET),
            length: length_in(url),
            content: None,
            is_head: method == "HEAD",
            script,
            logged,
        });
        number
    }
}

/// `/bytes/N` names content of N bytes on every server.
fn length_in(url: &str) -> Option<u64> {
    url.strip_prefix("/bytes/")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_say_how_long_its_content_is() {
        assert_eq!(length_in("/bytes/2000"), Some(2000));
        assert_eq!(length_in("/bytes/x"), None);
        assert_eq!(length_in("/burn?cpu=25ms"), None);
    }
}
