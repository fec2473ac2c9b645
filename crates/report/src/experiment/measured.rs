//! One test as its run directory has it, checked before it may count.

use std::collections::BTreeMap;
use std::path::Path;

use record::{RunDirectory, Summary};
use units::Span;

/// What one test measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// Sessions that started in the measuring window, by class.
    pub(crate) classes: BTreeMap<String, Sessions>,
    /// Sessions that were completed inside the measuring window, whenever they had started: what
    /// the server got done while the load was on. Sessions completed afterwards, when nothing
    /// new arrived, would flatter an overloaded server.
    pub(crate) completed_inside: u64,
    /// Length of the measuring window in seconds.
    pub(crate) window: f64,
    /// The generator's summary.
    pub(crate) summary: Summary,
}

/// The sessions of one class.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sessions {
    pub(crate) started: u64,
    /// Durations of the completed ones in seconds, think time taken out, in no order.
    pub(crate) durations: Vec<f64>,
}

impl Measured {
    /// Reads the run in `directory`; what is wrong with it comes as a sentence.
    pub(crate) fn read(directory: &Path) -> Result<Self, String> {
        let run = RunDirectory::open(directory).map_err(|why| why.to_string())?;
        let summary = run.summary().map_err(|why| why.to_string())?;
        let window = run.info().map_err(|why| why.to_string())?.window;
        let mut classes: BTreeMap<String, Sessions> = BTreeMap::new();
        let mut completed_inside = 0;
        for row in run.sessions().map_err(|why| why.to_string())? {
            let row = row.map_err(|why| why.to_string())?;
            let ended = row.started_ns + row.duration_ns + row.think_ns;
            completed_inside += u64::from(row.completed && window.contains(ended));
            if !window.contains(row.started_ns) {
                continue;
            }
            let sessions = classes.entry(row.class.to_string()).or_default();
            sessions.started += 1;
            if row.completed {
                sessions.durations.push(row.duration_ns.as_secs_f64());
            }
        }
        let measured = Self { classes, completed_inside, window: window.length().as_secs_f64(), summary };
        measured.check(directory, window.length())?;
        Ok(measured)
    }

    pub(crate) fn started(&self) -> u64 {
        self.classes.values().map(|sessions| sessions.started).sum()
    }

    /// A record that contradicts itself was cut off or changed by hand; neither may be averaged.
    fn check(&self, directory: &Path, window: Span) -> Result<(), String> {
        if window.is_zero() {
            return Err(format!("{}: run.toml gives a measuring window without length", directory.display()));
        }
        let (rows, summary) = (self.started(), self.summary.sessions.started);
        if rows != summary {
            return Err(format!(
                "{}: summary.json counts {summary} sessions in the measuring window, sessions.parquet {rows}",
                directory.display()
            ));
        }
        Ok(())
    }
}
