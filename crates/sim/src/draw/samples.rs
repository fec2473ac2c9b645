//! [`Samples`]: what requests needed, one by one, instead of a law.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use units::Span;

/// What requests needed, from which is drawn with replacement.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// The file that they are of.
    pub(crate) file: PathBuf,
    /// In seconds.
    pub(crate) mean: f64,
    /// Over the mean. Shape: one for each sample, at least one.
    pub(crate) values: Arc<[f64]>,
}

/// Why a file has no samples.
#[derive(Debug, thiserror::Error)]
pub enum SamplesError {
    /// It cannot be read.
    #[error("cannot read {}: {why}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// A line is not a time.
    #[error("{}:{line}: \"{text}\" is not a time; give one on each line, as in 12.5ms, or a number of seconds", .file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// There are none, or all are zero.
    #[error("{}: no time in it is above zero", .0.display())]
    Nothing(PathBuf),
}

impl Samples {
    /// Reads a file with a time on each line, with a unit or in seconds; empty lines, and those that begin with `#`, are left out.
    ///
    /// # Errors
    /// Where it cannot be read, with the line that is not a time, and where nothing is above zero.
    pub fn read(file: &Path) -> Result<Self, SamplesError> {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let text = fs::read_to_string(&file).map_err(|why| SamplesError::Read { file: file.clone(), why })?;
        let mut seconds = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let text = line.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
            let time = number.or_else(|| text.parse::<Span>().ok().map(Span::as_secs_f64));
            let wrong = || SamplesError::Line { file: file.clone(), line: index + 1, text: text.to_owned() };
            seconds.push(time.ok_or_else(wrong)?);
        }
        let mean = stats::mean(seconds.iter().copied()).unwrap_or(0.0);
        if mean <= 0.0 {
            return Err(SamplesError::Nothing(file));
        }
        Ok(Self { file, mean, values: seconds.iter().map(|time| time / mean).collect() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_or_without_units() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("needs.txt");
        let read = |text: &str| {
            fs::write(&file, text).unwrap();
            Samples::read(&file).map_err(|why| why.to_string())
        };
        let samples = read("# what the log says\n10ms\n\n 0.03 \n0\n40ms\n").unwrap();
        assert!((samples.mean - 0.02).abs() < 1e-12, "{samples:?}");
        assert_eq!(samples.values.len(), 4);
        let why = read("10ms\nsoon\n").unwrap_err();
        assert!(why.contains("needs.txt:2: \"soon\" is not a time"), "{why}");
        assert!(read("-1\n").is_err() && read("inf\n").is_err());
        assert!(read("0\n# nothing\n").unwrap_err().contains("above zero"));
        assert!(Samples::read(&place.path().join("none")).unwrap_err().to_string().contains("cannot read"));
    }
}
