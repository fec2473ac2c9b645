//! The reference server, `headworks origin`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::{Running, Site};
use crate::process::{self, Process};
use crate::{Error, Stop};

pub(super) fn version(headworks: &Path) -> Result<String, Error> {
    process::output("origin", Command::new(headworks).arg("--version")).map(|(text, _)| text)
}

pub(super) fn start(site: &Site, log: &Path, stop: &Stop) -> Result<Running, Error> {
    let server = site.server;
    let mut command = site.pinning.command(&server.cpus, site.headworks);
    command.args(["origin", "--listen", "127.0.0.1:0"]);
    command.args(["--workers", &server.workers.to_string(), "--backlog", &server.backlog.to_string()]);
    command.args(["--keep-alive", &server.keep_alive.to_string()]);
    let environment = site.environment(version(site.headworks)?, &command, BTreeMap::new());
    let mut process = Process::start("origin", command, log)?;
    let authority = process.wait_for_line("listening on http://", stop)?;
    Ok(Running { authority, environment, process: Some(process), _root: None })
}
