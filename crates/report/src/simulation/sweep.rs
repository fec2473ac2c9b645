//! [`SweepData`]: a sweep of the simulator and the points that are there.

use std::path::Path;

use record::sweep::{PointRow, Sweep, SweepDirectory};

use crate::error::Error;

/// One sweep as far as it is known.
#[derive(Debug, Clone)]
pub(super) struct SweepData {
    /// The directory's name.
    pub(super) name: String,
    pub(super) sweep: Sweep,
    /// In the order of their numbers.
    pub(super) rows: Vec<PointRow>,
    pub(super) spec: String,
}

impl SweepData {
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let directory = SweepDirectory::open(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, sweep: directory.sweep()?, rows: directory.points()?, spec: directory.spec()? })
    }

    /// The points of a curve, in rising order.
    pub(super) fn curve(&self, name: &str) -> Vec<&PointRow> {
        let mut rows: Vec<&PointRow> = self.rows.iter().filter(|row| &*row.curve == name).collect();
        rows.sort_by(|one, other| one.x.total_cmp(&other.x));
        rows
    }

    /// The points of all curves.
    pub(super) fn curves(&self) -> impl Iterator<Item = (&str, Vec<&PointRow>)> {
        self.sweep.curves.iter().map(|name| (name.as_str(), self.curve(name)))
    }
}
