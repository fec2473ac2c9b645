//! Who may use the admin interface.
//!
//! A client that can connect to a loopback address needs no token, and that includes the browser
//! of an operator who visits a page that means harm. Two things tell such requests from an
//! operator's: the name the page was loaded by (DNS rebinding makes a foreign name lead here),
//! and the origin that browsers add to what a page of another site sends.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};

use crate::admin::answer::{Answer, error};
use crate::admin::token;
use gate_config::settings::admin::Admission;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The other end of an admin connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Tcp(SocketAddr),
    /// Of a Unix socket, and the user id of the process there.
    Unix(Option<u32>),
}

/// Who asks, for the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Who {
    peer: Peer,
    token: Option<String>,
    may_change: bool,
}

impl Who {
    /// Whether more than reading is allowed.
    pub(super) fn may_change(&self) -> bool {
        self.may_change
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.peer {
            Peer::Tcp(address) => write!(f, "{address}")?,
            Peer::Unix(Some(user)) => write!(f, "user {user}")?,
            Peer::Unix(None) => f.write_str("a Unix socket")?,
        }
        match &self.token {
            Some(token) => write!(f, " ({token})"),
            None => Ok(()),
        }
    }
}

/// Whether a request is to be answered, and whose it is.
pub(super) fn admit(admission: &Admission, peer: Peer, head: &Parts) -> Result<Who, Box<Answer>> {
    if let Peer::Unix(_) = peer {
        // The file's permissions have decided, and no browser connects there.
        return Ok(Who { peer, token: None, may_change: true });
    }
    let host = named(head)?;
    if !is_ours(host, &admission.hosts) {
        let why = format!(
            "\"{host}\" is no name of this interface; call it by its address, or add the name to hosts in [admin]"
        );
        return Err(refuse(StatusCode::MISDIRECTED_REQUEST, &why));
    }
    // An operator who is led to the page by a link looks at it, and what the page asks for then, it asks for itself.
    if is_foreign(head) && !(is_public(head) && is_visit(head)) {
        return Err(refuse(StatusCode::FORBIDDEN, "pages of other sites are not answered"));
    }
    if admission.tokens.is_empty() {
        return Ok(Who { peer, token: None, may_change: true });
    }
    if is_public(head) {
        return Ok(Who { peer, token: None, may_change: false });
    }
    let Some(token) = bearer(head).and_then(|secret| token::shown(&admission.tokens, secret)) else {
        let mut answer = refuse(StatusCode::UNAUTHORIZED, "show a token: Authorization: Bearer TOKEN");
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"headworks\""));
        return Err(answer);
    };
    if token.is_read_only() && !is_reading(head) {
        return Err(refuse(StatusCode::FORBIDDEN, "this token may only read"));
    }
    Ok(Who { peer, token: Some(token.name().to_owned()), may_change: !token.is_read_only() })
}

fn refuse(status: StatusCode, why: &str) -> Box<Answer> {
    Box::new(error(status, why))
}

/// The name that the request was sent to. Everybody who speaks HTTP/1.1 says one (RFC 9112
/// section 3.2); a client that does not is not a browser.
fn named(head: &Parts) -> Result<&str, Box<Answer>> {
    let mut hosts = head.headers.get_all(HOST).iter();
    let wrong = || refuse(StatusCode::BAD_REQUEST, "a request needs one Host header");
    let authority = match (head.uri.authority(), hosts.next(), hosts.next()) {
        (Some(authority), ..) => authority.as_str(),
        (None, Some(host), None) => host.to_str().map_err(|_| wrong())?,
        (None, None, _) if head.version < http::Version::HTTP_11 => "localhost",
        _ => return Err(wrong()),
    };
    Ok(without_port(authority))
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

/// Addresses are ours: for a page to be loaded by an address, it must be ours that sent it.
fn is_ours(host: &str, names: &[String]) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || names.iter().any(|name| host.eq_ignore_ascii_case(name))
}

/// Whether a request changes nothing, and makes the gate read no files. A prediction is asked for with a body.
fn is_reading(head: &Parts) -> bool {
    match head.uri.path() {
        "/api/v1/foresight" => true,
        "/api/v1/reload" => false,
        _ => matches!(head.method, Method::GET | Method::HEAD),
    }
}

/// Pages that hold nothing but what every client is shown, or what anybody can read in the sources. What they show
/// besides, they ask for with a token.
const PUBLIC: [&str; 4] = ["/", "/console", "/console/waiting-room", "/console/refusal"];

fn is_public(head: &Parts) -> bool {
    matches!(head.method, Method::GET | Method::HEAD) && PUBLIC.contains(&head.uri.path())
}

/// Whether a browser goes to a page, and does not read it for another one.
fn is_visit(head: &Parts) -> bool {
    let says = |name, value: &str| head.headers.get(name).is_some_and(|said| said == value);
    says(SEC_FETCH_MODE, "navigate") && says(SEC_FETCH_DEST, "document")
}

/// Whether a page of another site sends it.
fn is_foreign(head: &Parts) -> bool {
    let site = head.headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    if matches!(site, Some(b"cross-site" | b"same-site")) {
        return true;
    }
    let Some(origin) = head.headers.get(ORIGIN) else { return false };
    let origin =
        origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, authority)| authority);
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    origin.is_none() || origin != host
}

fn bearer(head: &Parts) -> Option<&[u8]> {
    let (scheme, secret) = head.headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gate_config::settings::token::Token;
    use http::Request;

    const TOKEN: &str = "0123456789abcdef";
    const OTHER: &str = "fedcba9876543210";

    fn admission(tokens: bool) -> Admission {
        let token = |name, secret: &str, read_only| Token::new(name, secret.as_bytes(), read_only).unwrap();
        let tokens =
            if tokens { vec![token("ops", TOKEN, false), token("prom", OTHER, true)] } else { Vec::new() };
        Admission { tokens, hosts: vec!["gate.example".to_owned()], ..Admission::default() }
    }

    #[track_caller]
    fn ask(admission: &Admission, method: &str, headers: &[(&str, &str)]) -> Result<String, u16> {
        let mut request = Request::builder().method(method).uri("/api/v1/drain");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let peer = Peer::Tcp("127.0.0.1:5000".parse().unwrap());
        admit(admission, peer, &head).map(|who| who.to_string()).map_err(|answer| answer.status().as_u16())
    }

    #[test]
    fn only_our_own_names_are_answered() {
        for (host, answered) in [
            ("127.0.0.1:9090", true),
            ("[::1]:9090", true),
            ("[::1]", true),
            ("10.0.0.1", true),
            ("localhost", true),
            ("LocalHost:1", true),
            ("Gate.Example:9090", true),
            ("evil.example", false),
            ("localhost.evil.example:9090", false),
            ("127.0.0.1.evil.example", false),
            ("gate.example.evil", false),
            ("", false),
            (":80", false),
        ] {
            let asked = ask(&admission(false), "GET", &[("host", host)]);
            assert_eq!(asked, if answered { Ok("127.0.0.1:5000".to_owned()) } else { Err(421) }, "{host}");
        }
        assert_eq!(ask(&admission(false), "GET", &[]), Err(400));
        assert_eq!(ask(&admission(false), "GET", &[("host", "localhost"), ("host", "evil")]), Err(400));
    }

    #[test]
    fn pages_of_other_sites_are_not_answered() {
        let host = ("host", "127.0.0.1:9090");
        for (header, answered) in [
            (("origin", "http://127.0.0.1:9090"), true),
            (("origin", "http://127.0.0.1:9091"), false),
            (("origin", "http://evil.example"), false),
            (("origin", "null"), false),
            (("sec-fetch-site", "cross-site"), false),
            (("sec-fetch-site", "same-site"), false),
            (("sec-fetch-site", "same-origin"), true),
            (("sec-fetch-site", "none"), true),
        ] {
            assert_eq!(ask(&admission(false), "POST", &[host, header]).is_ok(), answered, "{header:?}");
        }
    }

    #[test]
    fn a_link_leads_to_the_console_and_to_nothing_else() {
        let linked = |path: &str, dest| {
            let request = Request::builder()
                .uri(path)
                .header("host", "127.0.0.1")
                .header("sec-fetch-site", "cross-site");
            let request = request.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", dest);
            let (head, ()) = request.body(()).unwrap().into_parts();
            let peer = Peer::Tcp("127.0.0.1:5000".parse().unwrap());
            admit(&admission(true), peer, &head).map_err(|answer| answer.status().as_u16()).map(|_| ())
        };
        assert_eq!(linked("/console", "document"), Ok(()));
        assert_eq!(linked("/console", "iframe"), Err(403));
        assert_eq!(linked("/api/v1/state", "document"), Err(403));
    }

    #[test]
    fn with_tokens_nobody_is_obeyed_without() {
        let host = ("host", "127.0.0.1");
        let bearer = |secret: &str| format!("Bearer {secret}");
        let with = |method, value: &str| ask(&admission(true), method, &[host, ("authorization", value)]);
        assert_eq!(with("POST", &bearer(TOKEN)), Ok("127.0.0.1:5000 (ops)".to_owned()));
        assert_eq!(with("POST", &format!("bearer  {TOKEN}")), Ok("127.0.0.1:5000 (ops)".to_owned()));
        assert_eq!(with("GET", &bearer(OTHER)), Ok("127.0.0.1:5000 (prom)".to_owned()));
        assert_eq!(with("POST", &bearer(OTHER)), Err(403));
        for wrong in
            ["", "Bearer", "Bearer ", &bearer(&TOKEN[1..]), &bearer(&(TOKEN.to_owned() + "0")), TOKEN]
        {
            assert_eq!(with("GET", wrong), Err(401), "{wrong}");
        }
        assert_eq!(ask(&admission(true), "GET", &[host]), Err(401));
        assert_eq!(
            ask(&admission(true), "GET", &[("host", "evil"), ("authorization", &bearer(TOKEN))]),
            Err(421)
        );
    }
}
