//! `headworks attach`: a server with the gate under it, instead of in front of it.

use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use anyhow::Context;
use gate::{Bound, Error};
use gate_config::Settings;
use tempfile::TempDir;
use tokio::process::Command;

use crate::exit::{Exit, Failure, tell};
use crate::signals::Signals;

/// What is loaded into the server.
const SHIM: &[u8] = include_bytes!(env!("SHIM"));

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
    #[arg(long, value_name = "FILE", exclusive = true)]
    library: Option<PathBuf>,
    /// The server, in the foreground, and its arguments.
    #[arg(required_unless_present = "library", trailing_var_arg = true, value_name = "CMD")]
    command: Vec<String>,
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
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

/// Where the socket of the gate is, and the library: readable for whatever user the server's processes run as.
struct Place(TempDir);

impl Place {
    fn make() -> anyhow::Result<Self> {
        let run = Path::new("/run");
        let make = |parent: &Path| tempfile::Builder::new().prefix("headworks-").tempdir_in(parent);
        let place = make(run).or_else(|_| make(&std::env::temp_dir()));
        let place = Self(place.context("cannot make a directory for the gate's socket")?);
        write_library(&place.library())?;
        fs::set_permissions(place.0.path(), Permissions::from_mode(0o755))
            .with_context(|| format!("cannot open {} to all", place.0.path().display()))?;
        Ok(place)
    }

    fn socket(&self) -> PathBuf {
        self.0.path().join("attach.sock")
    }

    fn library(&self) -> PathBuf {
        self.0.path().join("shim.so")
    }
}

/// Writes what is loaded into servers, readable for whatever user their processes run as.
fn write_library(library: &Path) -> anyhow::Result<()> {
    fs::write(library, SHIM)
        .and_then(|()| fs::set_permissions(library, Permissions::from_mode(0o755)))
        .with_context(|| format!("cannot write {}", library.display()))
}

/// Runs the server to its end; passes on what is to end it.
async fn server(command: &[String], place: &Place) -> anyhow::Result<ExitStatus> {
    let Some((program, arguments)) = command.split_first() else { anyhow::bail!("there is no command") };
    let mut signals = Signals::watch()?;
    let before = std::env::var("LD_PRELOAD").map(|before| format!(" {before}")).unwrap_or_default();
    let mut server = Command::new(program)
        .args(arguments)
        .env("LD_PRELOAD", format!("{}{before}", place.library().display()))
        .env("HEADWORKS_ATTACH", place.socket())
        // Some end all of their group with themselves.
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    loop {
        tokio::select! {
            ended = server.wait() => return ended.context("the server is lost"),
            signal = signals.next() => {
                let pid = server.id().and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?));
                let signal = if signal == 2 { rustix::process::Signal::INT } else { rustix::process::Signal::TERM };
                if let Some(pid) = pid {
                    let _ = rustix::process::kill_process(pid, signal);
                }
            }
        }
    }
}
