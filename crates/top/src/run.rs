//! A gate looked at [once](look), or [until the end](live).

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tui::Screen;

use crate::api::history::History;
use crate::api::state::State;
use crate::fault::Fault;
use crate::figures::{Lately, TITLES, gate, lately, recent, server, whole};
use crate::http::client::Client;
use crate::link::ask::{greet, last_samples, state};
use crate::link::conversation::talk;
use crate::show::screen::{self, End, MIN_HEIGHT, MIN_WIDTH};
use crate::text::{clean, clean_json};

/// News that wait for a screen that is slow.
const MAX_NEWS: usize = 64;
/// Orders that wait for a gate that is slow.
const MAX_ORDERS: usize = 16;
/// How long a screen has to give the terminal back.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// How long what was ordered last has until it is done, after the screen has ended.
const LAST_ORDERS: Duration = Duration::from_secs(3);

/// What a gate said, once.
#[derive(Debug)]
pub struct Look {
    place: String,
    raw: Value,
    state: State,
    sample: Value,
    history: History,
}

/// Looks at a gate once.
pub async fn look(client: &Client) -> Result<Look, Fault> {
    let (raw, state) = state(client).await?;
    let (sample, history) = last_samples(client).await?;
    Ok(Look { place: client.place().to_string(), raw, state, sample, history })
}

impl Look {
    /// Where it was, the state as the gate says it, and its last sample; on one line, and without what a terminal would
    /// obey.
    pub fn json(&self) -> String {
        let Self { place, raw, sample, .. } = self;
        clean_json(&json!({ "where": place, "state": raw, "sample": sample }).to_string())
    }
}

/// The table.
impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, state, history, .. } = self;
        let recent = recent(history.samples.iter());
        let classes = lately(state, &history.classes, &recent);
        let mode = if state.is_shadow() { ", in shadow mode" } else { "" };
        let draining = if state.draining { ", draining" } else { "" };
        writeln!(f, "{place}: {}{mode}{draining}", gate(state))?;
        writeln!(f, "{}", state.verdict.words)?;
        writeln!(f)?;
        write_classes(f, &classes)?;
        writeln!(f)?;
        writeln!(f, "{}", whole(state, history.samples.last()).join(", "))?;
        writeln!(f, "differentiation {}, favour {}", state.knobs.differentiation, state.knobs.favour)?;
        state.upstream.servers.iter().try_for_each(|one| writeln!(f, "{}", server(one)))
    }
}

fn write_classes(f: &mut fmt::Formatter<'_>, classes: &[Lately]) -> fmt::Result {
    let width = classes.iter().map(|class| class.name.chars().count()).max().unwrap_or(0).clamp(5, 40);
    write!(f, "{:<width$}", "class")?;
    let column = |title: &str| title.chars().count().max(8);
    TITLES.iter().try_for_each(|title| write!(f, " {title:>0$}", column(title)))?;
    writeln!(f)?;
    for class in classes {
        write!(f, "{:<width$}", class.name)?;
        let mut figures = class.row().into_iter().zip(TITLES);
        figures.try_for_each(|(figure, title)| write!(f, " {figure:>0$}", column(title)))?;
        writeln!(f)?;
    }
    Ok(())
}

/// How a live view ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By the user's `q`.
    ByUser,
    /// By a signal, or by the key that sends one.
    BySignal(u8),
    /// The terminal cannot be written to any more.
    TerminalLost,
}

/// Shows a gate on the terminal of standard error until the user has seen enough, or `signal` gives the number of
/// one; nothing where there is no terminal, it is too small, or it is not ours to take. The gate has to be there at the
/// beginning, and may come and go later.
pub async fn live(client: Arc<Client>, signal: impl Future<Output = u8>) -> Result<Option<Ended>, Fault> {
    tokio::pin!(signal);
    // First, while what leads there may still ask the user for a password.
    let greeting = tokio::select! {
        greeting = greet(&client) => greeting?,
        number = &mut signal => return Ok(Some(Ended::BySignal(number))),
    };
    let Some(screen) = Screen::open(MIN_WIDTH, MIN_HEIGHT) else { return Ok(None) };
    client.be_quiet();
    let place = clean(&client.place().to_string());
    let (news, heard) = sync_channel(MAX_NEWS);
    let (order, orders) = mpsc::channel(MAX_ORDERS);
    let (ended, mut end) = oneshot::channel();
    let first = greeting.clone();
    let view = move || {
        let _ = ended.send(screen::run(screen, place, first, &heard, &order));
    };
    if thread::Builder::new().name("view".to_owned()).spawn(view).is_err() {
        return Ok(None);
    }
    let mut talk = Box::pin(talk(client, greeting, news, orders));
    let number = tokio::select! {
        () = &mut talk => None,
        end = &mut end => {
            // There are no more orders; the last one may be on its way.
            let _ = timeout(LAST_ORDERS, talk).await;
            return Ok(Some(how(end.unwrap_or(End::TerminalLost))));
        }
        number = &mut signal => Some(number),
    };
    drop(talk);
    // The conversation and its news are gone, so the view ends; one that hangs in a terminal is left behind.
    let end = timeout(END_TIMEOUT, end).await.ok().and_then(Result::ok).unwrap_or(End::TerminalLost);
    Ok(Some(number.map_or_else(|| how(end), Ended::BySignal)))
}

fn how(end: End) -> Ended {
    match end {
        End::User => Ended::ByUser,
        End::Interrupted => Ended::BySignal(2),
        End::Closed | End::TerminalLost => Ended::TerminalLost,
    }
}
