//! [`Latencies`]: the files of latencies that are asked for; made before the run, so that a wrong path ends nothing but
//! the attempt.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::measure::phase::{Phase, Phases};
use crate::output::distribution;
use crate::output::error::OutputError;
use crate::settings::exports::ExportPaths;

/// The files of latencies, open.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    latency_csv: Option<Export>,
    latency_hgrm: Option<Export>,
}

#[derive(Debug)]
struct Export {
    path: PathBuf,
    file: File,
}

impl Export {
    fn create(path: &Option<PathBuf>) -> Result<Option<Self>, OutputError> {
        let Some(path) = path else { return Ok(None) };
        let file = File::create(path).map_err(OutputError::at(path))?;
        Ok(Some(Self { path: path.clone(), file }))
    }

    fn write(self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), OutputError> {
        let mut file = BufWriter::new(self.file);
        write(&mut file).and_then(|()| file.flush()).map_err(OutputError::at(&self.path))
    }
}

impl Latencies {
    /// # Errors
    /// When one cannot be made.
    pub(crate) fn create(paths: &ExportPaths) -> Result<Self, OutputError> {
        Ok(Self {
            latency_csv: Export::create(&paths.latency_csv)?,
            latency_hgrm: Export::create(&paths.latency_hgrm)?,
        })
    }

    /// Writes what was measured.
    ///
    /// # Errors
    /// When one cannot be written; the others are.
    pub(crate) fn write(self, phases: &Phases) -> Result<(), OutputError> {
        let csv =
            self.latency_csv.map_or(Ok(()), |export| export.write(|file| distribution::csv(phases, file)));
        let total = phases.of(Phase::Total);
        let hgrm =
            self.latency_hgrm.map_or(Ok(()), |export| export.write(|file| distribution::hgrm(total, file)));
        csv.and(hgrm)
    }
}
