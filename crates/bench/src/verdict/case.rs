//! [`Case`]: a cause that is planted.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;

/// Where populations of causes are: a spec for each, and what is planted by which.
pub(super) const POPULATIONS: [Population; 5] = [
    Population { name: "Resources", place: "experiments/verdict" },
    Population { name: "Servers", place: "experiments/causes/open" },
    Population { name: "First", place: "experiments/causes/first" },
    Population { name: "Second", place: "experiments/causes/second" },
    Population { name: "Held back", place: "experiments/causes/held" },
];
const INDEX: &str = "causes.toml";

/// Causes that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Population {
    pub(super) name: &'static str,
    place: &'static str,
}

/// A cause, planted on a server.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) population: Population,
    /// The file of the spec, without its ending.
    pub(super) spec: String,
    /// One cause, or two at once.
    pub(super) planted: Vec<String>,
    pub(super) server: String,
    /// What of the spec is different on this server.
    pub(super) settings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    #[serde(rename = "cause")]
    causes: Vec<Cause>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    spec: String,
    planted: Vec<String>,
    server: String,
    #[serde(default)]
    set: Vec<String>,
    /// In a sentence, for readers of the file.
    #[serde(default)]
    #[expect(dead_code, reason = "the page leads to the files")]
    what: String,
}

impl Population {
    /// Its cases; none where it is not there.
    pub(super) fn cases(self) -> anyhow::Result<Vec<Case>> {
        let file = Path::new(self.place).join(INDEX);
        if !file.exists() {
            return Ok(Vec::new());
        }
        let text =
            std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let Index { causes } = toml::from_str(&text).with_context(|| file.display().to_string())?;
        let case = |cause: Cause| Case {
            population: self,
            spec: cause.spec.trim_end_matches(".toml").to_owned(),
            planted: cause.planted,
            server: cause.server,
            settings: cause.set,
        };
        Ok(causes.into_iter().map(case).collect())
    }
}

impl Case {
    pub(super) fn path(&self) -> PathBuf {
        Path::new(self.population.place).join(format!("{}.toml", self.spec))
    }

    /// What its records are called.
    pub(super) fn name(&self) -> String {
        let server: String =
            self.server.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        format!("{}-{server}", self.spec)
    }
}
