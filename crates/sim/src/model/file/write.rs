//! From a model to TOML.

use std::collections::BTreeMap;
use std::fmt::Write;

use units::Span;

use crate::draw::Arrivals;
use crate::model::{Call, Class, Equipment, Model, Offered, Pace, Quota, SlowClients, Tier};

/// Where numbers come from: a comment for each key that has one. A class's keys are
/// `NAME.demand` and the like; the comment of the empty key heads the file.
pub type Notes = BTreeMap<String, String>;

/// A model that a file cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("arrivals that were observed stand in a trace of their own; write arrivals = \"trace:FILE\" by hand")]
pub struct NoText;

struct Writer<'a> {
    text: String,
    notes: &'a Notes,
}

impl Writer<'_> {
    fn note(&mut self, key: &str) {
        for line in self.notes.get(key).map_or("", String::as_str).lines() {
            self.text.push_str("# ");
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn number(&mut self, key: &str, value: impl std::fmt::Display) {
        self.number_noted(key, key, value);
    }

    fn number_noted(&mut self, key: &str, note: &str, value: impl std::fmt::Display) {
        self.note(note);
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{key} = {value}");
    }

    fn word(&mut self, key: &str, value: impl std::fmt::Display) {
        self.number(key, toml::Value::String(value.to_string()));
    }

    fn heading(&mut self, heading: &str) {
        let _ = writeln!(self.text, "\n{heading}");
    }

    fn class(&mut self, class: &Class, tiers: &[Tier]) {
        self.heading("[[class]]");
        self.number("name", toml::Value::String(class.name.clone()));
        let note = |key: &str| format!("{}.{key}", class.name);
        self.number_noted("share", &note("share"), class.share);
        self.number_noted("demand", &note("demand"), span(class.demand));
        if let Some(service) = class.service {
            self.number_noted("service", &note("service"), toml::Value::String(service.to_string()));
        }
        if let Some(samples) = &class.samples {
            self.number("samples", toml::Value::String(samples.file.display().to_string()));
        }
        if let Some(workers) = class.workers {
            self.number_noted("workers", &note("workers"), workers);
        }
        if class.disk > 0.0 {
            self.number_noted("disk", &note("disk"), span(class.disk));
        }
        let called = |call: &Call| {
            let name = tiers.get(call.tier).map_or("", |tier| &tier.name);
            let (demand, share, times) = (span(call.demand), call.share, call.times);
            let name = toml::Value::String(name.to_owned());
            format!("{{ tier = {name}, demand = {demand}, share = {share}, times = {times} }}")
        };
        let calls: Vec<String> = class.calls.iter().map(called).collect();
        if !calls.is_empty() {
            self.number("calls", format!("[{}]", calls.join(", ")));
        }
        if let Some(size) = class.size {
            self.number_noted("size", &note("size"), size.mean.round());
            self.number_noted("size-cv", &note("size-cv"), size.cv);
        }
    }
}

impl Writer<'_> {
    fn equipment(&mut self, equipment: &Equipment) {
        self.heading("[equipment]");
        self.number("disks", equipment.disks);
        if let Some(link) = equipment.link {
            self.number("link", link.round());
        }
        if let Some(link) = equipment.client {
            self.number("client-link", link.round());
        }
        if let Some(seconds) = equipment.keep_alive {
            self.number("keep-alive", span(seconds));
        }
    }

    fn clients(&mut self, model: &Model) {
        if let Some(patience) = model.patience {
            self.heading("[patience]");
            self.number("mean", span(patience.mean));
            self.word("law", patience.law);
        }
        if let Some(retries) = model.retries {
            self.heading("[retries]");
            self.number("share", retries.share);
            self.number("delay", span(retries.delay));
            self.number("backoff", retries.backoff);
            self.number("most", retries.most);
            if retries.anew {
                self.number("anew", true);
            }
        }
    }

    fn slow_clients(&mut self, slow: &SlowClients) {
        self.heading("[slow-clients]");
        self.number("number", slow.number);
        self.number("addresses", slow.addresses);
        match slow.pace {
            Pace::Send(rate) => self.number("send", rate.round()),
            Pace::Read { rate, response } => {
                self.number("read", rate.round());
                self.number("response", response.round());
            }
        }
        self.number("again", span(slow.again));
        self.number("patience", span(slow.patience));
    }
}

/// To the nanosecond, which is what files know.
fn span(seconds: f64) -> String {
    format!("\"{}\"", Span::from_secs_f64(seconds))
}

/// Arrivals that were observed stand in the file `trace`.
pub(super) fn to_toml(model: &Model, notes: &Notes, trace: &str) -> String {
    let arrivals = match &model.arrivals {
        Arrivals::Observed(observed) => observed.named(trace),
        arrivals => arrivals.to_string(),
    };
    let mut writer = Writer { text: String::new(), notes };
    if notes.contains_key("") {
        writer.note("");
        writer.text.push('\n');
    }
    // Clients that wait for their answers make the arrivals.
    if !matches!(model.offered, Offered::Clients(..)) {
        writer.word("arrivals", arrivals);
    }
    match model.offered {
        Offered::Load(load) => writer.number("load", load),
        Offered::Rate(rate) => writer.number("rate", rate),
        Offered::Clients(clients, think) => {
            writer.number("clients", clients);
            writer.number("think", span(think));
        }
    }
    writer.word("service", model.service);
    writer.number("threads", model.threads);
    match model.queue {
        Some(queue) => writer.number("queue", queue),
        None => writer.word("queue", "none"),
    }
    if model.drops {
        writer.number("drops", true);
    }
    writer.word("discipline", model.discipline);
    writer.number("processors", model.processors);
    if let Some(Quota { processors, period }) = model.quota {
        writer.number("quota", processors);
        writer.number("quota-period", span(period));
    }
    if model.network > 0.0 {
        writer.number("network", span(model.network));
    }
    if model.fleet.servers > 1 {
        writer.number("servers", model.fleet.servers);
        writer.word("balancing", model.fleet.balancing);
    }
    for tier in &model.tiers {
        writer.heading("[[tier]]");
        writer.word("name", &tier.name);
        writer.number("processors", tier.processors);
        writer.number("threads", tier.threads);
        writer.word("discipline", tier.discipline);
    }
    for class in &model.classes {
        writer.class(class, &model.tiers);
    }
    writer.equipment(&model.equipment);
    writer.clients(model);
    if let Some(slow) = &model.slow_clients {
        writer.slow_clients(slow);
    }
    writer.text
}
