//! [`SearchOptions`]: what to search for, and how.

use std::ffi::OsString;
use std::path::PathBuf;

use traffic::Ramp;
use units::Ratio;

use crate::spec::crowd::Crowd;

/// What to search for, and how.
#[derive(Debug, Clone)]
pub struct SearchOptions {
    /// What `headworks load` is to ask for.
    pub url: String,
    /// Its further options.
    pub load: Vec<OsString>,
    /// Bounds that have to hold as well, such as `p99<50ms`.
    pub objectives: Vec<String>,
    /// How arrivals are spread over time, in the generator's words.
    pub arrivals: String,
    /// Processors of the generator alone, such as `1`; any when left out.
    pub cpus: Option<String>,
    /// How near the ends of the interval are to be.
    pub precision: Ratio,
    /// Rates to try one after the other instead of searching.
    pub ramp: Option<Ramp>,
    /// A closed loop instead: what it gets in all is the capacity.
    pub crowd: Option<Crowd>,
    /// Files that are dropped from memory before each probe, so that the server reads them from the disk: all below
    /// this directory.
    pub cold: Option<PathBuf>,
    /// Where the records of all probes and `capacity.json` go; nowhere when left out.
    pub out: Option<PathBuf>,
    /// Whether a server on this machine is watched meanwhile.
    pub watch: bool,
    /// Seed of arrivals.
    pub seed: u64,
    /// The `headworks` program.
    pub headworks: PathBuf,
}

impl SearchOptions {
    /// Whether one of these options of `headworks load` is given, in any spelling: `--workload=surge`, `-wsurge`.
    pub(crate) fn has_option(&self, names: &[&str]) -> bool {
        self.load.iter().map(|word| word.to_string_lossy()).any(|word| {
            names.iter().any(|name| match word.strip_prefix(name) {
                Some(rest) => rest.is_empty() || rest.starts_with('=') || !name.starts_with("--"),
                None => false,
            })
        })
    }

    /// Whether the generator goes somewhere else than the URL says.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.has_option(&["--connect-to", "--unix-socket"])
    }

    /// Whether a client of a closed loop has a request under way at all times, and only one.
    pub(crate) fn is_one_each(&self) -> bool {
        !self.has_option(&["--pipeline", "--think"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_in_any_spelling() {
        let search = |words: &[&str]| SearchOptions {
            url: String::new(),
            load: words.iter().map(OsString::from).collect(),
            objectives: Vec::new(),
            arrivals: String::new(),
            cpus: None,
            precision: Ratio::default(),
            ramp: None,
            crowd: None,
            cold: None,
            out: None,
            watch: false,
            seed: 1,
            headworks: PathBuf::new(),
        };
        for words in [&["--workload", "surge"][..], &["--workload=surge"], &["-w", "surge"], &["-wsurge"]] {
            assert!(search(words).has_option(&["--workload", "-w"]), "{words:?}");
        }
        for words in [&[][..], &["--workloads"], &["--warmup", "1s"], &["--http", "1.0"]] {
            assert!(!search(words).has_option(&["--workload", "-w"]), "{words:?}");
        }
        assert!(search(&["--connect-to", "127.0.0.1:1"]).is_elsewhere());
        assert!(!search(&["--pipeline=4"]).is_one_each());
        assert!(search(&["--http", "1.0"]).is_one_each());
    }
}
