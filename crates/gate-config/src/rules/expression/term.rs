//! The parts of an expression, each of a type that it was found to have.

use std::borrow::Cow;
use std::cmp::Ordering;

use http::HeaderName;
use ipnet::IpNet;
use regex::bytes::Regex;

use crate::rules::subject::View;

/// Something true or false; none when a request has not what it asks for.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Constant(bool),
    SessionNew,
    SessionRaised,
    Not(Box<Test>),
    And(Box<[Test; 2]>),
    Or(Box<[Test; 2]>),
    Choice(Box<[Test; 3]>),
    Same(Box<[Test; 2]>),
    Texts(Relation, Box<[Text; 2]>),
    Numbers(Relation, Box<[Number; 2]>),
    TextIn(Box<Text>, Vec<Text>),
    NumberIn(Box<Number>, Vec<Number>),
    StartsWith(Box<[Text; 2]>),
    EndsWith(Box<[Text; 2]>),
    Contains(Box<[Text; 2]>),
    Matches(Box<Text>, Regex),
    Has(Entry),
    InNetwork(Vec<IpNet>),
}

/// How two values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Some bytes, as they came.
#[derive(Debug, Clone)]
pub(super) enum Text {
    Constant(Vec<u8>),
    Method,
    Path,
    Query,
    Host,
    Address,
    ServerName,
    SessionClass,
    Entry(Entry),
    Lower(Box<Text>),
    Choice(Box<Test>, Box<[Text; 2]>),
}

/// Something that a request may have several of, by name; the first counts.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    Header(HeaderName),
    Cookie(Vec<u8>),
    Parameter(Vec<u8>),
}

#[derive(Debug, Clone)]
pub(super) enum Number {
    Constant(i64),
    SessionAge,
    Size(Box<Text>),
    Choice(Box<Test>, Box<[Number; 2]>),
}

impl Test {
    pub(super) fn value(&self, view: &View<'_>) -> Option<bool> {
        let session = view.subject.session;
        Some(match self {
            Self::Constant(value) => *value,
            Self::SessionNew => session.is_none(),
            Self::SessionRaised => session.is_some_and(|session| session.raised),
            Self::Not(test) => !test.value(view)?,
            // One that decides makes it irrelevant that the other has no value.
            Self::And(tests) => return either(tests, view, false),
            Self::Or(tests) => return either(tests, view, true),
            Self::Choice(tests) => {
                let [condition, yes, no] = &**tests;
                return if condition.value(view)? { yes.value(view) } else { no.value(view) };
            }
            Self::Same(tests) => tests[0].value(view)? == tests[1].value(view)?,
            Self::Texts(relation, texts) => relation.holds(texts[0].value(view)?.cmp(&texts[1].value(view)?)),
            Self::Numbers(relation, numbers) => {
                relation.holds(numbers[0].value(view)?.cmp(&numbers[1].value(view)?))
            }
            Self::TextIn(text, list) => {
                let text = text.value(view)?;
                list.iter().any(|other| other.value(view).as_ref() == Some(&text))
            }
            Self::NumberIn(number, list) => {
                let number = number.value(view)?;
                list.iter().any(|other| other.value(view) == Some(number))
            }
            Self::StartsWith(texts) => texts[0].value(view)?.starts_with(&texts[1].value(view)?),
            Self::EndsWith(texts) => texts[0].value(view)?.ends_with(&texts[1].value(view)?),
            Self::Contains(texts) => {
                memchr::memmem::find(&texts[0].value(view)?, &texts[1].value(view)?).is_some()
            }
            Self::Matches(text, pattern) => pattern.is_match(&text.value(view)?),
            Self::Has(entry) => entry.value(view).is_some(),
            Self::InNetwork(nets) => {
                let address = view.address();
                nets.iter().any(|net| net.contains(&address))
            }
        })
    }
}

/// The value that decides if either has it, the other if both have that.
fn either(tests: &[Test; 2], view: &View<'_>, decides: bool) -> Option<bool> {
    let first = tests[0].value(view);
    if first == Some(decides) {
        return first;
    }
    let second = tests[1].value(view);
    if second == Some(decides) { second } else { first.and(second) }
}

impl Relation {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl Text {
    fn value<'v>(&'v self, view: &'v View<'_>) -> Option<Cow<'v, [u8]>> {
        let subject = view.subject;
        let text = match self {
            Self::Constant(text) => text.as_slice(),
            Self::Method => subject.method.as_str().as_bytes(),
            Self::Path => subject.uri.path().as_bytes(),
            Self::Query => subject.uri.query().unwrap_or_default().as_bytes(),
            Self::Host => view.host().unwrap_or_default().as_bytes(),
            Self::Address => return Some(Cow::Owned(view.address().to_string().into_bytes())),
            Self::ServerName => subject.server_name.unwrap_or_default().as_bytes(),
            Self::SessionClass => subject.session.map_or("", |session| session.class).as_bytes(),
            Self::Entry(entry) => entry.value(view)?,
            Self::Lower(text) => {
                let text = text.value(view)?;
                let lower = !text.iter().any(u8::is_ascii_uppercase);
                return Some(if lower { text } else { Cow::Owned(text.to_ascii_lowercase()) });
            }
            Self::Choice(test, texts) => {
                return texts[usize::from(!test.value(view)?)].value(view);
            }
        };
        Some(Cow::Borrowed(text))
    }
}

impl Entry {
    fn value<'v>(&self, view: &'v View<'_>) -> Option<&'v [u8]> {
        match self {
            Self::Header(name) => view.subject.headers.get(name).map(http::HeaderValue::as_bytes),
            Self::Cookie(name) => view.cookie(name),
            Self::Parameter(name) => view.parameter(name).next(),
        }
    }
}

impl Number {
    fn value(&self, view: &View<'_>) -> Option<i64> {
        Some(match self {
            Self::Constant(number) => *number,
            Self::SessionAge => {
                let age = view.subject.session.map_or(0.0, |session| session.age.as_secs_f64());
                age as i64
            }
            // Characters, as CEL counts them.
            Self::Size(text) => String::from_utf8_lossy(&text.value(view)?).chars().count() as i64,
            Self::Choice(test, numbers) => return numbers[usize::from(!test.value(view)?)].value(view),
        })
    }
}
