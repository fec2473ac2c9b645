//! [`SweepDirectory`]: where a sweep keeps its points.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{PointRow, Sweep};
use crate::table::{TableReader, TableWriter};
use crate::{Error, files};

const INDEX: &str = "sweep.json";
const SPEC: &str = "spec.toml";
const POINTS: &str = "points";
const MERGED: &str = "points.parquet";
const SUFFIX: &str = ".parquet";

/// The directory of one sweep; the methods name its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepDirectory {
    path: PathBuf,
}

impl SweepDirectory {
    /// Whether a directory holds a sweep.
    pub(crate) fn is_in(path: &Path) -> bool {
        path.join(INDEX).is_file()
    }

    /// The directory of a sweep that was begun before.
    ///
    /// # Errors
    /// [`Error::NotARecord`] when it holds none.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        if Self::is_in(&path) { Ok(Self { path }) } else { Err(Error::NotARecord { path, missing: INDEX }) }
    }

    /// Makes the directory and those above it for `sweep`, whose spec is `text`, or goes on with
    /// the same sweep there.
    ///
    /// # Errors
    /// [`Error::AnotherSweep`] when another is in it; [`Error::Io`] when it cannot be made.
    pub fn begin(path: impl Into<PathBuf>, sweep: &Sweep, text: &str) -> Result<Self, Error> {
        let path = path.into();
        let points = path.join(POINTS);
        fs::create_dir_all(&points).map_err(Error::io("create", &points))?;
        let directory = Self { path };
        if Self::is_in(&directory.path) {
            if let Some(difference) = difference(&directory.sweep()?, sweep) {
                return Err(Error::AnotherSweep { path: directory.path, difference });
            }
            return Ok(directory);
        }
        files::replace(&directory.path.join(SPEC), text)?;
        files::write_json(&directory.path.join(INDEX), sweep)?;
        Ok(directory)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the index.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn sweep(&self) -> Result<Sweep, Error> {
        files::read_json(&self.path.join(INDEX))
    }

    /// Reads the spec.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn spec(&self) -> Result<String, Error> {
        files::read(&self.path.join(SPEC))
    }

    /// Writes a point in one step: a process that is interrupted leaves all of it or nothing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_point(&self, row: PointRow) -> Result<(), Error> {
        let name = format!("{:06}{SUFFIX}", row.point);
        write(&self.path.join(POINTS).join(name), [row])
    }

    /// The numbers of the points that are known.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn known(&self) -> Result<BTreeSet<u32>, Error> {
        let points = self.path.join(POINTS);
        let entries = fs::read_dir(&points).map_err(Error::io("read", &points))?;
        let mut known = BTreeSet::new();
        for entry in entries {
            let name = entry.map_err(Error::io("read", &points))?.file_name();
            let number: Option<u32> = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)?.parse().ok());
            known.extend(number);
        }
        Ok(known)
    }

    /// Reads the points that are known, in order.
    ///
    /// # Errors
    /// [`Error::DamagedPoint`] for one that cannot be read.
    pub fn points(&self) -> Result<Vec<PointRow>, Error> {
        let mut rows = Vec::new();
        for number in self.known()? {
            let path = self.path.join(POINTS).join(format!("{number:06}{SUFFIX}"));
            let point: Result<Vec<PointRow>, Error> = TableReader::open(&path).and_then(Iterator::collect);
            rows.extend(point.map_err(|why| Error::DamagedPoint { path, why: Box::new(why) })?);
        }
        Ok(rows)
    }

    /// Writes all points into one table, for other programs to read.
    ///
    /// # Errors
    /// When they cannot be read or written.
    pub fn merge(&self) -> Result<(), Error> {
        write(&self.path.join(MERGED), self.points()?)
    }
}

/// What makes two sweeps different; what they are called does not.
fn difference(before: &Sweep, now: &Sweep) -> Option<String> {
    if before.version != now.version {
        return Some(format!("it was begun by version {}, and this is {}", before.version, now.version));
    }
    if before.points.len() != now.points.len() {
        return Some(format!("it has {} points, and the spec has {}", before.points.len(), now.points.len()));
    }
    let differs = before.points.iter().zip(&now.points).position(|(before, now)| before != now);
    if let Some(point) = differs {
        let [before, now] = [before, now].map(|sweep| sweep.points.get(point).map_or("", String::as_str));
        return Some(format!("its point {point} is \"{before}\", and the spec's is \"{now}\""));
    }
    (before.curves != now.curves || before.networks != now.networks)
        .then(|| "its curves are others than the spec's".to_owned())
}

/// Tables that processes write at the same time have names of their own until they are complete.
fn write(path: &Path, rows: impl IntoIterator<Item = PointRow>) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = path.with_file_name(name);
    if beside.exists() {
        fs::remove_file(&beside).map_err(Error::io("write", &beside))?;
    }
    let write = || {
        let mut table = TableWriter::create(&beside)?;
        rows.into_iter().try_for_each(|row| table.push(row))?;
        table.finish()?;
        fs::rename(&beside, path).map_err(Error::io("write", path))
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}
