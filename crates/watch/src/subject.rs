//! [`Options`]: what is to be watched, and what of it is there.

use std::fmt;

use crate::Error;
use crate::addresses::Addresses;
use crate::groups::Groups;
use crate::kept::Keep;
use crate::names::kept;
use crate::processes::{MAX_PROGRAMS, names_of_processes};
use crate::requests::{Budget, Classes};
use crate::servers::{Server, find};
use crate::whose::{Whose, names_of};

/// What is to be watched.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names of programs; none for those that listen at the addresses.
    pub programs: Vec<String>,
    /// Where they listen; nothing for where the programs do.
    pub at: Addresses,
    /// What is looked at, and how often.
    pub groups: Groups,
    /// Requests by the size of their responses.
    pub classes: Classes,
    /// What following requests may cost.
    pub budget: Budget,
    /// Whether every request is counted, also where that costs more than the budget.
    pub counts_all: bool,
    /// Of the random places of windows.
    pub seed: u64,
    /// What of the past is kept in fine looks, if any is.
    pub keep: Option<Keep>,
    /// Which processes are meant; without names of programs [those who listen](Whose::Listening) if nothing else is said.
    pub whose: Whose,
}

/// Something that users should know of how it is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// A sentence.
    pub text: String,
    /// Whether it is so on most machines.
    pub is_expected: bool,
}

impl Note {
    pub(crate) fn group(group: &str, how: &dyn fmt::Display, refused: Option<&Error>) -> Self {
        let why = refused.map_or_else(String::new, |why| format!(", because of {why}"));
        Self { text: format!("{group}: {how}{why}"), is_expected: refused.is_none() }
    }
}

/// What is watched.
#[derive(Debug)]
pub(crate) struct Subject {
    /// In a few words.
    pub(crate) title: String,
    /// Names of programs, with commas.
    pub(crate) programs: String,
    /// Ports and unix sockets, with commas.
    pub(crate) ports: String,
}

impl Subject {
    pub(crate) fn of(options: &Options) -> Self {
        let names = options.at.names();
        let kind = options.at.kind();
        let title = match (&options.programs[..], &names[..]) {
            ([], []) => "this machine".to_owned(),
            ([], names) => format!("{kind} {}", names.join(", ")),
            (programs, []) => programs.join(", "),
            (programs, names) => format!("{} on {kind} {}", programs.join(", "), names.join(", ")),
        };
        Self { title, programs: options.programs.join(","), ports: names.join(",") }
    }
}

/// Which of the programs that were named do not run, and whether none of them listens, so that no requests are followed.
pub(crate) fn missing(programs: &[String], at: &Addresses, whose: &Whose) -> Result<Vec<Note>, Error> {
    if programs.is_empty() {
        let is_chosen = matches!(whose, Whose::Of(_)) && at.is_empty();
        let text = "the processes that were chosen listen on no TCP port and no unix socket, or on none that can be seen, so no \
                    requests are followed; give --port or --socket";
        let note = Note { text: text.to_owned(), is_expected: false };
        return Ok(if is_chosen { vec![note] } else { Vec::new() });
    }
    let running = names_of_processes()?;
    let is_absent = |name: &&String| !running.contains(kept(name));
    let absent = programs.iter().filter(is_absent).map(|name| {
        format!(
            "program {name}: no process is called so (of a name the first 15 bytes count, as in /proc/PID/comm). \
             Once there is one it is watched; its requests are only followed where its port was given (--port), or counted where its unix socket was (--socket)"
        )
    });
    let mut texts: Vec<String> = absent.collect();
    if texts.len() < programs.len() && at.is_empty() {
        texts.push(format!(
            "{}: no TCP port and no unix socket is listened on, or none that can be seen, so no requests are followed; give --port or --socket",
            programs.join(", ")
        ));
    }
    Ok(texts.into_iter().map(|text| Note { text, is_expected: false }).collect())
}

/// The programs or the addresses that were not named, by who listens.
pub(crate) fn fill(options: &mut Options) -> Result<(), Error> {
    if let Whose::Of(_) = options.whose {
        return fill_of(options);
    }
    if options.programs.is_empty() == options.at.is_empty() {
        return Ok(());
    }
    let servers = find(&options.programs, &options.at, None)?;
    if options.programs.is_empty() {
        options.whose = Whose::Listening;
        options.programs = servers.iter().map(|server| server.program.clone()).collect();
        options.programs.sort_unstable();
        options.programs.dedup();
    } else {
        options.at = of_servers(&servers);
    }
    Ok(())
}

/// Ports where servers listen; unix sockets only where that is at no port: programs have them for other things, too.
fn of_servers(servers: &[Server]) -> Addresses {
    let all = || servers.iter().map(|server| &server.at);
    let ports: Vec<u16> = all().flat_map(|at| at.ports.clone()).collect();
    let sockets =
        if ports.is_empty() { all().flat_map(|at| at.sockets.clone()).collect() } else { Vec::new() };
    let mut at = Addresses { ports, sockets };
    at.settle();
    at
}

/// The programs of the processes that are meant, and where they listen.
fn fill_of(options: &mut Options) -> Result<(), Error> {
    if options.at.is_empty() {
        let servers = find(&[], &Addresses::default(), options.whose.processes().as_ref())?;
        options.at = of_servers(&servers);
    }
    options.programs = names_of(&options.whose, &options.at)?;
    options.programs.truncate(MAX_PROGRAMS);
    Ok(())
}
