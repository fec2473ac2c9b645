//! [`Parser`]: lines of a file, in the format that is said or recognised.

use super::chosen::{Format, Kind};
use super::docker::{Pieces, Unwrapped};
use super::fields::Fields;
use super::w3c::{CLOUDFRONT, Columns, IIS};
use super::{common, json, load_balancer};
use crate::trace::entry::Entry;
use crate::trace::line_format::LineFormat;
use crate::trace::skipped::Reason;
use crate::trace::stamp::Stamp;

/// Reads the lines of one file, in their order.
#[derive(Debug)]
pub(in crate::trace) struct Parser<'f> {
    format: Option<&'f Format>,
    /// Whether a line may be a time alone.
    takes_times: bool,
    columns: Option<Columns>,
    pieces: Pieces,
}

impl<'f> Parser<'f> {
    /// For lines of `format`, or of whatever they are found to be.
    pub(in crate::trace) fn new(format: Option<&'f Format>, takes_times: bool) -> Self {
        let columns = match format {
            Some(Format(Kind::Named(LineFormat::W3c))) => Some(Columns::named(IIS)),
            Some(Format(Kind::Named(LineFormat::CloudFront))) => Some(Columns::named(CLOUDFRONT)),
            _ => None,
        };
        Self { format, takes_times, columns, pieces: Pieces::default() }
    }

    /// What a line says; `None` where it is no more than a remark, or a part of a line.
    pub(in crate::trace) fn line(&mut self, text: &[u8]) -> Result<Option<Entry>, Reason> {
        match self.pieces.unwrap(text) {
            Unwrapped::Other => self.plain(text),
            Unwrapped::Piece => Ok(None),
            Unwrapped::Line(line) => match line.trim_ascii() {
                "" => Ok(None),
                line => self.plain(line.as_bytes()),
            },
        }
    }

    /// What has begun and did not come to its end.
    pub(in crate::trace) fn rest(&mut self) -> Option<String> {
        self.pieces.rest()
    }

    fn plain(&mut self, text: &[u8]) -> Result<Option<Entry>, Reason> {
        if text.starts_with(b"#") && (Columns::directive(&mut self.columns, text) || self.takes_times) {
            return Ok(None);
        }
        if self.takes_times
            && let Some(stamp) = Stamp::plain(text)
        {
            return Ok(Some(Entry::time(stamp)));
        }
        match self.request(text) {
            // Arrivals need no more than a time.
            Err(Reason::NoRequest) if self.takes_times && self.format.is_none() => {
                common::time(&Fields::of(text)).map(|stamp| Some(Entry::time(stamp))).ok_or(Reason::NoTime)
            }
            read => read.map(Some),
        }
    }

    fn request(&self, text: &[u8]) -> Result<Entry, Reason> {
        match self.format {
            None => self.recognised(text),
            Some(Format(Kind::Template(template))) => template.read(text),
            Some(Format(Kind::Named(name))) => match name {
                LineFormat::Common | LineFormat::Given => common::read(&Fields::of(text)),
                LineFormat::Json => json::read(text),
                LineFormat::W3c | LineFormat::CloudFront => match &self.columns {
                    Some(columns) => columns.read(text),
                    None => Err(Reason::OtherFormat),
                },
                LineFormat::Alb => load_balancer::alb(&Fields::of(text)),
                LineFormat::Elb => load_balancer::elb(&Fields::of(text)),
                LineFormat::Haproxy => load_balancer::haproxy_line(&Fields::of(text)),
            },
        }
    }

    fn recognised(&self, text: &[u8]) -> Result<Entry, Reason> {
        if text.starts_with(b"{") {
            return json::read(text);
        }
        if let Some(columns) = self.columns.as_ref().filter(|columns| columns.are_known()) {
            return columns.read(text);
        }
        if let Some(object) = behind_a_prefix(text)
            && let Ok(entry) = json::read(object)
        {
            return Ok(entry);
        }
        let fields = Fields::of(text);
        load_balancer::read(&fields).unwrap_or_else(|| common::read(&fields))
    }
}

/// An object behind what syslog, or a runner of containers, writes before each line.
fn behind_a_prefix(text: &[u8]) -> Option<&[u8]> {
    if !text.ends_with(b"}") {
        return None;
    }
    let blank = text.windows(3).position(|three| three == b" {\"")?;
    text.get(blank + 1..)
}
