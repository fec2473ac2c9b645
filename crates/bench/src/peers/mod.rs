//! The load generators: how each is asked for the same load, and how its answer is read.
//!
//! Each is one thread on one processor.

mod h2load;
mod headworks;
mod hey;
mod shb;
mod wrk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::Serialize;

pub(crate) use h2load::multiplexed;
pub(crate) use headworks::{Client, Latency, Pace, pace};

/// A load generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    /// `headworks load`, every phase in histograms.
    Headworks,
    /// The same, and the record of each request on disk.
    HeadworksRecord,
    Wrk,
    H2load,
    Hey,
    Shb,
}

/// What becomes of a connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reuse {
    KeepAlive,
    Close,
}

/// The load asked for.
#[derive(Debug, Clone)]
pub(crate) struct Ask<'a> {
    pub(crate) url: &'a str,
    pub(crate) reuse: Reuse,
    pub(crate) connections: u32,
    pub(crate) seconds: u32,
    /// Where a record goes, if one is written.
    pub(crate) record: &'a Path,
}

/// What a generator says of its run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Told {
    /// Complete responses with the status 200.
    pub(crate) requests: u64,
    /// Those per second.
    pub(crate) rate: f64,
    /// Bytes received; some generators count bodies only.
    pub(crate) bytes: f64,
    /// All that went wrong, by the generator's name for it.
    pub(crate) errors: BTreeMap<String, u64>,
}

/// Where the programs are that are built rather than installed.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    pub(crate) headworks: PathBuf,
    pub(crate) shb: PathBuf,
}

impl Peer {
    pub(crate) const ALL: [Self; 6] =
        [Self::Headworks, Self::HeadworksRecord, Self::Wrk, Self::Shb, Self::H2load, Self::Hey];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Headworks => "headworks",
            Self::HeadworksRecord => "headworks --out",
            Self::Wrk => "wrk",
            Self::H2load => "h2load",
            Self::Hey => "hey",
            Self::Shb => "shb",
        }
    }

    pub(crate) fn program(self, programs: &Programs) -> String {
        match self {
            Self::Headworks | Self::HeadworksRecord => programs.headworks.display().to_string(),
            Self::Shb => programs.shb.display().to_string(),
            Self::Wrk | Self::H2load | Self::Hey => self.name().to_owned(),
        }
    }

    /// Whether it can be asked for this.
    ///
    /// At the end of a timed run over connections that the server closes, h2load 1.52 goes on for
    /// ever.
    pub(crate) fn can(self, reuse: Reuse) -> bool {
        !(self == Self::H2load && reuse == Reuse::Close)
    }

    /// The arguments that ask for the load.
    pub(crate) fn arguments(self, ask: &Ask<'_>) -> Vec<String> {
        match self {
            Self::Headworks => headworks::arguments(ask, false),
            Self::HeadworksRecord => headworks::arguments(ask, true),
            Self::Wrk => wrk::arguments(ask),
            Self::H2load => h2load::arguments(ask),
            Self::Hey => hey::arguments(ask),
            Self::Shb => shb::arguments(ask),
        }
    }

    /// Whether a run that ended so is one to read.
    pub(crate) fn ended_well(self, code: Option<i32>) -> bool {
        match self {
            // 4 is `not valid`: that the generator had no processor left is what is measured here.
            Self::Headworks | Self::HeadworksRecord => matches!(code, Some(0 | 4)),
            _ => code == Some(0),
        }
    }

    pub(crate) fn read(self, stdout: &str) -> anyhow::Result<Told> {
        match self {
            Self::Headworks | Self::HeadworksRecord => headworks::read(stdout),
            Self::Wrk => wrk::read(stdout),
            Self::H2load => h2load::read(stdout),
            Self::Hey => hey::read(stdout),
            Self::Shb => shb::read(stdout),
        }
    }

    /// The version that is installed; an error when the program is not there.
    pub(crate) fn version(self, programs: &Programs) -> anyhow::Result<String> {
        let program = self.program(programs);
        match self {
            Self::Headworks | Self::HeadworksRecord => {
                Ok(testbed::says(&program, &["--version"])?.trim().to_owned())
            }
            Self::Wrk => wrk::version(&testbed::says(&program, &["--version"])?),
            Self::H2load => Ok(testbed::says(&program, &["--version"])?.trim().to_owned()),
            Self::Hey => hey::version(),
            Self::Shb => shb::version(&programs.shb),
        }
    }
}

impl Told {
    /// Why there is no figure in this: errors, no requests, or other content than was asked for.
    pub(crate) fn failure(&self, size: usize) -> Option<String> {
        let wrong: Vec<_> = self.errors.iter().map(|(what, count)| format!("{count} {what}")).collect();
        if !wrong.is_empty() {
            return Some(wrong.join(", "));
        }
        if self.requests == 0 {
            return Some("no requests".to_owned());
        }
        // Generators round, and count a response at another moment than its bytes.
        let least = self.requests as f64 * size as f64 * 0.95;
        (self.bytes < least).then(|| format!("{:.0} bytes instead of {least:.0} or more", self.bytes))
    }
}

/// The text between two others, without spaces around it.
fn between<'a>(text: &'a str, before: &str, after: &str) -> anyhow::Result<&'a str> {
    match text.split_once(before).and_then(|(_, rest)| rest.split_once(after)) {
        Some((found, _)) => Ok(found.trim()),
        None => bail!("nothing between {before:?} and {after:?} in: {}", text.trim()),
    }
}

/// Keeps what was counted at all.
fn counted<const N: usize>(errors: [(&str, u64); N]) -> BTreeMap<String, u64> {
    errors.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| (what.to_owned(), count)).collect()
}

#[cfg(test)]
fn ask(reuse: Reuse) -> Ask<'static> {
    let (url, record) = ("http://127.0.0.1:8080/1024", Path::new("record"));
    Ask { url, reuse, connections: 64, seconds: 5, record }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(requests: u64, bytes: f64, errors: [(&str, u64); 1]) -> Told {
        Told { requests, rate: 1.0, bytes, errors: counted(errors) }
    }

    #[test]
    fn errors_missing_content_and_no_requests_are_failures() {
        assert_eq!(told(10, 10_240.0, [("reset", 0)]).failure(1024), None);
        assert_eq!(told(10, 10_240.0, [("reset", 2)]).failure(1024).as_deref(), Some("2 reset"));
        assert_eq!(told(0, 0.0, [("reset", 0)]).failure(1024).as_deref(), Some("no requests"));
        assert!(told(10, 5_000.0, [("reset", 0)]).failure(1024).is_some());
    }
}
