//! [`correlate`]: values that come with one response and are sent later.

use std::collections::{BTreeSet, HashMap, HashSet};

use percent_encoding::percent_decode_str;

use super::draft::Notes;
use super::text::Text;
use crate::url;

/// What is sent of a request.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) url: Text,
    pub(super) headers: Vec<(String, Text)>,
    pub(super) body: Option<Text>,
    /// What it is called in notes.
    pub(super) shown: String,
}

/// A value in a response.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) value: String,
    /// Where, as `take` has it.
    pub(super) place: String,
    /// What it is called there.
    pub(super) name: String,
    /// It is short: only as a whole segment of a path or a whole parameter of a query can it be told from others.
    pub(super) is_segment: bool,
}

/// Puts names in the place of values that come with an earlier response; gives what is taken from each response, as name
/// and place. A value that was sent before it came is not one that the server made.
pub(super) fn correlate(
    sent: &mut [Sent],
    found: &[Vec<Found>],
    notes: &mut Notes,
) -> Vec<Vec<(String, String)>> {
    let mut takes = vec![Vec::new(); sent.len()];
    let mut names = BTreeSet::new();
    let mut done = HashSet::new();
    let last = last_uses(sent);
    for (number, values) in found.iter().enumerate() {
        let is_later = |word: &str| last.get(word).is_some_and(|last| *last > number);
        let may_be_sent = |found: &&Found| words(&found.value).all(is_later);
        let mut values: Vec<&Found> = values.iter().filter(may_be_sent).collect();
        // A value that stands inside of another must not take its place.
        values.sort_by_key(|found| std::cmp::Reverse(found.value.len()));
        for found in values {
            let (before, after) = sent.split_at_mut(number + 1);
            if !done.insert(found.value.clone()) || before.iter().any(|sent| sent.has(found)) {
                continue;
            }
            warn_of_encoded(found, before, after, notes);
            let name = unused(&names, &found.name);
            let users: Vec<&str> = after
                .iter_mut()
                .filter_map(|sent| (sent.put(found, &name) > 0).then_some(sent.shown.as_str()))
                .collect();
            let (Some(first), Some(source)) = (users.first(), before.last()) else { continue };
            let more = if users.len() > 1 { format!(" and {} more", users.len() - 1) } else { String::new() };
            notes.say(format!("${{{name}}}: {} of {}, sent by {first}{more}", found.place, source.shown));
            takes[number].push((name.clone(), found.place.clone()));
            names.insert(name);
        }
    }
    takes
}

impl Sent {
    fn texts(&self) -> impl Iterator<Item = &Text> {
        [&self.url].into_iter().chain(self.headers.iter().map(|(_, value)| value)).chain(&self.body)
    }

    fn has(&self, found: &Found) -> bool {
        let is_in = |text: &Text| {
            text.clone().replace(&found.value, "", |before, after| found.fits(before, after)) > 0
        };
        if found.is_segment { is_in(&self.url) } else { self.texts().any(is_in) }
    }

    /// Puts the name in the place of the value; says how often.
    fn put(&mut self, found: &Found, name: &str) -> usize {
        let fits = |before: &str, after: &str| found.fits(before, after);
        let url = self.url.replace(&found.value, name, fits);
        if found.is_segment {
            return url;
        }
        let others = self.headers.iter_mut().map(|(_, value)| value).chain(&mut self.body);
        others.fold(url, |count, text| count + text.replace(&found.value, name, fits))
    }
}

impl Found {
    /// Whether an occurrence between these texts is the value, and not a part of another.
    fn fits(&self, before: &str, after: &str) -> bool {
        let (before, after) = (before.chars().next_back(), after.chars().next());
        if self.is_segment {
            return matches!(before, Some('/' | '=')) && matches!(after, None | Some('/' | '?' | '&'));
        }
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let begins = !self.value.starts_with(|c: char| c.is_ascii_alphanumeric()) || !is_word(before);
        begins && (!self.value.ends_with(|c: char| c.is_ascii_alphanumeric()) || !is_word(after))
    }
}

/// The runs of letters and digits in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// The last request that has each run of letters and digits, as it stands or behind %XX.
fn last_uses(sent: &[Sent]) -> HashMap<String, usize> {
    let mut last = HashMap::new();
    for (number, sent) in sent.iter().enumerate() {
        for text in sent.texts().flat_map(Text::literals) {
            let decoded = percent_decode_str(text).decode_utf8_lossy();
            for word in words(text).chain(words(&decoded)) {
                last.insert(word.to_owned(), number);
            }
        }
    }
    last
}

/// A value is sent as it is: one that stands in a query or form with %XX cannot take that place.
fn warn_of_encoded(found: &Found, before: &[Sent], after: &[Sent], notes: &mut Notes) {
    let encoded = url::value(&found.value).to_string();
    let has = |sent: &&Sent| {
        let texts = [Some(&sent.url), sent.body.as_ref()];
        texts.into_iter().flatten().flat_map(Text::literals).any(|text| text.contains(&encoded))
    };
    if let (true, Some(user), Some(source)) = (encoded != found.value, after.iter().find(has), before.last())
    {
        notes.say(format!(
            "{} sends {} of {} with characters written as %XX, which a value cannot be: it is left as recorded",
            user.shown, found.place, source.shown
        ));
    }
}

/// A name that a workload can have, and that nothing else has.
fn unused(names: &BTreeSet<String>, wanted: &str) -> String {
    let may = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = wanted.trim_matches(|c: char| !c.is_ascii_alphanumeric()).chars().map(may).collect();
    let name = if name.is_empty() { "value".to_owned() } else { name };
    let is_free =
        |name: &String| !names.contains(name) && !["random", "uuid", "session"].contains(&name.as_str());
    let numbered = (2..).map(|number: u64| format!("{name}_{number}"));
    std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or_default()
}
