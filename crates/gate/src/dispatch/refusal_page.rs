//! What a refused client is shown, in the form that it reads best: a page for people, JSON for
//! programs, and text for clients that do not say.

use std::cell::OnceCell;
use std::fmt::Write as _;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use policy::Ticket;

use crate::dispatch::turn;
use gate_config::settings::page::{Form, Piece, Template};

/// What is filled in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) seconds: u32,
    /// Requests that wait in the gate now.
    pub(crate) waiting: usize,
    /// Whether asking again does no more than asking.
    pub(crate) repeatable: bool,
    /// The place of one who has one; a page without places does not ask.
    pub(crate) ticket: Option<&'a Ticket>,
}

/// A page with its places filled in.
pub(crate) fn fill(template: &Template, facts: Facts<'_>) -> Bytes {
    let wait = facts.ticket.and_then(|ticket| ticket.wait);
    let mut text = String::with_capacity(template.length);
    for piece in &template.pieces {
        // Writing to a String cannot fail.
        let _ = match piece {
            Piece::Literal(literal) => text.write_str(literal),
            Piece::Seconds => write!(text, "{}", facts.seconds),
            Piece::Waiting => write!(text, "{}", facts.waiting),
            Piece::Place => write!(text, "{}", facts.ticket.map_or(0, |ticket| ticket.place)),
            Piece::Time => text.write_str(&turn::time(wait)),
            Piece::Minutes => match turn::minutes(wait) {
                Some(minutes) => write!(text, "{minutes}"),
                None => text.write_str("?"),
            },
            // Reloading would send a form again, or rather not: as a GET.
            Piece::Refresh if !facts.repeatable => Ok(()),
            Piece::Refresh => write!(text, "<meta http-equiv=\"refresh\" content=\"{}\">", facts.seconds),
        };
    }
    Bytes::from(text)
}

/// The form that a client reads best, by its `Accept` (RFC 9110 section 12.5.1). A client that takes anything is
/// not a browser asking for a page.
pub(crate) fn form<'a>(accept: impl IntoIterator<Item = &'a HeaderValue>) -> Form {
    let (mut page, mut problem) = (0.0, 0.0);
    for line in accept {
        for range in line.to_str().unwrap_or_default().split(',') {
            let (media, parameters) = range.split_once(';').unwrap_or((range, ""));
            let media = media.trim();
            let is_page =
                ["text/html", "application/xhtml+xml"].iter().any(|page| media.eq_ignore_ascii_case(page));
            let is_problem = media.len() >= 4
                && media.is_char_boundary(media.len() - 4)
                && media[media.len() - 4..].eq_ignore_ascii_case("json");
            if is_page {
                page = quality(parameters).max(page);
            } else if is_problem {
                problem = quality(parameters).max(problem);
            }
        }
    }
    match (page > 0.0, problem > 0.0) {
        (true, _) if page >= problem => Form::Page,
        (_, true) => Form::Problem,
        _ => Form::Text,
    }
}

fn quality(parameters: &str) -> f64 {
    let mut all = parameters.split(';').filter_map(|parameter| parameter.split_once('='));
    let q = all.find(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    q.map_or(1.0, |(_, value)| value.trim().parse().unwrap_or(0.0))
}

/// What one refusal says, in all forms: filled in when the first asks for it, then kept.
#[derive(Debug, Default)]
pub(crate) struct Said {
    page: [OnceCell<Bytes>; 2],
    problem: OnceCell<Bytes>,
    text: OnceCell<Bytes>,
}

impl Said {
    /// The page, which is kept if it says the same every time.
    pub(crate) fn page(&self, template: &Template, facts: Facts<'_>) -> Bytes {
        if !template.is_steady() {
            return fill(template, facts);
        }
        self.page[usize::from(facts.repeatable)].get_or_init(|| fill(template, facts)).clone()
    }

    /// Problem details (RFC 9457).
    pub(crate) fn problem(&self, status: StatusCode, seconds: u32) -> Bytes {
        let problem = self.problem.get_or_init(|| {
            let title = status.canonical_reason().unwrap_or("Refused");
            let problem = serde_json::json!({
                "type": "about:blank",
                "title": title,
                "status": status.as_u16(),
                "detail": "more visitors than can be served just now",
                "retry_after": seconds,
            });
            Bytes::from(problem.to_string() + "\n")
        });
        problem.clone()
    }

    pub(crate) fn text(&self, seconds: u32) -> Bytes {
        let text = self.text.get_or_init(|| {
            let text = format!(
                "We are busy: more visitors than can be served just now. Please try again in {seconds} seconds.\n"
            );
            Bytes::from(text)
        });
        text.clone()
    }
}

/// Whether a page may reload itself: repeating the request does no more than reading.
pub(crate) fn is_repeatable(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gate_config::settings::page::{PLACEHOLDERS, WAITING};

    #[test]
    fn a_template_is_filled_in() {
        let template = Template::new("a {{seconds}}{{ waiting }}b{{refresh}}", &PLACEHOLDERS).unwrap();
        let facts = Facts { seconds: 7, waiting: 12, repeatable: false, ticket: None };
        assert_eq!(fill(&template, facts), "a 712b");
        let filled = fill(&template, Facts { repeatable: true, ..facts });
        assert_eq!(filled, "a 712b<meta http-equiv=\"refresh\" content=\"7\">");
        let wrong = Template::new("a\nb {{secs}}", &PLACEHOLDERS).unwrap_err();
        assert_eq!(wrong.to_string(), "line 2: {{secs}} cannot be filled in");
        let place = Template::new("{{place}}", &PLACEHOLDERS).unwrap_err();
        assert_eq!(place.to_string(), "line 1: {{place}} cannot be filled in");
        assert_eq!(Template::new("{{", &PLACEHOLDERS).unwrap_err().to_string(), "line 1: {{ without its }}");
    }

    #[test]
    fn the_page_of_the_house_fills_in() {
        let facts = Facts { seconds: 9, waiting: 41, repeatable: true, ticket: None };
        let page = fill(&Template::new(WAITING, &PLACEHOLDERS).unwrap(), facts);
        let page = std::str::from_utf8(&page).unwrap();
        for part in ["content=\"9\"", "9 seconds", "41"] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(!page.contains("{{") && !page.contains("http://") && !page.contains("<script"));
    }

    #[test]
    fn each_client_is_told_in_the_form_it_asks_for() {
        for (accept, form) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Form::Page),
            ("application/json", Form::Problem),
            ("application/problem+json, text/html;q=0.5", Form::Problem),
            ("text/html, application/json", Form::Page),
            ("text/html;q=0, application/json;q=0", Form::Text),
            ("*/*", Form::Text),
            ("image/avif,image/webp", Form::Text),
            ("", Form::Text),
            ("text/html;q=nonsense", Form::Text),
            ("TEXT/HTML; charset=x; q=0.1", Form::Page),
        ] {
            assert_eq!(super::form([&HeaderValue::from_static(accept)]), form, "{accept}");
        }
        assert_eq!(form([]), Form::Text);
    }
}
