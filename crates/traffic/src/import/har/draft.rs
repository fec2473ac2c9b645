//! [`draft`]: the workload of a recording.

use std::collections::{BTreeMap, BTreeSet};

use config::{Error, Source};
use units::Counted;

use super::super::correlate::{Sent, correlate};
use super::super::draft::{Draft, Notes};
use super::super::job::Options;
use super::super::place;
use super::exchange::{Exchange, field};
use super::file::File;
use super::pages::Pages;
use super::{redirects, request, server, values};

/// The pages of one server that a recording has.
pub(in super::super) fn draft(source: &Source, options: &Options) -> Result<Draft, Error> {
    let file: File = serde_json::from_str(place::text(source)).map_err(|why| place::of_json(source, &why))?;
    let log = file.log;
    if !log.version.is_empty() && !log.version.starts_with("1.") {
        let error = place::of_text(source, "\"version\"", format!("HAR {} is not known", log.version));
        return Err(error.mend("export it as HAR 1.2"));
    }
    if log.entries.is_empty() {
        let error = place::of_text(source, "\"entries\"", "there are no entries");
        return Err(error.mend("open the network panel before the visit, then export"));
    }
    let titles: BTreeMap<String, String> = log.pages.into_iter().map(|page| (page.id, page.title)).collect();
    let mut draft = Draft::default();
    let notes = &mut draft.notes;
    let mut exchanges = Exchange::all(source, log.entries)?;
    let origin = server::pick(source, &mut exchanges, options.host.as_deref(), notes)?;
    let count = exchanges.len();
    let exchanges = redirects::fold(exchanges, &origin, notes);

    let mut sent: Vec<Sent> = exchanges.iter().map(|exchange| request::sent(exchange, notes)).collect();
    let found: Vec<_> = exchanges.iter().map(values::found).collect();
    let takes = correlate(&mut sent, &found, notes);
    warn_of_cookies(&exchanges, &sent, notes);
    if options.secrets {
        draft.cookie = given_cookies(&exchanges);
    } else {
        sent.iter_mut().for_each(|sent| request::drop_secrets(sent, notes));
        if given_cookies(&exchanges).is_some() {
            notes.say("left out: cookies that the browser had before the recording; --secrets keeps them");
        }
    }
    let mut pages = Pages::new(&titles, !options.no_think);
    for ((exchange, sent), takes) in exchanges.iter().zip(sent).zip(takes) {
        pages.add(exchange, sent, takes);
    }
    draft.steps = pages.into_steps();

    let embedded: usize = draft.steps.iter().map(|step| step.embedded.len()).sum();
    let name = place::name(source);
    let pages = draft.steps.len();
    draft.head = vec![format!("What {origin} was asked for in {name}, written by headworks load import.")];
    let follow = exchanges.iter().map(|exchange| exchange.redirects).max().unwrap_or(0);
    let follow = if follow > 0 { format!(" --follow {follow}") } else { String::new() };
    draft.head.push(format!("To run it: headworks load {origin} --workload FILE{follow}"));
    let taken = [Counted(count, "request"), Counted(pages, "page"), Counted(embedded, "embedded object")];
    draft.notes.say(format!("taken: {} to {origin}, as {} with {}", taken[0], taken[1], taken[2]));
    if !follow.is_empty() {
        draft.notes.say(format!("redirects were followed: run it with{follow}"));
    }
    Ok(draft)
}

/// Names of cookies that responses set, with their values.
fn set_cookies(exchange: &Exchange) -> impl Iterator<Item = (&str, &str)> {
    let fields =
        exchange.response.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("set-cookie"));
    // Chrome writes several fields as one, with line ends between.
    let cookies = fields.flat_map(|field| field.value.split('\n'));
    cookies.filter_map(|cookie| cookie.split(';').next()?.trim().split_once('='))
}

/// The cookies that were sent and that no response has set.
fn given_cookies(exchanges: &[Exchange]) -> Option<String> {
    let set: BTreeSet<&str> = exchanges.iter().flat_map(set_cookies).map(|(name, _)| name).collect();
    let mut given: Vec<(&str, &str)> = Vec::new();
    for exchange in exchanges {
        let cookies = field(&exchange.headers, "cookie").unwrap_or_default().split(';');
        for (name, value) in cookies.filter_map(|cookie| cookie.trim().split_once('=')) {
            let is_known = set.contains(name) || given.iter().any(|(other, _)| *other == name);
            let is_value = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
            if !is_known && is_value(name) && is_value(value) {
                given.push((name, value));
            }
        }
    }
    let given: Vec<String> = given.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!given.is_empty()).then(|| given.join("; "))
}

/// A header field that repeats a cookie guards against forged requests; a workload cannot take a part of a field.
fn warn_of_cookies(exchanges: &[Exchange], sent: &[Sent], notes: &mut Notes) {
    for (cookie, value) in exchanges.iter().flat_map(set_cookies).filter(|(_, value)| value.len() >= 8) {
        for (name, field) in sent.iter().flat_map(|sent| &sent.headers) {
            if field.is_literal() && field.literals().any(|text| text == value) {
                notes.say(format!("{name} repeats the cookie {cookie}, which a workload cannot: it is left as recorded, or left out as a secret"));
            }
        }
    }
}
