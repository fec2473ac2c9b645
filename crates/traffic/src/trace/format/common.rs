//! The common log format and what resembles it: somewhere a time, then a request in quotes, status and bytes after it.

use std::net::IpAddr;

use super::fields::{Field, Fields};
use crate::trace::entry::{Asked, Entry, When};
use crate::trace::line_format::LineFormat;
use crate::trace::resolution::Resolution;
use crate::trace::skipped::Reason;
use crate::trace::stamp::Stamp;
use crate::trace::target::unescaped;

pub(super) fn read(fields: &Fields<'_>) -> Result<Entry, Reason> {
    let list = &fields.list;
    let request = request_at(list).ok_or(Reason::NoRequest)?;
    let stamp = finest(list, request).ok_or(Reason::NoTime)?;
    let Some(Field::Quoted(logged)) = list.get(request) else { return Err(Reason::NoRequest) };
    // A time that has lost its bracket has perhaps lost more, and its zone is a field of its own.
    if let [Field::Word(_), Field::Word(zone), ..] = list.as_slice()
        && zone.ends_with(b"]")
    {
        return Err(Reason::NoTime);
    }
    // What would be asked for is perhaps the beginning of something else.
    if fields.is_open && request + 1 == list.len() {
        return Err(Reason::Cut);
    }
    Ok(Entry {
        when: When::at(stamp),
        asked: Asked::Line(unescaped(logged)),
        host: virtual_host(list),
        body: None,
        content_type: None,
        status: list.get(request + 1).and_then(Field::status),
        bytes: list.get(request + 2).and_then(Field::number),
        last: list.get(request + 3..).and_then(|rest| rest.last()).and_then(Field::last_number),
        format: LineFormat::Common,
        fields: list.len() - request,
        is_open: fields.is_open,
    })
}

/// The time of a line, whatever else is on it.
pub(super) fn time(fields: &Fields<'_>) -> Option<Stamp> {
    finest(&fields.list, request_at(&fields.list).unwrap_or(fields.list.len()))
}

/// A format may have several times, such as the usual one and a finer one behind the user agent.
fn finest(fields: &[Field<'_>], request: usize) -> Option<Stamp> {
    let (before, after) = fields.split_at_checked(request)?;
    // Behind the request a whole number of ten digits is a size.
    let is_time = |stamp: &Stamp| stamp.certain || stamp.resolution > Resolution::Seconds;
    let after = after.iter().filter_map(Field::stamp).filter(is_time);
    before.iter().filter_map(Field::stamp).chain(after).reduce(Stamp::better)
}

/// The request is what has a status behind it: a format may quote other things before it.
fn request_at(fields: &[Field<'_>]) -> Option<usize> {
    let with_status =
        fields.windows(2).position(|two| matches!(two, [Field::Quoted(_), next] if next.status().is_some()));
    with_status.or_else(|| fields.iter().position(|field| matches!(field, Field::Quoted(_))))
}

/// The name before the client's address, as Apache's vhost_combined and nginx's `$host` in that place have it. The
/// common format has three fields before its time, so that a fourth is needed.
fn virtual_host(fields: &[Field<'_>]) -> Option<Vec<u8>> {
    let time = fields.iter().position(|field| matches!(field, Field::Bracketed(_)))?;
    let (Field::Word(name), Field::Word(client)) = (fields.first()?, fields.get(1)?) else { return None };
    let is_address = |text: &[u8]| str::from_utf8(text).is_ok_and(|text| text.parse::<IpAddr>().is_ok());
    let port = name.iter().rposition(|byte| *byte == b':').and_then(|colon| name.get(colon + 1..));
    let has_port = port.is_some_and(|port| !port.is_empty() && port.iter().all(u8::is_ascii_digit));
    let is_client = is_address(client) || (has_port && *client != b"-");
    (time >= 4 && is_client && !is_address(name)).then(|| name.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::target::request;

    const SECOND: u64 = 1_000_000_000;
    const OCTOBER: u64 = 971_211_336 * SECOND;

    fn line(text: &str) -> Result<Entry, Reason> {
        read(&Fields::of(text.as_bytes()))
    }

    #[track_caller]
    fn check(text: &str, ns: u64, url: &str, status: Option<u16>, bytes: Option<u64>) {
        let line = line(text).unwrap();
        let asked = request(&line.asked).unwrap().target.unwrap().url;
        assert_eq!(
            (line.when.stamp.ns, asked.as_str(), line.status, line.bytes),
            (ns, url, status, bytes),
            "{text}"
        );
    }

    #[test]
    fn usual_formats_are_read() {
        let common = r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326"#;
        check(common, OCTOBER, "/a.gif", Some(200), Some(2326));
        check(
            &format!(r#"{common} "http://example.org/" "Mozilla/5.0 (X; \"Y\")""#),
            OCTOBER,
            "/a.gif",
            Some(200),
            Some(2326),
        );
        check(&format!("www.example.org:80 {common} 0.005"), OCTOBER, "/a.gif", Some(200), Some(2326));
        let v6 = r#"2001:db8::1 - - [10/Oct/2000:13:55:36.250 -0700] "HEAD / HTTP/1.1" 304 -"#;
        check(v6, OCTOBER + SECOND / 4, "/", Some(304), None);
        let quoted = r#"[::1] "proxy, other" - [2000-10-10T20:55:36Z] "GET /x?y=\"z\" HTTP/1.1" 499 0"#;
        check(quoted, OCTOBER, "/x?y=%22z%22", Some(499), Some(0));
        let nginx = r#"::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 000 9713372036 "-" "-" 971211336.123 0.010"#;
        check(nginx, OCTOBER + SECOND * 123 / 1000, "/", None, Some(9_713_372_036));
        check(r#"971211336.5 10.0.0.1 "GET / HTTP/1.1" 200"#, OCTOBER + SECOND / 2, "/", Some(200), None);
        check(r#"10.0.0.1 "GET /" 971211336.5"#, OCTOBER + SECOND / 2, "/", None, None);
        check(
            r#"971211336123456 10.0.0.1 "GET / HTTP/1.1" 200 9"#,
            OCTOBER + 123_456_000,
            "/",
            Some(200),
            Some(9),
        );
        check(r#"971211336 10.0.0.1 "GET / HTTP/1.1" 200 9"#, OCTOBER, "/", Some(200), Some(9));
    }

    #[test]
    fn a_user_with_blanks_or_quotes_does_no_harm() {
        let user = r#"10.0.0.1 - jean \"le fou\" [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 9"#;
        check(user, OCTOBER, "/", Some(200), Some(9));
        assert_eq!(line(user).unwrap().host, None);
    }

    #[test]
    fn a_name_before_the_client_is_the_host() {
        for (before, host) in [
            ("www.example.org:80 192.0.2.1 - -", Some("www.example.org:80")),
            ("www.example.org 192.0.2.1 - -", Some("www.example.org")),
            ("www.example.org:443 client.example - frank", Some("www.example.org:443")),
            ("192.0.2.1 - -", None),
            ("192.0.2.1:4711 - - -", None),
            ("192.0.2.1 198.51.100.1 - -", None),
            ("192.0.2.1 - jean le fou", None),
        ] {
            let text = format!("{before} [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 9");
            let found = line(&text).unwrap().host.map(|host| String::from_utf8(host).unwrap());
            assert_eq!(found.as_deref(), host, "{before}");
        }
    }

    #[test]
    fn what_is_wrong_has_a_reason() {
        let reason = |text: &str| line(text).err();
        assert_eq!(reason("::1 - - [10/Oct/2000:13:55:36 -0700]"), Some(Reason::NoRequest));
        assert_eq!(reason(r#"::1 - - [yesterday] "GET / HTTP/1.1" 200 1"#), Some(Reason::NoTime));
        assert_eq!(reason(r#"::1 - - [] "GET / HTTP/1.1" 200 1700000000"#), Some(Reason::NoTime));
        assert_eq!(reason(r#"::1 - - [10/Oct/2000:13:55:36 -0700] "GET /prod"#), Some(Reason::Cut));
        assert_eq!(reason(""), Some(Reason::NoRequest));
    }
}
