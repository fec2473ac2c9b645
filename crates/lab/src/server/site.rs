//! [`Site`]: what servers are started with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::ServerEnvironment;
use testbed::Testbed;
use traffic::Workload;

use crate::spec::server::Server;
use crate::spec::workload::Asked;

/// What servers are started with.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    pub(crate) server: &'a Server,
    pub(crate) workload: &'a Workload,
    pub(crate) asked: &'a Asked,
    pub(crate) testbed: &'a Testbed<'a>,
    /// The `headworks` program.
    pub(crate) headworks: &'a Path,
    /// What the server is told in its environment, where the gate is to be under it.
    pub(crate) variables: Vec<(&'static str, PathBuf)>,
}

impl Site<'_> {
    /// What is run, for the record.
    pub(super) fn environment(
        &self,
        version: String,
        command: &Command,
        configuration: BTreeMap<String, String>,
    ) -> ServerEnvironment {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        ServerEnvironment {
            kind: self.server.kind.name().to_owned(),
            version,
            command: words.map(|word| word.to_string_lossy().into_owned()).collect(),
            configuration,
        }
    }
}
