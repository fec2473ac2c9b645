//! The reference server, `headworks origin`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::content;
use super::running::Running;
use super::site::Site;
use crate::spec::workload::What;
use testbed::Stop;
use testbed::Testbed;
use testbed::{Process, output};

use crate::error::Error;

const LISTENING: &str = "listening on http://";

pub(super) fn version(headworks: &Path) -> Result<String, Error> {
    output("origin", Command::new(headworks).arg("--version")).map(|(text, _)| text).map_err(Error::from)
}

pub(super) fn start(site: &Site, log: &Path, stop: &Stop) -> Result<Running, Error> {
    let mut command = command(site, site.testbed.server(site.headworks), site.server.workers);
    let root = match site.asked.what {
        Some(What::Model(_)) => Some(testbed::directory()?),
        _ => None,
    };
    if let Some(root) = &root {
        content::write(root.path(), site.workload, site.asked)?;
        command.arg("--content").arg(root.path().join(content::DIRECTORY));
    }
    command.envs(site.variables.iter().map(|(name, value)| (name, value)));
    let environment = site.environment(version(site.headworks)?, &command, BTreeMap::new());
    let mut server = testbed::Server::start("origin", command, log, root)?;
    let authority = server.process().wait_for_line(LISTENING, stop)?;
    Ok(Running { authority, environment, server: Some(server), behind: None, neighbour: None })
}

/// Starts it behind another server, with so many workers; gives host and port.
pub(super) fn start_behind(
    site: &Site,
    workers: u32,
    log: &Path,
    stop: &Stop,
) -> Result<(String, Process), Error> {
    let program = site.testbed.beside(site.headworks);
    listen(command(site, program, workers), &log.with_file_name("behind.log"), stop)
}

/// Starts it where the server that is tested has its place, answering from memory as fast as it can; gives host and
/// port.
pub(crate) fn start_reference(
    testbed: &Testbed,
    headworks: &Path,
    log: &Path,
    stop: &Stop,
) -> Result<(String, Process), Error> {
    let mut command = testbed.server(headworks);
    command.args(["origin", "--mode", "static", "--listen", &format!("{}:0", testbed.address())]);
    listen(command, log, stop)
}

fn command(site: &Site, mut command: Command, workers: u32) -> Command {
    let server = site.server;
    command.args(["origin", "--listen", &format!("{}:0", site.testbed.address())]);
    command.args(["--workers", &workers.to_string(), "--backlog", &server.backlog.to_string()]);
    command.args(["--keep-alive", &server.keep_alive.to_string()]);
    command
}

fn listen(command: Command, log: &Path, stop: &Stop) -> Result<(String, Process), Error> {
    let mut process = Process::start("origin", command, log)?;
    let authority = process.wait_for_line(LISTENING, stop)?;
    Ok((authority, process))
}
