//! `headworks attach`: a server with the gate under it, instead of in front of it.

use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use gate::{Bound, Error};
use gate_config::Settings;

use super::library::{Place, write_library};
use super::server::server;
use super::unit::{UNITS, write_drop_in};
use crate::commands::gate::console::console;
use crate::commands::gate::foresight;
use crate::exit::{Exit, Failure, tell};
use crate::output::print;

/// Starts a server with the gate attached to it.
///
/// The gate accepts the connections of the server's own listeners and hands each over when its first request has a place; the
/// server answers clients directly. A server whose gate ends serves on without it. TLS that the server ends, and HTTP/2, go to it
/// as they come. Of servers that do not use the C library (most of those in Go) nothing is changed, and the gate says nothing.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Configuration file (TOML), as of a gate, with attach = true in place of listen and upstream.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where metrics, state and knobs are served; a free port of 127.0.0.1 by default.
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// Only writes what is loaded into servers to this file, for one that is started otherwise: with LD_PRELOAD=FILE and
    /// HEADWORKS_ATTACH= the socket of a gate that runs already (attach-socket in its file).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "admin"])]
    library: Option<PathBuf>,
    /// Only writes a drop-in for this service of systemd, so that it is started with the library; with --library, of that file.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["config", "admin"])]
    unit: Option<String>,
    /// Where drop-ins of services are.
    #[arg(long, value_name = "DIR", default_value = UNITS, requires = "unit")]
    unit_directory: PathBuf,
    /// The server, in the foreground, and its arguments.
    #[arg(required_unless_present_any = ["library", "unit"], conflicts_with_all = ["library", "unit"], trailing_var_arg = true, value_name = "CMD")]
    command: Vec<String>,
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if let Some(unit) = &self.unit {
            let said = write_drop_in(unit, &self.unit_directory, self.library.as_deref())
                .map_err(Failure::Failed)?;
            return print(format_args!("{said}")).map(|()| Exit::Ok);
        }
        if let Some(library) = &self.library {
            write_library(library).map_err(Failure::Failed)?;
            return Ok(Exit::Ok);
        }
        let place = Place::make().map_err(Failure::Failed)?;
        let settings = self.settings(&place.socket())?;
        let bound = Bound::new(settings).map_err(|why| match why {
            Error::Configuration(wrong) => Failure::Usage(wrong.into()),
            why => Failure::Failed(why.into()),
        })?;
        let bound = bound.foreseeing(foresight()).showing(console());
        let bound = match &self.config {
            Some(_) => {
                let (args, socket) = (self.clone(), place.socket());
                bound.reading_again(move || args.settings(&socket).map_err(|why| why.to_string()))
            }
            None => bound,
        };
        tell(format_args!("admin on http://{}", bound.admin_address()));
        let mut ended = None;
        let of_gate = bound.run(async {
            ended = Some(server(&self.command, &place).await);
        });
        of_gate.map_err(|why| Failure::Failed(why.into()))?;
        let status = ended.context("the gate ended before the server").and_then(|ended| ended);
        let status = status.map_err(Failure::Failed)?;
        let code = status.code().or_else(|| Some(128 + status.signal()?));
        Ok(Exit::Of { status: code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1) })
    }

    fn settings(&self, socket: &Path) -> Result<Settings, Failure> {
        let settings = match &self.config {
            Some(file) => Settings::read(file)?,
            None => Settings::attached(),
        };
        if settings.attach.is_none() {
            let why = "the gate of this file is in front of a server; say attach = true in place of listen and upstream";
            return Err(Failure::Usage(anyhow::anyhow!(why)));
        }
        let settings = settings.attached_at(socket);
        Ok(match self.admin {
            Some(admin) => settings.administered(admin),
            None => settings,
        })
    }
}
