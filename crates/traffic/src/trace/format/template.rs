//! [`Template`]: a format as it is written in the configuration of nginx or Apache.

use regex::bytes::{Regex, RegexBuilder};

use super::gathered::{Gathered, Role};
use super::template_error::TemplateError;
use super::variables::{Piece, apache, nginx};
use crate::trace::entry::Entry;
use crate::trace::line_format::LineFormat;
use crate::trace::skipped::Reason;
use crate::trace::target::unescaped;

/// A format of lines, as a regular expression with a group for each field that means something.
#[derive(Debug)]
pub(super) struct Template {
    lines: Regex,
    /// What the groups are.
    roles: Vec<(Role, u8)>,
    /// Whether what was asked for is the last on a line.
    ends_in_request: bool,
}

impl Template {
    pub(super) fn new(format: &str) -> Result<Self, TemplateError> {
        let pieces = match (format.contains('$'), format.contains('%')) {
            (true, _) => nginx(format),
            (false, true) => apache(format)?,
            (false, false) => return Err(TemplateError::Unknown(format.to_owned())),
        };
        let (mut expression, mut roles) = ("(?s-u)^".to_owned(), Vec::new());
        for piece in &pieces {
            match piece {
                Piece::Literal(text) => expression.push_str(&literal(text)),
                Piece::Field { pattern, role } => {
                    let known = role.is_some();
                    expression.push_str(if known { "(" } else { "(?:" });
                    expression.push_str(pattern);
                    expression.push(')');
                    roles.extend(*role);
                }
            }
        }
        expression.push('$');
        let has = |wanted: fn(&Role) -> bool| roles.iter().any(|(role, _)| wanted(role));
        if !has(|role| matches!(role, Role::Time(_))) {
            return Err(TemplateError::NoTime);
        }
        let has_parts =
            has(|role| *role == Role::Method) && has(|role| matches!(role, Role::Target | Role::Path));
        if !has_parts && !has(|role| *role == Role::Line) {
            return Err(TemplateError::NoRequest);
        }
        let lines = RegexBuilder::new(&expression).build().map_err(|_| TemplateError::TooLong)?;
        let ends_in_request = matches!(
            pieces.last(),
            Some(Piece::Field { role: Some((Role::Line | Role::Target | Role::Path | Role::Query, _)), .. })
        );
        Ok(Self { lines, roles, ends_in_request })
    }

    pub(super) fn read(&self, text: &[u8]) -> Result<Entry, Reason> {
        // The blank before an empty field at the end goes with the end of the line.
        let padded;
        let found = match self.lines.captures(text) {
            Some(found) => found,
            None => {
                padded = [text, b" "].concat();
                self.lines.captures(&padded).ok_or(Reason::OtherFormat)?
            }
        };
        let mut gathered = Gathered::default();
        for ((role, rank), group) in self.roles.iter().zip(found.iter().skip(1)) {
            if let Some(group) = group {
                gathered.add(*role, *rank, unescaped(group.as_bytes()));
            }
        }
        // A version at the end is the end.
        let version = text.iter().rposition(|byte| *byte == b' ').and_then(|blank| text.get(blank + 1..));
        let is_open = self.ends_in_request && !version.is_some_and(|version| version.starts_with(b"HTTP/"));
        Ok(Entry { is_open, ..gathered.entry(LineFormat::Given)? })
    }
}

/// Text as it is, except that one blank in the format may be several in the file.
fn literal(text: &str) -> String {
    regex::escape(text).replace(' ', "[ \\t]+")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::entry::Asked;

    #[track_caller]
    fn read(format: &str, line: &str) -> Result<Entry, Reason> {
        Template::new(format).unwrap().read(line.as_bytes())
    }

    #[test]
    fn formats_of_nginx_are_read() {
        let entry = read(
            r#"$remote_addr - $time_local "$request" $status $body_bytes_sent $request_time ${host}"#,
            r#"192.0.2.1 - 10/Oct/2000:13:55:36 +0000 "GET /a b HTTP/1.1" 200 5 1.500 www.example.org"#,
        )
        .unwrap();
        assert_eq!(entry.asked, Asked::Line(b"GET /a b HTTP/1.1".to_vec()));
        assert_eq!((entry.status, entry.bytes), (Some(200), Some(5)));
        assert_eq!(entry.when.took.map(units::Span::as_nanos), Some(1_500_000_000));
        assert_eq!(
            (entry.when.is_end, entry.when.began().as_nanos()),
            (Some(true), 971_186_135 * 1_000_000_000)
        );
        assert_eq!(entry.host.as_deref(), Some(&b"www.example.org"[..]));
        let parts = "$msec|$request_method|$uri|$args|$request_body";
        let entry = read(parts, r"1700000000.5|POST|/f|x=1|a=\x22b\x22").unwrap();
        assert_eq!(entry.asked, Asked::Parts { method: b"POST".to_vec(), target: b"/f?x=1".to_vec() });
        assert_eq!(entry.body.as_deref(), Some(&b"a=\"b\""[..]));
    }

    #[test]
    fn formats_of_apache_are_read() {
        let entry = read(
            r#"%v:%p %h %l %u %t \"%r\" %>s %b %D"#,
            r#"www.example.org:8080 192.0.2.1 - - [10/Oct/2000:13:55:36 +0000] "GET /\"q\" HTTP/1.1" 404 - 1500"#,
        )
        .unwrap();
        assert_eq!(entry.asked, Asked::Line(b"GET /\"q\" HTTP/1.1".to_vec()));
        assert_eq!((entry.status, entry.bytes, entry.when.is_end), (Some(404), None, Some(false)));
        assert_eq!(entry.when.took.map(units::Span::as_nanos), Some(1_500_000));
        assert_eq!(entry.host.as_deref(), Some(&b"www.example.org:8080"[..]));
        let fraction = "[%{%d/%b/%Y:%T}t.%{usec_frac}t %{%z}t] %m %U%q %{ms}T %{Host}i %v";
        let entry =
            read(fraction, "[10/Oct/2000:13:55:36.250000 +0000] GET /a?b 7 a.example b.example").unwrap();
        assert_eq!(entry.when.stamp.ns, 971_186_136_250_000_000);
        assert_eq!(entry.asked, Asked::Parts { method: b"GET".to_vec(), target: b"/a?b".to_vec() });
        assert_eq!(entry.host.as_deref(), Some(&b"a.example"[..]));
        let end = read("%{end:usec}t %{us}T %{User-Agent}i %r", "1700000000500000 250000 a b GET / HTTP/1.1");
        assert_eq!(end.unwrap().when.began().as_nanos(), 1_700_000_000_250_000_000);
    }

    #[test]
    fn a_format_needs_a_time_and_a_request() {
        let why = |format: &str| Template::new(format).unwrap_err();
        assert_eq!(why("$remote_addr \"$request\""), TemplateError::NoTime);
        assert_eq!(why("%t %h %m"), TemplateError::NoRequest);
        assert_eq!(why("$msec $request_uri"), TemplateError::NoRequest);
        assert_eq!(why("%t \"%r\" %y"), TemplateError::Field("%y".to_owned()));
        assert_eq!(why("nginx"), TemplateError::Unknown("nginx".to_owned()));
    }

    #[test]
    fn a_line_of_another_format_is_refused_and_one_that_may_go_on_is_open() {
        let format = "$msec $status $request";
        assert_eq!(read(format, "1700000000.5 ok GET / HTTP/1.1"), Err(Reason::OtherFormat));
        assert!(read(format, "1700000000.5 200 GET /pr").unwrap().is_open);
        assert!(!read(format, "1700000000.5 200 GET /prod HTTP/1.1").unwrap().is_open);
        let cut = read("%t \"%r\" %>s", "[10/Oct/2000:13:55:36 +0000] \"GET /pro");
        assert_eq!(cut, Err(Reason::OtherFormat));
    }
}
