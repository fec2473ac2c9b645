//! From the file to [`Settings`]: everything the types of the file cannot say.

use std::path::Path;

use config::{Error, Source};
use units::{ClassId, Span};

use crate::rules::all::Rules;
use crate::rules::rule::Rule;
use crate::settings::file;
use crate::settings::file::File;
use crate::settings::listener::Listener;
use crate::settings::number::at_least_one;
use crate::settings::page::{Form, Template};
use crate::settings::reject::Words;
use crate::settings::root::Settings;
use crate::settings::words::{address, is_token};
use crate::settings::{
    admin, client, explain, forwarding, http2, listener, operation, pages, pattern, policy, reject, session,
    strictness, telemetry, tunnels, upstream, waiting_room,
};

impl Settings {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with its line and how to mend it.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let directory = path.parent().unwrap_or(Path::new("."));
        Self::from_source(&Source::read(path)?, directory)
    }

    /// Reads a configuration from text; files that it names are looked for in `directory`.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn from_source(source: &Source, directory: &Path) -> Result<Self, Error> {
        resolve(source, directory)
    }
}

fn resolve(source: &Source, directory: &Path) -> Result<Settings, Error> {
    let file: File = source.parse()?;
    let mut listeners = Vec::new();
    if let Some(listen) = &file.listen {
        listeners.push(Listener::plain(address(source, listen)?, source.place(listen.span())));
    }
    listener::listeners(source, directory, &file.listener, &mut listeners)?;
    let mut settings = match attached(source, directory, &file, &listeners)? {
        Some(settings) => settings,
        None => in_front(source, directory, &file, listeners)?,
    };
    settings.http2 = http2::resolve(source, &file.http2)?;
    settings.forwarding = forwarding::resolve(source, file.forwarded, file.trusted_proxies.as_ref())?;
    if let Some(admin) = &file.admin {
        let (listen, admission) = admin::resolve(source, directory, admin)?;
        settings.admission = admission;
        settings.admin = listen.unwrap_or(settings.admin);
    }
    if let Some(backlog) = &file.backlog {
        settings.backlog = at_least_one(source, backlog, "backlog")?;
    }
    classes(source, &file, &mut settings)?;
    policy::resolve(source, &file, &mut settings.policy)?;
    session::resolve(source, directory, &file.session, &mut settings.session)?;
    settings.reject = reject::resolve(source, directory, &file.reject)?;
    settings.policy.retry_after = Span::from_secs(settings.reject.retry_after.0.into());
    settings.waiting_room = waiting_room::resolve(source, directory, &file.waiting_room)?;
    settings.pages = pages::resolve(source, directory, &file.pages, settings.reject.status)?;
    if file.reject.says_nothing()
        && let Some(page) = settings.pages.own(settings.reject.status, Form::Page)
    {
        settings.reject.words = Words::Prepared(Template::fixed(&String::from_utf8_lossy(page)));
    }
    if let Some(explain) = &file.explain {
        settings.explain = explain::resolve(source, explain)?;
    }
    client::resolve(source, &file, &mut settings.client)?;
    settings.operation = operation::resolve(source, directory, &file.operation)?;
    settings.telemetry = telemetry::resolve(source, &file.telemetry)?;
    settings.strictness = strictness::resolve(source, &file.strictness)?;
    settings.tunnels = tunnels::resolve(source, &file.tunnels)?;
    settings.has_distinct_addresses()?;
    Ok(settings)
}

/// The settings of a gate that is in front of a server.
fn in_front(
    source: &Source,
    directory: &Path,
    file: &File,
    listeners: Vec<Listener>,
) -> Result<Settings, Error> {
    if listeners.is_empty() {
        return Err(source
            .missing("listen is missing")
            .mend("add listen = \"127.0.0.1:8080\" or a [[listener]]"));
    }
    let Some(upstream) = &file.upstream else {
        return Err(source
            .missing("upstream is missing")
            .mend("add upstream = \"127.0.0.1:8000\", or attach = true"));
    };
    Ok(Settings::with(listeners, upstream::resolve(source, directory, upstream)?))
}

/// The settings of a gate that is attached to a server, if it is to be.
fn attached(
    source: &Source,
    directory: &Path,
    file: &File,
    listeners: &[Listener],
) -> Result<Option<Settings>, Error> {
    let Some(attach) = file.attach.as_ref().filter(|attach| *attach.get_ref()) else {
        return match &file.attach_socket {
            Some(socket) => Err(source
                .error(socket.span(), "this is for a gate that is attached to a server")
                .mend("add attach = true")),
            None => Ok(None),
        };
    };
    // Who reads and writes nothing of what passes can change nothing of it.
    let in_the_way = [
        (!listeners.is_empty(), "has no listeners of its own", "leave listen and [[listener]] out"),
        (file.upstream.is_some(), "has no upstream", "leave upstream out"),
        (file.forwarded.is_some(), "passes no requests on", "leave forwarded out"),
    ];
    if let Some((_, why, mend)) = in_the_way.into_iter().find(|(is_there, ..)| *is_there) {
        let what = format!("a gate that is attached to a server {why}");
        return Err(source.error(attach.span(), what).mend(mend));
    }
    let settings = Settings::attached();
    let socket = file.attach_socket.as_ref().map(|socket| directory.join(socket.get_ref()));
    Ok(Some(match socket {
        Some(socket) => settings.attached_at(&socket),
        None => settings,
    }))
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
            if !is_token(name) {
                return Err(source
                    .error(class.name.span(), format!("\"{name}\" cannot name a class"))
                    .mend("use letters, digits, - and _"));
            }
            settings.classes.push(name.clone());
        }
        let policy = classes.iter().map(|class| ::policy::Class {
            weight: class.weight.as_ref().map(|weight| *weight.get_ref()),
            target_queue: class.target_queue,
        });
        settings.policy.classes = policy.collect();
    }
    if let Some(status) = file.rule.iter().find_map(|rule| rule.status.as_ref()) {
        return Err(source
            .error(status.span(), "a [[rule]] is looked at before there is a response")
            .mend("status is for a [[raise]]; leave the line out here"));
    }
    let choose = rules(source, &file.rule, &settings.classes)?;
    let raise = rules(source, &file.raise, &settings.classes)?;
    settings.rules = Rules::new(choose, raise);
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

fn rules(source: &Source, written: &[file::Rule], classes: &[String]) -> Result<Vec<Rule>, Error> {
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
    written.iter().map(rule).collect()
}
