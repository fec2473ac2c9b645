//! The summary as people read it, in the order in which users of wrk, hey and oha snapshot.

use std::fmt::{self, Display, Formatter};

use record::Summary;
use tui::figures;
use units::Bytes;

use crate::run::report::Report;

mod latency;
mod share;
mod steps;

use share::percent;

impl Display for Report {
    /// The summary for people.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let summary = &self.summary;
        writeln!(f, "{}", self.title)?;
        if summary.interrupted && summary.duration == 0.0 {
            writeln!(f, "Interrupted before the measuring window opened.")?;
        } else if let Some(why) = &summary.stopped {
            writeln!(f, "Stopped after {:.1} s of the measuring window: {why}.", summary.duration)?;
        } else if summary.interrupted {
            writeln!(f, "Interrupted: what was measured in {:.1} s.", summary.duration)?;
        }
        writeln!(f)?;
        work(f, self)?;
        latency::table(f, self)?;
        steps::table(f, &summary.steps)?;
        if !self.classes.is_empty() {
            classes(f, self)?;
        }
        outcome(f, summary)?;
        validity(f, self)
    }
}

/// Reasons of errors that are shown.
const MOST_DETAILS: usize = 5;

fn work(f: &mut Formatter<'_>, report: &Report) -> fmt::Result {
    let summary = &report.summary;
    let sessions = &summary.sessions;
    let unit = if report.classes.is_empty() { "requests" } else { "sessions" };
    let (offered, achieved) = (summary.rate.offered, summary.rate.achieved);
    if report.scheduled {
        writeln!(f, "  rate         {offered:.1} {unit}/s offered, {achieved:.1} {unit}/s achieved")?;
    } else {
        writeln!(f, "  rate         {achieved:.1} {unit}/s")?;
    }
    if !report.classes.is_empty() {
        let share = percent(sessions.completed, sessions.started);
        writeln!(
            f,
            "  sessions     {} started, {} completed ({share})",
            sessions.started, sessions.completed
        )?;
    }
    write!(
        f,
        "  requests     {} begun, {} answered ({}), {}",
        summary.requests,
        summary.responses,
        percent(summary.responses, summary.requests),
        Bytes(summary.bytes)
    )?;
    if summary.duration > 0.0 && summary.bytes > 0 {
        write!(f, ", {}/s", Bytes((summary.bytes as f64 / summary.duration) as u64))?;
    }
    if summary.censored > 0 {
        write!(f, "; {} cut off, their latency is longer than shown", summary.censored)?;
    }
    writeln!(f, "\n")
}

fn classes(f: &mut Formatter<'_>, report: &Report) -> fmt::Result {
    let width = report.classes.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(11);
    writeln!(
        f,
        "  {:<width$}{:>9}{:>11}{:>8}{:>9}{:>9}{:>7}{:>9}{:>10}{:>10}",
        "class", "started", "completed", "", "timeout", "refused", "error", "running", "p50", "p90"
    )?;
    for name in &report.classes {
        let Some(class) = report.summary.sessions.by_class.get(name) else { continue };
        let q = &class.duration;
        writeln!(
            f,
            "  {name:<width$}{:>9}{:>11}{:>8}{:>9}{:>9}{:>7}{:>9}{:>10}{:>10}",
            class.started,
            class.completed,
            percent(class.completed, class.started),
            class.timeout,
            class.refused,
            class.error,
            class.censored,
            figures::of(q, q.p50),
            figures::of(q, q.p90),
        )?;
    }
    writeln!(f)
}

fn outcome(f: &mut Formatter<'_>, summary: &Summary) -> fmt::Result {
    let status: Vec<String> = summary.status.iter().map(|(code, count)| format!("{code}: {count}")).collect();
    writeln!(f, "  status       {}", if status.is_empty() { "none".to_owned() } else { status.join("   ") })?;
    let errors = &summary.errors;
    if errors.total() == 0 {
        writeln!(f, "  errors       none")?;
    } else {
        writeln!(
            f,
            "  errors       connect: {}   timeout: {}   reset: {}   protocol: {}   body: {}",
            errors.connect, errors.timeout, errors.reset, errors.protocol, errors.body
        )?;
        for detail in summary.error_details.iter().take(MOST_DETAILS) {
            let reason = if detail.reason.is_empty() { "no reason given" } else { &detail.reason };
            writeln!(f, "               {} {}: {reason}", detail.count, detail.kind.name())?;
        }
        let others: u64 = summary.error_details.iter().skip(MOST_DETAILS).map(|detail| detail.count).sum();
        if others > 0 {
            writeln!(f, "               {others} for other reasons")?;
        }
    }
    connections(f, summary)
}

fn connections(f: &mut Formatter<'_>, summary: &Summary) -> fmt::Result {
    let connections = &summary.connections;
    writeln!(
        f,
        "  connections  {} opened, reused for {} requests, {} SYNs sent again",
        connections.opened, connections.reused, connections.syn_retransmits
    )?;
    if connections.waits > 0 {
        writeln!(
            f,
            "               {} times a client waited for 10 ms because no connection had come about",
            connections.waits
        )?;
    }
    if let (Some(limit), Some(needed)) = (connections.limit, connections.needed) {
        writeln!(
            f,
            "               -c {limit} was full: {} of {} requests ({}) waited for a connection; {needed} were needed, if responses take as long with more",
            connections.queued,
            summary.requests,
            percent(connections.queued, summary.requests),
        )?;
    }
    let address = &summary.address;
    if !address.refused.is_empty() {
        let refused = address.refused.iter().map(|one| format!("{} ({})", one.address, one.reason));
        let refused = refused.collect::<Vec<_>>().join(", ");
        writeln!(f, "  address      {}, because others could not be connected to: {refused}", address.taken)?;
    }
    Ok(())
}

fn validity(f: &mut Formatter<'_>, report: &Report) -> fmt::Result {
    let client = &report.summary.client;
    write!(f, "  generator    {:.0} % of one processor", client.cpu * 100.0)?;
    if client.lag.count > 0 {
        write!(
            f,
            ", lag {} at p99, {} at most",
            figures::of(&client.lag, client.lag.p99),
            figures::of(&client.lag, client.lag.max)
        )?;
    }
    writeln!(f)?;
    for result in &report.summary.objectives {
        let verdict = if result.met { "met" } else { "MISSED" };
        let measured = figures::objective(result).unwrap_or("nothing of it was measured".to_owned());
        writeln!(f, "  objective    {}: {verdict} ({measured})", result.objective)?;
    }
    if let Some(why) = &report.never_connected {
        writeln!(f, "\nNothing was measured: not one connection came about ({why}).")?;
        return Ok(());
    }
    nothing(f, &report.summary)?;
    if !client.valid {
        writeln!(f, "\nNOT VALID: these figures are the generator's, not the server's.")?;
        for why in &client.why_invalid {
            writeln!(f, "  - {why}")?;
        }
    }
    Ok(())
}

/// Says so when there is nothing that figures could be made of.
fn nothing(f: &mut Formatter<'_>, summary: &Summary) -> fmt::Result {
    let errors = &summary.errors;
    if summary.requests == 0 && summary.interrupted {
        Ok(())
    } else if summary.requests == 0 {
        writeln!(f, "\nNothing was measured: no request was due in the measuring window; make it longer.")
    } else if summary.responses > 0 {
        Ok(())
    } else if errors.protocol == summary.requests {
        writeln!(
            f,
            "\nNothing was measured: what came was not the HTTP that was asked for; --http says which version."
        )
    } else {
        writeln!(f, "\nNot one request got the response that was asked for.")
    }
}
