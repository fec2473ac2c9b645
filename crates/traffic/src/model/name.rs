//! [`ModelName`]: what a workload is called on the command line and in records.

use std::fmt;
use std::str::FromStr;

/// The workloads that there are.
///
/// ```
/// use traffic::model::ModelName;
/// assert_eq!("specweb96:400".parse(), Ok(ModelName::SpecWeb96 { rate: 400 }));
/// assert_eq!(ModelName::Surge.to_string(), "surge");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelName {
    /// `surge`: SURGE with the data set of Shin, Koh and Won's response time measurements.
    Surge,
    /// `surge1998`: SURGE with every figure as Barford and Crovella published it.
    Surge1998,
    /// `webstone`: the mix that Almeida et al. gave to WebStone for Webmonitor.
    WebStone,
    /// `webstone2`: the standard list of files of WebStone 2.0.
    WebStone2,
    /// `specweb96`, or `specweb96:RATE`: the files and mix of SPECweb96.
    SpecWeb96 {
        /// The load for which the files are made, requests per second: more load, more files.
        rate: u32,
    },
}

const SURGE: &str = "surge";
const SURGE_1998: &str = "surge1998";
const WEBSTONE: &str = "webstone";
const WEBSTONE_2: &str = "webstone2";
const SPECWEB96: &str = "specweb96";
const NAMES: [&str; 5] = [SURGE, SURGE_1998, WEBSTONE, WEBSTONE_2, SPECWEB96];

/// With this many requests per second SPECweb96 has 45 directories, 230 MB.
const DEFAULT_RATE: u32 = 100;

/// 10,000 directories, 50 GB.
const MAX_RATE: u32 = 5_000_000;

/// A name that is not a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownModel {
    /// There is no workload of this name.
    #[error(
        "no such workload: {name:?}; expected surge, surge1998, webstone, webstone2, specweb96 or \
         specweb96:RATE{}",
        config::did_you_mean(name, NAMES).map_or(String::new(), |near| format!("; did you mean {near:?}?"))
    )]
    Name {
        /// What was given.
        name: String,
    },
    /// What follows the colon is not a load that SPECweb96 can be made for.
    #[error(
        "the load of specweb96 must be a whole number of requests per second from 1 to {MAX_RATE}, not {given:?}"
    )]
    Rate {
        /// What was given.
        given: String,
    },
}

impl ModelName {
    /// The folder, below the root of the server, in which its files are.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Surge => SURGE,
            Self::Surge1998 => SURGE_1998,
            Self::WebStone => WEBSTONE,
            Self::WebStone2 => WEBSTONE_2,
            Self::SpecWeb96 { .. } => SPECWEB96,
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.folder())?;
        match self {
            Self::SpecWeb96 { rate } if *rate != DEFAULT_RATE => write!(f, ":{rate}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for ModelName {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Self, UnknownModel> {
        match text {
            SURGE => Ok(Self::Surge),
            SURGE_1998 => Ok(Self::Surge1998),
            WEBSTONE => Ok(Self::WebStone),
            WEBSTONE_2 => Ok(Self::WebStone2),
            SPECWEB96 => Ok(Self::SpecWeb96 { rate: DEFAULT_RATE }),
            _ => match text.split_once(':') {
                Some((SPECWEB96, given)) => match given.parse() {
                    Ok(rate @ 1..=MAX_RATE) => Ok(Self::SpecWeb96 { rate }),
                    _ => Err(UnknownModel::Rate { given: given.into() }),
                },
                _ => Err(UnknownModel::Name { name: text.into() }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_shown() {
        for name in NAMES.into_iter().chain(["specweb96:1", "specweb96:5000000"]) {
            assert_eq!(name.parse::<ModelName>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn what_is_no_workload_is_refused_with_a_hint() {
        let error = |text: &str| text.parse::<ModelName>().unwrap_err().to_string();
        assert_eq!(
            error("webston"),
            "no such workload: \"webston\"; expected surge, surge1998, webstone, webstone2, specweb96 or \
             specweb96:RATE; did you mean \"webstone\"?"
        );
        for rate in ["", "0", "-1", "1.5", "5000001"] {
            assert!(
                error(&format!("specweb96:{rate}")).starts_with("the load of specweb96 must be"),
                "{rate}"
            );
        }
        assert!(error("surge:3").starts_with("no such workload"));
    }
}
