//! `headworks top`: the gate's console on a terminal.

use std::fs::File;
use std::io::{IsTerminal as _, Read as _, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use tokio::runtime::Builder;
use top::{Client, Ended, Fault, Place, Token, live, look};

use crate::exit::{Exit, Failure, usage};
use crate::output::print;
use crate::signals::Signals;

/// Shows a gate as it is now on a terminal, and moves its knobs.
///
/// Asks the gate's admin interface, here or on another host: whether anybody suffers, what each class gets, who waits, and what would come of other knobs before they are moved. Without a terminal a table is printed once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The gate's admin interface: http://HOST:PORT, unix:PATH, or ssh://USER@HOST:PORT/ADMIN (all but HOST may be left out), which runs ssh and asks ADMIN there, an address or the path of a Unix socket (default 127.0.0.1:9090).
    #[arg(value_name = "WHERE", default_value = "http://127.0.0.1:9090")]
    place: Place,
    /// A file with a token that the gate knows, and nothing else; or give it in the environment variable HEADWORKS_TOKEN.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print a table once, on a terminal too.
    #[arg(long)]
    once: bool,
    /// Print the state and the last sample once, as one JSON object.
    #[arg(long, conflicts_with = "once")]
    json: bool,
}

/// Where a token is that is not in a file.
const TOKEN: &str = "HEADWORKS_TOKEN";
/// More than any token has.
const MAX_TOKEN: u64 = 64 * 1024;

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let token = token(self.token_file.as_deref())?;
        let client = Arc::new(Client::new(self.place, token));
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot ask the gate").map_err(Failure::Failed)?;
        let shown = if self.json || self.once || !stdout().is_terminal() { Shown::Once } else { Shown::Live };
        runtime.block_on(show(client, shown, self.json))
    }
}

/// How often a gate is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Once,
    Live,
}

async fn show(client: Arc<Client>, shown: Shown, json: bool) -> Result<Exit, Failure> {
    let mut signals = Signals::watch().map_err(Failure::Failed)?;
    if shown == Shown::Live {
        match live(Arc::clone(&client), signals.next()).await.map_err(failure)? {
            Some(Ended::ByUser) => return Ok(Exit::Ok),
            Some(Ended::BySignal(signal)) => return Ok(Exit::Interrupted { signal }),
            Some(Ended::TerminalLost) => {
                return Err(Failure::Failed(anyhow!("the terminal cannot be written to any more")));
            }
            None => {}
        }
    }
    let look = tokio::select! {
        look = look(&client) => look.map_err(failure)?,
        signal = signals.next() => return Ok(Exit::Interrupted { signal }),
    };
    if json { print(look.json() + "\n") } else { print(look) }.map(|()| Exit::Ok)
}

fn failure(fault: Fault) -> Failure {
    Failure::new(fault.is_usage(), fault)
}

/// The token of the file, or else of the environment.
fn token(file: Option<&Path>) -> Result<Option<Token>, Failure> {
    let (text, place) = match file {
        Some(file) => {
            let place = file.display().to_string();
            let mut text = String::new();
            let read = File::open(file).and_then(|file| file.take(MAX_TOKEN).read_to_string(&mut text));
            read.with_context(|| format!("--token-file {place} cannot be read")).map_err(Failure::Usage)?;
            (text, place)
        }
        None => match std::env::var_os(TOKEN) {
            None => return Ok(None),
            // As where it is not set.
            Some(text) if text.is_empty() => return Ok(None),
            Some(text) => {
                (text.into_string().map_err(|_| usage("HEADWORKS_TOKEN is not text"))?, TOKEN.to_owned())
            }
        },
    };
    Token::new(&text).map(Some).map_err(|why| usage(&format!("{place} {why}")))
}
