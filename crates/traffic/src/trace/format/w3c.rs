//! The extended log file format of the W3C (<https://www.w3.org/TR/WD-logfile.html>), as IIS writes it, and CloudFront.

use super::fields::quote;
use super::gathered::{Gathered, Moment, Role, Unit};
use crate::trace::entry::Entry;
use crate::trace::line_format::LineFormat;
use crate::trace::skipped::Reason;
use crate::trace::stamp::Stamp;

/// The fields of CloudFront's standard logs, for a log whose head is not there.
pub(super) const CLOUDFRONT: &[u8] = b"date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken";

/// The fields that IIS writes unless told otherwise.
pub(super) const IIS: &[u8] = b"date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken";

/// What the columns of a log are, as its last `#Fields:` says.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    list: Vec<Column>,
    is_cloudfront: bool,
    /// The day of lines that have a time of day only.
    day: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Date,
    TimeOfDay,
    Role(Role, u8),
    Other,
}

impl Columns {
    /// The columns of these names.
    pub(super) fn named(names: &[u8]) -> Self {
        let names = || names.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty());
        let is_cloudfront = names().any(|name| name.eq_ignore_ascii_case(b"x-edge-location"));
        let list = names().map(|name| column(name, is_cloudfront)).collect();
        Self { list, is_cloudfront, day: Vec::new() }
    }

    /// Takes a line that begins with `#`, if it is one of the format's; gives whether it is.
    pub(super) fn directive(held: &mut Option<Self>, text: &[u8]) -> bool {
        let mut parts = text.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else { return false };
        let value = value.trim_ascii();
        match name.to_ascii_lowercase().as_slice() {
            b"#fields" => {
                let day = held.take().map(|columns| columns.day).unwrap_or_default();
                *held = Some(Self { day, ..Self::named(value) });
                true
            }
            b"#date" => {
                let day = value.split(u8::is_ascii_whitespace).next().unwrap_or_default();
                held.get_or_insert_default().day = day.to_vec();
                true
            }
            b"#version" | b"#software" | b"#start-date" | b"#end-date" | b"#remark" => true,
            _ => false,
        }
    }

    /// Whether it is known what the columns are.
    pub(super) fn are_known(&self) -> bool {
        !self.list.is_empty()
    }

    pub(super) fn read(&self, text: &[u8]) -> Result<Entry, Reason> {
        let mut gathered = Gathered::default();
        let (mut date, mut time_of_day) = (self.day.as_slice(), None);
        let mut values = Values { rest: text, has_tabs: text.contains(&b'\t'), is_open: false };
        let mut last = Column::Other;
        for column in &self.list {
            // A line with less than there ought to be is cut off, wherever in the file it is.
            let value = values.next().ok_or(Reason::Cut)?;
            match column {
                Column::Date => date = value,
                Column::TimeOfDay => time_of_day = Some(value),
                Column::Role(role @ (Role::Path | Role::Query | Role::Target), rank)
                    if self.is_cloudfront =>
                {
                    gathered.add(*role, *rank, encoded_once(value));
                }
                Column::Role(role, rank) => gathered.add(*role, *rank, value.to_vec()),
                Column::Other => {}
            }
            last = *column;
        }
        if let Some(time) = time_of_day {
            let stamp = Stamp::of_field(&[date, b" ", time].concat()).ok_or(Reason::NoTime)?;
            // Both write a line when the response has been sent.
            gathered.add_time(stamp, Moment::End);
        }
        let format = if self.is_cloudfront { LineFormat::CloudFront } else { LineFormat::W3c };
        let entry = gathered.entry(format)?;
        let is_asked = matches!(last, Column::Role(Role::Path | Role::Query | Role::Target | Role::Host, _));
        Ok(Entry { fields: self.list.len(), is_open: values.is_open || is_asked, ..entry })
    }
}

fn column(name: &[u8], is_cloudfront: bool) -> Column {
    let (role, rank) = match name.to_ascii_lowercase().as_slice() {
        b"date" => return Column::Date,
        b"time" => return Column::TimeOfDay,
        b"cs-method" => (Role::Method, 0),
        b"cs-uri" => (Role::Path, 0),
        b"cs-uri-stem" => (Role::Path, 1),
        b"cs-uri-query" => (Role::Query, 0),
        b"x-host-header" => (Role::Host, 0),
        b"cs-host" | b"cs(host)" => (Role::Host, 1),
        b"cs(content-type)" => (Role::ContentType, 0),
        b"sc-status" => (Role::Status, 0),
        b"sc-bytes" => (Role::Bytes, 0),
        b"time-taken" => (Role::Took(if is_cloudfront { Unit::Seconds } else { Unit::Millis }), 0),
        _ => return Column::Other,
    };
    Column::Role(role, rank)
}

/// Values with blanks or tabs between them.
struct Values<'a> {
    rest: &'a [u8],
    has_tabs: bool,
    /// Whether the last of them is a quote that is not closed.
    is_open: bool,
}

impl<'a> Values<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let (has_tabs, is_separator) = (self.has_tabs, |byte: &u8| byte.is_ascii_whitespace());
        if !has_tabs {
            self.rest = self.rest.trim_ascii_start();
        }
        if self.rest.is_empty() {
            return None;
        }
        if let Some(inside) = self.rest.strip_prefix(b"\"").filter(|_| !has_tabs) {
            let end = quote(inside);
            self.is_open = end.is_none();
            let end = end.unwrap_or(inside.len());
            self.rest = inside.get(end + 1..).unwrap_or_default();
            return inside.get(..end);
        }
        let end =
            self.rest.iter().position(|byte| if has_tabs { *byte == b'\t' } else { is_separator(byte) });
        let end = end.unwrap_or(self.rest.len());
        let value = self.rest.get(..end);
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        value
    }
}

/// CloudFront percent-encodes the percent sign, too.
fn encoded_once(value: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((&byte, after)) = rest.split_first() {
        plain.push(byte);
        rest = match after {
            [b'2', b'5', high, low, ..]
                if byte == b'%' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                after.get(2..).unwrap_or_default()
            }
            _ => after,
        };
    }
    plain
}
