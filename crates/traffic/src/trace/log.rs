//! [`AccessLog`]: from a file to a trace.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use units::Span;

use super::error::Error;
use super::line::line;
use super::request::{Method, Object, TraceRequest};
use super::requests::Trace;
use super::resolution::Resolution;
use super::skipped::Skipped;
use super::times::Timed;
use super::{read, times};

/// How an access log is read.
///
/// Whatever is in the common or the combined format, or resembles one: on each line a time, the
/// request line in quotes, then status and bytes. A time is `[10/Oct/2000:13:55:36 -0700]`, with
/// a fraction of the second or without, or ISO 8601, or seconds since 1970; of several on a line
/// the finest counts.
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
/// assert_eq!(trace.skipped.other_methods, 1);
/// # Ok::<(), traffic::trace::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct AccessLog {
    keep_seconds: bool,
}

impl AccessLog {
    /// Leaves times as they are where they are whole seconds. Otherwise the requests of one
    /// second are spread evenly over it, in the order of the file: they did not all come at
    /// once, and nothing is known about when they did.
    #[must_use]
    pub const fn keep_seconds(self) -> Self {
        Self { keep_seconds: true }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is compressed, or has not one line that can be replayed. Broken
    /// lines are skipped, not an error.
    pub fn read(self, path: &Path) -> Result<Trace, Error> {
        self.parse(path, read::open(path)?)
    }

    /// Reads what `path` names in errors.
    ///
    /// # Errors
    /// As [`AccessLog::read`].
    pub fn parse(self, path: &Path, input: impl BufRead) -> Result<Trace, Error> {
        let mut skipped = Skipped::default();
        let mut objects = Objects::default();
        let mut requests = Vec::new();
        let mut coarsest = Resolution::Micros;
        let mut latest = Span::ZERO;
        let read = read::lines(input, &mut skipped, |text, skipped| {
            let Some(line) = line(text)? else {
                skipped.other_methods += 1;
                return Ok(());
            };
            coarsest = coarsest.min(line.stamp.resolution);
            let at = Span::from_nanos(line.stamp.ns);
            skipped.out_of_order += u64::from(at < latest);
            latest = latest.max(at);
            let object = objects.number(line.method, line.url);
            requests.push(TraceRequest { at, object, status: line.status, bytes: line.bytes });
            Ok(())
        });
        read.map_err(|why| Error::Read { path: path.to_owned(), why })?;
        if requests.is_empty() {
            return Err(Error::Nothing { path: path.to_owned(), skipped: Box::new(skipped) });
        }
        let duration = times::put_in_order(&mut requests, coarsest, self.keep_seconds);
        Ok(Trace { objects: objects.list, requests, duration, resolution: coarsest, skipped })
    }
}

/// Objects by number, and numbers by URL and method.
#[derive(Debug, Default)]
struct Objects {
    list: Vec<Object>,
    numbers: HashMap<Arc<str>, [Option<u32>; Method::ALL.len()]>,
}

impl Objects {
    fn number(&mut self, method: Method, url: String) -> u32 {
        if let Some(Some(number)) = self.numbers.get(url.as_str()).and_then(|of| of.get(method as usize)) {
            return *number;
        }
        // Four thousand million URLs do not fit into memory.
        let number = self.list.len() as u32;
        let url =
            self.numbers.get_key_value(url.as_str()).map_or_else(|| url.into(), |(url, _)| Arc::clone(url));
        self.list.push(Object { method, url: Arc::clone(&url) });
        if let Some(of_method) = self.numbers.entry(url).or_default().get_mut(method as usize) {
            *of_method = Some(number);
        }
        number
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
