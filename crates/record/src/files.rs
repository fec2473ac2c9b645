//! Small text files of a record, written so that no reader ever sees half of one.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// Replaces `path` in one step: a crash leaves the old text or the new, never a part.
///
/// # Errors
/// When it cannot be written; then the old text is there.
pub fn replace(path: &Path, text: &str) -> Result<(), Error> {
    replace_with(path, |beside| fs::write(beside, text).map_err(Error::io("write", path)))
}

/// The same with what `write` writes to the path that it is given.
pub(crate) fn replace_with(path: &Path, write: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let written = write(&beside);
    written.and_then(|()| fs::rename(&beside, path).map_err(Error::io("write", path))).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

pub(crate) fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(Error::io("read", path))
}

/// Replaces `path` by the value as JSON, indented, in one step.
///
/// # Errors
/// When it cannot be written; then the old text is there.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let mut text = serde_json::to_string_pretty(value).map_err(|why| Error::malformed(path, why))?;
    text.push('\n');
    replace(path, &text)
}

/// Reads a value from JSON.
///
/// # Errors
/// When there is no such file, it cannot be read, or it holds something else.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    serde_json::from_str(&read(path)?).map_err(|why| Error::malformed(path, why))
}

pub(crate) fn write_toml<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let text = toml::to_string(value).map_err(|why| Error::malformed(path, why))?;
    replace(path, &text)
}

pub(crate) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    toml::from_str(&read(path)?).map_err(|why| Error::malformed(path, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_to_the_last_bit() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("numbers.json");
        let numbers: Vec<f64> = (1..5000).map(|n| 1.0 / f64::from(n)).collect();
        write_json(&path, &numbers).unwrap();
        assert_eq!(read_json::<Vec<f64>>(&path).unwrap(), numbers);
    }
}
