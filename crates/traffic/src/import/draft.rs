//! [`Draft`]: pages that are to be written, and what is to be said about them.

use units::Span;

use super::text::Text;

/// A workload that is to be written.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// What stands at the head of the file.
    pub(super) head: Vec<String>,
    /// What `Cookie` says in each request.
    pub(super) cookie: Option<String>,
    /// The pages, one after the other.
    pub(super) steps: Vec<Step>,
    /// What was taken, left out and why.
    pub(super) notes: Notes,
}

/// A page that is to be written.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// What it is.
    pub(super) comment: String,
    pub(super) method: String,
    /// Path and query.
    pub(super) url: Text,
    pub(super) headers: Vec<(String, Text)>,
    pub(super) body: Option<Text>,
    /// Statuses that are right.
    pub(super) expect: String,
    /// What is remembered of the response: name and place.
    pub(super) takes: Vec<(String, String)>,
    pub(super) think: Span,
    /// Paths and queries of what is embedded.
    pub(super) embedded: Vec<String>,
}

/// On one line, and without what a terminal would obey.
fn printable(text: String) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// What was taken, left out and why.
#[derive(Debug, Default)]
pub(super) struct Notes {
    lines: Vec<String>,
    left_out: Vec<(String, usize)>,
}

impl Notes {
    /// Says something, once.
    pub(super) fn say(&mut self, line: impl Into<String>) {
        let line = printable(line.into());
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// Counts things that are left out, by what they are.
    pub(super) fn leave_out(&mut self, what: impl Into<String>) {
        let what = printable(what.into());
        match self.left_out.iter_mut().find(|(other, _)| *other == what) {
            Some((_, count)) => *count += 1,
            None => self.left_out.push((what, 1)),
        }
    }

    /// All that there is to say: what was left out, then the rest.
    pub(super) fn into_lines(self) -> Vec<String> {
        let left_out = self.left_out.into_iter().map(|(what, count)| format!("left out: {what} ({count})"));
        left_out.chain(self.lines).collect()
    }
}
