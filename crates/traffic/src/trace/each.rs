//! [`AccessLog::each`]: the requests of a log one by one.

use std::io::BufRead;
use std::path::Path;

use units::Span;

use super::entry::Entry;
use super::error::Error;
use super::log::AccessLog;
use super::logged::Logged;
use super::skipped::{Reason, Skipped};
use super::target;

impl AccessLog {
    /// Hands out the requests of a file, or of several, one by one, in the order of their lines.
    ///
    /// # Errors
    /// As [`AccessLog::read`].
    pub fn each(&self, path: &Path, mut take: impl FnMut(Logged)) -> Result<Skipped, Error> {
        let (mut skipped, mut any) = (Skipped::default(), false);
        self.reading().files(path, &mut skipped, |entry, _| {
            take(logged(entry)?);
            any = true;
            Ok(true)
        })?;
        some(any, path, skipped)
    }

    /// Hands out the requests of `input`, which errors call `path`.
    ///
    /// # Errors
    /// As [`AccessLog::read`].
    pub fn each_of(
        &self,
        path: &Path,
        input: impl BufRead,
        mut take: impl FnMut(Logged),
    ) -> Result<Skipped, Error> {
        let (mut skipped, mut any) = (Skipped::default(), false);
        let mut take = |entry, _: &mut Skipped| {
            take(logged(entry)?);
            any = true;
            Ok(true)
        };
        self.reading().lines(path, input, None, &mut skipped, &mut take)?;
        some(any, path, skipped)
    }
}

fn some(any: bool, path: &Path, skipped: Skipped) -> Result<Skipped, Error> {
    if any { Ok(skipped) } else { Err(Error::Nothing { path: path.to_owned(), skipped: Box::new(skipped) }) }
}

pub(super) fn logged(entry: Entry) -> Result<Logged, Reason> {
    let request = target::request(&entry.asked)?;
    Ok(Logged {
        at: Span::from_nanos(entry.when.stamp.ns),
        written: entry.when.stamp.written(),
        method: String::from_utf8_lossy(&request.method).into_owned(),
        url: request.target.map(|target| target.url),
        status: entry.status,
        bytes: entry.bytes,
        is_end: entry.when.is_end,
        took: entry.when.took,
        last: entry.last,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{LastNumber, Resolution};

    fn read(log: &str) -> Vec<Logged> {
        let mut lines = Vec::new();
        AccessLog::default().each_of("access.log".as_ref(), log.as_bytes(), |line| lines.push(line)).unwrap();
        lines
    }

    #[test]
    fn requests_of_any_method_are_handed_out_with_the_number_at_the_end() {
        let common = "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700]";
        let lines = read(&format!(
            "{common} \"GET /a?b HTTP/1.1\" 200 5 \"-\" \"agent 1.5\" 0.250\n\
             {common} \"POST /form HTTP/1.1\" 302 -\n\
             {common} \"GET /c HTTP/1.1\" 200 7 \"-\" \"agent 1.5\" rt=12345\n\
             broken\n"
        ));
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0].url.as_deref(), Some("/a?b"));
        assert_eq!(lines[0].last, Some(LastNumber { value: 0.25, decimals: 3 }));
        assert_eq!((lines[1].method.as_str(), lines[1].url.as_deref()), ("POST", Some("/form")));
        assert_eq!((lines[1].status, lines[1].last), (Some(302), None));
        assert_eq!(lines[2].last, Some(LastNumber { value: 12345.0, decimals: 0 }));
        assert_eq!(
            (lines[2].at.as_nanos(), lines[2].written.resolution),
            (971_211_336_000_000_000, Resolution::Seconds)
        );
    }

    #[test]
    fn a_file_without_a_request_is_an_error() {
        let error =
            AccessLog::default().each_of("a.log".as_ref(), &b"x\ny\n"[..], |_| ()).unwrap_err().to_string();
        assert!(error.contains("a.log") && error.contains("2 broken"), "{error}");
    }
}
