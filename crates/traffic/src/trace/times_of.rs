//! [`Times::read`]: the times of a log, or of a file that has nothing else.

use std::io::BufRead;
use std::path::Path;

use units::Span;

use super::entry::{Entry, When};
use super::error::Error;
use super::log::AccessLog;
use super::read::Reading;
use super::skipped::Skipped;
use super::times::{Times, put_in_order};

impl Times {
    /// Reads a file with a time on each line: seconds from any point in time, RFC 3339, or a line
    /// of an access log, whatever its method. Lines that begin with `#` are comments. Several files, and standard input,
    /// are named as for an [`AccessLog`].
    ///
    /// # Errors
    /// When it cannot be read, is compressed otherwise than by gzip, or has not one time. Broken lines are skipped, not an
    /// error.
    pub fn read(path: &Path) -> Result<(Self, Skipped), Error> {
        AccessLog::default().times(path)
    }

    /// Reads what `path` names in errors.
    ///
    /// # Errors
    /// As [`Times::read`].
    pub fn parse(path: &Path, input: impl BufRead) -> Result<(Self, Skipped), Error> {
        let mut gathered = Vec::new();
        let mut skipped = Skipped::default();
        let mut take = |entry: Entry, _: &mut Skipped| {
            gathered.push(entry.when);
            Ok(true)
        };
        Reading { format: None, takes_times: true }.lines(path, input, None, &mut skipped, &mut take)?;
        Self::of(path, &gathered, skipped)
    }

    fn of(path: &Path, gathered: &[When], skipped: Skipped) -> Result<(Self, Skipped), Error> {
        let coarsest = gathered.iter().map(|when| when.stamp.resolution).min();
        let Some(coarsest) = coarsest else {
            return Err(Error::Nothing { path: path.to_owned(), skipped: Box::new(skipped) });
        };
        let mut at: Vec<Span> = gathered.iter().map(|when| when.began()).collect();
        let duration = put_in_order(&mut at, coarsest, false);
        Ok((Self::new(at.into(), duration), skipped))
    }
}

impl AccessLog {
    /// The times of a file's requests, or of several files', whatever their methods; see [`Times::read`].
    ///
    /// # Errors
    /// As [`Times::read`].
    pub fn times(&self, path: &Path) -> Result<(Times, Skipped), Error> {
        let mut gathered = Vec::new();
        let mut skipped = Skipped::default();
        let reading = Reading { takes_times: true, ..self.reading() };
        reading.files(path, &mut skipped, |entry, _| {
            gathered.push(entry.when);
            Ok(true)
        })?;
        Times::of(path, &gathered, skipped)
    }
}
