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
use rustix::fs::StatVfsMountFlags;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

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
        // A library has to be where programs may be run from, and its path is one of a list in the environment.
        let may_hold = |place: &PathBuf| {
            let is_open = rustix::fs::statvfs(place)
                .is_ok_and(|about| !about.f_flag.contains(StatVfsMountFlags::NOEXEC));
            is_open && !place.as_os_str().as_encoded_bytes().iter().any(|byte| b" :\n".contains(byte))
        };
        let places = [PathBuf::from("/run"), std::env::temp_dir(), PathBuf::from("/var/tmp")];
        let mut made = places
            .iter()
            .filter(|place| may_hold(place))
            .filter_map(|place| tempfile::Builder::new().prefix("headworks-").tempdir_in(place).ok());
        let place = Self(made.next().context("cannot make a directory for the gate's socket and library in /run, nor where temporary files are")?);
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
    let others =
        [SignalKind::hangup(), SignalKind::user_defined1(), SignalKind::user_defined2(), SignalKind::quit()];
    let [mut hangup, mut first, mut second, mut quit] = others.map(signal);
    loop {
        let passed_on = tokio::select! {
            ended = server.wait() => return ended.context("the server is lost"),
            signal = signals.next() => if signal == 2 { Signal::INT } else { Signal::TERM },
            () = received(&mut hangup) => Signal::HUP,
            () = received(&mut first) => Signal::USR1,
            () = received(&mut second) => Signal::USR2,
            () = received(&mut quit) => Signal::QUIT,
        };
        let pid = server.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(pid) = pid {
            // One that has just ended needs no signal.
            let _ = kill_process(pid, passed_on);
        }
    }
}

/// Waits for the next of a kind of signal; for ever where it cannot be watched.
async fn received(signal: &mut std::io::Result<tokio::signal::unix::Signal>) {
    match signal {
        Ok(signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}
