//! [`List`]: rules in order, and finding the first that matches without trying all of them.
//!
//! Most rules of a long list name something that a request has one of, or few: a host, the
//! beginning of a path, a cookie, a header. Such rules are filed under it and tried only by
//! requests that have it.

use std::collections::HashMap;

use http::header::HeaderName;
use units::ClassId;

use crate::rules::condition::{Condition, PathPattern};
use crate::rules::rule::Rule;
use crate::rules::subject::{Subject, View};
use config::Glob;

/// Rules in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    rules: Vec<Rule>,
    /// By host, in lower case.
    hosts: HashMap<String, Vec<usize>>,
    /// By the first segment of the path.
    paths: HashMap<String, Vec<usize>>,
    cookies: HashMap<Vec<u8>, Vec<usize>>,
    parameters: HashMap<Vec<u8>, Vec<usize>>,
    headers: HashMap<HeaderName, Vec<usize>>,
    /// Those that name none of these.
    others: Vec<usize>,
}

/// Under what a rule is filed.
#[derive(Debug, PartialEq, Eq)]
enum Key {
    Host(String),
    Path(String),
    Cookie(String),
    Parameter(String),
    Header(HeaderName),
}

impl List {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        let mut list = Self::default();
        for (index, rule) in rules.iter().enumerate() {
            match keys(rule) {
                None => list.others.push(index),
                Some(keys) => keys.into_iter().for_each(|key| list.file(key, index)),
            }
        }
        list.rules = rules;
        list
    }

    fn file(&mut self, key: Key, index: usize) {
        let filed = match key {
            Key::Host(host) => self.hosts.entry(host).or_default(),
            Key::Path(segment) => self.paths.entry(segment).or_default(),
            Key::Cookie(name) => self.cookies.entry(name.into_bytes()).or_default(),
            Key::Parameter(name) => self.parameters.entry(name.into_bytes()).or_default(),
            Key::Header(name) => self.headers.entry(name).or_default(),
        };
        if filed.last() != Some(&index) {
            filed.push(index);
        }
    }

    pub(crate) fn get(&self, position: usize) -> Option<&Rule> {
        self.rules.get(position)
    }

    pub(crate) fn len(&self) -> usize {
        self.rules.len()
    }

    /// Positions of the rules that are others in `next`, which has as many.
    pub(crate) fn changed(&self, next: &Self) -> impl Iterator<Item = usize> {
        let pairs = self.rules.iter().zip(&next.rules).enumerate();
        pairs.filter(|(_, (mine, theirs))| mine != theirs).map(|(position, _)| position)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Position and class of the first rule that matches and whose class is above `below`.
    pub(crate) fn find(&self, subject: Subject<'_>, below: Option<ClassId>) -> Option<(usize, ClassId)> {
        if self.rules.is_empty() {
            return None;
        }
        let view = View::of(subject, self.rules.len());
        let matches = |index: &usize| {
            let rule = &self.rules[*index];
            below.is_none_or(|class| rule.class < class) && rule.matches(&view)
        };
        let first = if view.many() {
            let mut first = self.rules.len();
            let mut look = |filed: &[usize]| {
                first =
                    filed.iter().copied().take_while(|index| *index < first).find(matches).unwrap_or(first);
            };
            look(&self.others);
            self.filed(&view, look);
            first
        } else {
            // To try them costs less than to look under what they are filed.
            (0..self.rules.len()).find(matches)?
        };
        self.rules.get(first).map(|rule| (first, rule.class))
    }

    /// Calls `look` with the rules filed under what the request has. Nothing that a client can
    /// repeat at will is looked at twice.
    fn filed(&self, view: &View<'_>, mut look: impl FnMut(&[usize])) {
        let subject = view.subject;
        if !self.hosts.is_empty()
            && let Some(filed) = view.host().and_then(|host| self.hosts.get(host))
        {
            look(filed);
        }
        if !self.paths.is_empty()
            && let Some(filed) = segment(subject.uri.path()).and_then(|segment| self.paths.get(segment))
        {
            look(filed);
        }
        if !self.cookies.is_empty() {
            let there = view.cookies().iter().filter_map(|(name, _)| self.cookies.get(*name));
            there.for_each(|filed| look(filed));
        }
        if !self.parameters.is_empty() {
            let mut before: Option<&[u8]> = None;
            for (name, _) in view.parameters() {
                if before.replace(name) != Some(name)
                    && let Some(filed) = self.parameters.get(&**name)
                {
                    look(filed);
                }
            }
        }
        if !self.headers.is_empty() {
            subject.headers.keys().filter_map(|name| self.headers.get(name)).for_each(|filed| look(filed));
        }
    }
}

/// Under what a rule can be filed: all keys of one condition, without one of which it cannot
/// match. That is the one which most likely the fewest requests meet.
fn keys(rule: &Rule) -> Option<Vec<Key>> {
    rule.conditions.iter().filter_map(condition_keys).min_by_key(|(rank, _)| *rank).map(|(_, keys)| keys)
}

fn condition_keys(condition: &Condition) -> Option<(u8, Vec<Key>)> {
    Some(match condition {
        Condition::Cookie(cookies) => {
            (0, cookies.iter().map(|(name, _)| Key::Cookie(name.clone())).collect())
        }
        Condition::Query(parameters) => {
            (1, parameters.iter().map(|(name, _)| Key::Parameter(name.clone())).collect())
        }
        Condition::Path(patterns) => (2, patterns.iter().map(path_key).collect::<Option<_>>()?),
        Condition::Host(globs) => {
            let key = |glob: &Glob| glob.exactly().map(|host| Key::Host(host.to_owned()));
            (3, globs.iter().map(key).collect::<Option<_>>()?)
        }
        Condition::Header(headers) => {
            (4, headers.iter().map(|(name, _)| Key::Header(name.clone())).collect())
        }
        Condition::Address(_)
        | Condition::ServerName(_)
        | Condition::Method(_)
        | Condition::When(_)
        | Condition::Status(_) => {
            return None;
        }
    })
}

/// The segment that every path begins with that the pattern matches, if it says it whole.
fn path_key(pattern: &PathPattern) -> Option<Key> {
    let PathPattern::Prefix(prefix) = pattern else { return None };
    // "/shop" matches "/shopping" too; "/shop/" is only in "/shop/".
    let whole = prefix.strip_prefix('/')?.split_once('/')?.0;
    Some(Key::Path(whole.to_owned()))
}

/// The first segment of a path, if another follows.
fn segment(path: &str) -> Option<&str> {
    Some(path.strip_prefix('/')?.split_once('/')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{Method, Request};
    use proptest::prelude::*;

    fn text(choices: &'static [&'static str]) -> impl Strategy<Value = String> {
        prop::sample::select(choices).prop_map(str::to_owned)
    }

    fn some<T: std::fmt::Debug>(one: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
        prop::collection::vec(one, 1..3)
    }

    fn condition() -> impl Strategy<Value = Condition> {
        prop_oneof![
            some(text(&["a", "b", "*.c", "?"]))
                .prop_map(|hosts| { Condition::Host(hosts.into_iter().map(Glob).collect()) }),
            some(text(&["/", "/x", "/x/", "/x/y", "/y/", "*z", "/x/*"])).prop_map(|paths| {
                Condition::Path(paths.iter().map(|path| PathPattern::new(path)).collect())
            }),
            some(text(&["k", "l"])).prop_map(|names| {
                Condition::Cookie(names.into_iter().map(|name| (name, None)).collect())
            }),
            some(text(&["p", "q"]))
                .prop_map(|names| { Condition::Query(names.into_iter().map(|name| (name, None)).collect()) }),
            some(text(&["x-a", "x-b"])).prop_map(|names| {
                Condition::Header(names.iter().map(|name| (name.parse().unwrap(), None)).collect())
            }),
            Just(Condition::Method(vec![Method::GET])),
        ]
    }

    proptest! {
        /// Filing changes nothing but the time it takes.
        #[test]
        fn the_first_that_matches_is_found(
            rules in prop::collection::vec((prop::collection::vec(condition(), 1..3), 0..3u8), 0..24),
            host in text(&["a", "B", "b.c", "q"]),
            path in text(&["/", "/x?p", "/x/", "/x/y?p=1&q&p=2", "/x/yz", "/y/x?%71=3", "/xx/", "/z"]),
            cookies in text(&["k=1", "l=2; k=1", "m=1", ""]),
            header in text(&["x-a", "x-b", "x-c"]),
            below in prop::option::of(0..4u8),
        ) {
            let rule = |(conditions, class)| Rule { class: ClassId(class), conditions };
            let rules: Vec<Rule> = rules.into_iter().map(rule).collect();
            let request = Request::get(path)
                .header("host", host).header("cookie", cookies).header(header, "1").body(()).unwrap();
            let (method, uri, headers) = (request.method(), request.uri(), request.headers());
            let subject = Subject { method, uri, headers, address: [127, 0, 0, 1].into(), server_name: None, session: None };
            let below = below.map(ClassId);
            let view = View::of(subject, rules.len());
            let allowed = |rule: &Rule| below.is_none_or(|class| rule.class < class);
            let expected = rules.iter().position(|rule| allowed(rule) && rule.matches(&view));
            prop_assert_eq!(List::new(rules).find(subject, below).map(|(index, _)| index), expected);
        }
    }
}
