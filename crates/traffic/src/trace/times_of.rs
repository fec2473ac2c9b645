//! [`Times::read`]: the times of a log, or of a file that has nothing else; and what else is known of each request.

use std::io::BufRead;
use std::path::Path;

use units::Span;

use super::each::logged;
use super::entry::{Entry, When};
use super::error::Error;
use super::log::AccessLog;
use super::logged::Logged;
use super::read::Reading;
use super::resolution::Resolutions;
use super::skipped::Skipped;
use super::times::{Timed, Times, put_in_order};

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
            gathered.push((entry.when, ()));
            Ok(true)
        };
        Reading { format: None, takes_times: true }.lines(path, input, None, &mut skipped, &mut take)?;
        let (times, _, skipped) = Self::of(path, gathered, skipped)?;
        Ok((times, skipped))
    }

    /// What was said with each time comes in the order of the times.
    fn of<T>(
        path: &Path,
        gathered: Vec<(When, T)>,
        skipped: Skipped,
    ) -> Result<(Self, Vec<T>, Skipped), Error> {
        if gathered.is_empty() {
            return Err(Error::Nothing { path: path.to_owned(), skipped: Box::new(skipped) });
        }
        let mut resolutions = Resolutions::default();
        gathered.iter().for_each(|(when, _)| resolutions.add(when.stamp.written()));
        let mut said: Vec<Said<T>> =
            gathered.into_iter().map(|(when, what)| Said { at: when.began(), what }).collect();
        let duration = put_in_order(&mut said, resolutions.overall(), false);
        let (at, what): (Vec<Span>, Vec<T>) = said.into_iter().map(|said| (said.at, said.what)).unzip();
        Ok((Self::new(at.into(), duration), what, skipped))
    }
}

/// What is known of a request that came then.
struct Said<T> {
    at: Span,
    what: T,
}

impl<T> Timed for Said<T> {
    fn at(&self) -> Span {
        self.at
    }

    fn set(&mut self, at: Span) {
        self.at = at;
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
            gathered.push((entry.when, ()));
            Ok(true)
        })?;
        let (times, _, skipped) = Times::of(path, gathered, skipped)?;
        Ok((times, skipped))
    }

    /// The times of an access log, and for each request, in the order of their times, what `say` makes of its line; those of
    /// which it makes nothing are left out.
    ///
    /// # Errors
    /// As [`AccessLog::read`].
    pub fn times_and<T>(
        &self,
        path: &Path,
        say: impl Fn(&Logged) -> Option<T>,
    ) -> Result<(Times, Vec<T>, Skipped), Error> {
        let mut gathered = Vec::new();
        let mut skipped = Skipped::default();
        self.reading().files(path, &mut skipped, |entry, _| {
            let when = entry.when;
            let said = say(&logged(entry)?);
            let is_kept = said.is_some();
            gathered.extend(said.map(|said| (when, said)));
            Ok(is_kept)
        })?;
        Times::of(path, gathered, skipped)
    }
}
