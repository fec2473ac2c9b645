//! [`AccessLog`]: from a file to a trace.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use units::Span;

use super::entry::Entry;
use super::error::Error;
use super::format::Format;
use super::line_format::LineFormat;
use super::objects::Objects;
use super::read::Reading;
use super::request::TraceRequest;
use super::requests::Trace;
use super::resolution::Resolutions;
use super::skipped::{Reason, Skipped};
use super::times::{self, Timed};

/// How an access log is read.
///
/// Its format is recognised line by line, unless it is [given](Self::with_format): the common and the combined format and
/// what resembles them, that is, on each line a time, the request line in quotes, then status and bytes; JSON with the
/// usual names; W3C extended; CloudFront; AWS's load balancers; HAProxy. A time is `[10/Oct/2000:13:55:36 -0700]`, with a
/// fraction of the second or without, or ISO 8601, or seconds since 1970; of several on a line the finest counts. Where a
/// format is known to have the time of the end, and how long the request took, the request came that long before.
///
/// Where a file is to be named, several can be, with commas between them, and `-` is standard input. What gzip has
/// compressed is unpacked.
///
/// ```
/// use traffic::trace::AccessLog;
/// use units::Span;
///
/// let log = r#"
/// 127.0.0.1 - - [10/Oct/2000:13:55:36.250 -0700] "GET /a.gif HTTP/1.1" 200 2326
/// ::1 - - [10/Oct/2000:13:55:37.000 -0700] "HEAD / HTTP/1.1" 304 - "-" "curl/8"
/// 127.0.0.1 - - [10/Oct/2000:13:55:38.000 -0700] "POST /form HTTP/1.1" 200 12
/// "#;
/// let trace = AccessLog::default().parse("access.log".as_ref(), log.as_bytes())?;
/// assert_eq!(trace.requests.len(), 2);
/// assert_eq!(trace.requests[1].at, Span::from_millis(750));
/// assert_eq!(trace.skipped.other_methods(), 1);
/// # Ok::<(), traffic::trace::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AccessLog {
    keep_seconds: bool,
    format: Option<Format>,
}

impl AccessLog {
    /// Leaves times as they are where they are whole seconds. Otherwise the requests of one
    /// second are spread evenly over it, in the order of the file: they did not all come at
    /// once, and nothing is known about when they did.
    #[must_use]
    pub const fn keep_seconds(mut self) -> Self {
        self.keep_seconds = true;
        self
    }

    /// Takes lines for what they are said to be.
    #[must_use]
    pub fn with_format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Reads a file, or several into one trace.
    ///
    /// # Errors
    /// When one cannot be read, is compressed otherwise than by gzip, or none has a line that can be replayed. Broken
    /// lines are skipped, not an error.
    pub fn read(&self, path: &Path) -> Result<Trace, Error> {
        let mut gathering = Gathering::default();
        let mut skipped = Skipped::default();
        self.reading().files(path, &mut skipped, |entry, skipped| gathering.take(entry, skipped))?;
        gathering.end(path, self.keep_seconds, skipped)
    }

    /// Reads what `path` names in errors.
    ///
    /// # Errors
    /// As [`AccessLog::read`].
    pub fn parse(&self, path: &Path, input: impl BufRead) -> Result<Trace, Error> {
        let mut gathering = Gathering::default();
        let mut skipped = Skipped::default();
        let mut take = |entry, skipped: &mut Skipped| gathering.take(entry, skipped);
        self.reading().lines(path, input, None, &mut skipped, &mut take)?;
        gathering.end(path, self.keep_seconds, skipped)
    }

    pub(super) fn reading(&self) -> Reading<'_> {
        Reading { format: self.format.as_ref(), takes_times: false }
    }
}

/// Requests on their way into a trace.
#[derive(Default)]
struct Gathering {
    objects: Objects,
    requests: Vec<TraceRequest>,
    resolutions: Resolutions,
    formats: BTreeMap<LineFormat, u64>,
}

impl Gathering {
    fn take(&mut self, entry: Entry, skipped: &mut Skipped) -> Result<bool, Reason> {
        let Entry { when, status, bytes, format, .. } = entry;
        match self.objects.number(entry)? {
            Ok(object) => {
                self.resolutions.add(when.stamp.written());
                *self.formats.entry(format).or_default() += 1;
                self.requests.push(TraceRequest { at: when.began(), object, status, bytes });
                Ok(true)
            }
            Err(method) => {
                skipped.leave_out(&method);
                Ok(false)
            }
        }
    }

    fn end(mut self, path: &Path, keep_seconds: bool, skipped: Skipped) -> Result<Trace, Error> {
        if self.requests.is_empty() {
            return Err(Error::Nothing { path: path.to_owned(), skipped: Box::new(skipped) });
        }
        let resolution = self.resolutions.overall();
        let duration = times::put_in_order(&mut self.requests, resolution, keep_seconds);
        let (objects, requests, formats) = (self.objects.list, self.requests, self.formats);
        Ok(Trace { objects, requests, duration, resolution, formats, skipped })
    }
}

impl Timed for TraceRequest {
    fn at(&self) -> Span {
        self.at
    }

    fn set(&mut self, at: Span) {
        self.at = at;
    }
}
