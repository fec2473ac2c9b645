//! Node: an event loop that also computes the pages, so that one holds up all others.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Setup;
use crate::Error;
use crate::machine::program;
use crate::process;
use crate::spec::Server;

const PACKAGE: &str = "nodejs";
const PROGRAM: &str = "node.mjs";

pub(super) struct Installed {
    program: PathBuf,
    pub(super) version: String,
}

impl Installed {
    pub(super) fn find() -> Result<Self, Error> {
        let program =
            program("node").ok_or_else(|| Error::Missing { program: "node".to_owned(), package: PACKAGE })?;
        let (text, _) = process::output("node", Command::new(&program).arg("--version"))?;
        Ok(Self { program, version: format!("Node.js/{}", text.trim_start_matches('v')) })
    }

    pub(super) fn setup(self, server: &Server, root: &Path, listen: SocketAddrV4) -> Setup {
        let keep_alive = server.keep_alive.as_secs_f64() * 1e3;
        let arguments = vec![
            root.join(PROGRAM).display().to_string(),
            listen.ip().to_string(),
            listen.port().to_string(),
            server.workers.to_string(),
            server.backlog.to_string(),
            // 0 would mean for ever.
            keep_alive.ceil().max(1.0).to_string(),
        ];
        let text = include_str!("../../templates/node.mjs").to_owned();
        Setup {
            name: "node",
            program: self.program,
            arguments,
            files: BTreeMap::from([(PROGRAM.to_owned(), text)]),
            version: self.version,
        }
    }
}
