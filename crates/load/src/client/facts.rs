//! [`Facts`]: what the generator wants to know of a response's head.

use units::Span;

/// The field that says where a client is sent to, as fields that are taken are called.
pub(crate) const LOCATION: &str = "location";

/// The field that says when to come back, as fields that are taken are called.
pub(crate) const RETRY_AFTER: &str = "retry-after";

/// What a head says, whatever the version of HTTP that it came by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) status: u16,
    /// `name=value; attributes` of each `Set-Cookie`.
    pub(crate) cookies: Vec<String>,
    /// What the server says that it took: the first duration of `Server-Timing` (W3C).
    pub(crate) server: Option<Span>,
    /// Fields that sessions take something from, their names in lower case.
    pub(crate) fields: Vec<(String, String)>,
}

impl Facts {
    /// Takes a header field; sessions take something from those called one of `taken`. Most are of no interest, and the
    /// length of their names says so.
    pub(crate) fn take(&mut self, name: &str, value: &[u8], taken: &[String]) {
        if let Some(name) = taken.iter().find(|other| other.eq_ignore_ascii_case(name)) {
            self.fields.push((name.clone(), String::from_utf8_lossy(value).into_owned()));
        }
        match name.len() {
            10 if name.eq_ignore_ascii_case("set-cookie") => {
                self.cookies.push(String::from_utf8_lossy(value).into_owned());
            }
            13 if name.eq_ignore_ascii_case("server-timing") => {
                self.server = self.server.or_else(|| duration_in(value));
            }
            _ => {}
        }
    }
}

/// The first `dur` parameter of a `Server-Timing` field, which is in milliseconds.
fn duration_in(value: &[u8]) -> Option<Span> {
    let text = std::str::from_utf8(value).ok()?;
    let millis = text.split([';', ',']).find_map(|part| part.trim().strip_prefix("dur="))?;
    let millis: f64 = millis.trim_matches('"').parse().ok()?;
    (millis.is_finite() && millis >= 0.0).then(|| Span::from_secs_f64(millis / 1000.0))
}
