//! [`ExportPaths`]: which files are asked for; [`Exports`]: those files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::export::distribution;
use crate::export::requests::RequestsCsv;
use crate::measure::phase::{Phase, Phases};

/// Files for other programs; what was there before is replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportPaths {
    /// How many latencies of each phase are in which interval, as CSV.
    pub latency_csv: Option<PathBuf>,
    /// Total latency by percentile, as HdrHistogram's tools write it.
    pub latency_hgrm: Option<PathBuf>,
    /// One line per request, as CSV.
    pub requests_csv: Option<PathBuf>,
}

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {source}", path = path.display())]
pub struct ExportError {
    /// The file.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

impl ExportError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { path: path.to_owned(), source }
    }
}

/// The files of latencies, open.
#[derive(Debug, Default)]
pub(crate) struct Exports {
    latency_csv: Option<Export>,
    latency_hgrm: Option<Export>,
}

#[derive(Debug)]
struct Export {
    path: PathBuf,
    file: File,
}

impl Export {
    fn create(path: &Option<PathBuf>) -> Result<Option<Self>, ExportError> {
        let Some(path) = path else { return Ok(None) };
        let file = File::create(path).map_err(ExportError::at(path))?;
        Ok(Some(Self { path: path.clone(), file }))
    }

    fn write(self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), ExportError> {
        let mut file = BufWriter::new(self.file);
        write(&mut file).and_then(|()| file.flush()).map_err(ExportError::at(&self.path))
    }
}

impl Exports {
    /// # Errors
    /// When one cannot be made.
    pub(crate) fn create(paths: &ExportPaths) -> Result<Self, ExportError> {
        Ok(Self {
            latency_csv: Export::create(&paths.latency_csv)?,
            latency_hgrm: Export::create(&paths.latency_hgrm)?,
        })
    }

    /// The file of requests.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn requests(paths: &ExportPaths) -> Result<Option<RequestsCsv>, ExportError> {
        paths.requests_csv.as_deref().map(RequestsCsv::create).transpose()
    }

    /// Writes what was measured.
    ///
    /// # Errors
    /// When one cannot be written; the others are.
    pub(crate) fn write(self, phases: &Phases) -> Result<(), ExportError> {
        let csv =
            self.latency_csv.map_or(Ok(()), |export| export.write(|file| distribution::csv(phases, file)));
        let total = phases.of(Phase::Total);
        let hgrm =
            self.latency_hgrm.map_or(Ok(()), |export| export.write(|file| distribution::hgrm(total, file)));
        csv.and(hgrm)
    }
}
