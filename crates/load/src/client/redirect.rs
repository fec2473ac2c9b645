//! [`Redirect`]: where a response sends its client, and what is asked for there.

use bytes::Bytes;
use fluent_uri::{Uri, UriRef};
use http::Method;

use crate::client::fault::{Fault, Reason};
use crate::client::request::OF_A_BODY;
use crate::client::script::Prepared;
use crate::client::wanted::Wanted;

/// What is asked for next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) url: String,
}

impl Redirect {
    /// Where a response of `status` to `method` for `url` leads, whose `Location` is `location`. `site` is how absolute
    /// URLs of this server begin, and `authority` what its requests call it.
    ///
    /// # Errors
    /// When that is another server, or no URL.
    pub(crate) fn of(
        status: u16,
        location: &str,
        (method, url): (&Method, &str),
        site: &str,
        authority: &str,
    ) -> Result<Self, Fault> {
        let scheme = site.split_once("://").map_or("http", |(scheme, _)| scheme);
        let base = format!("{scheme}://{}{url}", without_usual_port(authority, scheme));
        let base = Uri::parse(base).map_err(|_| unfit(format!("no URL to start from: {url}")))?;
        let reference = UriRef::parse(traffic::url::reference(location.trim()).to_string())
            .map_err(|_| unfit(format!("redirected to {location}, which is no URL")))?;
        let target = reference
            .resolve_against(&base)
            .map_err(|_| unfit(format!("redirected to {location}, which leads nowhere")))?
            .normalize();
        let own = site.split_once("://").map_or(site, |(_, own)| own);
        let host = target.authority().map(|authority| without_usual_port(authority.as_str(), scheme));
        let is_here = |name: &str| {
            host.as_deref().is_some_and(|host| host.eq_ignore_ascii_case(&without_usual_port(name, scheme)))
        };
        if target.scheme().as_str() != scheme || !(is_here(own) || is_here(authority)) {
            return Err(unfit(format!("redirected to {location}, which is not on this server")));
        }
        let path = if target.path().as_str().is_empty() { "/" } else { target.path().as_str() };
        let query = target.query().map(|query| format!("?{}", query.as_str())).unwrap_or_default();
        Ok(Self { method: next_method(status, method), url: format!("{path}{query}") })
    }

    /// The request that follows upon one for what is `wanted`, or what was `prepared` for it, with this body.
    pub(crate) fn prepare(
        self,
        body: Option<&Bytes>,
        wanted: &Wanted,
        prepared: Option<&Prepared>,
    ) -> Prepared {
        let before = prepared.map_or(wanted.method(), |prepared| &prepared.method);
        let drops_body = self.drops_body(before);
        let of_log = || wanted.logged.as_ref().map(|logged| logged.more.clone());
        let fields = prepared.map(|prepared| prepared.fields.clone());
        let mut fields = fields.or_else(of_log).unwrap_or_default();
        let is_of_a_body = |name: &str| OF_A_BODY.iter().any(|other| other.eq_ignore_ascii_case(name));
        fields.retain(|(name, _)| !drops_body || !is_of_a_body(name));
        Prepared {
            fields,
            body: body.filter(|_| !drops_body).cloned(),
            is_bare: drops_body || prepared.is_some_and(|prepared| prepared.is_bare),
            method: self.method,
            url: self.url,
        }
    }

    /// Whether the request has no body although the one before may have had one.
    fn drops_body(&self, before: &Method) -> bool {
        self.method != *before
    }
}

/// RFC 9110, sections 15.4.2 to 15.4.4: as all clients do, a POST becomes a GET with 301 and 302; with 303 everything but
/// HEAD does.
fn next_method(status: u16, method: &Method) -> Method {
    match status {
        301 | 302 if *method == Method::POST => Method::GET,
        303 if *method != Method::HEAD => Method::GET,
        _ => method.clone(),
    }
}

fn unfit(why: String) -> Fault {
    Fault::Unfit(Reason::from(why))
}

fn without_usual_port(authority: &str, scheme: &str) -> String {
    let usual = if scheme == "https" { ":443" } else { ":80" };
    authority.strip_suffix(usual).unwrap_or(authority).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(site: &str, authority: &str, location: &str) -> Result<String, String> {
        let from = (&Method::GET, "/a/b?c=1");
        match Redirect::of(302, location, from, site, authority) {
            Ok(redirect) => Ok(redirect.url),
            Err(Fault::Unfit(why)) => Err(why.into_owned()),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_location_may_be_relative() {
        for (location, url) in [
            ("/x?y", "/x?y"),
            ("x", "/a/x"),
            ("../x/./y", "/x/y"),
            ("?z=2", "/a/b?z=2"),
            ("", "/a/b?c=1"),
            ("#top", "/a/b?c=1"),
            ("/x#top", "/x"),
            ("http://localhost:81/x", "/x"),
            ("HTTP://LocalHost:81", "/"),
            ("//localhost:81/x", "/x"),
            ("http://shop.example/x", "/x"),
            ("http://shop.example:80/x", "/x"),
            ("/with blank", "/with%20blank"),
            ("/gr\u{fc}n", "/gr%C3%BCn"),
        ] {
            assert_eq!(
                leads("http://localhost:81", "shop.example", location).as_deref(),
                Ok(url),
                "{location}"
            );
        }
    }

    #[test]
    fn other_servers_are_not_asked() {
        for location in [
            "http://localhost:82/x",
            "https://localhost:81/x",
            "//other.example/x",
            "http://localhost/x",
            "mailto:a@b.example",
        ] {
            let error = leads("http://localhost:81", "localhost:81", location).unwrap_err();
            assert!(error.contains("is not on this server") && error.contains(location), "{error}");
        }
        assert!(leads("http://localhost", "localhost", "http://[").unwrap_err().contains("is no URL"));
    }

    #[test]
    fn the_method_is_kept_where_it_means_the_same() {
        for (status, method, next) in [
            (301, Method::POST, Method::GET),
            (302, Method::POST, Method::GET),
            (303, Method::POST, Method::GET),
            (303, Method::PUT, Method::GET),
            (303, Method::HEAD, Method::HEAD),
            (302, Method::PUT, Method::PUT),
            (307, Method::POST, Method::POST),
            (308, Method::DELETE, Method::DELETE),
            (301, Method::HEAD, Method::HEAD),
        ] {
            let redirect = Redirect::of(status, "/x", (&method, "/"), "http://a", "a").unwrap();
            assert_eq!(
                (&redirect.method, redirect.drops_body(&method)),
                (&next, next != method),
                "{status} {method}"
            );
        }
    }
}
