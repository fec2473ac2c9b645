//! Node: an event loop that also computes the pages, so that one holds up all others.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use testbed::{Setup, Software};

use crate::error::Error;
use crate::spec::server::Server;

const PROGRAM: &str = "node.mjs";

pub(super) struct Installed {
    program: PathBuf,
    pub(super) version: String,
}

impl Installed {
    pub(super) fn find() -> Result<Self, Error> {
        let program = Software::Node.find(Software::Node.package())?;
        let version = Software::Node.version(&program)?;
        Ok(Self { program, version: format!("Node.js/{}", version.trim_start_matches('v')) })
    }

    pub(super) fn setup(self, server: &Server, root: &Path, listen: SocketAddrV4) -> Setup {
        let keep_alive = server.keep_alive.as_secs_f64() * 1e3;
        let mut arguments = Software::Node.arguments(root, &root.join(PROGRAM));
        let options = [
            listen.ip().to_string(),
            listen.port().to_string(),
            server.workers.to_string(),
            server.backlog.to_string(),
            // 0 would mean for ever.
            keep_alive.ceil().max(1.0).to_string(),
        ];
        arguments.extend(options.map(Into::into));
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
