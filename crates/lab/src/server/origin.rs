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
    let command = command(site, site.server.workers);
    let environment = site.environment(version(site.headworks)?, &command, BTreeMap::new());
    let (authority, process) = listen(command, log, stop)?;
    Ok(Running { authority, environment, process: Some(process), behind: None, _root: None })
}

/// Starts it behind another server, with so many workers; gives host and port.
pub(super) fn start_behind(
    site: &Site,
    workers: u32,
    log: &Path,
    stop: &Stop,
) -> Result<(String, Process), Error> {
    listen(command(site, workers), &log.with_file_name("behind.log"), stop)
}

fn command(site: &Site, workers: u32) -> Command {
    let server = site.server;
    let mut command = site.pinning.command(&server.cpus, site.headworks);
    command.args(["origin", "--listen", "127.0.0.1:0"]);
    command.args(["--workers", &workers.to_string(), "--backlog", &server.backlog.to_string()]);
    command.args(["--keep-alive", &server.keep_alive.to_string()]);
    command
}

fn listen(command: Command, log: &Path, stop: &Stop) -> Result<(String, Process), Error> {
    let mut process = Process::start("origin", command, log)?;
    let authority = process.wait_for_line("listening on http://", stop)?;
    Ok((authority, process))
}
