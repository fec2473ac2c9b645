//! [`Verdict`]: is anybody suffering?

use schemars::JsonSchema;
use serde::Serialize;

use crate::observe::history::{ClassSample, Sample, StageWaits};

mod words;

use words::{list, per_second, percent, time};

/// Refused of what is offered, or failed of what a server was asked, below which it is a request now and then.
const NEGLIGIBLE: f64 = 0.01;
/// A few clients always go away before they are answered; from here on it is not of their own accord.
const GIVEN_UP: f64 = 0.02;
const MANY_GIVEN_UP: f64 = 0.1;
/// A mean wait in the gate above which a class suffers whose patience is not known, s: the flow of thought is interrupted
/// (Miller 1968).
const LONG_WAIT: f64 = 1.0;
/// And where it is known, the share of it: who waits longer has begun to leave.
const OF_PATIENCE: f64 = 0.5;
/// Rates below this are nothing, 1/s.
const NOTHING: f64 = 0.05;
/// And so many requests in the last seconds may be anything.
const FEW: f64 = 3.0;
/// Servers of which fewer are down are worth knowing of only.
const MANY_DOWN: f64 = 0.1;
/// Servers that are named.
const MAX_NAMED: usize = 3;

/// Whether anybody suffers: what an operator reads first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Verdict {
    pub(crate) severity: Severity,
    /// In a word or two, as for a tab's title.
    pub(crate) brief: &'static str,
    /// In a sentence or two.
    pub(crate) words: String,
    /// Changes when it means something else, not with its figures.
    pub(crate) meaning: String,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// No class suffers.
    Calm,
    /// Worth knowing.
    Notice,
    /// Some suffer.
    Warning,
    /// The most important class suffers, or no server is up.
    Alarm,
}

/// What it is judged by.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    /// The last seconds as one; none where the gate has only begun.
    pub(crate) lately: Option<&'a Sample>,
    /// Of each class, most important first.
    pub(crate) classes: Vec<Class<'a>>,
    pub(crate) servers: Vec<Server>,
    pub(crate) shadow: bool,
    pub(crate) draining: bool,
}

#[derive(Debug)]
pub(crate) struct Class<'a> {
    pub(crate) name: &'a str,
    /// How long its clients wait before they give up, s, if that is known.
    pub(crate) patience: Option<f64>,
    /// Who waits in its waiting room.
    pub(crate) visitors: u32,
}

/// A server in the last seconds.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) up: bool,
    pub(crate) requests: u64,
    /// Requests that got no response.
    pub(crate) failures: u64,
}

/// A class's part of it.
#[derive(Debug)]
struct Plight<'a> {
    name: &'a str,
    /// Refused of what was offered.
    refused: f64,
    /// Of what was offered, those whose clients left.
    given_up: f64,
    /// Mean, where it is too long, s.
    waits: Option<f64>,
    p95: Option<f32>,
    is_idle: bool,
}

impl Verdict {
    pub(crate) fn of(evidence: &Evidence<'_>) -> Self {
        let Evidence { servers, shadow, draining, .. } = evidence;
        let down: Vec<&str> = servers.iter().filter(|server| !server.up).map(|one| &*one.name).collect();
        let none_is_up = !servers.is_empty() && down.len() == servers.len();
        let failing = failing(servers);
        let visitors: u32 = evidence.classes.iter().map(|class| class.visitors).sum();
        let load = load(evidence, failing.is_some());
        let least = match () {
            () if none_is_up => (Severity::Alarm, "No server"),
            () if failing.is_some() => (Severity::Warning, "Failing"),
            () if down.len() as f64 >= MANY_DOWN * servers.len() as f64 && !down.is_empty() => {
                (Severity::Warning, "Server down")
            }
            () if !down.is_empty() => (Severity::Notice, "Server down"),
            () if visitors > 0 => (Severity::Notice, "Waiting room"),
            () if *draining => (Severity::Notice, "Draining"),
            () => (Severity::Calm, load.brief),
        };
        let meaning = format!(
            "{:?} {} {none_is_up} {} {} {draining} {shadow} {}",
            least.0.max(load.severity),
            down.join(","),
            failing.is_some(),
            visitors > 0,
            load.meaning
        );
        let servers_down = match () {
            () if none_is_up => Some(format!("No server is up ({}).", list(&down, MAX_NAMED))),
            () if down.is_empty() => None,
            () => Some(format!(
                "{} of {} servers {} not up ({}).",
                down.len(),
                servers.len(),
                if down.len() == 1 { "is" } else { "are" },
                list(&down, MAX_NAMED)
            )),
        };
        let first = [
            servers_down,
            failing,
            (visitors > 0).then(|| {
                let verb = if visitors == 1 { "visitor waits" } else { "visitors wait" };
                format!("{visitors} {verb} in the waiting room.")
            }),
            draining.then(|| "Draining: clients are sent elsewhere.".to_owned()),
            shadow.then(|| "Shadow mode:".to_owned()),
        ];
        let words: Vec<String> = first.into_iter().flatten().chain([load.words]).collect();
        Self {
            severity: least.0.max(load.severity),
            brief: if none_is_up || least.0 > load.severity { least.1 } else { load.brief },
            words: words.join(" "),
            meaning,
        }
    }
}

/// Servers that let requests fail.
fn failing(servers: &[Server]) -> Option<String> {
    let share = |one: &Server| one.failures as f64 / one.requests.max(one.failures).max(1) as f64;
    let failing: Vec<&Server> =
        servers.iter().filter(|one| one.failures as f64 >= FEW && share(one) > NEGLIGIBLE).collect();
    let names: Vec<&str> = failing.iter().map(|one| &*one.name).collect();
    let failed: u64 = failing.iter().map(|one| one.failures).sum();
    let asked: u64 = failing.iter().map(|one| one.requests.max(one.failures)).sum();
    (!failing.is_empty()).then(|| {
        format!(
            "{} of requests to {} got no response ({failed} of {asked}).",
            percent(failed as f64 / asked.max(1) as f64),
            list(&names, MAX_NAMED)
        )
    })
}

/// What comes of the load, servers apart.
fn load(evidence: &Evidence<'_>, failing: bool) -> Verdict {
    let Some(lately) = evidence.lately else {
        return Verdict {
            severity: Severity::Calm,
            brief: "Starting",
            words: "The gate has just begun.".to_owned(),
            meaning: "starting".to_owned(),
        };
    };
    let span = f64::from(lately.span);
    let classes = evidence.classes.iter().zip(&lately.classes);
    let plights: Vec<Plight<'_>> = classes.map(|(class, sample)| plight(class, sample, span)).collect();
    let offered: f64 = lately.classes.iter().map(|class| f64::from(class.offered)).sum();
    if let Some(stall) = stall(lately, offered) {
        return stall;
    }
    let unclassified = f64::from(lately.unclassified);
    let is_much = unclassified * span >= FEW && unclassified > NEGLIGIBLE * (offered + unclassified);
    let unclassified = if is_much { unclassified } else { 0.0 };
    if unclassified <= NOTHING && !plights.iter().any(Plight::suffers) {
        return calm(lately, failing, evidence.shadow);
    }
    let are = if evidence.shadow { "would be" } else { "are" };
    let mut clauses: Vec<String> = plights.iter().filter_map(|one| one.clause(are)).collect();
    let well = plights.iter().filter(|one| !one.suffers() && !one.is_idle);
    clauses.extend(well.map(|one| {
        let all = if failing { "none refused" } else { "all served" };
        format!("{}: {all}{}", one.name, within(one.p95))
    }));
    if unclassified > NOTHING {
        clauses.push(format!("{} {are} refused before their class is known", per_second(unclassified)));
    }
    let refuses = unclassified > NOTHING || plights.iter().any(|one| one.refused > 0.0);
    // Where all are of one class, that some of them are refused is what a gate is for.
    let is_first_of_several = plights.len() > 1;
    let first_suffers = plights.first().filter(|_| is_first_of_several).is_some_and(|one| {
        !evidence.shadow && one.refused > 0.0 || one.given_up >= MANY_GIVEN_UP || one.waits.is_some()
    });
    let hurts = !evidence.shadow || plights.iter().any(|one| one.given_up > 0.0 || one.waits.is_some());
    Verdict {
        severity: match () {
            () if first_suffers => Severity::Alarm,
            () if hurts => Severity::Warning,
            () => Severity::Notice,
        },
        brief: match (refuses, evidence.shadow) {
            (true, false) => "Refusing",
            (true, true) => "Would refuse",
            (false, _) if plights.iter().any(|one| one.given_up > 0.0) => "Given up",
            (false, _) => "Long waits",
        },
        words: format!("{}.", clauses.join("; ")),
        meaning: format!(
            "{:?} {}",
            plights.iter().map(Plight::grades).collect::<Vec<_>>(),
            unclassified > NOTHING
        ),
    }
}

/// Nothing comes back from the server.
fn stall(lately: &Sample, offered: f64) -> Option<Verdict> {
    let (inside, waiting) = (f64::from(lately.in_service), f64::from(lately.waiting));
    let is_one =
        f64::from(lately.finished) <= 0.0 && inside >= 1.0 && offered * f64::from(lately.span) >= FEW;
    is_one.then(|| Verdict {
        severity: Severity::Alarm,
        brief: "Stalled",
        words: format!(
            "Nothing was finished in the last {:.0} s: {inside:.0} requests are in the server, {waiting:.0} wait.",
            lately.span
        ),
        meaning: "stalled".to_owned(),
    })
}

/// In a sample of so many seconds.
fn plight<'a>(class: &Class<'a>, sample: &ClassSample, span: f64) -> Plight<'a> {
    let [offered, served, refused, aborted] =
        [sample.offered, sample.served, sample.refused, sample.aborted].map(f64::from);
    // What has waited for seconds ends later than it came.
    let all = offered.max(refused + aborted).max(f64::MIN_POSITIVE);
    let share = |rate: f64, least: f64| {
        let share = rate / all;
        if share < least || rate * span < FEW { 0.0 } else { share.min(1.0) }
    };
    let long = class.patience.map_or(LONG_WAIT, |patience| patience * OF_PATIENCE);
    Plight {
        name: class.name,
        refused: share(refused, NEGLIGIBLE),
        given_up: share(aborted, GIVEN_UP),
        waits: sample.waits.as_ref().map(in_gate).filter(|wait| *wait > long),
        p95: sample.p95,
        is_idle: offered < NOTHING && served < NOTHING,
    }
}

fn in_gate(waits: &StageWaits) -> f64 {
    f64::from(waits.acceptor + waits.pending + waits.discard + waits.class)
}

impl Plight<'_> {
    fn suffers(&self) -> bool {
        self.refused > 0.0 || self.given_up > 0.0 || self.waits.is_some()
    }

    fn clause(&self, are: &str) -> Option<String> {
        let parts = [
            (self.refused > 0.0).then(|| format!("{} of requests {are} refused", percent(self.refused))),
            (self.given_up > 0.0).then(|| format!("the clients of {} gave up", percent(self.given_up))),
            self.waits.map(|wait| format!("those served waited {} in the gate", time(wait))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{}: {}", self.name, parts.join(", ")))
    }

    /// Shares change all the time; that a third becomes a half is worth a word.
    fn grades(&self) -> [usize; 3] {
        let grade = |share: f64| [NEGLIGIBLE, 0.1, 0.5, 0.9].iter().filter(|least| share >= **least).count();
        [grade(self.refused), grade(self.given_up), usize::from(self.waits.is_some())]
    }
}

fn within(p95: Option<f32>) -> String {
    p95.map_or_else(String::new, |p95| format!(", 95 % within {}", time(f64::from(p95))))
}

/// Where no class suffers.
fn calm(lately: &Sample, failing: bool, shadow: bool) -> Verdict {
    let offered: f64 = lately.classes.iter().map(|class| f64::from(class.offered)).sum();
    let waiting = f64::from(lately.waiting);
    let slowest = within(lately.classes.iter().filter_map(|class| class.p95).reduce(f32::max));
    let refused = if shadow { "none would be refused" } else { "none is refused" };
    let (severity, brief, meaning, words) = match (offered, waiting) {
        (..NOTHING, ..0.5) => {
            (Severity::Calm, "Calm", "idle", "No class suffers: no requests come.".to_owned())
        }
        (_, ..0.5) if failing => {
            (Severity::Calm, "Calm", "calm", format!("No request waits, {refused}{slowest}."))
        }
        (_, ..0.5) => {
            (Severity::Calm, "Calm", "calm", format!("No class suffers: what was asked is served{slowest}."))
        }
        _ => {
            let n = waiting.round().max(1.0);
            let verb = if n > 1.0 { "requests wait" } else { "request waits" };
            (
                Severity::Notice,
                "Waiting",
                "waiting",
                format!("No class suffers: {n} {verb}, {refused}{slowest}."),
            )
        }
    };
    Verdict { severity, brief, words, meaning: meaning.to_owned() }
}

#[cfg(test)]
mod tests;
