//! [`AccessLog::each`]: the requests of a log one by one.

use std::io::BufRead;
use std::path::Path;

use super::error::Error;
use super::line::logged;
use super::log::AccessLog;
use super::logged::Logged;
use super::read;
use super::skipped::Skipped;

impl AccessLog {
    /// Hands out a file's requests one by one, in the order of their lines.
    ///
    /// # Errors
    /// As [`AccessLog::read`].
    pub fn each(path: &Path, take: impl FnMut(Logged)) -> Result<Skipped, Error> {
        Self::each_of(path, read::open(path)?, take)
    }

    /// Hands out the requests of `input`, which errors call `path`.
    ///
    /// # Errors
    /// As [`AccessLog::read`].
    pub fn each_of(path: &Path, input: impl BufRead, mut take: impl FnMut(Logged)) -> Result<Skipped, Error> {
        let mut skipped = Skipped::default();
        let mut any = false;
        let read = read::lines(input, &mut skipped, |text, _| {
            take(logged(text)?);
            any = true;
            Ok(())
        });
        read.map_err(|why| Error::Read { path: path.to_owned(), why })?;
        if any {
            Ok(skipped)
        } else {
            Err(Error::Nothing { path: path.to_owned(), skipped: Box::new(skipped) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{LastNumber, Resolution};

    fn read(log: &str) -> Vec<Logged> {
        let mut lines = Vec::new();
        AccessLog::each_of("access.log".as_ref(), log.as_bytes(), |line| lines.push(line)).unwrap();
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
        assert_eq!((lines[1].url.as_deref(), lines[1].status, lines[1].last), (None, Some(302), None));
        assert_eq!(lines[2].last, Some(LastNumber { value: 12345.0, decimals: 0 }));
        assert_eq!(
            (lines[2].at.as_nanos(), lines[2].resolution),
            (971_211_336_000_000_000, Resolution::Seconds)
        );
    }

    #[test]
    fn a_file_without_a_request_is_an_error() {
        let error = AccessLog::each_of("a.log".as_ref(), &b"x\ny\n"[..], |_| ()).unwrap_err().to_string();
        assert!(error.contains("a.log") && error.contains("2 broken"), "{error}");
    }
}
