//! `headworks gate`: the overload-control proxy.

use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use gate::{Bound, Ended, Error, Names, Question};
use gate_config::Settings;
use units::Span;

use super::console::console;
use super::foresight::foresight;
use crate::exit::{Exit, Failure, tell};
use crate::output::print;
use crate::process::rename;
use crate::signals::Signals;

/// Keeps premium sessions fast and complete when more requests come than the server can carry.
///
/// A reverse proxy that queues, orders and refuses requests in front of a server.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    places: Places,
}

// What is given here holds again when the file is read again.
#[derive(Debug, Clone, clap::Args)]
struct Places {
    /// Configuration file (TOML). The other options override it.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where clients connect; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Where metrics, state and knobs are served; a free port of 127.0.0.1 by default.
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// The server behind the gate, as host:port.
    #[arg(long, value_name = "ADDRESS")]
    upstream: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Reads a configuration file and says what every default came to, or what is wrong.
    ///
    /// Looks up the names of servers, as a gate would at its start.
    Check {
        /// The file.
        file: PathBuf,
        /// Looks no names up: for a file that is for another machine.
        #[arg(long)]
        offline: bool,
    },
    /// Prints the JSON Schema of the configuration file, for editors.
    Schema,
    /// Prints the description of the admin interface (OpenAPI 3.1), for clients of it.
    Openapi,
    /// Says which class a request is of, and why.
    Explain {
        /// The configuration file.
        file: PathBuf,
        /// Request line and header lines, as in 'GET /checkout/' or $'GET /\nCookie: tier=premium'.
        #[arg(long, value_name = "TEXT")]
        request: String,
        /// Address the request comes from.
        #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
        address: IpAddr,
        /// Name of the server that the client asked for in the TLS handshake.
        #[arg(long, value_name = "NAME")]
        server_name: Option<String>,
        /// Takes the request for one of a session of this class, whatever its cookie says.
        #[arg(long, value_name = "CLASS")]
        session: Option<String>,
        /// How old that session is.
        #[arg(long, value_name = "SPAN", default_value = "0s", requires = "session")]
        session_age: Span,
    },
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self.action {
            Some(Action::Check { file, offline }) => {
                let settings = Settings::read(&file)?;
                let names = if offline { Names::NotLookedUp } else { Names::LookedUp };
                let checked = gate::check(&settings, names)?;
                return print(format_args!("{}: ok\n{checked}\n", file.display())).map(|()| Exit::Ok);
            }
            Some(Action::Schema) => {
                return print(format_args!("{:#}\n", Settings::schema())).map(|()| Exit::Ok);
            }
            Some(Action::Openapi) => {
                return print(format_args!("{:#}\n", gate::description())).map(|()| Exit::Ok);
            }
            Some(Action::Explain { file, request, address, server_name, session, session_age }) => {
                let session = session.as_deref().map(|class| (class, session_age));
                let server_name = server_name.map(|name| name.to_ascii_lowercase());
                let server_name = server_name.as_deref();
                let question = Question { request: &request, address, server_name, session };
                let explanation = gate::explain(&Settings::read(&file)?, question);
                let explanation = explanation.map_err(|why| Failure::Usage(why.into()))?;
                return print(format_args!("{explanation}\n")).map(|()| Exit::Ok);
            }
            None => {}
        }
        let places = self.places;
        let settings = places.settings()?;
        rename(c"hw-gate");
        serve(settings, places)
    }
}

impl Places {
    fn settings(&self) -> Result<Settings, Failure> {
        let mut settings = match (&self.config, &self.upstream) {
            (Some(file), _) => Settings::read(file)?,
            (None, None) => {
                let why =
                    "which server is behind the gate? Give --upstream host:port, or --config with a file";
                return Err(Failure::Usage(anyhow::anyhow!(why)));
            }
            (None, Some(upstream)) => {
                let listen = SocketAddr::from(([127, 0, 0, 1], 8080));
                Settings::new(listen, upstream).map_err(|why| Failure::Usage(why.into()))?
            }
        };
        if let Some(listen) = self.listen {
            settings = settings.listening(listen);
        }
        if let Some(admin) = self.admin {
            settings = settings.administered(admin);
        }
        if let Some(upstream) = &self.upstream {
            settings = settings.in_front_of(upstream).map_err(|why| Failure::Usage(why.into()))?;
        }
        Ok(settings)
    }
}

/// What the end of a gate waits for its first words.
const ANNOUNCEMENT_TIMEOUT: Duration = Duration::from_millis(200);

fn serve(settings: Settings, places: Places) -> Result<Exit, Failure> {
    let bound = Bound::new(settings).map_err(|why| match why {
        Error::Configuration(wrong) => Failure::Usage(wrong.into()),
        why => Failure::Failed(why.into()),
    })?;
    run(bound.foreseeing(foresight()).showing(console()), places).map_err(Failure::Failed)
}

fn run(mut bound: Bound, places: Places) -> anyhow::Result<Exit> {
    if places.config.is_some() {
        bound = bound.reading_again(move || places.settings().map_err(|why| why.to_string()));
    }
    let (urls, admin) = (bound.urls(), bound.admin_address());
    let received = Cell::new(0);
    let (written, announced) = mpsc::channel::<()>();
    let ended = bound.run(async {
        let watched = watch(move || {
            let listening: String = urls.iter().map(|url| format!("listening on {url}\n")).collect();
            let text = listening + &format!("admin on http://{admin}\n");
            // The process that started the gate may have closed its output, or a full pipe may hold up a
            // writer; the gate serves on.
            let announce = move || {
                let _ = print(text);
                drop(written);
            };
            let _ = thread::Builder::new().name("announce".to_owned()).spawn(announce);
        });
        match watched.await {
            Ok(signal) => received.set(signal),
            Err(why) => tell(format_args!("{why:#}")),
        }
    })?;
    let _ = announced.recv_timeout(ANNOUNCEMENT_TIMEOUT);
    if let Ended::Replaced { .. } = ended {
        return Ok(Exit::Ok);
    }
    match received.get() {
        0 => anyhow::bail!("the gate ended because it could not watch for signals"),
        signal => Ok(Exit::Interrupted { signal }),
    }
}

/// Waits for SIGINT or SIGTERM; a second one ends the process at once.
async fn watch(ready: impl FnOnce()) -> anyhow::Result<u8> {
    let mut signals = Signals::watch()?;
    ready();
    let number = signals.next().await;
    tokio::task::spawn_local(async move {
        let number = signals.next().await;
        gate::finish_saying();
        std::process::exit(128 + i32::from(number));
    });
    Ok(number)
}
