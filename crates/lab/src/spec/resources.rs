//! `[testbed]`, `[link]`, `[sysctl]`, `[cgroup]` and `[client]`: what server and generator run on.

use config::{Error, Quantity, Source, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;
use testbed::{Cpus, Limits, Link, Resources, Sysctl};
use toml::{Table, Value};
use units::{Bytes, Rate, Ratio};

/// A share of the machine.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[schemars(rename = "Limits")]
pub(super) struct LimitsEntry {
    /// Processors, also parts of one.
    cpu: Option<f64>,
    /// With what of files is kept in it.
    #[serde(with = "config::quantity::optional")]
    #[schemars(with = "Option<Quantity<Bytes>>")]
    memory: Option<Bytes>,
    /// From the disk, per second.
    #[serde(with = "config::quantity::optional")]
    #[schemars(with = "Option<Quantity<Bytes>>")]
    read_bytes: Option<Bytes>,
    /// To the disk, per second.
    #[serde(with = "config::quantity::optional")]
    #[schemars(with = "Option<Quantity<Bytes>>")]
    write_bytes: Option<Bytes>,
    /// Operations per second.
    reads: Option<u64>,
    /// Operations per second.
    writes: Option<u64>,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TestbedEntry {
    /// The machine's network, or one of its own for the server and one for the generator.
    #[serde(default)]
    kind: TestbedKind,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Default, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TestbedKind {
    /// The machine's own network.
    #[default]
    Host,
    /// A network namespace for the server and one for the generator.
    Namespaces,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkEntry {
    /// Bits per second in either direction, such as 10M.
    rate: Option<Spanned<RateEntry>>,
    /// The share of packets that are lost in either direction, such as "2%".
    #[schemars(with = "Option<Quantity<Ratio>>")]
    loss: Option<Spanned<Quantity<Ratio>>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum RateEntry {
    Number(f64),
    Text(String),
}

/// `[client]`: the generator.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientEntry {
    /// Processors by number, such as 1 or 2-3.
    #[serde(default = "default_cpus")]
    #[schemars(with = "Quantity<Cpus>")]
    pub(super) cpus: Quantity<Cpus>,
    /// What it may have of them.
    cpu: Option<Spanned<f64>>,
    /// Local ports, FROM-TO.
    ports: Option<Spanned<String>>,
}

impl Default for ClientEntry {
    fn default() -> Self {
        Self { cpus: default_cpus(), cpu: None, ports: None }
    }
}

fn default_cpus() -> Quantity<Cpus> {
    Quantity(Cpus::one(1))
}

/// What of a spec says what a test is set up on.
pub(super) struct Entries<'a> {
    pub(super) testbed: TestbedEntry,
    pub(super) link: Option<Spanned<LinkEntry>>,
    pub(super) sysctl: Option<Spanned<Table>>,
    pub(super) cgroup: Option<Spanned<LimitsEntry>>,
    pub(super) client: &'a ClientEntry,
    pub(super) descriptors: Option<Spanned<u64>>,
}

/// Checks it.
pub(super) fn check(source: &Source, entries: Entries<'_>) -> Result<Resources, Error> {
    let server = match entries.cgroup {
        Some(limits) => self::limits(source, limits)?,
        None => Limits::default(),
    };
    let generator = Limits {
        cpu: entries.client.cpu.as_ref().map(|cpu| cpu_of(source, cpu)).transpose()?,
        ..Limits::default()
    };
    if entries.testbed.kind == TestbedKind::Host {
        let place = [
            ("link", entries.link.as_ref().map(Spanned::span)),
            ("sysctl", entries.sysctl.as_ref().map(Spanned::span)),
            ("client.ports", entries.client.ports.as_ref().map(Spanned::span)),
        ];
        if let Some((name, span)) = place.into_iter().find_map(|(name, span)| Some((name, span?))) {
            return Err(source
                .error(span, format!("{name} would change the network of this machine"))
                .mend("set testbed.kind to \"namespaces\""));
        }
    }
    let mut link = Link::default();
    if let Some(entry) = entries.link {
        (link.rate, link.loss) = link_of(source, entry.get_ref())?;
    }
    if let Some(entry) = entries.sysctl {
        let span = entry.span();
        flatten(entry.get_ref(), "", &mut link.sysctls);
        if let Some(other) = link.sysctls.iter().find(|sysctl| !is_setting_of_a_network(sysctl)) {
            return Err(source
                .error(span, format!("sysctl \"{}\" is not a setting of the network", other.name))
                .mend("give those below \"net.\"; others are the whole machine's"));
        }
    }
    if let Some(ports) = &entries.client.ports {
        link.generator_sysctls.push(Sysctl {
            name: "net.ipv4.ip_local_port_range".to_owned(),
            value: range(ports.get_ref()).ok_or_else(|| {
                source
                    .error(ports.span(), format!("\"{}\" is not a range of ports", ports.get_ref()))
                    .mend("write it as \"20000-20500\"")
            })?,
        });
    }
    let descriptors = match entries.descriptors {
        Some(few) if *few.get_ref() < 16 => {
            return Err(source
                .error(few.span(), "no server starts with so few descriptors")
                .mend("give at least 16"));
        }
        descriptors => descriptors.map(Spanned::into_inner),
    };
    let network = (entries.testbed.kind == TestbedKind::Namespaces).then_some(link);
    Ok(Resources { network, server, generator, descriptors })
}

fn link_of(source: &Source, entry: &LinkEntry) -> Result<(Option<u64>, Option<Ratio>), Error> {
    let rate = entry.rate.as_ref().map(|rate| {
        bits(rate.get_ref()).ok_or_else(|| {
            source
                .error(rate.span(), "the rate of the link is not a valid rate")
                .mend("write it in bits per second, such as \"20M\" or \"1000M\"")
        })
    });
    let loss = entry.loss.as_ref().map(|loss| {
        let Quantity(share) = *loss.get_ref();
        // With more hardly a connection comes about.
        if (0.0001..=0.5).contains(&share.as_f64()) {
            return Ok(share);
        }
        Err(source
            .error(loss.span(), "so much of a link cannot be lost")
            .mend("give a share from \"0.01%\" to \"50%\""))
    });
    Ok((rate.transpose()?, loss.transpose()?))
}

fn limits(source: &Source, entry: Spanned<LimitsEntry>) -> Result<Limits, Error> {
    let span = entry.span();
    let LimitsEntry { cpu, memory, read_bytes, write_bytes, reads, writes } = entry.into_inner();
    let of_bytes = |bytes: Option<Bytes>| bytes.is_some_and(|bytes| bytes.0 == 0);
    let wrong = [
        ("cpu", cpu.is_some_and(|cpu| !is_share(cpu))),
        ("memory", of_bytes(memory)),
        ("read-bytes", of_bytes(read_bytes)),
        ("write-bytes", of_bytes(write_bytes)),
        ("reads", reads == Some(0)),
        ("writes", writes == Some(0)),
    ];
    match wrong.into_iter().find(|(_, is_wrong)| *is_wrong) {
        Some((name, _)) => {
            let mend =
                if name == "cpu" { "give processors, from 0.01 on" } else { "give more, or leave it out" };
            Err(source.error(span, format!("cgroup.{name} is too small")).mend(mend))
        }
        None => Ok(Limits { cpu, memory, read_bytes, write_bytes, reads, writes }),
    }
}

/// The kernel takes no quota below a millisecond of its period.
fn is_share(processors: f64) -> bool {
    processors.is_finite() && processors >= 0.01
}

fn cpu_of(source: &Source, cpu: &Spanned<f64>) -> Result<f64, Error> {
    if is_share(*cpu.get_ref()) {
        return Ok(*cpu.get_ref());
    }
    Err(source.error(cpu.span(), "client.cpu is too small").mend("give processors, from 0.01 on"))
}

/// Bits per second.
fn bits(entry: &RateEntry) -> Option<u64> {
    let rate = match entry {
        RateEntry::Number(number) => *number,
        RateEntry::Text(text) => {
            let text = text.trim_end_matches("/s").trim_end_matches("bit").trim_end_matches("bps");
            match text.strip_suffix('G') {
                Some(giga) => giga.trim().parse::<f64>().ok()? * 1e9,
                None => text.parse::<Rate>().ok()?.as_f64(),
            }
        }
    };
    (rate.is_finite() && rate >= 1000.0).then_some(rate as u64)
}

/// Dotted names are tables in tables.
fn flatten(table: &Table, prefix: &str, into: &mut Vec<Sysctl>) {
    for (key, value) in table {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => flatten(inner, &name, into),
            Value::String(text) => into.push(Sysctl { name, value: text.clone() }),
            other => into.push(Sysctl { name, value: other.to_string() }),
        }
    }
}

/// It becomes a file's name, and a word of a shell.
fn is_setting_of_a_network(sysctl: &Sysctl) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let is_value = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    sysctl.name.starts_with("net.")
        && !sysctl.name.contains("..")
        && sysctl.name.chars().all(is_plain)
        && sysctl.value.chars().all(is_value)
}

fn range(text: &str) -> Option<String> {
    let (first, last) = text.split_once('-')?;
    let (first, last): (u16, u16) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (0 < first && first < last).then(|| format!("{first} {last}"))
}
