//! Pages that are lists: who waits, and what operators changed.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, Wrap};
use serde_json::Value;
use tui::figures::{clock, number, time};

use super::model::Model;

/// Below this columns that matter less are left out.
const WIDE: u16 = 80;

pub(super) fn queue(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let theme = model.theme;
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let count = match &model.queue {
        Some(Ok(queue)) => format!("{} requests wait", number(queue.waiting)),
        _ => "who waits".to_owned(),
    };
    let mut title = vec![Span::styled(count, theme.strong)];
    if model.wanted.offset > 0 {
        title.push(Span::styled(format!(", from {} on", model.wanted.offset + 1), theme.label));
    }
    if model.searching || !model.wanted.search.is_empty() {
        let cursor = if model.searching { "_" } else { "" };
        title.push(Span::styled(format!("   search: {}{cursor}", model.wanted.search), theme.line));
    }
    frame.render_widget(Line::from(title), head);
    let queue = match &model.queue {
        Some(Ok(queue)) => queue,
        Some(Err(why)) => {
            let text = Paragraph::new(Line::styled(why.as_str(), theme.bad)).wrap(Wrap { trim: true });
            return frame.render_widget(text, body);
        }
        None => return frame.render_widget(Line::styled("asking the gate ..", theme.label), body),
    };
    let is_wide = area.width >= WIDE;
    let rows = queue.requests.iter().take(usize::from(body.height)).map(|request| {
        let class = request.class.as_deref().unwrap_or("-").to_owned();
        let path = format!("{} {}", request.method, request.path);
        let mut cells = vec![time(request.age.max(0.0)), class];
        if is_wide {
            cells.push(request.stage.as_deref().unwrap_or("-").to_owned());
            cells.push(request.client.clone());
            cells.push(request.id.clone());
        }
        cells.push(path);
        Row::new(cells.into_iter().map(Cell::from))
    });
    let (titles, widths): (&[&str], Vec<Constraint>) = if is_wide {
        let widths = [8, 12, 9, 24, 10].map(Constraint::Length).into_iter().chain([Constraint::Fill(1)]);
        (&["age", "class", "stage", "client", "id", "request"], widths.collect())
    } else {
        (
            &["age", "class", "request"],
            vec![Constraint::Length(8), Constraint::Length(10), Constraint::Fill(1)],
        )
    };
    let header = Row::new(titles.iter().map(|title| Cell::from(*title))).style(theme.label);
    frame.render_widget(Table::new(rows, widths).header(header).column_spacing(1), body);
}

pub(super) fn changes(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let theme = model.theme;
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let count = match model.changes.len() {
        0 => "no operator has changed anything since the gate began".to_owned(),
        1 => "one change".to_owned(),
        many => format!("{many} changes, the last first"),
    };
    frame.render_widget(Line::styled(count, theme.strong), head);
    let now = model.clock();
    let lines = model.changes.iter().skip(model.scroll).take(usize::from(body.height)).map(|change| {
        let ago = format!("{} ago", clock(now - change.at));
        Line::from(vec![
            Span::styled(format!("{ago:<14} "), theme.label),
            Span::styled(format!("{} ", change.what), theme.strong),
            Span::raw(format!("{}  ", difference(&change.old, &change.new))),
            Span::styled(change.who.as_str(), theme.label),
        ])
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), body);
}

/// What is new; of an object only the fields that are other than before.
fn difference(old: &Value, new: &Value) -> String {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        return format!("{} -> {}", bare(old), bare(new));
    };
    let differ = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
    let texts = differ.map(|(name, value)| {
        format!("{name} {} -> {}", before.get(name).map_or_else(|| "-".to_owned(), bare), bare(value))
    });
    let texts: Vec<_> = texts.collect();
    if texts.is_empty() { "as before".to_owned() } else { texts.join(", ") }
}

/// A text without its quotation marks.
fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
