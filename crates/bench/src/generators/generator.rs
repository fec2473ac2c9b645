//! [`Generator`]: a load generator, how it is asked for a load, and how its answer is read.

use std::path::PathBuf;

use super::ask::{Ask, Reuse};
use super::headworks::Record;
use super::told::Told;
use super::{h2load, headworks, hey, shb, wrk};

/// A load generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Generator {
    /// `headworks load`, every phase in histograms.
    Headworks,
    /// `headworks load` with the record of each request on disk.
    HeadworksRecord,
    Wrk,
    H2load,
    Hey,
    Shb,
}

/// Where the programs are that are built rather than installed.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    pub(crate) headworks: PathBuf,
    pub(crate) shb: PathBuf,
}

impl Generator {
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
            Self::Headworks => headworks::arguments(ask, Record::Omitted),
            Self::HeadworksRecord => headworks::arguments(ask, Record::Written),
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
