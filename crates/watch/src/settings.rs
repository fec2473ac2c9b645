//! [`Settings`]: what a file says of a watch, as in the paper's section 4.1: ports, programs, the number of
//! samples, and for each group whether it is looked at and how often.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use config::{Error, Quantity, Source, Spanned, did_you_mean, quantity};
use serde::Deserialize;
use telemetry::MetricsAddress;
use telemetry::otlp::Collector;
use units::Span;

use crate::addresses::MAX_PATH;
use crate::connections::MAX_PORTS;
use crate::groups::{Group, Groups};
use crate::names::{MAX_NAME, kept};
use crate::processes::MAX_PROGRAMS;
use crate::requests::{Budget, Classes};

/// Looks that are closer to each other than this see little else than themselves.
pub const MIN_INTERVAL: Span = Span::from_millis(10);

/// A file as people write it. Whatever is left out is as it is without a file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    programs: Option<Spanned<Vec<String>>>,
    ports: Option<Spanned<Vec<u16>>>,
    sockets: Option<Spanned<Vec<String>>>,
    /// Units of systemd's, control groups and containers whose processes are meant.
    #[serde(default)]
    pub units: Vec<String>,
    /// See [`units`](Self::units).
    #[serde(default)]
    pub cgroups: Vec<String>,
    /// See [`units`](Self::units).
    #[serde(default)]
    pub containers: Vec<String>,
    /// Between two looks at a group that has no interval of its own.
    #[serde(default)]
    interval: Option<Spanned<Quantity<Span>>>,
    /// How long to watch.
    #[serde(default)]
    duration: Option<Spanned<Quantity<Span>>>,
    /// How many intervals, instead.
    samples: Option<Spanned<u32>>,
    /// Bounds between classes.
    #[serde(default, with = "quantity::optional")]
    pub classes: Option<Classes>,
    /// What following requests may cost.
    #[serde(default, with = "quantity::optional")]
    pub budget: Option<Budget>,
    /// Whether every request is counted, also where that costs more than the budget.
    pub count_all: Option<bool>,
    /// Of the random times of windows.
    pub seed: Option<u64>,
    /// Where Prometheus finds the figures.
    #[serde(default, with = "quantity::optional")]
    pub prometheus: Option<MetricsAddress>,
    /// The address of an OpenTelemetry collector.
    otlp: Option<Spanned<String>>,
    #[serde(default)]
    kernel: OfGroup,
    #[serde(default)]
    processes: OfGroup,
    #[serde(default)]
    network: OfGroup,
    #[serde(default)]
    connections: OfGroup,
    #[serde(default)]
    limits: OfGroup,
    #[serde(default)]
    requests: OfGroup,
}

/// One group.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct OfGroup {
    /// Whether it is looked at.
    enabled: Option<bool>,
    /// How often.
    #[serde(default)]
    interval: Option<Spanned<Quantity<Span>>>,
}

impl Settings {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or something in it cannot be done.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::of(&Source::read(path)?)
    }

    fn of(source: &Source) -> Result<Self, Error> {
        let settings: Self = source.parse()?;
        let intervals = Group::ALL.into_iter().filter_map(|group| settings.group(group).interval.as_ref());
        for interval in settings.interval.iter().chain(intervals) {
            if interval.get_ref().0 < MIN_INTERVAL {
                let error = source.error(interval.span(), "the interval is too short");
                return Err(error.mend(format!("give at least \"{MIN_INTERVAL}\"")));
            }
        }
        if let Some(programs) = &settings.programs {
            check_programs(programs.get_ref()).map_err(|why| source.error(programs.span(), why))?;
        }
        if let Some(ports) = &settings.ports {
            check_ports(ports.get_ref()).map_err(|why| source.error(ports.span(), why))?;
        }
        if let Some(sockets) = &settings.sockets {
            check_sockets(sockets.get_ref()).map_err(|why| source.error(sockets.span(), why))?;
        }
        if let Some(duration) = settings.duration.as_ref().filter(|duration| duration.get_ref().0.is_zero()) {
            return Err(source
                .error(duration.span(), "there is no time to watch")
                .mend("leave it out, or give \"1m\""));
        }
        if let Some(samples) = settings.samples.as_ref().filter(|samples| *samples.get_ref() == 0) {
            return Err(source
                .error(samples.span(), "there are no samples")
                .mend("leave it out, or give at least 1"));
        }
        if let (Some(_), Some(samples)) = (&settings.duration, &settings.samples) {
            let error = source.error(samples.span(), "samples and duration both say when to end");
            return Err(error.mend("leave one of them out"));
        }
        if let (Some(endpoint), None) = (&settings.otlp, settings.collector()) {
            let what = format!("\"{}\" is not the address of a collector", endpoint.get_ref());
            return Err(source
                .error(endpoint.span(), what)
                .mend("give http:// with host and port, for example \"http://127.0.0.1:4318\""));
        }
        Ok(settings)
    }

    /// Names of programs.
    pub fn programs(&self) -> &[String] {
        self.programs.as_ref().map_or(&[], |programs| programs.get_ref())
    }

    /// Ports.
    pub fn ports(&self) -> &[u16] {
        self.ports.as_ref().map_or(&[], |ports| ports.get_ref())
    }

    /// Unix sockets.
    pub fn sockets(&self) -> &[String] {
        self.sockets.as_ref().map_or(&[], |sockets| sockets.get_ref())
    }

    /// Between two looks at a group that has no interval of its own.
    pub fn interval(&self) -> Option<Span> {
        self.interval.as_ref().map(|interval| interval.get_ref().0)
    }

    /// How long to watch, if samples are that far apart.
    pub fn duration(&self, interval: Span) -> Option<Span> {
        let samples = self.samples.as_ref().map(|samples| interval * u64::from(*samples.get_ref()));
        self.duration.as_ref().map(|duration| duration.get_ref().0).or(samples)
    }

    /// Where an OpenTelemetry collector is.
    pub fn collector(&self) -> Option<Collector> {
        self.otlp.as_ref().and_then(|endpoint| Collector::at(endpoint.get_ref()))
    }

    /// Which groups are looked at, and how often: as often as `interval` says where they say nothing.
    pub fn groups(&self, interval: Span) -> Groups {
        let mut groups = Groups::every(interval);
        for group in Group::ALL {
            let OfGroup { enabled, interval: own } = self.group(group);
            match (enabled, own) {
                (Some(false), _) => groups.set(group, None),
                (_, Some(own)) => groups.set(group, Some(own.get_ref().0)),
                (Some(true), None) => groups.set(group, Some(interval)),
                (None, None) => {}
            }
        }
        groups
    }

    fn group(&self, group: Group) -> &OfGroup {
        match group {
            Group::Kernel => &self.kernel,
            Group::Processes => &self.processes,
            Group::Network => &self.network,
            Group::Connections => &self.connections,
            Group::Limits => &self.limits,
            Group::Requests => &self.requests,
        }
    }
}

/// Whether unix sockets can be called so.
///
/// # Errors
/// Why not, in words.
pub fn check_sockets(paths: &[String]) -> Result<(), String> {
    if paths.len() > MAX_PORTS {
        return Err(format!("at most {MAX_PORTS} sockets can be watched at once"));
    }
    match paths.iter().find(|path| path.is_empty() || path.len() > MAX_PATH) {
        Some(path) if path.is_empty() => Err("a path is empty".to_owned()),
        Some(path) => {
            Err(format!("{path} is longer than the {MAX_PATH} bytes that a socket's path may have"))
        }
        None => Ok(()),
    }
}

/// Whether programs of these names can be told apart.
///
/// # Errors
/// Why not, in words.
pub fn check_programs(names: &[String]) -> Result<(), String> {
    if names.len() > MAX_PROGRAMS {
        return Err(format!("at most {MAX_PROGRAMS} programs can be watched at once"));
    }
    for (at, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err("a name is empty".to_owned());
        }
        if names[..at].iter().any(|earlier| kept(earlier) == kept(name)) {
            return Err(format!("the first {MAX_NAME} bytes of \"{name}\" are there before"));
        }
    }
    Ok(())
}

/// Whether these ports can be watched.
///
/// # Errors
/// Why not, in words.
pub fn check_ports(ports: &[u16]) -> Result<(), String> {
    if ports.len() > MAX_PORTS {
        return Err(format!("at most {MAX_PORTS} ports can be watched at once"));
    }
    for (at, port) in ports.iter().enumerate() {
        if *port == 0 {
            return Err("no program can listen on port 0".to_owned());
        }
        if ports[..at].contains(port) {
            return Err(format!("port {port} is there twice"));
        }
    }
    Ok(())
}

/// One group's interval, as it is written on a command line: `connections=10s`, or `network=off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupOption {
    /// The group.
    pub group: Group,
    /// How often it is looked at; none when it is switched off.
    pub interval: Option<Span>,
}

/// Why a text is not the interval of a group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadGroupOption {
    /// There is no `=`.
    #[error("\"{0}\" has no =; write a group and its interval or \"off\", such as connections=10s")]
    NoInterval(String),
    /// Nothing goes by that name.
    #[error(
        "there is no group \"{0}\"{1}; there are kernel, processes, network, connections, limits and requests"
    )]
    NoGroup(String, String),
    /// The interval cannot be read or is too short.
    #[error("\"{0}\" is not an interval; write a time of at least 10ms, or \"off\"")]
    BadInterval(String),
}

impl FromStr for GroupOption {
    type Err = BadGroupOption;

    fn from_str(text: &str) -> Result<Self, BadGroupOption> {
        let (name, interval) =
            text.split_once('=').ok_or_else(|| BadGroupOption::NoInterval(text.to_owned()))?;
        let group = Group::ALL.into_iter().find(|group| group.name() == name).ok_or_else(|| {
            let names = Group::ALL.map(Group::name);
            let meant = did_you_mean(name, names).map(|meant| format!(" (did you mean {meant}?)"));
            BadGroupOption::NoGroup(name.to_owned(), meant.unwrap_or_default())
        })?;
        if interval == "off" {
            return Ok(Self { group, interval: None });
        }
        let long = interval.parse().ok().filter(|interval| *interval >= MIN_INTERVAL);
        let long = long.ok_or_else(|| BadGroupOption::BadInterval(interval.to_owned()))?;
        Ok(Self { group, interval: Some(long) })
    }
}

impl fmt::Display for GroupOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.interval {
            Some(interval) => write!(f, "{}={interval}", self.group.name()),
            None => write!(f, "{}=off", self.group.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        Settings::of(&Source::new("watch.toml", text)).map_err(|why| why.to_string())
    }

    #[test]
    fn groups_have_intervals_of_their_own() {
        let text = "programs = ['apache2']\nports = [80]\ninterval = '2s'\nsamples = 30\nbudget = 'none'\n\
                    classes = '10k,1M'\n[kernel]\nenabled = true\n[network]\nenabled = false\n\
                    [connections]\ninterval = '10s'\n[limits]\nenabled = true\n";
        let settings = read(text).unwrap();
        assert_eq!((settings.programs(), settings.ports()), (&["apache2".to_owned()][..], &[80][..]));
        let interval = settings.interval().unwrap();
        assert_eq!(settings.duration(interval), Some(Span::from_secs(60)));
        let groups = settings.groups(interval);
        let seconds = |group| groups.interval(group).map(|interval: Span| interval.as_secs_f64());
        assert_eq!(Group::ALL.map(seconds), [Some(2.0), Some(2.0), None, Some(10.0), Some(2.0), Some(2.0)]);
        assert_eq!(settings.budget, Some(Budget::Unlimited));
        assert_eq!(settings.classes.unwrap().to_string(), "10k,1M");
        assert_eq!(read("").unwrap().groups(Span::from_secs(1)), Groups::every(Span::from_secs(1)));
    }

    #[test]
    fn what_cannot_be_done_is_told_with_its_line() {
        for (text, expected) in [
            ("port = 80", "watch.toml:1: unknown key \"port\"; did you mean \"ports\"?"),
            (
                "\n[kernel]\ninterval = '1ms'",
                "watch.toml:3: the interval is too short; give at least \"10ms\"",
            ),
            (
                "duration = '1m'\nsamples = 3",
                "watch.toml:2: samples and duration both say when to end; leave one of them out",
            ),
            ("\nports = [80, 80]", "watch.toml:2: port 80 is there twice"),
            ("samples = 0", "watch.toml:1: there are no samples; leave it out, or give at least 1"),
            ("programs = ['']", "watch.toml:1: a name is empty"),
            (
                "otlp = 'localhost'",
                "watch.toml:1: \"localhost\" is not the address of a collector; give http:// with host and port, for \
                 example \"http://127.0.0.1:4318\"",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), expected);
        }
        assert!(read("[requests]\ninterval = 'often'").unwrap_err().starts_with("watch.toml:2: "));
    }

    #[test]
    fn a_group_on_a_command_line() {
        let parse = |text: &str| text.parse::<GroupOption>().map(|option| option.to_string());
        assert_eq!(parse("connections=10s").unwrap(), "connections=10s");
        assert_eq!(parse("network=off").unwrap(), "network=off");
        for (text, part) in [
            ("network", "has no ="),
            ("netwrk=1s", "did you mean network?"),
            ("network=1ms", "at least 10ms"),
            ("network=", "at least 10ms"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(part), "{said}");
        }
    }
}
