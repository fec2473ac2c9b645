//! `pages`: documents with what is embedded in them, and requests that stand for themselves.

use std::collections::{BTreeMap, BTreeSet};

use units::Span;

use super::super::correlate::Sent;
use super::super::draft::Step;
use super::exchange::{Exchange, field};

/// Shorter pauses are the browser's, not the user's.
const SHORTEST_PAUSE_MS: i64 = 100;

/// What is made of exchanges that follow one another.
pub(super) struct Pages<'a> {
    /// The titles of pages, by identifier.
    pub(super) titles: &'a BTreeMap<String, String>,
    pub(super) has_pauses: bool,
    steps: Vec<Step>,
    /// The page that objects are embedded in: the last document, or what came after a pause.
    document: usize,
    begun: BTreeSet<String>,
    /// When all so far had ended, in milliseconds.
    end: i64,
}

impl<'a> Pages<'a> {
    pub(super) fn new(titles: &'a BTreeMap<String, String>, has_pauses: bool) -> Self {
        Self { titles, has_pauses, steps: Vec::new(), document: 0, begun: BTreeSet::new(), end: i64::MIN }
    }

    /// Adds an exchange: what is sent, and what is taken from its response.
    pub(super) fn add(&mut self, exchange: &Exchange, sent: Sent, takes: Vec<(String, String)>) {
        // A tab can be one page for all that is visited in it.
        let is_new = exchange.page.as_ref().is_some_and(|page| self.begun.insert(page.clone()));
        let is_document = is_new || exchange.is_document();
        let gap = exchange.begin.saturating_sub(self.end);
        let is_first = self.steps.is_empty();
        let is_pause = !is_first && gap >= SHORTEST_PAUSE_MS;
        if !is_first && !is_document && takes.is_empty() && is_plain(exchange, &sent) && is_embedded(exchange)
        {
            // Loaded while the user reads, it does not shorten the pause.
            let last = self.steps.len() - 1;
            let page = if is_pause { last } else { self.document };
            self.steps[page].embedded.push(exchange.url.path.clone());
            if !is_pause {
                self.end = self.end.max(exchange.end);
            }
            return;
        }
        if let (true, true, Some(last)) = (is_pause, self.has_pauses, self.steps.last_mut()) {
            last.think = rounded(gap);
        }
        if is_document || is_pause {
            self.document = self.steps.len();
        }
        self.end = self.end.max(exchange.end);
        self.steps.push(Step {
            comment: self.comment(exchange, is_document),
            method: exchange.method.clone(),
            url: sent.url,
            headers: sent.headers,
            body: sent.body,
            expect: match exchange.response.status {
                304 => "200,304".to_owned(),
                status => status.to_string(),
            },
            takes,
            think: Span::ZERO,
            embedded: Vec::new(),
        });
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    fn comment(&self, exchange: &Exchange, is_document: bool) -> String {
        let title =
            exchange.page.as_ref().and_then(|page| self.titles.get(page)).filter(|title| !title.is_empty());
        let kind = if exchange.kind.is_empty() { "request" } else { exchange.kind.as_str() };
        let what = match (is_document, title) {
            (true, Some(title)) => format!("Page: {title}"),
            (true, None) => "Page".to_owned(),
            (false, Some(title)) => format!("In the page ({kind}): {title}"),
            (false, None) => format!("In the page ({kind})"),
        };
        match exchange.redirects {
            0 => what,
            _ => format!("{what}; redirected to {}", exchange.landed.path),
        }
    }
}

fn rounded(milliseconds: i64) -> Span {
    let tenths = u64::try_from(milliseconds.saturating_add(50) / 100).unwrap_or(0);
    Span::from_millis(tenths.saturating_mul(100))
}

/// Whether the generator can ask for it as for what is embedded: GET, without fields, without checks.
fn is_plain(exchange: &Exchange, sent: &Sent) -> bool {
    let is_url = sent.url.is_literal() && !exchange.url.path.contains("${");
    let is_right = (200..400).contains(&exchange.response.status) && exchange.response.status != 206;
    exchange.method == "GET" && sent.headers.is_empty() && sent.body.is_none() && is_url && is_right
}

/// Whether a page has it embedded, and does not fetch it by a script.
fn is_embedded(exchange: &Exchange) -> bool {
    let embedded =
        ["document", "font", "image", "manifest", "media", "other", "script", "stylesheet", "texttrack"];
    if !exchange.kind.is_empty() {
        return embedded.contains(&exchange.kind.as_str());
    }
    if let Some(destination) = field(&exchange.headers, "sec-fetch-dest") {
        return destination != "empty";
    }
    let mime = exchange.response.mime.as_str();
    let kinds = ["image/", "font/", "audio/", "video/", "text/css", "application/font", "application/wasm"];
    kinds.iter().any(|kind| mime.starts_with(kind)) || mime.ends_with("javascript")
}
