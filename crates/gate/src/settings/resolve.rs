//! From the file to [`Settings`]: everything the types of the file cannot say.

use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use config::{Error, Quantity, Source, Spanned};
use policy::{ConfigError, LookAhead, SessionLimits, Window};
use units::{Bytes, ClassId, Span};

use crate::downstream::place::Place;
use crate::rules::Rule;
use crate::rules::list::List;
use crate::settings::file;
use crate::settings::file::{File, TextOr, Time};
use crate::settings::front::Listener;
use crate::settings::{
    Settings, admin, explain, front, operation, pattern, reject, secret, strictness, telemetry, tunnels,
    upstream,
};

pub(super) fn resolve(source: &Source, directory: &Path) -> Result<Settings, Error> {
    let file: File = source.parse()?;
    let mut listeners = Vec::new();
    if let Some(listen) = &file.listen {
        listeners.push(Listener::plain(address(source, listen)?));
    }
    front::listeners(source, directory, &file.listener, &mut listeners)?;
    if listeners.is_empty() {
        return Err(source
            .missing("listen is missing")
            .mend("add listen = \"127.0.0.1:8080\" or a [[listener]]"));
    }
    let mut settings = Settings::with(listeners, upstream::resolve(source, directory, &file.upstream)?);
    settings.http2 = front::http2(source, &file.http2)?;
    settings.forwarding = front::forwarding(source, file.forwarded, file.trusted_proxies.as_ref())?;
    if let Some(admin) = &file.admin {
        let (listen, admission) = admin::resolve(source, directory, admin)?;
        settings.admission = admission;
        if let Some((place, listen)) = listen {
            settings.admin = listen;
            refuse_shared(source, place, &settings)?;
        }
    }
    if let Some(backlog) = &file.backlog {
        settings.backlog = at_least_one(source, backlog, "backlog")?;
    }
    classes(source, &file, &mut settings)?;
    policy(source, &file, &mut settings.policy)?;
    session(source, directory, &file.session, &mut settings)?;
    settings.reject = reject::resolve(source, directory, &file.reject)?;
    if let Some(explain) = &file.explain {
        settings.explain = explain::resolve(source, explain)?;
    }
    client(source, &file, &mut settings.client)?;
    settings.operation = operation::resolve(source, directory, &file.operation)?;
    settings.telemetry = telemetry::resolve(source, &file.telemetry)?;
    settings.strictness = strictness::resolve(source, &file.strictness)?;
    settings.tunnels = tunnels::resolve(source, &file.tunnels)?;
    Ok(settings)
}

/// One port cannot serve both clients and operators.
fn refuse_shared(source: &Source, place: &Spanned<String>, settings: &Settings) -> Result<(), Error> {
    let same = Place::Tcp(settings.admin);
    if settings.listeners.iter().any(|listener| listener.place == same) && !same.is_free_port() {
        return Err(source
            .error(place.span(), format!("admin and a listener are both {}", settings.admin))
            .mend("give the admin interface a port of its own"));
    }
    Ok(())
}

pub(super) fn address(source: &Source, text: &Spanned<String>) -> Result<SocketAddr, Error> {
    let plain = crate::settings::without_scheme(text.get_ref());
    plain.parse().map_err(|_| {
        source
            .error(text.span(), format!("\"{}\" is not an address to listen on", text.get_ref()))
            .mend("give an IP address and a port, for example \"127.0.0.1:8080\"")
    })
}

pub(super) fn at_least_one(source: &Source, number: &Spanned<u32>, name: &str) -> Result<u32, Error> {
    match *number.get_ref() {
        0 => Err(source.error(number.span(), format!("{name} is 0")).mend("it must be at least 1")),
        number => Ok(number),
    }
}

pub(super) fn set(place: &mut Duration, span: Option<Span>) {
    if let Some(span) = span {
        *place = span.into();
    }
}

/// A time after which something is given up. At once would be before it has begun.
pub(super) fn set_above_zero(
    source: &Source,
    place: &mut Duration,
    given: &Option<Time>,
    name: &str,
) -> Result<(), Error> {
    set(place, above_zero(source, given, name)?);
    Ok(())
}

fn above_zero(source: &Source, given: &Option<Time>, name: &str) -> Result<Option<Span>, Error> {
    match given.as_ref().map(|time| (time.span(), time.get_ref().0)) {
        Some((place, Span::ZERO)) => Err(source
            .error(place, format!("{name} is 0, so that everything would be given up at once"))
            .mend("give a time, for example \"2s\"")),
        given => Ok(given.map(|(_, time)| time)),
    }
}

fn classes(source: &Source, file: &File, settings: &mut Settings) -> Result<(), Error> {
    if let Some(classes) = &file.class {
        settings.classes = Vec::new();
        for class in classes {
            let name = class.name.get_ref();
            if settings.classes.contains(name) {
                return Err(source.error(class.name.span(), format!("class \"{name}\" is defined twice")));
            }
            // A class's name goes into metrics and into the header that back-ends send.
            if !pattern::is_token(name) {
                return Err(source
                    .error(class.name.span(), format!("\"{name}\" cannot name a class"))
                    .mend("use letters, digits, - and _"));
            }
            settings.classes.push(name.clone());
        }
        let policy = classes.iter().map(|class| policy::Class {
            weight: class.weight.as_ref().map(|weight| *weight.get_ref()),
            target_queue: class.target_queue,
        });
        settings.policy.classes = policy.collect();
    }
    settings.rules.choose = rules(source, &file.rule, &settings.classes)?;
    settings.rules.raise = rules(source, &file.raise, &settings.classes)?;
    let last = settings.classes.last();
    if let Some(useless) = file.raise.iter().find(|rule| Some(rule.class.get_ref()) == last) {
        let what =
            format!("nobody can be raised to \"{}\", which is the last class", useless.class.get_ref());
        return Err(source
            .error(useless.class.span(), what)
            .mend("name a class above it; a class is never lowered"));
    }
    Ok(())
}

fn rules(source: &Source, written: &[file::Rule], classes: &[String]) -> Result<List, Error> {
    let rule = |rule: &file::Rule| {
        let name = rule.class.get_ref();
        let index = classes.iter().position(|class| class == name);
        let class = index.and_then(|index| u8::try_from(index).ok()).map(ClassId).ok_or_else(|| {
            source
                .error(rule.class.span(), format!("class \"{name}\" is not defined"))
                .suggest(name, classes.iter().map(String::as_str))
        })?;
        Ok(Rule { class, conditions: pattern::conditions(source, rule, classes)? })
    };
    written.iter().map(rule).collect::<Result<_, _>>().map(List::new)
}

fn policy(source: &Source, file: &File, policy: &mut policy::Config) -> Result<(), Error> {
    policy.mode = match file.mode {
        file::Mode::Enforce => policy::Mode::Enforce,
        file::Mode::Shadow => policy::Mode::Shadow,
    };
    policy.knobs.differentiation = file.differentiation.unwrap_or(policy.knobs.differentiation);
    policy.knobs.favour = file.favour.unwrap_or(policy.knobs.favour);
    if let Some(period) = &file.period {
        policy.period = self::period(source, period)?;
    }
    if let Some(look_ahead) = &file.look_ahead {
        policy.look_ahead = match look_ahead.get_ref() {
            TextOr::Other(k) => LookAhead::Fixed(*k),
            TextOr::Text(text) if text.get_ref() == "auto" => LookAhead::Auto,
            TextOr::Text(text) => {
                let what = format!("look-ahead \"{}\" is not known", text.get_ref());
                return Err(source.error(text.span(), what).mend("give \"auto\" or a number"));
            }
        };
    }
    if let Some(gains) = &file.gains {
        policy.gains = policy::Gains { q0: gains.get_ref().q0, q1: gains.get_ref().q1 };
    }
    if let Some(window) = &file.window {
        policy.window = self::window(*window.get_ref());
    }
    limits(source, file, &mut policy.limits)?;
    // The policy refuses what contradicts itself; here it is told which line to blame.
    policy::Policy::new(policy.clone()).map(drop).map_err(|error| {
        let what = error.to_string();
        let (what, mend) = match what.split_once("; ") {
            Some((what, mend)) => (what.to_owned(), Some(mend.to_owned())),
            None => (what, None),
        };
        let error = match blamed(file, error) {
            Some(span) => source.error(span, what),
            None => source.missing(what),
        };
        match mend {
            Some(mend) => error.mend(mend),
            None => error,
        }
    })
}

fn period(source: &Source, period: &Time) -> Result<Span, Error> {
    /// What comes in less time says nothing about how much comes.
    const SHORTEST: Span = Span::from_millis(10);
    match period.get_ref().0 {
        short if short < SHORTEST => Err(source
            .error(period.span(), format!("a period of {short} is too short"))
            .mend("give at least \"10ms\"; \"250ms\" is good for most")),
        period => Ok(period),
    }
}

fn window(window: file::Window) -> Window {
    let Window::Adaptive { initial, min, max } = Window::default() else { return Window::default() };
    match window {
        file::Window::Fixed(size) => Window::Fixed(size),
        file::Window::Adaptive => Window::default(),
        file::Window::Bounds(bounds) => {
            let (min, max) = (bounds.min.unwrap_or(min), bounds.max.unwrap_or(max));
            let within = if min <= max { initial.clamp(min, max) } else { initial };
            Window::Adaptive { initial: bounds.initial.unwrap_or(within), min, max }
        }
    }
}

fn limits(source: &Source, file: &File, limits: &mut policy::Limits) -> Result<(), Error> {
    let set = |place: &mut u32, given: &Option<Spanned<u32>>| {
        if let Some(given) = given {
            *place = *given.get_ref();
        }
    };
    set(&mut limits.burst, &file.limits.burst);
    set(&mut limits.acceptor_queue, &file.limits.acceptor_queue);
    set(&mut limits.pending_queue, &file.limits.pending_queue);
    set(&mut limits.class_queues, &file.limits.class_queues);
    set(&mut limits.discard_queues, &file.limits.discard_queues);
    limits.discard_periods = file.limits.discard_periods.unwrap_or(limits.discard_periods);
    limits.client_share = file.client_share.unwrap_or(limits.client_share);
    let deadlines = &mut limits.deadlines;
    for (place, given, name) in [
        (&mut deadlines.acceptor, &file.deadlines.acceptor, "acceptor"),
        (&mut deadlines.pending, &file.deadlines.pending, "pending"),
        (&mut deadlines.discard, &file.deadlines.discard, "discard"),
        (&mut deadlines.class, &file.deadlines.class, "class"),
    ] {
        *place = above_zero(source, given, name)?.unwrap_or(*place);
    }
    Ok(())
}

/// Where the setting stands that the policy refuses.
fn blamed(file: &File, error: ConfigError) -> Option<Range<usize>> {
    let limits = &file.limits;
    let bounds = [
        ("the burst", &limits.burst),
        ("the acceptor queue", &limits.acceptor_queue),
        ("the pending queue", &limits.pending_queue),
        ("the bound of the class queues", &limits.class_queues),
    ];
    match error {
        ConfigError::Zero("the window") | ConfigError::Window { .. } => {
            file.window.as_ref().map(Spanned::span)
        }
        ConfigError::Zero("the look-ahead") => file.look_ahead.as_ref().map(Spanned::span),
        ConfigError::Zero(name) => {
            let named = bounds.into_iter().find(|(bound, _)| *bound == name);
            named.and_then(|(_, number)| number.as_ref()).map(Spanned::span)
        }
        ConfigError::TooMany(_) => {
            let numbers = bounds.into_iter().map(|(_, number)| number).chain([&limits.discard_queues]);
            let largest = numbers.flatten().max_by_key(|number| *number.get_ref());
            largest.map(Spanned::span).or(file.window.as_ref().map(Spanned::span))
        }
        ConfigError::Unstable { .. } => file.gains.as_ref().map(Spanned::span),
        ConfigError::Weight { class, .. } => {
            file.class.as_ref()?.get(class.index())?.weight.as_ref().map(Spanned::span)
        }
        ConfigError::Classes(_) | ConfigError::Reclassed { .. } => {
            file.class.as_ref()?.last().map(|class| class.name.span())
        }
    }
}

fn session(
    source: &Source,
    directory: &Path,
    file: &file::Session,
    settings: &mut Settings,
) -> Result<(), Error> {
    let session = &mut settings.session;
    if let Some(cookie) = &file.cookie {
        if !pattern::is_token(cookie.get_ref()) {
            let what = format!("\"{}\" cannot name a cookie", cookie.get_ref());
            return Err(source.error(cookie.span(), what).mend("use letters, digits, - and _"));
        }
        session.cookie.clone_from(cookie.get_ref());
    }
    session.secure = file.secure;
    ends(source, file, &mut session.limits)?;
    session.keys = secret::keys(source, directory, file)?;
    session.forgetful = session.keys.is_empty();
    Ok(())
}

fn ends(source: &Source, file: &file::Session, limits: &mut SessionLimits) -> Result<(), Error> {
    for (place, given, name) in
        [(&mut limits.idle, &file.idle, "idle"), (&mut limits.absolute, &file.absolute, "absolute")]
    {
        let Some(given) = given else { continue };
        if given.get_ref().0 == Span::ZERO {
            let what = format!("{name} is 0, so that no session would last");
            return Err(source.error(given.span(), what).mend("for example \"30m\""));
        }
        *place = given.get_ref().0;
    }
    match &file.idle {
        Some(idle) if limits.idle > limits.absolute => Err(source
            .error(idle.span(), format!("idle is {} and absolute {}", limits.idle, limits.absolute))
            .mend("absolute is the longest that a session lasts in all; idle must not be above it")),
        _ => Ok(()),
    }
}

fn memory(source: &Source, memory: &Spanned<Quantity<Bytes>>) -> Result<u64, Error> {
    /// Less than the gate takes without a client, so that it would refuse everybody.
    const LEAST: u64 = 16 << 20;
    match memory.get_ref().0.0 {
        bytes if bytes < LEAST => Err(source
            .error(memory.span(), format!("in {bytes} bytes of memory nobody could be served"))
            .mend("give at least \"16MiB\", or leave it out")),
        bytes => Ok(bytes),
    }
}

fn client(source: &Source, file: &File, client: &mut crate::settings::Clients) -> Result<(), Error> {
    if let Some(connections) = &file.limits.connections {
        client.connections = Some(at_least_one(source, connections, "connections")?);
    }
    if let Some(streams) = &file.limits.streams {
        client.streams = at_least_one(source, streams, "streams")?;
    }
    client.memory = file.limits.memory.as_ref().map(|memory| self::memory(source, memory)).transpose()?;
    let timeouts = &file.client;
    set_above_zero(source, &mut client.header_timeout, &timeouts.header_timeout, "header-timeout")?;
    set_above_zero(source, &mut client.idle_timeout, &timeouts.idle_timeout, "idle-timeout")?;
    set_above_zero(source, &mut client.stall_timeout, &timeouts.stall_timeout, "stall-timeout")?;
    set(&mut client.drain_timeout, file.client.drain_timeout);
    Ok(())
}
