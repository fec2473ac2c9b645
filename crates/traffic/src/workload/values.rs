//! [`Values`]: what a session knows.

use std::fmt::Write;

use rand::Rng;
use rand::rngs::StdRng;

use super::data::Data;
use super::script::{Condition, Workload};
use super::take::Take;
use super::template::{Part, Template};
use crate::seed::random;
use crate::url;

/// What a session knows: its row of the data, and what it has taken from responses.
#[derive(Debug)]
pub struct Values {
    row: Vec<String>,
    taken: Vec<Option<String>>,
    number: u64,
    random: StdRng,
}

/// What a text is for, which decides what may stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Characters that a URL cannot have are written as %XX (RFC 3986, section 2.1), others as they are: a value may be a
    /// part of a path, or all of it.
    Url,
    /// Line ends, which would end the field, become spaces.
    Field,
    /// Anything.
    Body,
}

/// Something that was to be taken from a response and was not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("${{{0}}} was not taken from a response before")]
pub struct Unknown(pub String);

impl Values {
    /// What session number `number`, from 0, of a workload knows when it begins; `None` where the data has no row left
    /// for it.
    pub fn of_session(workload: &Workload, seed: u64, number: u64) -> Option<Self> {
        let row = match &workload.data {
            Some(data) => Data::row(data, number)?.to_vec(),
            None => Vec::new(),
        };
        let taken = vec![None; workload.taken.len()];
        Some(Self { row, taken, number, random: random(seed, number, b"values") })
    }

    /// What is sent where the workload says `template`.
    ///
    /// # Errors
    /// When something in it was not taken before.
    pub fn render(
        &mut self,
        template: &Template,
        purpose: Purpose,
        names: &[String],
    ) -> Result<String, Unknown> {
        let mut text = String::with_capacity(template.text().len() + 32);
        for part in &template.parts {
            match part {
                // What the workload's author wrote was looked at when it was read.
                Part::Text(fixed) => text += fixed,
                Part::Column(number) => {
                    append(&mut text, purpose, self.row.get(*number).map_or("", String::as_str))
                }
                Part::Taken(number) => match self.taken.get(*number).and_then(Option::as_ref) {
                    Some(value) => append(&mut text, purpose, value),
                    None => return Err(Unknown(names.get(*number).cloned().unwrap_or_default())),
                },
                Part::Random(range) => {
                    let _ = write!(text, "{}", self.random.random_range(range.clone()));
                }
                Part::Uuid => {
                    let uuid = uuid::Builder::from_random_bytes(self.random.random()).into_uuid();
                    let _ = write!(text, "{uuid}");
                }
                Part::Session => {
                    let _ = write!(text, "{}", self.number);
                }
            }
        }
        Ok(text)
    }

    /// Keeps what was found in a response; `None` where it was not there, and is forgotten.
    pub fn keep(&mut self, take: &Take, value: Option<String>) {
        if let Some(place) = self.taken.get_mut(take.number) {
            *place = value;
        }
    }

    /// Whether a page's conditions hold.
    pub fn hold(&self, conditions: &[Condition]) -> bool {
        conditions.iter().all(|condition| {
            let value = match condition.of {
                Part::Column(number) => self.row.get(number).map(String::as_str),
                Part::Taken(number) => self.taken.get(number).and_then(Option::as_deref),
                _ => None,
            };
            condition.holds(value)
        })
    }
}

fn append(text: &mut String, purpose: Purpose, value: &str) {
    match purpose {
        Purpose::Body => *text += value,
        Purpose::Field => text.extend(value.chars().map(|c| if c.is_control() { ' ' } else { c })),
        Purpose::Url => text.extend(url::target(value.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(dir: &std::path::Path) -> Workload {
        std::fs::write(dir.join("users.csv"), "user,plan\nann b,free\nbob,pro\n").unwrap();
        let text = "kind = \"sessions\"\ndata = { file = \"users.csv\", rows = \"unique\" }\n\
            [[page]]\nurl = \"/login?u=${user}\"\ntake = { token = \"json:/t\" }\n\
            [[page]]\nurl = \"/x/${token}\"\nwhen = { plan = \"pro\" }\nheader = { X-Id = \"${uuid} ${random:5:5} ${session}\" }\n";
        let path = dir.join("w.toml");
        std::fs::write(&path, text).unwrap();
        Workload::read(&path).unwrap()
    }

    #[test]
    fn sessions_know_their_row_and_what_they_took() {
        let dir = tempfile::tempdir().unwrap();
        let workload = workload(dir.path());
        let (login, next) = (&workload.pages[0], &workload.pages[1]);
        let mut values = Values::of_session(&workload, 1, 0).unwrap();
        let url = |values: &mut Values, page: &super::super::script::Page| {
            values.render(&page.request.url, Purpose::Url, &workload.taken)
        };
        assert_eq!(url(&mut values, login).unwrap(), "/login?u=ann%20b");
        assert_eq!(url(&mut values, next), Err(Unknown("token".to_owned())));
        values.keep(&login.request.takes[0], Some("a/b?c\r\nd".to_owned()));
        assert_eq!(url(&mut values, next).unwrap(), "/x/a/b?c%0D%0Ad");
        assert!(!values.hold(&next.conditions) && values.hold(&login.conditions));
        let mut second = Values::of_session(&workload, 1, 1).unwrap();
        assert!(second.hold(&next.conditions));
        let (_, header) = &next.request.headers[0];
        let sent = second.render(header, Purpose::Field, &workload.taken).unwrap();
        let (uuid, rest) = sent.split_once(' ').unwrap();
        assert_eq!((uuid.len(), &uuid[14..15], rest), (36, "4", "5 1"));
        let mut again = Values::of_session(&workload, 1, 1).unwrap();
        assert_eq!(again.render(header, Purpose::Field, &workload.taken).unwrap(), sent);
        assert!(Values::of_session(&workload, 1, 2).is_none());
    }
}
